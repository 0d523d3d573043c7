/*
 * One session, readable.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/keep.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/sessions.h"
#include "os/path.h"
#include "os/unpack.h"
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

struct show {
	struct app *app;
	const struct show_opts *opts;
	struct resolved of;
	struct conversation conversation;
	struct str version; /* which of those that the archive has; empty: it is the session */
	/* one of these takes the items */
	struct term term;
	struct show_state state;
	struct str json, text; /* of one item */
	bool any; /* an item is there before the next one */
};

static void show_release(struct show *s)
{
	conversation_release(&s->conversation);
	resolved_release(&s->of);
	str_release(&s->version);
	show_state_release(&s->state);
	str_release(&s->json);
	str_release(&s->text);
}

/* ---- ways to show ---- */

static int show_one(void *data, const struct item *item)
{
	struct show *s = data;
	/* The message that is named is shown, whatever it is. */
	const struct show_style style = { .agent = s->of.row.agent,
		.tools =
			s->opts->tools || (s->opts->at && item->offset == s->conversation.offset) };
	FILE *out = s->app->out;

	s->state.turn = s->conversation.turn;
	if (!s->opts->json) {
		view_item(&s->state, &style, &s->term, item);
		print_flush(&s->term);
		return ferror(out) ? 1 : 0;
	}
	str_clear(&s->json);
	struct jw w = JW_INIT(&s->json);
	view_json_item(&w, item, s->opts->live ? 1 : -1, s->conversation.turn, &s->text);
	say_bytes(out, s->any ? SV(",\n") : SV("\n"));
	say_json(out, str_sv(&s->json));
	s->any = true;
	return ferror(out) ? 1 : 0;
}

static int show_items(struct show *s, struct err *reterr)
{
	struct jw w = JW_INIT(&s->json);

	if (s->opts->json) {
		const struct session_view view = sessions_view(s->app, &s->of.row);
		view_json_session(&w, &view);
		say_bytes(s->app->out, SV("{\"session\":"));
		say_json(s->app->out, str_sv(&s->json));
		say_bytes(s->app->out, SV(",\"items\":["));
	} else {
		print_begin(s->app, &s->term);
		if (s->version.len > 0) {
			term_styled(&s->term, STYLE_NOTICE, str_sv(&s->version));
			term_newline(&s->term);
		}
		view_session(&s->term, &s->of.row);
		s->state.begun = true;
	}
	int r = conversation_each(&s->conversation, show_one, s, reterr);
	if (s->opts->json)
		say_bytes(s->app->out, SV("\n]}\n"));
	else
		print_end(&s->term);
	sessions_warn_passed(s->app, &s->conversation.passed, "is passed over");
	return r < 0 ? r : 0;
}

/* Bytes as they are; on a terminal what could move the cursor is taken out. */
static int show_raw(const struct show *s, struct err *reterr)
{
	enum { PIECE = 64 * 1024, CHARACTER_MAX = 4 };
	const struct conversation *c = &s->conversation;
	const size_t own = c->parts.v.n - 1;
	FILE *out = s->app->out;

	assert(c->parts.v.n > 0);
	const char *path = c->parts.v.v[own].path;
	AUTO_CLOSE int fd = unpack_open(path, NULL, reterr);
	AUTO_FREE char *buf = xmalloc(PIECE);
	uint64_t at = c->first == own ? c->offset : 0;
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
	return n < 0 ? err_errno(reterr, errno, "%s", path) : 0;
}

/* A run is read as it is exported. */
static int show_run(
	struct app *app, const struct show_opts *opts, const char *path, struct err *reterr)
{
	const struct cmd *export = cmd_find(SV("export"));
	const char *words[] = { path, "--format", opts->json ? "json" : "text" };
	AUTO_STRV argv = STRV_INIT;

	if (!export || opts->raw || opts->tools || opts->live || opts->last > 0 || opts->at)
		return err_set(reterr, ERR_USAGE, "%s is for sessions; %s is a run of the pair",
			opts->raw	      ? "--raw"
				: opts->tools ? "--tools"
				: opts->live  ? "--live"
				: opts->at    ? "--at"
					      : "--last",
			path);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		strv_add(&argv, words[i]);
	app_pager_begin(app);
	return cmd_call(app, export, (int)argv.n, argv.v, reterr);
}

