#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/app.h"
#include "cli/env.h"
#include "cli/settings.h"

/* PAGER may hold arguments, so a shell takes it apart, as everywhere. */
static int spawn_pager(struct app *app, const char *pager, int in)
{
	const char *const argv[] = { "/bin/sh", "-c", pager, NULL };
	const struct proc_opts opts = {
		.argv = argv,
		.in = in,
		.out = PROC_INHERIT,
		.err = PROC_INHERIT,
		.same_group = true,
	};
	return proc_spawn(&app->pager, &opts, NULL);
}

void app_pager_begin(struct app *app)
{
	if (!app->out_tty || (app->settings && !app->settings->ui_pager))
		return;
	const char *pager = env_pager();
	int fds[2];
	if (!pager || pipe2(fds, O_CLOEXEC) < 0)
		return;
	FILE *to_pager = fdopen(fds[1], "w");
	if (!to_pager || spawn_pager(app, pager, fds[0]) < 0) {
		/* Without a pager the text goes to the terminal as it is. */
		(void)(to_pager ? fclose(to_pager) : close(fds[1]));
		(void)close(fds[0]);
		return;
	}
	(void)close(fds[0]);
	(void)fflush(app->out);
	app->out = to_pager;
}

void app_pager_end(struct app *app)
{
	if (app->pager.pid == 0)
		return;
	/* Ctrl-C is for the pager while it has the screen. */
	void (*before)(int) = signal(SIGINT, SIG_IGN);
	/* A pager that was left early does not want the rest: no error. */
	(void)fclose(app->out);
	app->out = stdout;
	int status;
	(void)proc_reap(&app->pager, true, &status);
	proc_release(&app->pager);
	(void)signal(SIGINT, before);
}
