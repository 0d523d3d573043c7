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
#include "os/path.h"
#include "os/unpack.h"
#include "transcript/home.h"
#include "view/item.h"
#include "view/json.h"

struct show_opts {
	bool raw;
	bool tools;
	bool live;
	bool json;
	long long last;
	const char *at;
};

static const struct opt show_options[] = {
	OPT_FLAG(0, "raw", struct show_opts, raw, "the file as it is, line by line"),
	OPT_FLAG('t', "tools", struct show_opts, tools,
		"everything: tools' input and output, thinking, what programs put in"),
	OPT_INT('n', "last", struct show_opts, last, "N", 1, 1000000, "only the last N turns"),
	OPT_STRING(0, "at", struct show_opts, at, "MESSAGE",
		"from this message on: the number that search gives, or its uuid"),
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
enum { PARTS_MAX = 16 };

struct show {
	struct app *app;
	const struct show_opts *opts;
	struct resolved of;
	int kept; /* what the archive has of a session that is gone; -1: it is there */
	char *kept_path; /* … and a name for it */
	VEC(struct part) parts; /* the latest first */
	size_t first; /* the part to begin with: parts[first] down to parts[0] */
	/* one of these takes the items */
	struct term term;
	struct show_state state;
	struct str json, text; /* of one item */
	bool any; /* an item is there before the next one */
	struct passed passed;
};

/* ---- what to show ---- */

static void show_release(struct show *s)
{
	if (s->kept >= 0)
		(void)close(s->kept);
	free(s->kept_path);
	resolved_release(&s->of);
	vec_each (&s->parts, part) {
		transcript_live_release(&part->live);
		free(part->path);
	}
	vec_release(&s->parts);
	show_state_release(&s->state);
	str_release(&s->json);
	str_release(&s->text);
}

/* One that is gone is read from the archive, by the name that an open file has. */
static int open_kept(struct show *s, struct err *reterr)
{
	const struct archive archive = app_archive(s->app);
	struct session_info *info = &s->of.row.info;
	uint64_t lost = 0;

	if (!s->of.row.gone)
		return 0;
	AUTO_FREE char *path = path_show(info->path, s->app->paths.home);
	if (!s->of.kept)
		return err_set(reterr, ERR_NOTFOUND,
			"the file of session %s is gone%s%s%s; the archive has no copy of it",
			info->id, path[0] ? " (" : "", path, path[0] ? ")" : "");
	int r = archive_open(&archive, s->of.kept, &s->kept, &lost, reterr);
	if (r < 0)
		return r;
	if (lost > 0)
		say_note(s->app->err, "warning: %llu bytes are damaged in the archive and left out",
			(unsigned long long)lost);
	s->kept_path = xasprintf("/proc/self/fd/%d", s->kept);
	return transcript_probe(s->kept_path, &info->format, reterr);
}

/* The session's file, and for forks those of its ancestors up to where they were left. */
static int find_parts(struct show *s, struct err *reterr)
{
	const struct transcript_home *home = app_home(s->app, s->of.row.agent);
	const struct transcript_format *format = s->of.row.info.format;
	bool several = transcript_forks_share(format);
	const char *path = s->kept_path ? s->kept_path : s->of.row.info.path;

	vec_push(&s->parts, (struct part){ .path = xstrdup(path) });
	for (size_t i = 0; (several || s->opts->live) && i < s->parts.n; i++) {
		struct part *part = &s->parts.v[i];
		int r = transcript_live_until(part->path, format, part->end, &part->live, reterr);
		if (r < 0)
			return r;
		/* A base that is not there any more is left out. */
		struct part base = { .end = part->live.base_offset };
		if (part->live.base_id[0] && i + 1 < PARTS_MAX && home &&
			transcript_find(home, sv_of(part->live.base_id), &base.path, NULL) >= 0 &&
			base.path)
			vec_push(&s->parts, base);
	}
	s->first = s->parts.n - 1;
	return 0;
}

/* A line that begins a turn. */
struct start {
	uint64_t offset, record;
};
typedef VEC(struct start) starts_vec;

static int find_starts(
	const struct show *s, const struct part *part, starts_vec *starts, struct err *reterr)
{
	const struct transcript_read_opts opts = { .end = part->end };
	struct transcript_reader *reader = NULL;
	struct item item;
	struct start line = { 0, 0 };
	int r = transcript_open(part->path, s->of.row.info.format, &opts, &reader, reterr);

	while (r >= 0 && (r = transcript_next(reader, &item, reterr)) > 0) {
		if (item.offset != line.offset)
			line = (struct start){ item.offset, item.record };
		if (item.flags & ITEM_PROMPT && !(item.flags & ITEM_SIDECHAIN))
			vec_push(starts, line);
	}
	transcript_close(reader);
	return r;
}

/* Begins with the N-th prompt from the end. */
static int skip_to_last(struct show *s, struct err *reterr)
{
	size_t left = (size_t)s->opts->last;

	for (size_t i = 0; i < s->parts.n; i++) {
		struct part *part = &s->parts.v[i];
		starts_vec starts = VEC_INIT;
		int r = find_starts(s, part, &starts, reterr);
		bool done = starts.n >= left;
		if (r >= 0 && done) {
			part->offset = starts.v[starts.n - left].offset;
			part->skipped = starts.v[starts.n - left].record;
			s->first = i;
		}
		left -= done ? 0 : starts.n;
		vec_release(&starts);
		if (r < 0 || done)
			return r;
	}
	return 0;
}

/* Begins with the message that --at names: where its line begins, or what its uuid begins with. */
static int skip_to(struct show *s, struct err *reterr)
{
	struct part *part = &s->parts.v[0];
	const struct transcript_read_opts opts = { .end = part->end };
	struct transcript_reader *reader = NULL;
	struct sv at = sv_of(s->opts->at);
	long long offset = -1;
	struct item item;
	bool found = false, number = sv_parse_i64(at, &offset);
	int r = transcript_open(part->path, s->of.row.info.format, &opts, &reader, reterr);

	while (r >= 0 && !found && (r = transcript_next(reader, &item, reterr)) > 0)
		found = number ? item.offset == (uint64_t)offset
			       : at.n > 0 && sv_starts(item.uuid, at);
	if (found) {
		part->offset = item.offset;
		part->skipped = item.record;
		s->first = 0;
	}
	transcript_close(reader);
	if (r < 0 || found)
		return r < 0 ? r : 0;
	return err_set(reterr, ERR_NOTFOUND,
		"--at %s: no message of this session; 'faden search' and 'faden show --json' "
		"name them",
		s->opts->at);
}

/* ---- ways to show ---- */

static void show_one(struct show *s, const struct item *item)
{
	const struct show_style style = { .agent = s->of.row.agent, .tools = s->opts->tools };
	FILE *out = s->app->out;

	if (!s->opts->json) {
		view_item(&s->state, &style, &s->term, item);
		print_flush(&s->term);
		return;
	}
	str_clear(&s->json);
	struct jw w = JW_INIT(&s->json);
	view_json_item(&w, item, s->opts->live ? 1 : -1, &s->text);
	say_bytes(out, s->any ? SV(",\n") : SV("\n"));
	say_json(out, str_sv(&s->json));
	s->any = true;
}

static int show_part(struct show *s, const struct part *part, struct err *reterr)
{
	const struct transcript_read_opts opts = {
		.offset = part->offset, .end = part->end, .expand = s->opts->live
	};
	struct transcript_reader *reader = NULL;
	struct item item;
	int r = transcript_open(part->path, s->of.row.info.format, &opts, &reader, reterr);

	while (r >= 0 && !ferror(s->app->out) && (r = transcript_next(reader, &item, reterr)) > 0) {
		if (item.flags & ITEM_OVERSIZE)
			passed_add(&s->passed, item.line);
		if (!s->opts->live || transcript_is_live(&part->live, item.record + part->skipped))
			show_one(s, &item);
	}
	transcript_close(reader);
	return r < 0 ? r : 0;
}

static int show_items(struct show *s, struct err *reterr)
{
	struct jw w = JW_INIT(&s->json);
	int r = 0;

	if (s->opts->json) {
		const struct session_view view = sessions_view(s->app, &s->of.row);
		view_json_session(&w, &view);
		say_bytes(s->app->out, SV("{\"session\":"));
		say_json(s->app->out, str_sv(&s->json));
		say_bytes(s->app->out, SV(",\"items\":["));
	} else {
		print_begin(s->app, &s->term);
		view_session(&s->term, &s->of.row);
		s->state.begun = true;
	}
	assert(s->parts.v);
	for (size_t i = s->first + 1; r >= 0 && i-- > 0;)
		r = show_part(s, &s->parts.v[i], reterr);
	if (s->opts->json)
		say_bytes(s->app->out, SV("\n]}\n"));
	else
		print_end(&s->term);
	sessions_warn_passed(s->app, &s->passed, "is passed over");
	return r;
}

/* Bytes as they are; on a terminal what could move the cursor is taken out. */
static int show_raw(const struct show *s, struct err *reterr)
{
	enum { PIECE = 64 * 1024, CHARACTER_MAX = 4 };
	const struct part *part = s->parts.v;
	FILE *out = s->app->out;

	assert(part && part->path);
	AUTO_CLOSE int fd = unpack_open(part->path, NULL, reterr);
	AUTO_FREE char *buf = xmalloc(PIECE);
	uint64_t at = part->offset;
	ssize_t n = 1;

	if (fd < 0)
		return fd;
	while (n > 0 && !ferror(out) && (n = pread(fd, buf, PIECE, (off_t)at)) > 0) {
		struct sv piece = sv_make(buf, (size_t)n);
		AUTO_STR clean = STR_INIT;
		if (s->app->out_tty) {
			/* A character is not torn apart. */
			if (n == PIECE)
				piece = utf8_cut(piece, piece.n - CHARACTER_MAX);
			utf8_scrub(&clean, piece);
		}
		at += piece.n;
		if (s->app->out_tty)
			piece = str_sv(&clean);
		say_bytes(out, piece);
	}
	return n < 0 ? err_errno(reterr, errno, "%s", part->path) : 0;
}

/* ---- the command ---- */

static int run_show(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(show_release)
	struct show s = { .app = app,
		.opts = options,
		.of = RESOLVED_INIT,
		.kept = -1,
		.state = SHOW_STATE_INIT,
		.json = STR_INIT,
		.text = STR_INIT };
	int r = sessions_open(app, reterr);

	if (s.opts->at && s.opts->last > 0)
		return err_set(reterr, ERR_USAGE, "--at and --last: one of them");
	if (r >= 0)
		r = sessions_find(
			app, argc > 0 ? argv[0] : NULL, RESOLVE_HERE | RESOLVE_GONE, &s.of, reterr);
	if (r >= 0)
		r = open_kept(&s, reterr);
	if (r >= 0)
		r = find_parts(&s, reterr);
	if (r >= 0 && s.opts->last > 0)
		r = skip_to_last(&s, reterr);
	if (r >= 0 && s.opts->at)
		r = skip_to(&s, reterr);
	if (r < 0)
		return r;
	app_pager_begin(app);
	return s.opts->raw ? show_raw(&s, reterr) : show_items(&s, reterr);
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
