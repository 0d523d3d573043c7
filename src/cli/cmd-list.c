/*
 * The sessions of every agent, those of this folder first.
 */
#include <stdlib.h>
#include <string.h>

#include "assist/kit.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "cli/since.h"
#include "os/path.h"
#include "os/unpack.h"
#include "ui/format.h"
#include "ui/table.h"
#include "view/json.h"

struct list_opts {
	bool all;
	const char *agent;
	const char *since;
	long long limit;
	const char *sort; /* NULL: not asked for */
	bool subagents;
	bool empty;
	bool gone;
	bool json;
	const char *format;
};

static const char *const sort_choices[] = {
	[CATALOGUE_RECENT] = "recent",
	[CATALOGUE_SIZE] = "size",
	[CATALOGUE_TURNS] = "turns",
	[CATALOGUE_NAME] = "name",
	NULL,
};

static const struct opt list_options[] = {
	OPT_FLAG('a', "all", struct list_opts, all,
		"every folder, those of this one and its project first"),
	OPT_AGENT(struct list_opts, agent, agent_keeps_sessions, "only sessions of one agent: @"),
	OPT_STRING(0, "since", struct list_opts, since, "WHEN",
		"only those active since: a span (2h, 3d, 1w), today, yesterday or a date "
		"(2026-01-31)"),
	OPT_INT('n', "limit", struct list_opts, limit, "N", 1, 1000000, "at most this many"),
	OPT_WORD(0, "sort", struct list_opts, sort, "BY", sort_choices,
		"recent, size, turns or name, whatever the folder; without it the most recent "
		"first, folder by folder"),
	OPT_FLAG(0, "subagents", struct list_opts, subagents, "also the work of sub-agents"),
	OPT_FLAG(0, "empty", struct list_opts, empty, "also sessions without a prompt"),
	OPT_FLAG(0, "gone", struct list_opts, gone,
		"also those whose file is gone: x, or X if it is not in the archive"),
	OPT_FLAG(0, "json", struct list_opts, json, "a JSON array for programs"),
	OPT_STRING('F', "format", struct list_opts, format, "FORMAT",
		"each session by this format, as '{short} {last:ago} {title}'"),
	OPT_END,
};

enum { COL_MARK, COL_ID, COL_AGENT, COL_LAST, COL_TURNS, COL_SIZE, COL_DIR, COL_TITLE, COLS };
/* In a narrow window size and turns make room for what tells one session from another. */
static const struct table_column columns[COLS] = {
	[COL_MARK] = { .title = "" },
	[COL_ID] = { .title = "ID" },
	[COL_AGENT] = { .title = "AGENT" },
	[COL_LAST] = { .title = "LAST" },
	[COL_TURNS] = { .title = "TURNS", .right = true, .spare = 1 },
	[COL_SIZE] = { .title = "SIZE", .right = true, .spare = 2 },
	[COL_DIR] = { .title = "FOLDER", .shrink = true, .room = 12, .tail = true },
	[COL_TITLE] = { .title = "NAME OR FIRST PROMPT", .shrink = true, .room = 36 },
};

/* What the archive has of a session that would come back: the largest of those that nothing has
 * taken the place of. */
struct copy {
	uint64_t size;
	bool damaged;
};

struct list {
	struct app *app;
	const struct list_opts *opts;
	struct map writers;
	struct map interrupted;
	struct map kept; /* sessions and paths that the archive has → index in copies */
	VEC(struct copy) copies;
	bool asked; /* … it */
	bool unread; /* … and it could not tell all */
	char *current;
	char *here;
	struct project project; /* of here */
	int64_t now_ms;
	long long shown;
	bool elsewhere; /* one of those shown was not begun in this very folder */
	/* one of these takes the rows */
	struct table_column columns[COLS];
	struct table table;
	struct format format;
	struct str text; /* of one row */
};

/* ---- what can come back ---- */

