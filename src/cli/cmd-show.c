/*
 * One session, readable.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/cmd.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "transcript/home.h"
#include "ui/wrap.h"
#include "view/item.h"
#include "view/json.h"

struct show_opts {
	bool raw;
	bool tools;
	bool live;
	bool json;
	long long last;
};

static const struct opt show_options[] = {
	OPT_FLAG(0, "raw", struct show_opts, raw, "the file as it is, line by line"),
	OPT_FLAG('t', "tools", struct show_opts, tools,
		"everything: tools' input and output, thinking, what programs put in"),
	OPT_INT('n', "last", struct show_opts, last, "N", 1, 1000000, "only the last N turns"),
	OPT_FLAG(0, "live", struct show_opts, live,
		"only what the agent would send to the model when it resumes"),
	OPT_FLAG(0, "json", struct show_opts, json, "a JSON object for programs"),
	OPT_END,
};

/* A Codex fork keeps its history in its parent's file: a conversation may lie in several. */
struct part {
	char *path;
	uint64_t offset; /* where to begin, a line */
	uint64_t end; /* where to stop; 0 at the end */
	uint64_t skipped; /* records before offset */
	struct transcript_live live; /* with --live */
};
enum { PARTS_MAX = 16, TITLE_COLUMNS = 76 };

struct show {
	struct app *app;
	const struct show_opts *opts;
	struct resolved of;
	VEC(struct part) parts; /* the latest first */
	size_t first; /* the part to begin with: parts[first] down to parts[0] */
};

/* ---- what to show ---- */

static void show_release(struct show *s)
{
	resolved_release(&s->of);
	vec_each (&s->parts, part) {
		transcript_live_release(&part->live);
		free(part->path);
	}
	vec_release(&s->parts);
}

/* The file that a fork's history begins in; NULL when it is not there any more. */
static char *find_base(const struct show *s, const char *id)
{
	const struct transcript_home *home = app_home(s->app, s->of.row.agent);
	char *path = NULL;

	return !home || transcript_find(home, sv_of(id), &path, NULL) < 0 ? NULL : path;
}

/* The session's file, and for forks those of its ancestors up to where they were left. */
static int find_parts(struct show *s, struct err *reterr)
{
	vec_push(&s->parts, (struct part){ .path = xstrdup(s->of.row.info.path) });
	bool forked = transcript_forks_share(s->of.row.info.format);
	for (size_t i = 0; (forked || s->opts->live) && i < s->parts.n; i++) {
		struct part *part = &s->parts.v[i];
		int rc = transcript_live_until(
			part->path, s->of.row.info.format, part->end, &part->live, reterr);
		if (rc < 0)
			return rc;
		struct part base = { .end = part->live.base_offset };
		if (part->live.base_id[0] && i + 1 < PARTS_MAX)
			base.path = find_base(s, part->live.base_id);
		if (base.path)
			vec_push(&s->parts, base);
	}
	s->first = s->parts.n - 1;
	return 0;
}

struct start {
	uint64_t offset, record;
};

/* The lines of the part that begin a turn. */
typedef VEC(struct start) starts_vec;

static int find_starts(
	const struct show *s, const struct part *part, starts_vec *starts, struct err *reterr)
{
	const struct transcript_read_opts opts = { .end = part->end };
	struct transcript_reader *r = NULL;
	struct item item;
	struct start line = { 0, 0 };
	int rc = transcript_open(part->path, s->of.row.info.format, &opts, &r, reterr);
	while (rc >= 0 && (rc = transcript_next(r, &item, reterr)) > 0) {
		if (item.offset != line.offset)
			line = (struct start){ item.offset, item.record };
		if (item.flags & ITEM_PROMPT && !(item.flags & ITEM_SIDECHAIN))
			vec_push(starts, line);
	}
	transcript_close(r);
	return rc;
}

/* Begins with the N-th prompt from the end. */
static int skip_to_last(struct show *s, struct err *reterr)
{
	size_t left = (size_t)s->opts->last;
	for (size_t i = 0; i < s->parts.n; i++) {
		struct part *part = &s->parts.v[i];
		starts_vec starts = VEC_INIT;
		int rc = find_starts(s, part, &starts, reterr);
		if (rc >= 0 && starts.n >= left) {
			part->offset = starts.v[starts.n - left].offset;
			part->skipped = starts.v[starts.n - left].record;
			s->first = i;
		}
		bool done = starts.n >= left;
		left -= done ? 0 : starts.n;
		vec_release(&starts);
		if (rc < 0 || done)
			return rc;
	}
	return 0;
}

/* ---- ways to show ---- */

typedef void (*show_fn)(struct show *s, const struct item *item, void *data);

static int each_of_part(
	struct show *s, const struct part *part, show_fn fn, void *data, struct err *reterr)
{
	const struct transcript_read_opts opts = {
		.offset = part->offset, .end = part->end, .expand = s->opts->live
	};
	struct transcript_reader *r = NULL;
	struct item item;
	int rc = transcript_open(part->path, s->of.row.info.format, &opts, &r, reterr);
	while (rc >= 0 && !ferror(s->app->out) && (rc = transcript_next(r, &item, reterr)) > 0)
		if (!s->opts->live || transcript_is_live(&part->live, item.record + part->skipped))
			fn(s, &item, data);
	transcript_close(r);
	return rc < 0 ? rc : 0;
}

