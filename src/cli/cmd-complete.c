/*
 * What a shell offers where a SESSION is to be typed: a word and a tab and what it is about, one a
 * line. From the catalogue as it is, since whoever presses Tab does not wait for files to be read.
 */
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "view/session.h"

enum { OFFERED_MAX = 1000 };

/* What cannot be typed, or would be taken for an option, is not offered. */
static void offer(
	struct app *app, const char *word, const struct session_row *row, const char *what)
{
	AUTO_STR clean = STR_INIT;
	AUTO_STR line = STR_INIT;

	utf8_scrub_line(&clean, sv_of(word));
	if (word[0] == '\0' || word[0] == '-' || !sv_is(str_sv(&clean), word))
		return;
	str_addf(&line, "%s\t%s ", word, row->agent);
	utf8_scrub_line(&line, sv_of(what));
	str_addc(&line, '\n');
	say_text(app->out, str_sv(&line));
}

static int on_row(void *data, const struct session_row *row)
{
	offer(data, row->info.id, row, session_title(row));
	offer(data, session_row_name(row), row, row->info.id);
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