static int on_kept(void *data, const struct archive_file *file)
{
	struct list *l = data;
	const struct sv names[] = { sv_of(file->session), unpack_plain(sv_of(file->path)) };

	for (size_t i = 0; i < ARRAY_LEN(names) && !file->superseded; i++) {
		uint64_t at;
		if (map_get(&l->kept, names[i], &at) && l->copies.v[at].size > file->size)
			continue;
		*map_ref(&l->kept, names[i]) = l->copies.n;
		vec_push(&l->copies, (struct copy){ file->size, file->damaged });
	}
	return 0;
}

/* Asked once, and only when something is gone. */
static enum session_kept find_kept(struct list *l, const struct session_row *row)
{
	const struct archive archive = app_archive(l->app);
	uint64_t at;

	if (!row->gone)
		return SESSION_NOT_ASKED;
	if (!l->asked) {
		struct err err = ERR_INIT;
		int r = archive_each(
			&archive, &(struct archive_query){ .damage = true }, on_kept, l, &err);
		l->unread = r < 0;
		if (r < 0)
			say_note(l->app->err, "warning: %s", err.msg);
		l->asked = true;
	}
	if (!map_get(&l->kept, unpack_plain(sv_of(row->info.path)), &at) &&
		!map_get(&l->kept, sv_of(row->info.id), &at))
		return l->unread ? SESSION_NOT_ASKED : SESSION_LOST;
	return l->copies.v[at].damaged ? SESSION_DAMAGED : SESSION_WHOLE;
}

/* ---- one row ---- */

/* For people: short; for programs at the end of a pipe: whole and in figures. */
static void add_table_row(struct list *l, const struct session_view *view)
{
	const struct session_row *row = view->row;
	static const char *const gone[] = { [SESSION_NOT_ASKED] = "x?",
		[SESSION_WHOLE] = "x",
		[SESSION_DAMAGED] = "xd",
		[SESSION_LOST] = "X" };
	bool people = l->app->out_tty;
	char size[SIZE_TEXT_MAX], last[CLOCK_TEXT_MAX], mark[8] = "";
	/* What was moved is looked for where it is now. */
	AUTO_FREE char *now = project_brought(&l->project, row->info.cwd, row->info.first_ms);
	const char *cwd = now ? now : row->info.cwd;
	AUTO_FREE char *dir = people ? path_show(cwd, l->app->paths.home) : NULL;
	unsigned style = view->current ? STYLE_BOLD : row->gone ? STYLE_DIM : STYLE_PLAIN;
	const char *relation = session_relation_name(row->info.relation);
	struct table *t = &l->table;

	l->elsewhere |= !l->here || strcmp(cwd, l->here) != 0;
	(void)snprintf(mark, sizeof(mark), "%s%s%s%s", view->current ? "*" : "",
		view->live ? "!" : "", view->interrupted ? "~" : "",
		row->gone ? gone[view->kept] : "");
	table_add_styled(t, sv_of(mark), style);
	table_add_styled(t, people ? session_short_id(row->info.id) : sv_of(row->info.id), style);
	table_add(t, sv_of(row->agent));
	if (people)
		clock_format_ago(l->now_ms - row->active_ms, last);
	else
		clock_format_iso(row->active_ms, last);
	table_add(t, sv_of(last));
	table_addf(t, "%lld", (long long)row->info.turns);
	size_format((uint64_t)row->info.size, size);
	if (people)
		table_add(t, sv_of(size));
	else
		table_addf(t, "%lld", (long long)row->info.size);
	table_add(t, sv_of(dir ? dir : cwd));
	str_clear(&l->text);
	if (people && relation[0])
		str_addf(&l->text, "[%s] ", relation);
	str_adds(&l->text, session_title(row));
	table_add_styled(t, str_sv(&l->text), style);
}

