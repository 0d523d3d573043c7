/*
 * What was said in all sessions, found by its words.
 */
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "assist/kit.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/fresh.h"
#include "cli/keep.h"
#include "cli/pick.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "config/settings.h"
#include "os/path.h"
#include "os/pool.h"
#include "os/unpack.h"
#include "search/find.h"
#include "search/snippet.h"
#include "store/project.h"
#include "view/hit.h"

struct search_cmd_opts {
	long long limit;
	bool sessions;
	bool here;
	bool all;
	const char *agent;
	bool thinking;
	bool unaccented;
	bool json;
};

static const struct opt search_options[] = {
	OPT_INT('n', "limit", struct search_cmd_opts, limit, "N", 1, RANK_MAX,
		"at most this many results; 10 else"),
	OPT_FLAG('s', "sessions", struct search_cmd_opts, sessions,
		"one result a session: its best message"),
	OPT_FLAG(0, "here", struct search_cmd_opts, here, "only sessions of this project"),
	OPT_FLAG('a', "all", struct search_cmd_opts, all, "sessions of every folder (the default)"),
	OPT_AGENT(struct search_cmd_opts, agent, agent_keeps_sessions,
		"only sessions of one agent: @"),
	OPT_FLAG(0, "thinking", struct search_cmd_opts, thinking, "also what the agent thought"),
	OPT_FLAG(0, "unaccented", struct search_cmd_opts, unaccented,
		"letters with marks are found without them: café by cafe"),
	OPT_FLAG(0, "json", struct search_cmd_opts, json, "a JSON array for programs"),
	OPT_END,
};

struct search {
	struct app *app;
	const struct search_cmd_opts *opts;
	struct str typed;
	struct query query;
	struct fresh fresh;
	struct strv dirs; /* of --here */
	struct find_opts how;
	struct find_result found;
	struct shown *shown; /* a hit; while they are shown */
	size_t columns; /* of a snippet */
	struct err unread; /* why the archive cannot be read; code 0: it can, or nobody asked */
	struct project project; /* of this folder, once it was asked for */
	int64_t now_ms;
};

static void search_release(struct search *s)
{
	str_release(&s->typed);
	query_release(&s->query);
	find_result_release(&s->found);
	strv_release(&s->dirs);
	fresh_release(&s->fresh);
	project_release(&s->project);
}

/* ---- the question ---- */

/* Why there is nothing to look for. */
static int say_empty(const struct search *s, struct err *reterr)
{
	struct sv rest = sv_trim(str_sv(&s->typed)), token;

	if (rest.n == 0)
		return err_set(reterr, ERR_USAGE, "nothing to look for: faden search WORDS…");
	if (s->query.parts.n > 0)
		return err_set(reterr, ERR_USAGE,
			"only what must not be there was said; add a word to look for");
	while (sv_split(&rest, ' ', &token))
		if (token.n > WORD_MAX)
			return err_set(reterr, ERR_USAGE,
				"the word is too long: the index has those of up to %d bytes",
				WORD_MAX);
	return err_set(reterr, ERR_USAGE, "%s: there is no word in it, and signs are not indexed",
		s->typed.buf);
}

/* C++ and C# are told from C by signs alone. */
static void note_signs(const struct search *s)
{
	struct sv rest = str_sv(&s->typed), token;

	while (sv_split(&rest, ' ', &token)) {
		struct word_walk walk;
		struct word_at word;
		words_begin(&walk, token);
		if (!words_next(&walk, &word))
			continue;
		struct sv behind = sv_from(token, word.from + word.size);
		bool sharp = sv_starts(behind, SV("#")) &&
			(behind.n == 1 || strchr(".,;:?!)\"'", behind.p[1]));
		if (!sharp && !sv_starts(behind, SV("++")))
			continue;
		say_note(s->app->err, "signs are not indexed: %.*s is looked for as %.*s",
			SV_ARG(token), SV_ARG(word.text));
	}
}

static int take_words(struct search *s, int argc, char **argv, struct err *reterr)
{
	const struct query_context context = {
		.now_ms = s->now_ms, .home = s->app->paths.home, .cwd = s->app->cwd
	};

	if (s->opts->agent)
		str_addf(&s->typed, "agent:\"%s\" ", s->opts->agent);
	for (int i = 0; i < argc; i++)
		str_addf(&s->typed, "%s%s", i ? " " : "", argv[i]);
	int r = query_parse(str_sv(&s->typed), &context, &s->query, reterr);
	if (r >= 0 && query_empty(&s->query))
		return say_empty(s, reterr);
	if (r >= 0)
		note_signs(s);
	if (r >= 0 && s->query.passed > 0)
		say_note(s->app->err, "only the first %d words count, %zu are left out",
			QUERY_PARTS_MAX, s->query.passed);
	return r;
}

