/*
 * Index and archive kept up to date while the agents write: for a terminal that stays open, or a
 * service of the user's.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/map.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/keep.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "config/settings.h"
#include "os/loop.h"
#include "os/path.h"
#include "os/tree-watch.h"
#include "search/index.h"
#include "json/write.h"

enum {
	SETTLE_MS = 300, /* what comes in a burst is taken in one go */
	ARCHIVE_MS = 5000, /* between two looks of the archive while a session grows */
	WHOLE_MS = 10 * 60 * 1000, /* everything is looked at, whatever was told */
	CHANGED_MAX = 1000, /* files; beyond that all are looked at */
};

struct watch_opts {
	bool no_archive;
	bool unit;
	bool json;
};

static const struct opt watch_options[] = {
	OPT_FLAG(0, "no-archive", struct watch_opts, no_archive, "only the index"),
	OPT_FLAG(0, "unit", struct watch_opts, unit,
		"print a unit for systemd that runs this as a service of yours"),
	OPT_FLAG(0, "json", struct watch_opts, json, "one JSON object a line for each update"),
	OPT_END,
};

struct watching {
	struct app *app;
	const struct watch_opts *opts;
	struct loop *loop;
	struct tree_watch *tree;
	struct strv changed; /* each once */
	struct map seen;
	bool all; /* something was missed: look at everything */
	struct loop_source *settle; /* NULL: nothing is waited for */
	struct loop_source *archive; /* NULL: the archive has all */
	char *index_dir;
	bool done;
};

/* ---- one update ---- */

/* What was taken in, if anything. */
static void tell(struct watching *w, const struct index_stats *s, size_t archived)
{
	char bytes[SIZE_TEXT_MAX], when[CLOCK_TEXT_MAX];
	int64_t now = clock_wall_ms(&w->app->clock);

	if (s->read == 0 && s->gone == 0 && archived == 0)
		return;
	clock_format_iso(now, when);
	if (w->opts->json) {
		AUTO_STR out = STR_INIT;
		struct jw jw = JW_INIT(&out);
		jw_object(&jw);
		jw_put_cstr(&jw, "recorded_at", when);
		jw_put_i64(&jw, "files_read", (int64_t)s->read);
		jw_put_i64(&jw, "files_gone", (int64_t)s->gone);
		jw_put_i64(&jw, "read_bytes", (int64_t)s->bytes_read);
		jw_put_i64(&jw, "files_archived", (int64_t)archived);
		jw_end(&jw);
		say_json(w->app->out, str_sv(&out));
		say_bytes(w->app->out, SV("\n"));
	} else {
		size_format(s->bytes_read, bytes);
		AUTO_STR line = STR_INIT;
		str_addf(&line, "%s  ", when);
		if (s->read)
			str_addf(&line, "%zu %s indexed (%s)", s->read,
				s->read == 1 ? "session" : "sessions", bytes);
		if (s->gone)
			str_addf(&line, "%s%zu gone", s->read ? ", " : "", s->gone);
		if (archived)
			str_addf(&line, "%s%zu archived", s->read || s->gone ? ", " : "", archived);
		say_line(w->app->out, "%s", line.buf);
	}
	(void)fflush(w->app->out);
}

static int index_changed(struct watching *w, struct index_stats *ret, struct err *reterr)
{
	const struct index_opts opts = {
		.result_max = (size_t)w->app->settings->search_result_kb * 1024,
		.wait = true,
		.paths = w->all ? NULL : (const char *const *)w->changed.v,
		.n_paths = w->all ? 0 : w->changed.n,
	};

	return index_update(
		w->index_dir, w->app->store, w->app->homes, w->app->n_homes, &opts, ret, reterr);
}

static int archive_all(struct watching *w, size_t *ret_taken, struct err *reterr)
{
	struct archive_update_stats stats = { .files = 0 };
	AUTO_VAULT *v = NULL;
	int r = keep_open(w->app, &v, reterr);

	if (r >= 0)
		r = keep_sessions(w->app, v, NULL, &stats, reterr);
	*ret_taken = stats.taken;
	return r;
}

/* A disk that is full today need not be so tomorrow: it is said, and tried again. */
static void say_failure(struct watching *w, const struct err *err)
{
	say_note(w->app->err, "%s; tried again with the next change", err->msg);
}

static void on_archive(void *data)
{
	struct watching *w = data;
	struct index_stats none = { .files = 0 };
	struct err err = ERR_INIT;
	size_t taken = 0;

	w->archive = NULL;
	if (sessions_refresh(w->app, &err) < 0 || archive_all(w, &taken, &err) < 0)
		say_failure(w, &err);
	else
		tell(w, &none, taken);
}