static int on_row(void *data, const struct session_row *row)
{
	struct list *l = data;
	uint64_t pid = 0, since;
	struct session_view view = {
		.row = row,
		.live = map_get(&l->writers, sv_of(row->info.id), &pid),
		.current = l->current && strcmp(l->current, row->info.id) == 0,
		.interrupted = map_get(&l->interrupted, sv_of(row->info.id), &since),
		.kept = find_kept(l, row),
	};

	view.pid = (int64_t)pid;
	str_clear(&l->text);
	if (l->opts->json) {
		/* One object a line inside the array, so that it can be cut up by line too. */
		struct jw w = JW_INIT(&l->text);
		view_json_session(&w, &view);
		say_bytes(l->app->out, l->shown > 0 ? SV(",\n") : SV("[\n"));
		say_json(l->app->out, str_sv(&l->text));
	} else if (l->opts->format) {
		union format_value values[SESSION_FIELDS_MAX];
		session_values(&view, values);
		format_row(&l->format, values, l->now_ms, &l->text);
		say_text(l->app->out, str_sv(&l->text));
	} else {
		add_table_row(l, &view);
	}
	l->shown++;
	return 0;
}

/* ---- the question ---- */

static enum catalogue_order order_of(const struct list_opts *o)
{
	int i = CATALOGUE_RECENT;

	while (o->sort && sort_choices[i] && strcmp(o->sort, sort_choices[i]) != 0)
		i++;
	return (enum catalogue_order)i;
}

/* What the options say; text is borrowed from the caller. */
static int make_query(
	const struct list *l, const char *text, struct catalogue_query *ret, struct err *reterr)
{
	const struct list_opts *o = l->opts;
	AUTO_STR all = STR_INIT;

	*ret = (struct catalogue_query){
		.dir = l->here,
		.below = true,
		.agent = o->agent,
		.text = text,
		.subagents = o->subagents,
		.empty = o->empty,
		.gone = o->gone,
		.order = order_of(o),
	};
	int r = sessions_check_agent(o->agent, reterr);
	if (r < 0)
		return r;
	return o->since ? since_parse(sv_of(o->since), l->now_ms, &ret->since_ms, reterr) : 0;
}

static int ask(struct list *l, struct catalogue_query query, struct err *reterr)
{
	if (l->opts->limit > 0) {
		query.limit = l->opts->limit - l->shown;
		if (query.limit <= 0)
			return 0;
	}
	return catalogue_query(l->app->store, &query, on_row, l, reterr);
}

/* Below the top of a work tree all of that is of the project too, wherever it lies. */
static void take_whole(struct project *p, const char *here)
{
	if (strcmp(p->top, here) == 0)
		return;
	vec_push(&p->places,
		(struct project_place){
			.top = xstrdup(p->top), .since_ms = INT64_MIN / 2, .until_ms = INT64_MAX });
	vec_each (&p->places, place) {
		free(place->dir);
		place->dir = xstrdup(place->top);
	}
}

/* Sessions of this folder first, then those of its project that were begun elsewhere, then with
 * --all those of the others; in one where an order was asked for. */
static int ask_all(struct list *l, struct catalogue_query query, struct err *reterr)
{
	int r = 0;

	if (l->here)
		r = project_find(l->app->store, l->here, &l->project, reterr);
	if (r >= 0 && l->here)
		take_whole(&l->project, l->here);
	query.project = &l->project;
	if (l->opts->sort)
		query.where = CATALOGUE_PROJECT;
	if (l->opts->sort && l->opts->all)
		query.dir = NULL;
	if (r >= 0)
		r = ask(l, query, reterr);
	for (int where = CATALOGUE_KIN; r >= 0 && l->here && !l->opts->sort &&
		where <= (l->opts->all ? CATALOGUE_ELSEWHERE : CATALOGUE_KIN);
		where++) {
		query.where = (enum catalogue_where)where;
		r = ask(l, query, reterr);
	}
	return r;
}