/* The tops of this project, wherever it lies or lay. */
static int find_here(struct search *s, struct strv *dirs, struct err *reterr)
{
	AUTO_FREE char *here = NULL;

	/* What cannot be noted is as it was. */
	(void)!project_note_changed(s->app->store, NULL);
	int r = s->project.top ? 0 : kit_dir(s->app->settings, s->app->cwd, &here, reterr);
	if (here)
		r = project_find(s->app->store, here, &s->project, reterr);
	if (r < 0)
		return r;
	strv_add(dirs, s->project.top);
	vec_each (&s->project.places, place)
		strv_add(dirs, place->top);
	return 0;
}

static int ask(struct search *s, struct err *reterr)
{
	s->how = (struct find_opts){
		.n = s->opts->limit > 0 ? (size_t)s->opts->limit : RANK_DEFAULT,
		.sessions = s->opts->sessions || s->query.dated,
		.thinking = s->opts->thinking,
		.unmarked = s->opts->unaccented,
		.now_ms = s->now_ms,
		.dirs = (const char *const *)s->dirs.v,
		.n_dirs = s->dirs.n,
	};
	return find(s->fresh.view, &s->query, &s->how, &s->found, reterr);
}

/* Asked while all sessions are looked at. That nothing is found is said when all were; else what is
 * found does not wait for long. */
static int ask_fresh(struct search *s, struct err *reterr)
{
	int r = fresh_view_said(s->app, &s->fresh, reterr);

	if (r >= 0)
		r = ask(s, reterr);
	if (r < 0 || !fresh_rest_said(s->app, &s->fresh, s->found.hits.n == 0))
		return r;
	find_result_release(&s->found);
	s->found = (struct find_result)FIND_RESULT_INIT;
	return ask(s, reterr);
}

/* Whether more is found so. */
static bool would_find(struct search *s, bool unmarked, bool thinking)
{
	struct find_result found = FIND_RESULT_INIT;
	struct find_opts how = s->how;

	how.n = 1;
	how.unmarked |= unmarked;
	how.thinking |= thinking;
	if (find(s->fresh.view, &s->query, &how, &found, NULL) < 0)
		return false;
	bool any = found.hits.n > 0;
	find_result_release(&found);
	return any;
}

/* ---- the answer ---- */

struct named {
	struct str title;
	int64_t active_ms;
};

static int on_session(void *data, const struct session_row *row)
{
	struct named *named = data;

	str_adds(&named->title, session_title(row));
	named->active_ms = row->active_ms;
	return 1;
}

/* What the session of a hit is called, and when it was active: by the catalogue, else as far as the
 * index has it. */
static void name_session(struct search *s, const struct index_source *source, struct named *ret)
{
	const struct catalogue_query query = { .id = source->session,
		.agent = source->agent,
		.subagents = true,
		.empty = true,
		.gone = true,
		.limit = 1 };

	if (catalogue_query(s->app->store, &query, on_session, ret, NULL) <= 0)
		str_adds(&ret->title, source->name[0] ? source->name : source->session);
}

/* Sessions of one id. */
struct twins {
	const struct index_source *source;
	char *path; /* of the one that the source is of */
	size_t n; /* that are there */
};

static int on_twin(void *data, const struct session_row *row)
{
	struct twins *t = data;
	struct sv plain = unpack_plain(sv_of(row->info.path));

	if (!path_exists(row->info.path))
		return 0;
	t->n++;
	/* What a sub-agent did lies below it. */
	if (sv_ends(plain, SV(".jsonl")))
		plain = sv_head(plain, plain.n - strlen(".jsonl"));
	if (!t->path && sv_starts(sv_of(t->source->path), plain))
		t->path = xstrdup(row->info.path);
	return 0;
}

/* The path of a session whose id several have, so that the id does not tell; else NULL. */
static char *name_by_path(struct search *s, const struct index_source *source)
{
	const struct catalogue_query query = {
		.id = source->session, .subagents = true, .empty = true
	};
	struct twins twins = { .source = source };

	if (catalogue_query(s->app->store, &query, on_twin, &twins, NULL) < 0 || twins.n < 2)
		free(TAKE_PTR(twins.path));
	return twins.path;
}

