#include "cli/find.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/env.h"
#include "cli/gone.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "os/path.h"
#include "ui/table.h"
#include "view/session.h"

/* ---- several that fit ---- */

enum { CANDIDATES_SHOWN = 10, PIPE_COLUMNS = 160 };

static const struct table_column columns[] = {
	{ "ID", false, false },
	{ "AGENT", false, false },
	{ "LAST", false, false },
	{ "FOLDER", false, true },
	{ "NAME OR FIRST PROMPT", false, true },
};

static void add_candidate(struct table *t, const struct app *app, const struct session_row *row)
{
	AUTO_FREE char *dir = path_show(row->info.cwd, app->paths.home);
	char last[CLOCK_TEXT_MAX];

	clock_format_ago(clock_wall_ms(&app->clock) - row->active_ms, last);
	table_add(t, sv_of(row->info.id));
	table_add(t, sv_of(row->agent));
	table_add(t, sv_of(last));
	table_add(t, sv_of(dir));
	table_add(t, sv_of(session_title(row)));
}

/* Always for people: programs have the ids in the message. */
static void show_candidates(struct app *app, const struct catalogue_matches *matches)
{
	const struct term_opts screen = {
		.fd = STDERR_FILENO,
		.colour = app->colour ? TERM_COLOUR_ALWAYS : TERM_COLOUR_NEVER,
		.term_name = env_get("TERM"),
		.ascii = !env_use_locale(),
	};
	struct table table;
	struct term t;

	if (app->err_tty)
		term_init(&t, &screen);
	else
		term_init_capture(&t, PIPE_COLUMNS, TERM_DEFAULT_ROWS, false);
	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < matches->rows.n && i < CANDIDATES_SHOWN; i++)
		add_candidate(&table, app, &matches->rows.v[i]);
	table_print(&table, &t);
	if (matches->more || matches->rows.n > CANDIDATES_SHOWN)
		term_puts(&t, screen.ascii ? "...\n" : "…\n");
	(void)fwrite(t.buf.buf, 1, t.buf.len, app->err);
	table_release(&table);
	term_release(&t);
}

/* ---- one ---- */

static void hint_list(struct err *e)
{
	struct err before = *e;

	(void)err_set(e, before.code, "%s ('faden list --all' shows what there is)", before.msg);
}

char *find_session_of(struct app *app, const char *spec)
{
	AUTO_CONV c = CONV_INIT;

	if (!uuid_valid(sv_of(spec)) || conv_get(app->store, spec, &app->clock, &c, NULL) < 0)
		return NULL;
	return c.session ? xstrdup(c.session) : NULL;
}

static int resolve(struct app *app, const char *spec, struct session_row *ret,
	struct catalogue_matches *matches, struct err *reterr)
{
	AUTO_FREE char *session = find_session_of(app, spec);

	return catalogue_resolve(app->store, app->homes, app->n_homes, session ? session : spec,
		ret, matches, reterr);
}

int find_session(struct app *app, const char *spec, struct session_row *ret, struct err *reterr)
{
	struct catalogue_matches matches = { .rows = VEC_INIT };
	struct err err = ERR_INIT;
	int r = resolve(app, spec, ret, &matches, &err);

	if (r < 0 && sessions_go_on(app, r, &err))
		r = resolve(app, spec, ret, &matches, &err);
	if (r == ERR_AMBIGUOUS)
		show_candidates(app, &matches);
	if (r == ERR_AMBIGUOUS && app->json) {
		print_failure(app->out, &err, &matches);
		app->told = true;
	}
	if (r == ERR_NOTFOUND && !gone_explain(app, spec, &err) && !strchr(spec, '/'))
		hint_list(&err);
	catalogue_matches_release(&matches);
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}

int find_given(struct app *app, int argc, char **argv, struct session_row *ret, struct err *reterr)
{
	AUTO_FREE char *spec = NULL;
	int r = sessions_given(app, argc, argv, &spec, reterr);
	if (r < 0)
		return r;
	return find_session(app, spec, ret, reterr);
}

static int adopt(
	struct app *app, const struct session_row *row, struct conv *ret, struct err *reterr)
{
	AUTO_FREE char *project = path_git_root(row->info.cwd);
	const struct conv_new what = {
		.dir = row->info.cwd, .project = project, .agent = row->agent
	};

	return conv_adopt(app->store, &what, row->info.id, &app->clock, ret, reterr);
}

int find_conversation(struct app *app, const char *spec, struct conv *ret, struct err *reterr)
{
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;

	if (uuid_valid(sv_of(spec)) && conv_get(app->store, spec, &app->clock, ret, NULL) == 0)
		return 0;
	int r = find_session(app, spec, &row, reterr);
	return r < 0 ? r : adopt(app, &row, ret, reterr);
}
