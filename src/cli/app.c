#include "cli/app.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/env.h"

static bool want_colour(bool terminal)
{
	const char *term = env_get("TERM");
	return terminal && !env_get("NO_COLOR") && term && !sv_is(sv_of(term), "dumb");
}

int app_init(struct app *app, int argc, char **argv, struct err *reterr)
{
	*app = (struct app){
		.out = stdout,
		.err = stderr,
		.in = STDIN_FILENO,
		.in_tty = isatty(STDIN_FILENO) == 1,
		.out_tty = isatty(STDOUT_FILENO) == 1,
		.err_tty = isatty(STDERR_FILENO) == 1,
		.log = { .fd = -1, .level = LOG_INFO },
		.argc = argc,
		.argv = argv,
	};
	app->colour = want_colour(app->out_tty);
	app->log.clock = &app->clock;
	app->cwd = getcwd(NULL, 0);
	int r = env_paths(&app->paths, reterr);
	return r < 0 ? r : env_clock(&app->clock, reterr);
}

static void paths_release(struct app_paths *p)
{
	free(p->home);
	free(p->config_file);
	free(p->state_dir);
	free(p->data_dir);
	free(p->cache_dir);
	free(p->runtime_dir);
	free(p->claude_home);
	free(p->codex_home);
	free(p->search);
	*p = (struct app_paths){ .home = NULL };
}

void app_release(struct app *app)
{
	if (app->log.clock && app->log.fd >= 0)
		(void)close(app->log.fd);
	app->log.fd = -1;
	free(app->cwd);
	app->cwd = NULL;
	paths_release(&app->paths);
}