/* What is shown of a hit. */
struct shown {
	struct snippet snippet;
	struct str tool;
	bool done;
	bool kept; /* from the archive's copy */
	bool lost; /* the archive has no copy */
};

static int read_hit(struct search *s, size_t i, const char *path, struct err *reterr)
{
	const struct found_hit *hit = &s->found.hits.v[i];
	struct shown *shown = &s->shown[i];
	size_t max = (size_t)s->app->settings->search_result_kb * 1024;
	const struct archive archive = app_archive(s->app);
	struct index_beside beside = {
		.path = hit->source.path, .archive = &archive, .spilled = STR_INIT
	};
	int r = snippet_read(path, hit->source.format, &hit->hit, &beside, &s->query,
		&s->found.marks, max, s->columns, &shown->snippet, &shown->tool, reterr);

	str_release(&beside.spilled);
	shown->done = r >= 0;
	return r;
}

/* From its file, on any thread. */
static int look_up(void *data, size_t i, unsigned worker UNUSED, struct err *reterr UNUSED)
{
	struct search *s = data;
	const struct index_source *source = &s->found.hits.v[i].source;

	if (s->found.hits.v[i].hit.at.kind != DOC_SESSION)
		(void)read_hit(s, i, source->path, NULL);
	return 0;
}

/* From the archive's copy: of that what is around the hit, and all of it only where a line is that
 * long. */
static void look_at_copy(struct search *s, size_t i)
{
	enum { CALLS = 1024 * 1024, AROUND = 256 * 1024 };
	const struct archive archive = app_archive(s->app);
	const struct found_hit *hit = &s->found.hits.v[i];
	const char *path = hit->source.path;
	struct shown *shown = &s->shown[i];
	/* The call of a result stands before it. */
	uint64_t at = hit->hit.at.offset, before = hit->hit.at.kind == DOC_RESULT ? CALLS : 0;
	uint64_t from = at > before ? at - before : 0, size = at - from + AROUND, lost = 0;
	char key[ARCHIVE_KEY_MAX];
	bool there = path_exists(path);
	bool damaged = false;
	struct err err = ERR_INIT;
	int found = archive_find(&archive, path, key, &err);

	if (found < 0 && found != ERR_NOTFOUND) {
		s->unread = err;
		str_adds(&shown->snippet.line, "(the archive cannot be read now)");
		return;
	}
	if (found < 0) {
		shown->lost = true;
		str_adds(&shown->snippet.line,
			there ? "(the message is not there any more)"
			      : "(only the index is left of it, which has the words but not the "
				"message)");
		return;
	}
	for (int try = 0; try < 2 && !shown->done; try++) {
		AUTO_CLOSE int fd = -1;
		int r = archive_open_part(&archive, key, (int64_t)from, size, &fd, &lost, NULL);
		damaged = r == ERR_INPUT || lost > 0;
		AUTO_FREE char *name = xasprintf("/proc/self/fd/%d", fd);
		shown->kept = r >= 0 && read_hit(s, i, name, NULL) >= 0;
		from = 0;
		size = UINT64_MAX;
	}
	if (shown->done)
		return;
	if (damaged)
		str_adds(&shown->snippet.line,
			"(what the archive has of it is damaged: 'faden archive verify')");
	else
		str_adds(&shown->snippet.line, "(the message is not there any more)");
}

/* What is not in its file: names have none, and of one that is gone the archive has a copy. */
static void look_elsewhere(struct search *s, size_t i)
{
	const struct found_hit *hit = &s->found.hits.v[i];
	const struct index_source *source = &hit->source;
	struct shown *shown = &s->shown[i];
	AUTO_STR text = STR_INIT;

	if (hit->hit.at.kind == DOC_SESSION) {
		struct named named = { .title = STR_INIT };
		AUTO_FREE char *dir = path_show(source->cwd, s->app->paths.home);
		name_session(s, source, &named);
		const char *const texts[] = { source->name[0] ? source->name : named.title.buf,
			source->cwd[0] ? dir : "", source->branch };
		for (size_t k = 0; k < ARRAY_LEN(texts); k++)
			if (texts[k][0])
				str_addf(&text, "%s%s", text.len > 0 ? "  " : "", texts[k]);
		str_release(&named.title);
		(void)snippet_make(str_sv(&text), &s->query, &s->found.marks, &hit->hit, s->columns,
			&shown->snippet);
		return;
	}
	look_at_copy(s, i);
}

