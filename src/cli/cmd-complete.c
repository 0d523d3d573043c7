/*
 * What a shell offers where a SESSION is to be typed: a word and a tab and what it is about, one a
 * line. From the catalogue as it is, since whoever presses Tab does not wait for files to be read.
 */
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/sessions.h"
#include "view/session.h"

enum { OFFERED_MAX = 1000 };

static int on_row(void *data, const struct session_row *row)
{
	struct app *app = data;
	AUTO_STR title = STR_INIT;
	AUTO_STR name = STR_INIT;

	utf8_scrub_line(&title, sv_of(session_title(row)));
	utf8_scrub_line(&name, sv_of(session_row_name(row)));
	(void)fprintf(app->out, "%s\t%s %s\n", row->info.id, row->agent, title.buf);
	if (name.len > 0)
		(void)fprintf(app->out, "%s\t%s %s\n", name.buf, row->agent, row->info.id);
	return 0;
}

static int run_complete(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct catalogue_query query = { .limit = OFFERED_MAX };
	int r = sessions_open(app, reterr);

	(void)options;
	(void)argc;
	(void)argv;
	return r < 0 ? r : catalogue_query(app->store, &query, on_row, app, reterr);
}

const struct cmd cmd_complete = {
	.name = "complete",
	.group = CMD_GROUP_SETUP,
	.summary = "sessions for a shell's completion",
	.synopsis = "sessions",
	.min_args = 1,
	.max_args = 1,
	.needs = CMD_HIDDEN,
	.run = run_complete,
};
