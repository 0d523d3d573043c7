#include "cli/fresh.h"

#include "cli/print.h"
#include "keep/fresh.h"

void fresh_say_anew(struct app *app, const struct index_stats *s)
{
	if (s->anew == INDEX_WAS_DAMAGED)
		say_note(app->err, "%s; it %s made anew from the sessions", s->why,
			s->left ? "is being" : "was");
	else if (s->anew == INDEX_OTHER_VERSION)
		say_note(app->err, "the index was of another version of faden; it %s made anew",
			s->left ? "is being" : "was");
}

int fresh_view_said(struct app *app, struct fresh *ret, struct err *reterr)
{
	static const char *const words[] = { "index", NULL };
	const struct keeper keeper = app_keeper(app);
	int r = fresh_view(&keeper, FRESH_MS, FRESH_FIRST_MS, ret, reterr);

	if (r < 0)
		return r;
	fresh_say_anew(app, &ret->stats);
	/* One that does not come to its end is started again by a later search. */
	if (ret->due)
		app_start(app, words);
	return 0;
}

/* Of what is a moment ago nobody wants to hear with every search. */
static void say_unseen(struct app *app, const struct fresh *f)
{
	const int64_t moment_s = 10;
	int64_t age_s = (clock_wall_ms(&app->clock) - f->checked_ms) / 1000;

	if (age_s > moment_s)
		say_note(app->err,
			"sessions that were not active lately were last looked at %lld s ago; what "
			"they got since may be missing here",
			(long long)age_s);
}

bool fresh_rest_said(struct app *app, struct fresh *f, bool all)
{
	const struct keeper keeper = app_keeper(app);
	bool more = fresh_rest(&keeper, f, all, FRESH_MS);

	if (f->failed.code < 0)
		say_note(app->err, "warning: what is new is missing here: %s", f->failed.msg);
	if (f->busy)
		say_note(app->err,
			"another faden is taking in what is new; the last of it may be missing "
			"here");
	if (f->never && f->stats.left == 0)
		say_note(app->err,
			"the index does not have all sessions yet; 'faden index' takes them in");
	else if (f->unseen && f->stats.left == 0)
		say_unseen(app, f);
	if (f->stats.left > 0)
		say_note(app->err,
			"%zu %s not in the index yet and missing here; 'faden index' takes %s in",
			f->stats.left, f->stats.left == 1 ? "session is" : "sessions are",
			f->stats.left == 1 ? "it" : "them");
	return more;
}
