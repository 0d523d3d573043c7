#include "cli/fresh.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/env.h"
#include "cli/print.h"
#include "config/settings.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"
#include "store/catalogue.h"

enum {
	RECENT = 64, /* sessions that are looked at */
	BUDGET_MS = 60, /* for what they have that is new */
	FIRST_MS = 3000, /* for an index that is not there yet */
	CHECK_EVERY_MS = 60 * 1000,
};

static int update(struct app *app, const char *dir, const struct strv *paths, int64_t budget_ms,
	struct index_stats *ret, struct err *reterr)
{
	const struct index_opts opts = {
		.result_max = (size_t)app->settings->search_result_kb * 1024,
		.budget_ms = budget_ms,
		.paths = paths ? (const char *const *)paths->v : NULL,
		.n_paths = paths ? paths->n : 0,
	};

	return index_update(dir, app->store, app->homes, app->n_homes, &opts, ret, reterr);
}

/* True once in CHECK_EVERY_MS, whichever process asks: searches in a row start one index. */
static bool is_due(const char *dir)
{
	AUTO_FREE char *stamp = path_join(dir, "started");
	AUTO_CLOSE int fd = open(stamp, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct timespec now;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0)
		return false;
	/* A new one has the time of now, but nothing in it. */
	bool due = st.st_size == 0 || now.tv_sec - st.st_mtim.tv_sec >= CHECK_EVERY_MS / 1000 ||
		now.tv_sec < st.st_mtim.tv_sec;
	return due && pwrite(fd, "\n", 1, 0) == 1;
}

/* All sessions, by another process that nobody waits for. */
static void start_index(const struct app *app, const char *dir)
{
	AUTO_FREE char *self = NULL;
	struct proc proc = PROC_INIT;

	/* A fixed clock is a test's, which wants to know when what happens. */
	if (app->clock.fixed || !is_due(dir) || path_real("/proc/self/exe", &self, NULL) < 0)
		return;
	const char *const argv[] = { self, "--config", app->paths.config_file, "--state",
		app->paths.state_dir, "index", NULL };
	/* The file of the settings must be there only where it was named. */
	const char *const plain[] = { self, "--state", app->paths.state_dir, "index", NULL };
	const struct proc_opts opts = { .argv = app->config_given ? argv : plain,
		.envp = env_all(),
		.cwd = "/",
		.in = PROC_NULL,
		.out = PROC_NULL,
		.err = PROC_NULL };
	/* Not released: that would end it. Without it a later search tries again. */
	if (proc_spawn(&proc, &opts, NULL) < 0)
		log_write(&app->log, LOG_WARN, "no 'faden index' could be started");
}

struct recent {
	int64_t since_ms; /* written to since then */
	struct strv changed;
};

static int on_recent(void *data, const struct session_row *row)
{
	struct recent *recent = data;
	struct stat st;

	if (stat(row->info.path, &st) == 0 &&
		(int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 >=
			recent->since_ms)
		strv_add(&recent->changed, row->info.path);
	return 0;
}

static void say_missing(const struct app *app, const struct index_stats *s)
{
	if (s->left > 0)
		say_note(app->err,
			"%zu %s not in the index yet and missing here; 'faden index' takes %s in",
			s->left, s->left == 1 ? "session is" : "sessions are",
			s->left == 1 ? "it" : "them");
}

static int first_view(struct app *app, const char *dir, struct index_view **ret, struct err *reterr)
{
	struct index_stats stats = { .files = 0 };
	int r = update(app, dir, NULL, FIRST_MS, &stats, reterr);

	/* Somebody else is at it: what is there will do, and an error only when nothing is. */
	if (r >= 0 || r == ERR_BUSY)
		r = index_view_open(dir, ret, reterr);
	if (r < 0)
		return r;
	say_missing(app, &stats);
	if (stats.left > 0)
		start_index(app, dir);
	return 0;
}

int fresh_view(struct app *app, const char *dir, struct index_view **ret, struct err *reterr)
{
	const struct catalogue_query query = { .subagents = true, .limit = RECENT };
	struct index_stats stats = { .files = 0 };
	struct err err = ERR_INIT;
	struct recent recent = { .changed = STRV_INIT };
	struct index_view *view = NULL;
	int r = index_view_open(dir, &view, &err);

	if (r < 0)
		return first_view(app, dir, ret, reterr);
	int64_t now_ms = clock_wall_ms(&app->clock), checked_ms = index_view_checked_ms(view);
	recent.since_ms = checked_ms;
	r = catalogue_query(app->store, &query, on_recent, &recent, NULL);
	if (r >= 0 && recent.changed.n > 0 &&
		update(app, dir, &recent.changed, BUDGET_MS, &stats, NULL) >= 0) {
		struct index_view *later = NULL;
		if (index_view_open(dir, &later, NULL) >= 0) {
			index_view_close(view);
			view = later;
		}
	}
	strv_release(&recent.changed);
	say_missing(app, &stats);
	if (now_ms - checked_ms > CHECK_EVERY_MS || stats.left > 0)
		start_index(app, dir);
	*ret = view;
	return 0;
}