static void on_settled(void *data)
{
	struct watching *w = data;
	struct index_stats stats = { .files = 0 };
	struct err err = ERR_INIT;

	w->settle = NULL;
	if (index_changed(w, &stats, &err) < 0)
		say_failure(w, &err);
	else
		tell(w, &stats, 0);
	if (!w->opts->no_archive && !w->archive)
		w->archive = loop_add_timer(w->loop, ARCHIVE_MS, on_archive, w);
	strv_release(&w->changed);
	w->changed = (struct strv)STRV_INIT;
	map_release(&w->seen);
	w->all = false;
}

/* ---- what happens ---- */

static bool is_session(const struct app *app, const char *path)
{
	struct sv sv = sv_of(path);

	if (transcript_format_of_name(sv, NULL))
		return true;
	for (size_t i = 0; i < app->n_homes && sv_ends(sv, SV(".jsonl")); i++)
		if (transcript_subagent_of(app->homes[i].format, sv).n > 0)
			return true;
	return false;
}

static void on_change(void *data, const char *path)
{
	struct watching *w = data;

	if (!path)
		w->all = true;
	else if (!is_session(w->app, path))
		return;
	else if (w->changed.n >= CHANGED_MAX)
		w->all = true;
	else if (!map_get(&w->seen, sv_of(path), NULL)) {
		(void)map_put(&w->seen, sv_of(path), 1);
		strv_add(&w->changed, path);
	}
	if (!w->settle)
		w->settle = loop_add_timer(w->loop, SETTLE_MS, on_settled, w);
}

/* Homes that were not there may be now, and what no event told of is found. */
static void look_at_all(void *data)
{
	struct watching *w = data;

	for (size_t i = 0; i < w->app->n_homes; i++)
		(void)tree_watch_add(w->tree, w->app->homes[i].root);
	on_change(w, NULL);
	(void)loop_add_timer(w->loop, WHOLE_MS, look_at_all, w);
}

static void on_signal(void *data, int signo UNUSED)
{
	((struct watching *)data)->done = true;
}

static int watch(struct watching *w, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	w->tree = tree_watch_new(w->loop, on_change, w, reterr);
	if (!w->tree)
		return reterr ? reterr->code : ERR_BUG;
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (!loop_add_signal(w->loop, signals[i], on_signal, w, reterr))
			return reterr ? reterr->code : ERR_BUG;
	look_at_all(w);
	return loop_run(w->loop, &w->done, reterr);
}

/* ---- the command ---- */

/* systemd reads % and quotes in it. */
static int print_unit(struct app *app, struct err *reterr)
{
	AUTO_FREE char *self = NULL;
	AUTO_STR quoted = STR_INIT;
	int r = path_real("/proc/self/exe", &self, reterr);

	if (r < 0)
		return r;
	for (const char *p = self; *p; p++) {
		if (*p == '%')
			str_addc(&quoted, '%');
		else if (*p == '"' || *p == '\\')
			str_addc(&quoted, '\\');
		str_addc(&quoted, *p);
	}
	say_line(app->out, "[Unit]");
	say_line(app->out, "Description=Sessions of AI coding agents, indexed and archived");
	say_line(app->out, "%s", "");
	say_line(app->out, "[Service]");
	say_line(app->out, "ExecStart=\"%s\" watch", quoted.buf);
	say_line(app->out, "Restart=on-failure");
	say_line(app->out, "Nice=10");
	say_line(app->out, "%s", "");
	say_line(app->out, "[Install]");
	say_line(app->out, "WantedBy=default.target");
	return 0;
}

static int run_watch(struct app *app, const void *options, int argc UNUSED, char **argv UNUSED,
	struct err *reterr)
{
	const struct watch_opts *opts = options;
	struct watching w = { .app = app, .opts = opts };

	if (opts->unit)
		return print_unit(app, reterr);
	w.loop = loop_new();
	w.index_dir = app_index_dir(app);
	int r = sessions_open_to(app, false, reterr);
	if (r >= 0)
		r = watch(&w, reterr);
	tree_watch_free(w.tree);
	loop_free(w.loop);
	strv_release(&w.changed);
	map_release(&w.seen);
	free(w.index_dir);
	return r;
}

const struct cmd cmd_watch = {
	.name = "watch",
	.group = CMD_GROUP_SESSIONS,
	.summary = "keep index and archive up to date while the agents work",
	.synopsis = "",
	.needs = CMD_STORE,
	.opts = watch_options,
	.opts_size = sizeof(struct watch_opts),
	.run = run_watch,
};
