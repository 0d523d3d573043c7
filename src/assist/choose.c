/*
 * Which conversation a sentence belongs to, and taking it.
 */
#include "assist/internal.h"

static int create(struct assist *as, struct conv *ret, struct err *reterr)
{
	const struct conv_new what = {
		.dir = as->opts.dir,
		.project = as->opts.project,
		.agent = agent_driver(as->opts.kind)->name,
	};

	return conv_create(as->opts.store, &what, &as->self, as->opts.clock, ret, reterr);
}

static int take(struct assist *as, struct conv *c, struct err *reterr)
{
	int r = conv_take(as->opts.store, c->id, &as->self, as->opts.clock, reterr);

	if (r < 0)
		err_prefix(reterr, "\"%s\"", conv_label(c));
	return r;
}

/* Whether the folder's last conversation is taken up again; if not, that is said. */
static bool goes_on(const struct assist *as, const struct conv *c)
{
	const char *wanted = agent_driver(as->opts.kind)->name;
	char ago[CLOCK_TEXT_MAX];

	if (as->opts.kind_forced && strcmp(c->agent, wanted) != 0) {
		assist_notice(as, "\"%s\" belongs to %s: starting another conversation with %s.",
			conv_label(c), c->agent, wanted);
		return false;
	}
	if (as->opts.expiry_ms > 0 && c->age_ms > as->opts.expiry_ms) {
		clock_format_ago(c->age_ms, ago);
		assist_notice(
			as, "\"%s\" is from %s: starting a new conversation.", conv_label(c), ago);
		return false;
	}
	return true;
}

static int choose(
	struct assist *as, const struct assist_request *req, struct conv *ret, struct err *reterr)
{
	struct store *store = as->opts.store;
	int r;

	if (req->mode == ASSIST_NEW)
		return create(as, ret, reterr);
	if (req->mode == ASSIST_IN)
		r = conv_get(store, req->conversation, as->opts.clock, ret, reterr);
	else
		r = conv_current(store, as->opts.dir, as->opts.clock, ret, reterr);
	if (r == 0 && req->mode == ASSIST_GO_ON && !goes_on(as, ret)) {
		conv_release(ret);
		r = ERR_NOTFOUND;
	}
	if (r == ERR_NOTFOUND && req->mode == ASSIST_GO_ON)
		return create(as, ret, reterr);
	if (r == 0)
		r = take(as, ret, reterr);
	if (r == 0)
		r = conv_set_current(store, as->opts.dir, ret->id, as->opts.clock, reterr);
	return r;
}

int assist_choose(
	struct assist *as, const struct assist_request *req, struct conv *ret, struct err *reterr)
{
	int r = store_begin(as->opts.store, reterr);

	if (r < 0)
		return r;
	r = choose(as, req, ret, reterr);
	int ended = store_end(as->opts.store, r == 0, r == 0 ? reterr : NULL);
	return r < 0 ? r : ended;
}
