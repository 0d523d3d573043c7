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
#include "cli/pick.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "config/settings.h"
#include "os/path.h"
#include "os/pool.h"
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
	struct index_view *view;
	struct find_result found;
	struct shown *shown; /* a hit; while they are shown */
	size_t columns; /* of a snippet */
	struct project project;
	char *here;
	int64_t now_ms;
};

static void search_release(struct search *s)
{
	str_release(&s->typed);
	query_release(&s->query);
	find_result_release(&s->found);
	index_view_close(s->view);
	project_release(&s->project);
	free(s->here);
}

/* ---- the question ---- */

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
		return err_set(reterr, ERR_USAGE,
			strchr(s->typed.buf, '-')
				? "only what must not be there was said; add a word to look for"
				: "nothing to look for: faden search WORDS…");
	if (r >= 0 && s->query.passed > 0)
		say_note(s->app->err, "only the first %d words count, %zu are left out",
			QUERY_PARTS_MAX, s->query.passed);
	return r;
}

/* The folders of this project, wherever it lies or lay. */
static int find_here(struct search *s, struct strv *dirs, struct err *reterr)
{
	int r = kit_dir(s->app->settings, s->app->cwd, &s->here, reterr);

	if (r >= 0)
		r = project_find(s->app->store, s->here, &s->project, reterr);
	if (r < 0)
		return r;
	strv_add(dirs, s->here);
	vec_each (&s->project.places, place)
		strv_add(dirs, place->dir);
	return 0;
}

static int ask(struct search *s, struct err *reterr)
{
	AUTO_STRV dirs = STRV_INIT;
	int r = s->opts->here ? find_here(s, &dirs, reterr) : 0;
	const struct find_opts opts = {
		.n = s->opts->limit > 0 ? (size_t)s->opts->limit : RANK_DEFAULT,
		.sessions = s->opts->sessions,
		.thinking = s->opts->thinking,
		.unmarked = s->opts->unaccented,
		.now_ms = s->now_ms,
		.dirs = (const char *const *)dirs.v,
		.n_dirs = dirs.n,
	};

	return r < 0 ? r : find(s->view, &s->query, &opts, &s->found, reterr);
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

/* What is shown of a hit. */
struct shown {
	struct snippet snippet;
	struct str tool;
	bool done;
};

static int read_hit(struct search *s, size_t i, const char *path, struct err *reterr)
{
	const struct found_hit *hit = &s->found.hits.v[i];
	struct shown *shown = &s->shown[i];
	size_t max = (size_t)s->app->settings->search_result_kb * 1024;
	int r = snippet_read(path, hit->source.format, &hit->hit, &s->query, &s->found.marks, max,
		s->columns, &shown->snippet, &shown->tool, reterr);

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

/* What is not in its file: names have none, and of one that is gone the archive has a copy. */
static void look_elsewhere(struct search *s, size_t i)
{
	const struct archive archive = app_archive(s->app);
	const struct found_hit *hit = &s->found.hits.v[i];
	const struct index_source *source = &hit->source;
	struct shown *shown = &s->shown[i];
	char key[ARCHIVE_KEY_MAX];
	AUTO_STR text = STR_INIT;
	AUTO_CLOSE int fd = -1;

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
	if (archive_find(&archive, source->path, key, NULL) >= 0 &&
		archive_open(&archive, key, &fd, NULL, NULL) >= 0) {
		AUTO_FREE char *path = xasprintf("/proc/self/fd/%d", fd);
		(void)read_hit(s, i, path, NULL);
	}
	if (!shown->done)
		str_adds(&shown->snippet.line, "(the message is not there any more)");
}

static void show_hit(struct search *s, size_t i, struct term *t)
{
	struct found_hit *hit = &s->found.hits.v[i];
	struct named named = { .title = STR_INIT };
	AUTO_STR json = STR_INIT;

	/* It may have gone since the index was told, or come back. */
	hit->source.gone = !path_exists(hit->source.path);
	name_session(s, &hit->source, &named);
	const struct hit_view view = { .found = hit,
		.snippet = &s->shown[i].snippet,
		.now_ms = s->now_ms,
		.home = s->app->paths.home,
		.title = named.title.buf,
		.active_ms = named.active_ms,
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

static void show_all(struct search *s)
{
	enum { PIPE_COLUMNS = 160, LABEL = 20, THREADS = 4 };
	struct term term;
	size_t n = s->found.hits.n;
	unsigned threads = pool_cpus();

	s->columns = PIPE_COLUMNS;
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
	free(TAKE_PTR(s->shown));
	if (s->opts->json)
		say_bytes(s->app->out, n == 0 ? SV("[]\n") : SV("\n]\n"));
	else
		print_end(&term);
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
	if (find_near(s->view, &s->query, &s->found, &help))
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
	if (r >= 0)
		r = fresh_view_said(app, &s.view, reterr);
	if (r >= 0)
		r = ask(&s, reterr);
	if (r == SEGMENT_DAMAGED && s.view) {
		index_blame(app->paths.index_dir, reterr);
		err_prefix(reterr, "'faden index' makes it anew");
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
	{ "tool:Bash file:main.c", "calls of this tool, that name this file" },
	{ "after:2w before:march", "since then, before that: a span, a date, yesterday" },
	{ NULL, NULL },
};

const struct cmd cmd_search = {
	.name = "search",
	.group = CMD_GROUP_SESSIONS,
	.summary = "find what was said, in the sessions of every agent",
	.synopsis = "[WORDS…]",
	.max_args = CMD_ANY,
	.syntax = search_syntax,
	.opts = search_options,
	.opts_size = sizeof(struct search_cmd_opts),
	.run = run_search,
};
