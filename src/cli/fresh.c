#include "cli/fresh.h"

#include "cli/print.h"
#include "keep/fresh.h"

int fresh_view_said(struct app *app, struct index_view **ret, struct err *reterr)
{
	static const char *const words[] = { "index", NULL };
	const struct keeper keeper = app_keeper(app);
	struct fresh fresh;
	int r = fresh_view(&keeper, FRESH_MS, FRESH_FIRST_MS, &fresh, reterr);

	if (r < 0)
		return r;
	if (fresh.failed.code < 0)
		say_note(app->err, "warning: what is new is missing here: %s", fresh.failed.msg);
	if (fresh.never && fresh.left == 0)
		say_note(app->err,
			"the index does not have all sessions yet; 'faden index' takes them in");
	if (fresh.left > 0)
		say_note(app->err,
			"%zu %s not in the index yet and missing here; 'faden index' takes %s in",
			fresh.left, fresh.left == 1 ? "session is" : "sessions are",
			fresh.left == 1 ? "it" : "them");
	/* One that does not come to its end is started again by a later search. */
	if (fresh.due)
		app_start(app, words);
	*ret = fresh.view;
	return 0;
}
