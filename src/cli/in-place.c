#include "cli/in-place.h"

#include "cli/sessions.h"

static int is_fork(void *data, const struct session_row *row)
{
	*(bool *)data |= row->info.relation == SESSION_FORKED;
	return 0;
}

/* Codex reads the history of a fork from the file of its parent. */
static int refuse_forks(
	struct app *app, const struct session_row *row, const char *instead, struct err *reterr)
{
	bool forks = false;
	int r = sessions_refresh(app, reterr);

	if (r == 0)
		r = catalogue_children(app->store, &row->info, is_fork, &forks, reterr);
	if (r == 0 && forks)
		return err_set(reterr, ERR_BUSY,
			"Codex sessions that were forked from this one are read from its file: %s",
			instead);
	return r;
}

int in_place_check(
	struct app *app, const struct session_row *row, const char *instead, struct err *reterr)
{
	AUTO_STR who = STR_INIT;

	if (sessions_writer(app, row, &who))
		return err_set(reterr, ERR_BUSY,
			"the session is in use by %s: leave it first, or %s", who.buf, instead);
	return row->info.format == TRANSCRIPT_CODEX ? refuse_forks(app, row, instead, reterr) : 0;
}
