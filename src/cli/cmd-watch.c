/*
 * Index and archive kept up to date while the agents write: for a terminal that stays open, or a
 * service of the user's.
 */
#include <poll.h>

#include "cli/cmd.h"
#include "cli/keep.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "cli/unit.h"
#include "config/settings.h"
#include "keep/told.h"
#include "keep/watch.h"
#include "json/write.h"

struct watch_opts {
	bool no_archive;
	bool told;
	struct unit_opts unit;
	bool json;
};

static const struct opt watch_options[] = {
	OPT_FLAG(0, "no-archive", struct watch_opts, no_archive, "only the index"),
	OPT_FLAG(0, "told", struct watch_opts, told,
		"take in what the agents' hooks told of, and end; the hooks start it"),
	OPT_UNIT(struct watch_opts, unit),
	OPT_FLAG(0, "json", struct watch_opts, json, "one JSON object a line for each update"),
	OPT_END,
};

struct watching {
	struct app *app;
	const struct watch_opts *opts;
	bool done;
};

/* What was taken in, if anything. */
static void on_updated(void *data, const struct watch_update *u)
{
	const struct watching *w = data;
	char bytes[SIZE_TEXT_MAX], when[CLOCK_TEXT_MAX];

	clock_format_iso(clock_wall_ms(&w->app->clock), when);
	if (u->damage)
		say_note(w->app->err, "%s; it was made anew from the sessions", u->damage);
	if (w->opts->json) {
		AUTO_STR out = STR_INIT;
		struct jw jw = JW_INIT(&out);
		jw_object(&jw);
		jw_put_cstr(&jw, "recorded_at", when);
		jw_put_i64(&jw, "files_read", (int64_t)u->read);
		jw_put_i64(&jw, "files_gone", (int64_t)u->gone);
		jw_put_i64(&jw, "read_bytes", (int64_t)u->bytes_read);
		jw_put_i64(&jw, "files_archived", (int64_t)u->archived);
		jw_end(&jw);
		say_json(w->app->out, str_sv(&out));
		say_bytes(w->app->out, SV("\n"));
	} else {
		size_format(u->bytes_read, bytes);
		AUTO_STR line = STR_INIT;
		str_addf(&line, "%s  ", when);
		if (u->read)
			str_addf(&line, "%zu %s indexed (%s)", u->read,
				u->read == 1 ? "session" : "sessions", bytes);
		if (u->gone)
			str_addf(&line, "%s%zu gone", u->read ? ", " : "", u->gone);
		if (u->archived)
			str_addf(&line, "%s%zu archived", u->read || u->gone ? ", " : "",
				u->archived);
		say_line(w->app->out, "%s", line.buf);
	}
	(void)fflush(w->app->out);
}

/* A disk that is full today need not be so tomorrow: it is said, and tried again. */
static void on_failed(void *data, const struct err *err)
{
	const struct watching *w = data;

	if (err->code != ERR_CANCELLED)
		say_note(w->app->err, "%s; tried again with the next change", err->msg);
}

/* The first asks what is under way to end, and is heard here when nothing is. */
static void on_interrupt(void *data, short revents UNUSED)
{
	((struct watching *)data)->done = true;
}

static int watch(struct watching *w, struct err *reterr)
{
	const struct watch_events events = { on_updated, on_failed, w };
	AUTO_KEEPING k = { .app = NULL };
	struct watcher *watcher = NULL;
	struct loop *loop = loop_new();
	int r = keeping_begin(w->app, SV("Archiving"), &k, reterr);

	k.keeper.progress = NULL;
	k.keeper.wait.idle_ms = LOCK_FOREVER;
	if (r >= 0) {
		(void)loop_add_fd(loop, k.interrupt.fd, POLLIN, on_interrupt, w);
		watcher = watcher_new(loop, &k.keeper, w->opts->no_archive ? WATCH_NO_ARCHIVE : 0,
			&events, reterr);
		r = watcher ? 0 : reterr->code;
	}
	while (r >= 0 && !w->done) {
		r = loop_step(loop, -1, reterr);
		w->done |= interrupt_came(&k.interrupt) != 0;
	}
	watcher_free(watcher);
	loop_free(loop);
	return r;
}

/* ---- the command ---- */

static int take_told(struct watching *w, struct err *reterr)
{
	enum { SETTLE_MS = 300 };
	struct keeper keeper = app_keeper(w->app);
	struct told_stats told;

	/* What was told is taken off the list first, and nobody sits here and waits. */
	keeper.wait = (struct lock_wait){ .idle_ms = LOCK_FOREVER };
	int r = told_take(&keeper, SETTLE_MS, &told, reterr);

	if (r >= 0 && told.read + told.archived > 0)
		on_updated(w,
			&(struct watch_update){ .read = told.read,
				.bytes_read = told.bytes_read,
				.archived = told.archived });
	else if (r < 0)
		log_write(&w->app->log, LOG_ERROR, "watch: %s", reterr->msg);
	return r;
}

static int run_watch(struct app *app, const void *options, int argc UNUSED, char **argv UNUSED,
	struct err *reterr)
{
	const struct watch_opts *opts = options;
	struct watching w = { .app = app, .opts = opts };

	if (unit_wanted(&opts->unit)) {
		AUTO_STRV words = STRV_INIT;
		strv_add(&words, "watch");
		if (opts->no_archive)
			strv_add(&words, "--no-archive");
		const struct unit u = { .name = "faden-watch",
			.description = "Sessions of AI coding agents, indexed and archived",
			.words = words,
			.more = "Nice=10" };
		return unit_run(app, &opts->unit, &u, reterr);
	}
	int r = sessions_open_to(app, false, reterr);
	if (r < 0)
		return r;
	return opts->told ? take_told(&w, reterr) : watch(&w, reterr);
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