static int each_item(struct show *s, show_fn fn, void *data, struct err *reterr)
{
	int rc = 0;
	assert(s->parts.v);
	for (size_t i = s->first + 1; rc >= 0 && i-- > 0;)
		rc = each_of_part(s, &s->parts.v[i], fn, data, reterr);
	return rc;
}

struct readable {
	struct term term;
	struct show_state state;
	struct show_style style;
};

static void on_readable(struct show *s, const struct item *item, void *data)
{
	struct readable *r = data;

	(void)s;
	view_item(&r->state, &r->style, &r->term, item);
	print_flush(&r->term);
}

static void print_head(const struct show *s, struct term *t)
{
	const struct session_row *row = &s->of.row;
	char when[CLOCK_TEXT_MAX];
	AUTO_STR title = STR_INIT;
	clock_format_local(row->active_ms, when);
	utf8_fit(&title, sv_of(session_title(row)), TITLE_COLUMNS);
	term_styled(t, STYLE_BOLD, str_sv(&title));
	term_newline(t);
	AUTO_STR line = STR_INIT;
	str_addf(&line, "%s  %s  %s  %lld %s, last %s", row->agent, row->info.id, row->info.cwd,
		(long long)row->info.turns, row->info.turns == 1 ? "turn" : "turns", when);
	wrap_line(t, STYLE_NOTICE, str_sv(&line));
}

static int show_readable(struct show *s, struct err *reterr)
{
	struct readable r = {
		.state = SHOW_STATE_INIT,
		.style = { .agent = s->of.row.agent, .tools = s->opts->tools },
	};
	print_begin(s->app, &r.term);
	print_head(s, &r.term);
	r.state.begun = true;
	int rc = each_item(s, on_readable, &r, reterr);
	show_state_release(&r.state);
	print_end(&r.term);
	return rc;
}

struct as_json {
	struct str out, tmp;
	bool any;
};

static void on_json(struct show *s, const struct item *item, void *data)
{
	struct as_json *j = data;
	str_clear(&j->out);
	struct jw w = JW_INIT(&j->out);
	view_json_item(&w, item, s->opts->live ? 1 : -1, &j->tmp);
	(void)fprintf(s->app->out, "%s\n", j->any ? "," : "");
	(void)fwrite(j->out.buf, 1, j->out.len, s->app->out);
	j->any = true;
}

static int show_json(struct show *s, struct err *reterr)
{
	struct as_json j = { STR_INIT, STR_INIT, false };
	struct jw w = JW_INIT(&j.out);
	const struct session_view view = sessions_view(s->app, &s->of.row);
	view_json_session(&w, &view);
	(void)fprintf(s->app->out, "{\"session\":%s,\"items\":[", j.out.buf);
	int rc = each_item(s, on_json, &j, reterr);
	(void)fputs("\n]}\n", s->app->out);
	str_release(&j.out);
	str_release(&j.tmp);
	return rc;
}

/* One piece of the file; returns how much of it was taken: a character is not torn apart. */
static size_t put_raw(struct app *app, const char *buf, size_t n, bool last)
{
	AUTO_STR clean = STR_INIT;
	enum { CHARACTER_MAX = 4 };
	if (!app->out_tty) {
		(void)fwrite(buf, 1, n, app->out);
		return n;
	}
	struct sv piece = sv_make(buf, n);
	if (!last)
		piece = utf8_cut(piece, n - CHARACTER_MAX);
	utf8_scrub(&clean, piece);
	(void)fwrite(clean.buf, 1, clean.len, app->out);
	return piece.n;
}

/* Bytes as they are; on a terminal what could move the cursor is taken out. */
static int show_raw(struct show *s, struct err *reterr)
{
	enum { PIECE = 64 * 1024 };
	const struct part *part = s->parts.v;
	assert(part && part->path);
	AUTO_CLOSE int fd = open(part->path, O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *buf = xmalloc(PIECE);
	uint64_t at = part->offset;
	ssize_t n = fd < 0 ? -1 : 1;
	while (n > 0 && !ferror(s->app->out)) {
		n = pread(fd, buf, PIECE, (off_t)at);
		if (n > 0)
			at += put_raw(s->app, buf, (size_t)n, n < PIECE);
	}
	return n < 0 ? err_errno(reterr, errno, "%s", part->path) : 0;
}

/* ---- the command ---- */

static int find(struct show *s, int argc, char **argv, struct err *reterr)
{
	int rc = sessions_find(s->app, argc > 0 ? argv[0] : NULL, RESOLVE_HERE, &s->of, reterr);
	if (rc >= 0)
		rc = find_parts(s, reterr);
	if (rc >= 0 && s->opts->last > 0)
		rc = skip_to_last(s, reterr);
	return rc;
}

static int run_show(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	struct show s = { .app = app, .opts = options, .of = RESOLVED_INIT };
	int rc = sessions_open(app, reterr);
	if (rc >= 0)
		rc = find(&s, argc, argv, reterr);
	if (rc >= 0)
		app_pager_begin(app);
	if (rc >= 0 && s.opts->raw)
		rc = show_raw(&s, reterr);
	else if (rc >= 0)
		rc = s.opts->json ? show_json(&s, reterr) : show_readable(&s, reterr);
	show_release(&s);
	return rc;
}

const struct cmd cmd_show = {
	.name = "show",
	.group = CMD_GROUP_SESSIONS,
	.summary = "print a session readably",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.words = CMD_WORDS_SESSION,
	.opts = show_options,
	.opts_size = sizeof(struct show_opts),
	.run = run_show,
};
