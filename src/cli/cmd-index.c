/*
 * The index of what was said in all sessions: brought up to date, checked, or made anew.
 */
#include <unistd.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/fresh.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "config/settings.h"
#include "keep/keeper.h"
#include "os/interrupt.h"
#include "ui/progress.h"
#include "view/json.h"

struct index_cmd_opts {
	bool check;
	bool rebuild;
	bool no_archive;
	bool json;
};

static const struct opt index_options[] = {
	OPT_FLAG(0, "check", struct index_cmd_opts, check,
		"read and compare all of the index, change nothing"),
	OPT_FLAG(0, "rebuild", struct index_cmd_opts, rebuild, "make it anew from the sessions"),
	OPT_FLAG(0, "no-archive", struct index_cmd_opts, no_archive,
		"take nothing into the archive"),
	OPT_FLAG(0, "json", struct index_cmd_opts, json, "one JSON object for programs"),
	OPT_END,
};

/* What is shown while it goes on. */
struct watching {
	struct app *app;
	struct term term;
	struct progress progress;
	struct interrupt interrupt;
	struct strv taken; /* paths of what was read */
	struct err store; /* what kept sessions from being read in; code 0: nothing */
};

static void on_progress(void *data, const struct index_progress *p)
{
	struct watching *w = data;

	progress_update(&w->progress, p->bytes_done, p->bytes, clock_age_ms(NULL));
}

static void on_trouble(void *data, const struct err *err)
{
	struct watching *w = data;

	/* That is no trouble of one session. */
	if (err->code == ERR_STORE)
		w->store = *err;
	else
		say_note(w->app->err, "warning: %s; left out", err->msg);
}

static void on_took(void *data, const char *path)
{
	struct watching *w = data;

	strv_add(&w->taken, path);
}

static void on_held(void *data, const char *whom)
{
	const struct watching *w = data;

	say_waiting(w->app->err, whom);
}

static bool is_cancelled(void *data)
{
	struct watching *w = data;

	return interrupt_came(&w->interrupt) != 0;
}

/* What was read is kept as well: an index alone does not bring a session back. */
static void keep_new(struct watching *w, const struct keeper_taking *taking, int64_t begun_ms,
	struct archive_update_stats *ret)
{
	struct keeper keeper = app_keeper(w->app);
	struct err err = ERR_INIT;

	keeper.cancelled = is_cancelled;
	keeper.data = w;
	int r = keeper_archive_new(&keeper, taking, &w->taken, begun_ms, ret, &err);
	if (r == ERR_BUSY)
		say_note(w->app->err, "%s; the next 'faden index' takes there what was read",
			err.msg);
	else if (r < 0)
		say_note(w->app->err, "warning: nothing was archived: %s", err.msg);
	else if (ret->troubles > 0)
		say_note(w->app->err,
			"warning: %zu %s not archived; 'faden archive' says which and why",
			ret->troubles, ret->troubles == 1 ? "file was" : "files were");
}

/* ERR_CANCELLED: Ctrl-C; what was read until then is in the index. */
static int update(struct app *app, const char *dir, const struct index_cmd_opts *given,
	struct index_stats *ret, struct archive_update_stats *ret_kept, struct err *reterr)
{
	const struct term_opts screen = { .fd = STDERR_FILENO, .term_name = env_get("TERM") };
	struct watching w = { .app = app };
	struct keeper_taking taking;
	struct archive archive;
	int64_t begun_ms = clock_wall_ms(&app->clock);
	const struct lock_wait wait = { .held = on_held, .cancelled = is_cancelled, .data = &w };
	const struct index_opts opts = {
		.archive = &archive,
		.result_max = (size_t)app->settings->search_result_kb * 1024,
		.rebuild = given->rebuild,
		.wait = &wait,
		.progress = on_progress,
		.trouble = on_trouble,
		.took = on_took,
		.cancelled = is_cancelled,
		.data = &w,
	};
	int r = interrupt_begin(&w.interrupt, reterr);

	if (r < 0)
		return r;
	term_init(&w.term, &screen);
	progress_init(
		&w.progress, &w.term, SV("Indexing sessions"), PROGRESS_BYTES, clock_age_ms(NULL));
	r = sessions_open(app, reterr);
	archive = app_archive(app);
	const struct keeper keeper = app_keeper(app);
	if (r >= 0)
		r = keeper_archive_begin(&keeper, &taking, reterr);
	if (r >= 0)
		r = index_update(dir, app->store, app->homes, app->n_homes, &opts, ret, reterr);
	progress_release(&w.progress);
	term_release(&w.term);
	if (r >= 0 && !given->no_archive)
		keep_new(&w, &taking, begun_ms, ret_kept);
	strv_release(&w.taken);
	bool cancelled = interrupt_came(&w.interrupt) != 0;
	interrupt_end(&w.interrupt);
	if (r >= 0 && w.store.code)
		return err_set(reterr, w.store.code, "%s; %zu %s left out of the index",
			w.store.msg, ret->troubles,
			ret->troubles == 1 ? "session is" : "sessions are");
	if (r >= 0 && cancelled && ret->left > 0)
		return err_set(reterr, ERR_CANCELLED,
			"interrupted: %zu %s read and kept, %zu left; 'faden index' goes on there",
			ret->read, ret->read == 1 ? "session was" : "sessions were", ret->left);
	return r;
}

