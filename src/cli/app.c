#include "cli/app.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/env.h"
#include "cli/print.h"
#include "config/yaml.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"
#include "store/store.h"

enum { LOG_BYTES_MAX = 4 * 1024 * 1024 }; /* then it becomes FILE.1 */

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
		.pager = PAGER_INIT,
		.argc = argc,
		.argv = argv,
	};
	app->colour = env_shows_lines(app->out_tty) && !env_get("NO_COLOR");
	app->log.clock = &app->clock;
	app->cwd = getcwd(NULL, 0);
	(void)env_language(app->locale);
	int r = env_paths(&app->paths, reterr);
	if (r < 0)
		return r;
	app_use_paths(app);
	return env_clock(&app->clock, reterr);
}

void app_use_paths(struct app *app)
{
	struct app_paths *p = &app->paths;

	free(p->index_dir);
	p->index_dir = path_join(p->state_dir, "index");
	app->n_homes = 0;
	for (size_t i = 0; i < agent_count; i++) {
		const struct agent_def *agent = &agent_table[i];

		if (!agent->format)
			continue;
		if (!agent->home_default) {
			free(p->agent_homes[i]);
			p->agent_homes[i] = path_join(p->state_dir, agent->name);
		}
		app->homes[app->n_homes++] = (struct transcript_home){
			.agent = agent->name,
			.format = agent->format,
			.root = p->agent_homes[i],
			.variable = agent->home_variable,
			.below = agent->home_default,
		};
	}
}

const struct transcript_home *app_home(const struct app *app, const char *agent)
{
	for (size_t i = 0; i < app->n_homes; i++)
		if (strcmp(app->homes[i].agent, agent) == 0)
			return &app->homes[i];
	return NULL;
}

void app_start(const struct app *app, const char *const *words)
{
	AUTO_FREE char *self = NULL;
	AUTO_STRV argv = STRV_INIT;
	AUTO_STRV envp = STRV_INIT;
	struct proc proc = PROC_INIT;

	if (app->clock.fixed || path_real("/proc/self/exe", &self, NULL) < 0)
		return;
	strv_add(&argv, self);
	/* The file of the settings must be there only where it was named. */
	if (app->config_given) {
		strv_add(&argv, "--config");
		strv_add(&argv, app->paths.config_file);
	}
	strv_add(&argv, "--state");
	strv_add(&argv, app->paths.state_dir);
	for (; *words; words++)
		strv_add(&argv, *words);
	/* It is nobody's agent, even when an agent runs us. */
	for (const char *const *e = env_all(); *e; e++)
		if (!sv_starts(sv_of(*e), SV(PROC_MARK "=")))
			strv_add(&envp, *e);
	const struct proc_opts opts = { .argv = (const char *const *)argv.v,
		.envp = (const char *const *)envp.v,
		.cwd = "/",
		.in = PROC_NULL,
		.out = PROC_NULL,
		.err = PROC_NULL };
	/* Not released: that would end it. */
	if (proc_spawn(&proc, &opts, NULL) < 0)
		log_write(
			&app->log, LOG_WARN, "no 'faden %s' could be started", argv.v[argv.n - 1]);
}

struct term_opts app_screen(const struct app *app, int fd)
{
	return (struct term_opts){
		.fd = fd,
		.colour = app->colour ? TERM_COLOUR_ALWAYS : TERM_COLOUR_NEVER,
		.term_name = env_get("TERM"),
		.as_written = app->settings && !app->settings->ui_markdown,
	};
}

struct archive app_archive(const struct app *app)
{
	return (struct archive){ .store = app->store,
		.dir = app->paths.archive_dir,
		.clock = &app->clock,
		.homes = app->homes,
		.n_homes = app->n_homes };
}

static void say_held(void *data, const char *whom)
{
	say_waiting(data, whom);
}

struct lock_wait app_wait(const struct app *app)
{
	return (struct lock_wait){ .held = say_held, .data = app->err };
}

