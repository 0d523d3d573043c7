#include "cli/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/assistant.h"
#include "cli/sessions.h"
#include "os/path.h"

enum { CANDIDATES_SHOWN = 10, PROMPT_COLUMNS = 50 };

static void show_candidates(struct app *app, const struct catalogue_matches *matches)
{
	size_t shown = 0;

	vec_each (&matches->rows, row) {
		AUTO_STR text = STR_INIT;
		AUTO_STR line = STR_INIT;
		const char *name = session_row_name(row);
		if (shown++ == CANDIDATES_SHOWN)
			break;
		utf8_scrub_line(&text, sv_of(name[0] ? name : row->info.prompt));
		utf8_fit(&line, str_sv(&text), PROMPT_COLUMNS);
		(void)fprintf(app->err, "  %s  %-9s %s\n", row->info.id, row->agent, line.buf);
	}
	if (matches->more || matches->rows.n > CANDIDATES_SHOWN)
		(void)fputs("  …\n", app->err);
}

static void hint_list(struct err *e)
{
	struct err before = *e;

	(void)err_set(e, before.code, "%s ('faden list --all' shows what there is)", before.msg);
}

/* Our own ids stand for the session that goes on in the conversation. */
static char *session_of_conversation(struct app *app, const char *spec)
{
	AUTO_CONV c = CONV_INIT;

	if (!uuid_valid(sv_of(spec)) || conv_get(app->store, spec, &app->clock, &c, NULL) < 0)
		return NULL;
	return c.session ? xstrdup(c.session) : NULL;
}

static int resolve(struct app *app, const char *spec, struct session_row *ret,
	struct catalogue_matches *matches, struct err *reterr)
{
	AUTO_FREE char *rehearsal = assistant_rehearsal_home(app);
	AUTO_FREE char *session = session_of_conversation(app, spec);
	struct transcript_home homes[ASSISTANT_HOMES];

	assistant_homes(app, rehearsal, homes);
	return catalogue_resolve(
		app->store, homes, ASSISTANT_HOMES, session ? session : spec, ret, matches, reterr);
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
	if (r == ERR_NOTFOUND && !strchr(spec, '/'))
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

const char *find_home_root(const struct app *app, const struct session_row *row)
{
	if (strcmp(row->agent, "claude") == 0)
		return app->paths.claude_home;
	return strcmp(row->agent, "codex") == 0 ? app->paths.codex_home : NULL;
}