static void print_text(struct app *app, const struct index_stats *s,
	const struct archive_update_stats *kept, bool check, int64_t ms)
{
	char size[SIZE_TEXT_MAX], bytes[SIZE_TEXT_MAX];

	size_format(s->index_bytes, size);
	size_format(s->bytes_read, bytes);
	if (check)
		say_line(app->out, "the index is sound: every page and every mark was compared");
	else if (s->read == 0 && s->gone == 0)
		say_line(app->out, "up to date");
	else
		say_line(app->out, "read %zu of %zu session%s (%s, %zu messages) in %.1f s",
			s->read, s->files, s->files == 1 ? "" : "s", bytes, s->documents,
			(double)ms / 1000.0);
	if (kept->taken > 0)
		say_line(app->out, "%zu %s taken into the archive", kept->taken,
			kept->taken == 1 ? "file was" : "files were");
	if (s->gone > s->lost)
		say_line(app->out, "%zu %s gone; what was said there is still found",
			s->gone - s->lost, s->gone - s->lost == 1 ? "session is" : "sessions are");
	if (s->forgotten)
		say_line(app->out, "%zu %s neither there nor in the archive, and %s found no more",
			s->forgotten, s->forgotten == 1 ? "session is" : "sessions are",
			s->forgotten == 1 ? "is" : "are");
	else if (s->lost)
		say_line(app->out,
			"%zu %s gone, and not in the archive: %s words are found, but what was "
			"said there is lost",
			s->lost, s->lost == 1 ? "session is" : "sessions are",
			s->lost == 1 ? "its" : "their");
	say_line(app->out, "%zu session%s, %llu messages, %s in %zu %s", s->sources,
		s->sources == 1 ? "" : "s", (unsigned long long)s->index_documents, size,
		s->segments, s->segments == 1 ? "file" : "files");
}

static void print_json(struct app *app, const char *dir, const struct index_stats *s,
	const struct archive_update_stats *kept, bool check, int64_t ms)
{
	static const char *const anew[] = { [INDEX_NEW] = "new",
		[INDEX_OTHER_VERSION] = "other-version",
		[INDEX_WAS_DAMAGED] = "damaged",
		[INDEX_ASKED] = "asked" };
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	jw_object(&w);
	view_put_text(&w, "path", dir);
	view_put_text(&w, "made_anew", check ? NULL : anew[s->anew]);
	jw_put_bool(&w, "checked", check);
	view_put_count(&w, "files", (int64_t)s->files, !check);
	view_put_count(&w, "files_read", (int64_t)s->read, !check);
	view_put_count(&w, "files_rewritten", (int64_t)s->rewritten, !check);
	view_put_count(&w, "files_gone", (int64_t)s->gone, !check);
	view_put_count(&w, "files_lost", (int64_t)s->lost, !check);
	view_put_count(&w, "files_forgotten", (int64_t)s->forgotten, !check);
	view_put_count(&w, "files_archived", (int64_t)kept->taken, !check);
	view_put_count(&w, "files_failed", (int64_t)s->troubles, !check);
	view_put_count(&w, "read_bytes", (int64_t)s->bytes_read, !check);
	view_put_count(&w, "messages_added", (int64_t)s->documents, !check);
	jw_put_i64(&w, "sources", (int64_t)s->sources);
	jw_put_i64(&w, "messages", (int64_t)s->index_documents);
	jw_put_i64(&w, "segments", (int64_t)s->segments);
	jw_put_i64(&w, "size_bytes", (int64_t)s->index_bytes);
	jw_put_i64(&w, "elapsed_ms", ms);
	jw_end(&w);
	print_doc(app, &out);
}

static int run_index(struct app *app, const void *options, int argc UNUSED, char **argv UNUSED,
	struct err *reterr)
{
	const struct index_cmd_opts *opts = options;
	const char *dir = app->paths.index_dir;
	struct index_stats stats = { .files = 0 };
	int64_t start = clock_age_ms(NULL);

	if (opts->check && opts->rebuild)
		return err_set(reterr, ERR_USAGE, "--check changes nothing; leave out --rebuild");
	struct archive_update_stats kept = { .files = 0 };
	int r = opts->check ? index_check(dir, &stats, reterr)
			    : update(app, dir, opts, &stats, &kept, reterr);
	if (r == SEGMENT_DAMAGED && opts->check) {
		index_blame(dir, reterr);
		char said[ERR_MSG_MAX];
		(void)snprintf(said, sizeof(said), "%s", reterr->msg);
		return err_set(
			reterr, r, "%s; 'faden index' makes it anew from the sessions", said);
	}
	if (r < 0)
		return r;
	fresh_say_anew(app, &stats);
	if (opts->json)
		print_json(app, dir, &stats, &kept, opts->check, clock_age_ms(NULL) - start);
	else
		print_text(app, &stats, &kept, opts->check, clock_age_ms(NULL) - start);
	return 0;
}

const struct cmd cmd_index = {
	.name = "index",
	.group = CMD_GROUP_SESSIONS,
	.summary = "bring the index of all sessions up to date",
	.synopsis = "",
	.opts = index_options,
	.opts_size = sizeof(struct index_cmd_opts),
	.run = run_index,
};
