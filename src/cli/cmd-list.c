/*
 * The sessions of every agent, those of this folder first.
 */
#include <stdlib.h>
#include <string.h>

#include "assist/kit.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "cli/since.h"
#include "os/path.h"
#include "ui/format.h"
#include "ui/table.h"
#include "view/json.h"

struct list_opts {
	bool all;
	const char *agent;
	const char *since;
	long long limit;
	int sort;
	bool subagents;
	bool empty;
	bool gone;
	bool json;
	const char *format;
};

static const char *const sort_choices[] = { "recent", "size", "turns", "name", NULL };

static const struct opt list_options[] = {
	OPT_FLAG('a', "all", struct list_opts, all, "every folder, those of this one first"),
	OPT_STRING(0, "agent", struct list_opts, agent, "NAME", "only this agent's sessions"),
	OPT_STRING(0, "since", struct list_opts, since, "WHEN",
		"only those active since: a span (2h, 3d, 1w), today, yesterday or a date "
		"(2026-01-31)"),
	OPT_INT('n', "limit", struct list_opts, limit, "N", 1, 1000000, "at most this many"),
	OPT_CHOICE(0, "sort", struct list_opts, sort, "BY", sort_choices,
		"recent (the default), size, turns or name"),
	OPT_FLAG(0, "subagents", struct list_opts, subagents, "also the work of sub-agents"),
	OPT_FLAG(0, "empty", struct list_opts, empty, "also sessions without a prompt"),
	OPT_FLAG(0, "gone", struct list_opts, gone, "also those whose file is gone, marked x"),
	OPT_FLAG(0, "json", struct list_opts, json, "a JSON array for programs"),
	OPT_STRING('F', "format", struct list_opts, format, "FORMAT",
		"each session by this format, as '{short} {last:ago} {title}'"),
	OPT_END,
};

enum { COL_MARK, COL_ID, COL_AGENT, COL_LAST, COL_TURNS, COL_SIZE, COL_DIR, COL_TITLE, COLS };
static const struct table_column columns[COLS] = {
	[COL_MARK] = { "", false, false },
	[COL_ID] = { "ID", false, false },
	[COL_AGENT] = { "AGENT", false, false },
	[COL_LAST] = { "LAST", false, false },
	[COL_TURNS] = { "TURNS", true, false },
	[COL_SIZE] = { "SIZE", true, false },
	[COL_DIR] = { "FOLDER", false, true },
	[COL_TITLE] = { "NAME OR FIRST PROMPT", false, true },
};

struct list {
	struct app *app;
	const struct list_opts *opts;
	struct map writers;
	char *current;
	char *here;
	int64_t now_ms;
	long long shown;
	/* one of these takes the rows */
	struct table table;
	struct format format;
	struct str json;
};

/* ---- one row ---- */

/* For people: short; for programs at the end of a pipe: whole and in figures. */
static void add_table_row(struct list *l, const struct session_view *view)
{
	const struct session_row *row = view->row;
	bool people = l->app->out_tty;
	char text[SIZE_TEXT_MAX], last[CLOCK_TEXT_MAX];
	AUTO_FREE char *dir = people ? path_show(row->info.cwd, l->app->paths.home) : NULL;
	unsigned style = view->current ? STYLE_BOLD : row->gone ? STYLE_DIM : STYLE_PLAIN;
	struct table *t = &l->table;
	AUTO_STR mark = STR_INIT;
	str_addf(&mark, "%s%s%s", view->current ? "*" : "", view->live ? "!" : "",
		row->gone ? "x" : "");
	table_add_styled(t, str_sv(&mark), style);
	table_add_styled(t, people ? session_short_id(row->info.id) : sv_of(row->info.id), style);
	table_add(t, sv_of(row->agent));
	if (people)
		clock_format_ago(l->now_ms - row->active_ms, last);
	else
		clock_format_iso(row->active_ms, last);
	table_add(t, sv_of(last));
	table_addf(t, "%lld", (long long)row->info.turns);
	size_format((uint64_t)row->info.size, text);
	if (people)
		table_add(t, sv_of(text));
	else
		table_addf(t, "%lld", (long long)row->info.size);
	table_add(t, sv_of(dir ? dir : row->info.cwd));
	table_add_styled(t, sv_of(session_title(row)), style);
}

static void add_format_row(struct list *l, const struct session_view *view)
{
	union format_value values[SESSION_FIELDS_MAX];
	AUTO_STR line = STR_INIT;
	session_values(view, values);
	format_row(&l->format, values, l->now_ms, &line);
	(void)fwrite(line.buf, 1, line.len, l->app->out);
}