/* A session that was torn or overwritten shows what is left; the archive may have all of it. */
static void say_more(struct app *app, const struct session_row *row)
{
	if (!row->gone && !app->forgets)
		keeping_say_if_torn(app, row->info.id, row->info.path);
}

/* ---- one version of those that the archive has ---- */

struct versions {
	const struct kept *kept;
	size_t n, place; /* of the file's versions, by age */
	bool older; /* another one is what the file was last */
	int64_t taken_ms;
};

static int on_version(void *data, const struct archive_file *file)
{
	struct versions *v = data;

	if (strcmp(file->path, v->kept->path) != 0)
		return 0;
	v->n++;
	bool same = strcmp(file->key, v->kept->key) == 0;
	if (!file->superseded)
		v->older = !same;
	if (same) {
		v->place = v->n;
		v->taken_ms = file->kept_ms;
	}
	return 0;
}

static int name_version(struct show *s, const struct kept *kept, struct err *reterr)
{
	const struct archive archive = app_archive(s->app);
	const struct archive_query query = { .session = kept->session };
	struct versions v = { .kept = kept, .older = true };
	char taken[CLOCK_TEXT_MAX];
	int r = archive_each(&archive, &query, on_version, &v, reterr);

	if (r < 0)
		return r;
	clock_format_local(v.taken_ms, taken);
	str_addf(&s->version, "%s of the archive, taken %s",
		v.n == 1	  ? "the only version"
			: v.older ? "an older version"
				  : "the newest version",
		taken);
	if (v.n > 1)
		str_addf(&s->version, " (%zu of %zu: faden archive list %s)", v.place, v.n,
			kept->session);
	return 0;
}

static int take_version(struct show *s, const struct kept *kept, struct err *reterr)
{
	const struct keeper keeper = app_keeper(s->app);
	const struct archive archive = app_archive(s->app);
	struct session_row *row = &s->of.row;
	AUTO_CLOSE int fd = -1;
	struct stat st;
	const struct transcript_home *home =
		transcript_home_of(s->app->homes, s->app->n_homes, kept->path);

	if (!home || keeper_beside(&keeper, kept->path) ||
		!sv_ends(unpack_plain(sv_of(kept->path)), SV(".jsonl")))
		return err_set(reterr, ERR_INPUT,
			"%s is not a session: 'faden archive export %s' writes it", kept->key,
			kept->key);
	int r = archive_open(&archive, kept->key, &fd, &(uint64_t){ 0 }, reterr);
	if (r >= 0 && fstat(fd, &st) < 0)
		r = err_errno(reterr, errno, "stat %s", kept->key);
	if (r < 0)
		return r;
	resolved_release(&s->of);
	s->of = (struct resolved)RESOLVED_INIT;
	session_info_init(&row->info, home->format, kept->path);
	row->agent = xstrdup(home->agent);
	row->own_name = xstrdup("");
	row->gone = true;
	s->of.kept = xstrdup(kept->key);
	r = transcript_scan(fd, (uint64_t)st.st_size, &row->info, reterr);
	row->active_ms = row->info.last_ms;
	return r < 0 ? r : name_version(s, kept, reterr);
}

/* A message that a torn file has lost, as search finds it: it stands in the copy. ERR_NOTFOUND
 * without a message: there is none that has more. */
static int find_lost(struct show *s, struct err *reterr)
{
	const struct keeper keeper = app_keeper(s->app);
	CLEANUP(kept_vec_release) kept_vec torn = VEC_INIT;
	AUTO_FREE char *path = xstrdup(s->of.row.info.path);
	AUTO_FREE char *id = xstrdup(s->of.row.info.id);

	if (s->of.row.gone || kept_torn(&keeper, id, &torn, NULL) < 0)
		return ERR_NOTFOUND;
	vec_each (&torn, one) {
		if (strcmp(one->path, path) != 0)
			continue;
		keeping_say_torn(s->app, &(const kept_vec){ .v = one, .n = 1 });
		return take_version(s, one, reterr);
	}
	return ERR_NOTFOUND;
}