struct keeper app_keeper(const struct app *app)
{
	return (struct keeper){
		.store = app->store,
		.homes = app->homes,
		.n_homes = app->n_homes,
		.state_dir = app->paths.state_dir,
		.index_dir = app->paths.index_dir,
		.archive_dir = app->paths.archive_dir,
		.clock = &app->clock,
		.log = &app->log,
		.result_max = (size_t)app->settings->search_result_kb * 1024,
		.wait = app_wait(app),
	};
}

static void paths_release(struct app_paths *p)
{
	free(p->home);
	free(p->config_file);
	free(p->state_dir);
	free(p->data_dir);
	free(p->index_dir);
	free(p->archive_dir);
	free(p->models_dir);
	free(p->cache_dir);
	free(p->runtime_dir);
	for (size_t i = 0; i < AGENTS_MAX; i++)
		free(p->agent_homes[i]);
	free(p->search);
	*p = (struct app_paths){ .home = NULL };
}

void app_release(struct app *app)
{
	store_close(app->store);
	app->store = NULL;
	settings_free(app->settings);
	app->settings = NULL;
	/* A zeroed struct has descriptor 0 here, but no clock. */
	if (app->log.clock && app->log.fd >= 0)
		(void)close(app->log.fd);
	app->log.fd = -1;
	free(app->cwd);
	app->cwd = NULL;
	paths_release(&app->paths);
}

int app_load_settings(struct app *app, struct err *reterr)
{
	CLEANUP(findings_release) struct findings unknown = FINDINGS_INIT;

	settings_free(app->settings);
	app->settings = settings_new(app->paths.home);
	int r = config_load(app->settings, app->paths.config_file, &unknown, reterr);
	if (r == -ENOENT && !app->config_given)
		r = 0;
	if (r == 0)
		r = settings_from_environment(app->settings, env_all(), NULL, reterr);
	vec_each (&unknown.all, one) {
		AUTO_STR line = STR_INIT;
		config_finding_print(&line, one, app->paths.config_file);
		say_note(app->err, "%s; ignored", line.buf);
	}
	return r;
}

/* ---- state ---- */

static int open_append(const char *path)
{
	/* A pipe that nobody reads must not hold us. */
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
}

/* Without a log the work goes on: it is for the curious, not for the user. */
static void open_log(struct app *app)
{
	const struct settings *s = app->settings;
	AUTO_FREE char *path = s && *s->logging_file ? xstrdup(s->logging_file)
						     : path_join(app->paths.state_dir, "faden.log");

	if (s)
		(void)log_level_parse(sv_of(s->logging_level), &app->log.level);
	if (app->verbose)
		app->log.level = LOG_DEBUG;
	app->log.fd = open_append(path);
	if (app->log.fd < 0 || lseek(app->log.fd, 0, SEEK_END) < LOG_BYTES_MAX)
		return;
	/* A link stays, above all one that leads to a descriptor, like /dev/stderr. */
	AUTO_FREE char *real = NULL;
	if (path_real(path, &real, NULL) < 0)
		real = xstrdup(path);
	AUTO_FREE char *old = xasprintf("%s.1", real);
	struct stat own, there;
	/* Where another process has just done it, what stands there now is new. */
	bool same = fstat(app->log.fd, &own) == 0 && stat(real, &there) == 0 &&
		own.st_dev == there.st_dev && own.st_ino == there.st_ino;
	if (!same || (S_ISREG(own.st_mode) && rename(real, old) == 0)) {
		(void)close(app->log.fd);
		app->log.fd = open_append(path);
	}
}

int app_state(struct app *app, struct err *reterr)
{
	if (app->log.fd >= 0)
		return 0;
	int r = file_mkdirs(app->paths.state_dir, reterr);
	if (r == 0)
		open_log(app);
	return r;
}

int app_store(struct app *app, struct store **ret_store, struct err *reterr)
{
	if (!app->store) {
		int r = app_state(app, reterr);
		if (r < 0)
			return r;
		AUTO_FREE char *path = path_join(app->paths.state_dir, "faden.db");
		r = store_open(path, 0, &app->log, &app->store, reterr);
		if (r < 0)
			return r;
	}
	*ret_store = app->store;
	return 0;
}