static int list(struct list *l, int argc, char **argv, struct err *reterr)
{
	const struct list_opts *o = l->opts;
	struct app *app = l->app;
	AUTO_STR text = STR_INIT;
	struct catalogue_query query;
	int r = 0;

	for (int i = 0; i < argc; i++)
		str_addf(&text, "%s%s", i ? " " : "", argv[i]);
	if (o->format)
		r = format_parse(
			&l->format, sv_of(o->format), session_fields, session_fields_n, reterr);
	/* All sessions can be listed from a folder that is gone, too. */
	if (r >= 0) {
		int here = kit_dir(app->settings, app->cwd, &l->here, o->all ? NULL : reterr);
		r = o->all ? 0 : here;
	}
	if (r >= 0)
		r = make_query(l, argc > 0 ? text.buf : NULL, &query, reterr);
	if (r >= 0)
		r = sessions_open(app, reterr);
	if (r >= 0)
		r = sessions_refresh(app, reterr);
	if (r < 0)
		return r;
	sessions_writers(app, &l->writers);
	sessions_interrupted(app, &l->interrupted);
	l->current = sessions_current(app);
	/* What cannot be noted is as it was. */
	if (l->here)
		(void)!project_note_changed(app->store, NULL);
	struct err err = ERR_INIT;
	r = ask_all(l, query, &err);
	while (r < 0 && l->shown == 0 && sessions_go_on(app, r, &err)) {
		project_release(&l->project);
		l->project = (struct project)PROJECT_INIT;
		r = sessions_refresh(app, &err);
		if (r >= 0)
			r = ask_all(l, query, &err);
	}
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}

/* ---- the command ---- */

static void list_release(struct list *l)
{
	map_release(&l->writers);
	map_release(&l->interrupted);
	map_release(&l->kept);
	vec_release(&l->copies);
	table_release(&l->table);
	format_release(&l->format);
	str_release(&l->text);
	free(l->current);
	project_release(&l->project);
	free(l->here);
}

/* In the words of the question. */
static void say_none(const struct list *l, int argc, char **argv)
{
	const struct list_opts *o = l->opts;
	AUTO_STR what = STR_INIT;

	str_addf(&what, "no sessions%s%s%s%s", o->agent ? " of " : "", o->agent ? o->agent : "",
		o->since ? " since " : "", o->since ? o->since : "");
	str_adds(&what, o->all ? "" : " in this folder");
	if (argc > 0)
		str_addf(&what, ": none matches '");
	for (int i = 0; i < argc; i++)
		str_addf(&what, "%s%s", i ? " " : "", argv[i]);
	say_note(l->app->err, "%s%s%s", what.buf, argc > 0 ? "'" : "",
		o->all ? "" : "; --all shows those of others");
}

static int run_list(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(list_release)
	struct list l = { .app = app, .opts = options, .text = STR_INIT };
	struct term term;

	l.now_ms = clock_wall_ms(&app->clock);
	memcpy(l.columns, columns, sizeof(columns));
	/* What the list is sorted by is seen. */
	enum catalogue_order order = order_of(l.opts);
	if (order == CATALOGUE_SIZE || order == CATALOGUE_TURNS)
		l.columns[order == CATALOGUE_SIZE ? COL_SIZE : COL_TURNS].spare = 0;
	table_init(&l.table, l.columns, COLS);
	int r = list(&l, argc, argv, reterr);
	if (r < 0)
		return r;
	if (l.opts->json) {
		say_bytes(app->out, l.shown > 0 ? SV("\n]\n") : SV("[]\n"));
	} else if (!l.opts->format) {
		if (!l.elsewhere)
			table_hide(&l.table, COL_DIR);
		print_begin(app, &term);
		table_print(&l.table, &term);
		print_end(&term);
	}
	if (l.shown == 0 && !l.opts->json)
		say_none(&l, argc, argv);
	return l.shown > 0 ? 0 : 1;
}

const struct cmd cmd_list = {
	.name = "list",
	.alias = "ls",
	.group = CMD_GROUP_SESSIONS,
	.summary = "the sessions of every agent, those of this folder first",
	.synopsis = "[TEXT…]",
	.max_args = CMD_ANY,
	.opts = list_options,
	.opts_size = sizeof(struct list_opts),
	.fields = session_fields,
	.run = run_list,
};