static void show_hit(struct search *s, size_t i, struct term *t)
{
	struct found_hit *hit = &s->found.hits.v[i];
	struct named named = { .title = STR_INIT };
	AUTO_STR json = STR_INIT;

	/* It may have gone since the index was told, or come back. */
	const struct archive archive = app_archive(s->app);
	char key[ARCHIVE_KEY_MAX];
	AUTO_FREE char *where = unpack_where(hit->source.path);
	bool silent = where &&
		transcript_fell_silent(where,
			hit->source.size > hit->source.offset ? hit->source.size
							      : hit->source.offset);
	hit->source.gone = !where || silent;
	AUTO_FREE char *path = hit->source.gone ? NULL : name_by_path(s, &hit->source);
	name_session(s, &hit->source, &named);
	const struct hit_view view = { .found = hit,
		.path = path,
		.snippet = &s->shown[i].snippet,
		.now_ms = s->now_ms,
		.home = s->app->paths.home,
		.title = named.title.buf,
		.active_ms = named.active_ms,
		.lost = hit->source.gone &&
			(s->shown[i].lost ||
				(hit->hit.at.kind == DOC_SESSION &&
					archive_find(&archive, hit->source.path, key, NULL) ==
						ERR_NOTFOUND)),
		.silent = silent,
		.moved_here = sessions_moved_here(s->app, &s->project, hit->source.cwd),
		.tool = s->shown[i].tool.buf };
	if (t) {
		if (i > 0)
			term_newline(t);
		view_hit(t, &view);
	} else {
		struct jw w = JW_INIT(&json);
		view_json_hit(&w, &view);
		say_bytes(s->app->out, i == 0 ? SV("[\n") : SV(",\n"));
		say_json(s->app->out, str_sv(&json));
	}
	str_release(&named.title);
}

/* Files that are there without what was found in their copies: once each. */
static void say_torn(const struct search *s)
{
	for (size_t i = 0; i < s->found.hits.n; i++) {
		const struct found_hit *hit = &s->found.hits.v[i];
		bool told = hit->source.gone || !s->shown[i].kept;
		for (size_t k = 0; k < i && !told; k++)
			told = s->shown[k].kept && s->found.hits.v[k].source.id == hit->source.id;
		if (!told)
			keeping_say_if_torn(s->app, hit->source.session, hit->source.path);
	}
}

static void show_all(struct search *s)
{
	enum { LABEL = 20, THREADS = 4 };
	struct term term;
	size_t n = s->found.hits.n;
	unsigned threads = pool_cpus();

	s->columns = TERM_PIPE_COLS;
	if (!s->opts->json) {
		print_begin(s->app, &term);
		if (term.tty && term.cols > 2 * LABEL)
			s->columns = term.cols - LABEL;
	}
	s->shown = xcalloc(n + 1, sizeof(*s->shown));
	for (size_t i = 0; i < n; i++)
		s->shown[i] = (struct shown){ .snippet = SNIPPET_INIT, .tool = STR_INIT };
	int r = pool_each(threads < THREADS ? threads : THREADS, n, look_up, s, NULL);
	assert(r >= 0);
	for (size_t i = 0; i < n; i++) {
		if (!s->shown[i].done)
			look_elsewhere(s, i);
		show_hit(s, i, s->opts->json ? NULL : &term);
		snippet_release(&s->shown[i].snippet);
		str_release(&s->shown[i].tool);
	}
	if (s->opts->json)
		say_bytes(s->app->out, n == 0 ? SV("[]\n") : SV("\n]\n"));
	else
		print_end(&term);
	say_torn(s);
	if (s->unread.code < 0)
		say_note(s->app->err, "warning: %s", s->unread.msg);
	free(TAKE_PTR(s->shown));
}

/* A date alone: nobody looked for words. */
static void say_no_session(struct search *s)
{
	enum { DAY = 10 }; /* of "2026-01-31 12:00" */
	char from[CLOCK_TEXT_MAX], last[CLOCK_TEXT_MAX];
	bool more = s->query.filters.n > 0 || s->query.roles || s->query.not_roles || s->opts->here;

	clock_format_local(s->query.after_ms, from);
	clock_format_local(s->query.before_ms - 1, last);
	from[DAY] = last[DAY] = '\0';
	bool day = strcmp(from, last) == 0;
	say_note(s->app->err, "there is no session of that time, %s%s%s%s", from, day ? "" : " to ",
		day ? "" : last, more ? ", that is what else was asked for" : "");
}