/* One object a line inside the array, so that it can be cut up by line too. */
static void add_json_row(struct list *l, const struct session_view *view)
{
	struct jw w = JW_INIT(&l->json);

	str_clear(&l->json);
	view_json_session(&w, view);
	(void)fprintf(l->app->out, "%s\n%s", l->shown > 0 ? "," : "[", l->json.buf);
}

static int on_row(void *data, const struct session_row *row)
{
	struct list *l = data;
	uint64_t pid = 0;
	struct session_view view = {
		.row = row,
		.live = map_get(&l->writers, sv_of(row->info.id), &pid),
		.current = l->current && strcmp(l->current, row->info.id) == 0,
	};
	view.pid = (int64_t)pid;
	if (l->opts->json)
		add_json_row(l, &view);
	else if (l->opts->format)
		add_format_row(l, &view);
	else
		add_table_row(l, &view);
	l->shown++;
	return 0;
}

/* ---- the question ---- */

static int check_agent(const char *name, struct err *reterr)
{
	AUTO_STR all = STR_INIT;

	if (!name || agent_named(sv_of(name)))
		return 0;
	agents_list(&all, agent_keeps_sessions, " and ");
	return err_set(reterr, ERR_USAGE, "--agent: no agent '%s'; there are %s", name, all.buf);
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

static int ask_all(struct list *l, int argc, char **argv, struct err *reterr)
{
	AUTO_STR text = STR_INIT;
	for (int i = 0; i < argc; i++)
		str_addf(&text, "%s%s", i ? " " : "", argv[i]);
	struct catalogue_query query = {
		.dir = l->here,
		.below = true,
		.agent = l->opts->agent,
		.text = argc > 0 ? text.buf : NULL,
		.subagents = l->opts->subagents,
		.empty = l->opts->empty,
		.gone = l->opts->gone,
		.order = (enum catalogue_order)l->opts->sort,
	};
	int rc = check_agent(l->opts->agent, reterr);
	if (rc >= 0 && l->opts->since)
		rc = since_parse(sv_of(l->opts->since), l->now_ms, &query.since_ms, reterr);
	if (rc >= 0)
		rc = ask(l, query, reterr);
	query.elsewhere = true;
	if (rc >= 0 && l->opts->all && l->here)
		rc = ask(l, query, reterr);
	return rc;
}

/* ---- the command ---- */

static void finish(struct list *l)
{
	if (l->opts->json)
		(void)fputs(l->shown > 0 ? "\n]\n" : "[]\n", l->app->out);
	if (l->opts->json || l->opts->format)
		return;
	struct term term;
	print_begin(l->app, &term);
	table_print(&l->table, &term);
	print_end(&term);
}

static int nothing(const struct list *l)
{
	if (!l->opts->json)
		(void)fprintf(l->app->err, "faden: no sessions%s\n",
			l->opts->all ? "" : " in this folder; --all shows those of others");
	return 1;
}

/* All sessions can be listed from a folder that is gone, too. */
static int find_here(struct list *l, struct err *reterr)
{
	int rc = kit_dir(l->app->settings, l->app->cwd, &l->here, l->opts->all ? NULL : reterr);
	return l->opts->all ? 0 : rc;
}

static int prepare(struct list *l, struct err *reterr)
{
	l->now_ms = clock_wall_ms(&l->app->clock);
	int rc = l->opts->format ? format_parse(&l->format, sv_of(l->opts->format), session_fields,
					   session_fields_n, reterr)
				 : 0;
	if (rc >= 0)
		rc = find_here(l, reterr);
	if (rc >= 0)
		rc = sessions_open(l->app, reterr);
	if (rc >= 0)
		rc = sessions_refresh(l->app, reterr);
	if (rc < 0)
		return rc;
	sessions_writers(l->app, &l->writers);
	l->current = sessions_current(l->app);
	return 0;
}

static void list_release(struct list *l)
{
	map_release(&l->writers);
	table_release(&l->table);
	format_release(&l->format);
	str_release(&l->json);
	free(l->current);
	free(l->here);
}

static int run_list(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(list_release)
	struct list l = { .app = app, .opts = options, .json = STR_INIT };
	table_init(&l.table, columns, COLS);
	int rc = prepare(&l, reterr);
	if (rc >= 0)
		rc = ask_all(&l, argc, argv, reterr);
	if (rc < 0)
		return rc;
	finish(&l);
	return l.shown > 0 ? 0 : nothing(&l);
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