/* By its key, as 'archive list' has it. ERR_NOTFOUND without a message: none has it. */
static int find_version(struct show *s, const char *spec, struct err *reterr)
{
	const struct keeper keeper = app_keeper(s->app);
	CLEANUP(kept_release) struct kept kept = KEPT_INIT;
	int r = kept_by_key(&keeper, spec, &kept, reterr);

	return r < 0 ? r : take_version(s, &kept, reterr);
}

/* By the path that it had, as search names what a sub-agent did. ERR_NOTFOUND: none lay there. */
static int find_by_path(struct show *s, const char *spec, struct err *reterr)
{
	const struct keeper keeper = app_keeper(s->app);
	const struct archive archive = app_archive(s->app);
	CLEANUP(kept_release) struct kept kept = KEPT_INIT;
	AUTO_FREE char *lay = path_real_gone(spec);
	char key[ARCHIVE_KEY_MAX];

	if (!strchr(spec, '/') || !sv_ends(unpack_plain(sv_of(spec)), SV(".jsonl")) ||
		path_exists(spec))
		return ERR_NOTFOUND;
	int r = archive_find(&archive, lay, key, reterr);
	if (r >= 0)
		r = kept_by_key(&keeper, key, &kept, reterr);
	if (r < 0)
		return r;
	/* Sub-agents of two sessions may be called the same. */
	return strcmp(kept.path, lay) == 0 ? take_version(s, &kept, reterr) : ERR_NOTFOUND;
}

/* A whole key is never anything else; the end of one may be the beginning of an id. */
static bool is_whole_key(const char *spec)
{
	size_t n = strlen(spec);

	return n > ARCHIVE_KEY_END + 1 && n < ARCHIVE_KEY_MAX &&
		spec[n - ARCHIVE_KEY_END - 1] == '.' && !strchr(spec, '/') &&
		!sv_ends(sv_of(spec), SV(".jsonl"));
}

static int find_session(struct show *s, const char *spec, struct err *reterr)
{
	struct err err = ERR_INIT;
	int r = spec && is_whole_key(spec) ? find_version(s, spec, reterr) : ERR_NOTFOUND;

	if (r != ERR_NOTFOUND)
		return r;
	r = sessions_find(s->app, spec, RESOLVE_HERE | RESOLVE_GONE, &s->of, &err);
	if (r == ERR_NOTFOUND && spec) {
		int found = strlen(spec) == ARCHIVE_KEY_END ? find_version(s, spec, reterr)
							    : find_by_path(s, spec, reterr);
		if (found != ERR_NOTFOUND)
			return found;
	}
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}

/* ---- the command ---- */

static int run_show(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(show_release)
	struct show s = { .app = app,
		.opts = options,
		.of = RESOLVED_INIT,
		.conversation = CONVERSATION_INIT,
		.version = STR_INIT,
		.state = SHOW_STATE_INIT,
		.json = STR_INIT,
		.text = STR_INIT };
	const struct conversation_opts opts = {
		.live = s.opts->live, .last = s.opts->last, .at = s.opts->at
	};
	int r = sessions_open(app, reterr);

	if (s.opts->at && s.opts->last > 0)
		return err_set(reterr, ERR_USAGE, "--at and --last: one of them");
	if (r >= 0)
		r = find_session(&s, argc > 0 ? argv[0] : NULL, reterr);
	AUTO_RUN_NAMED run = RUN_NAMED_INIT;
	if (run_find(app, r, argc > 0 ? argv[0] : NULL, &run))
		return show_run(app, s.opts, run.row->path, reterr);
	if (r >= 0) {
		r = sessions_read(app, &s.of, &opts, &s.conversation, reterr);
		if (r == ERR_NOTFOUND && s.opts->at && find_lost(&s, reterr) >= 0) {
			conversation_release(&s.conversation);
			s.conversation = (struct conversation)CONVERSATION_INIT;
			r = sessions_read(app, &s.of, &opts, &s.conversation, reterr);
		}
	}
	if (r < 0)
		return r;
	say_more(app, &s.of.row);
	if (s.version.len > 0 && (s.opts->raw || s.opts->json))
		say_note(app->err, "%s", s.version.buf);
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