/* Which words are nowhere, and what is near to them; or that too much was asked for. */
static void say_none(struct search *s)
{
	AUTO_STR help = STR_INIT;
	bool demands =
		s->query.filters.n > 0 || s->query.roles || s->query.after_ms || s->query.before_ms;

	vec_each (&s->query.parts, part)
		demands |= part->demand != QUERY_RANKS;
	say_note(s->app->err, "nothing found for %s", s->typed.buf);
	if (s->query.dated)
		say_no_session(s);
	else if (!s->opts->unaccented && would_find(s, true, false))
		say_note(s->app->err,
			"with --unaccented, letters with marks count without them: that finds it");
	else if (!s->opts->thinking && would_find(s, false, true))
		say_note(s->app->err,
			"with --thinking, what the agent thought is searched: that finds it");
	else if (find_near(s->fresh.view, &s->query, &s->found, &help))
		say_note(s->app->err, "near to it: %s", help.buf);
	else if (demands)
		say_note(s->app->err, "words alone find more than phrases, signs and fields");
	else if (s->opts->here)
		say_note(s->app->err, "without --here sessions of every folder are searched");
}

/* Without words, at a terminal: they are typed there, and something is done with what is found. */
static int choose(struct search *s, struct err *reterr)
{
	AUTO_STRV dirs = STRV_INIT;
	int r = sessions_open(s->app, reterr);

	if (r >= 0 && s->opts->here)
		r = find_here(s, &dirs, reterr);
	const struct pick_opts opts = {
		.dirs = (const char *const *)dirs.v,
		.n_dirs = dirs.n,
		.agent = s->opts->agent,
		.gone = true,
	};
	return r < 0 ? r : pick_and_act(s->app, &opts, reterr);
}

static int run_search(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	enum { KEPT = 32 * 1024 * 1024 };
	CLEANUP(search_release)
	struct search s = { .app = app,
		.opts = options,
		.typed = STR_INIT,
		.query = QUERY_INIT,
		.found = FIND_RESULT_INIT,
		.project = PROJECT_INIT,
		.now_ms = clock_wall_ms(&app->clock) };

	/* Buffers of some hundred kB come and go with every hit: what was given back is used again,
	 * instead of being returned to the system and cleared by it anew. */
	(void)mallopt(M_MMAP_THRESHOLD, KEPT);
	(void)mallopt(M_TRIM_THRESHOLD, KEPT);
	if (s.opts->here && s.opts->all)
		return err_set(reterr, ERR_USAGE, "--here and --all: one of them");
	if (argc == 0 && pick_possible(app))
		return choose(&s, reterr);
	int r = take_words(&s, argc, argv, reterr);
	if (r >= 0)
		r = sessions_open(app, reterr);
	if (r >= 0 && s.opts->here)
		r = find_here(&s, &s.dirs, reterr);
	if (r >= 0)
		r = ask_fresh(&s, reterr);
	/* Whoever looks for one that is damaged makes it anew. */
	if (r == ERR_STORE && s.fresh.view && index_is_bad(app->paths.index_dir, reterr))
		r = SEGMENT_DAMAGED;
	if (r == SEGMENT_DAMAGED && s.fresh.view) {
		index_blame(app->paths.index_dir, reterr);
		fresh_release(&s.fresh);
		r = ask_fresh(&s, reterr);
	}
	if (r < 0)
		return r;
	show_all(&s);
	if (s.found.hits.n == 0)
		say_none(&s);
	return s.found.hits.n > 0 ? 0 : 1;
}

static const struct cmd_syntax search_syntax[] = {
	{ "where was that set", "words rank, none is demanded; a whole question will do" },
	{ "'\"a phrase\"'", "these words one after the other" },
	{ "+word -word", "must be there; must not (behind --, if it comes first)" },
	{ "word*", "words that begin so" },
	{ "one OR other", "one of them" },
	{ "agent:NAME dir:~/src", "sessions of this agent, begun in this folder or below" },
	{ "branch:main role:user", "of this branch; messages of user, assistant, tool, title" },
	{ "tool:Bash file:main.c", "calls of this tool, that name this file, and their results" },
	{ "after:2w before:march", "since then, before that: a span, a date, yesterday" },
	{ NULL, NULL },
};

const struct cmd cmd_search = {
	.name = "search",
	.group = CMD_GROUP_SESSIONS,
	.summary = "find what was said, in the sessions of every agent",
	.synopsis = "[WORDS…]",
	.max_args = CMD_ANY,
	.needs = CMD_DASH_WORDS,
	.syntax = search_syntax,
	.opts = search_options,
	.opts_size = sizeof(struct search_cmd_opts),
	.run = run_search,
};
