/*
 * Which conversation a sentence belongs to, and taking it.
 */
#include "assist/internal.h"

static int busy_error(const struct conv *c, struct err *reterr)
{
	return err_set(reterr, ERR_BUSY,
		"\"%s\" is in use by process %d; wait for it, or start another conversation",
		conv_label(c), (int)c->owner.pid);
}

struct routing assist_routing(const struct assist *as)
{
	return (struct routing){
		.store = as->opts.store,
		.clock = as->opts.clock,
		.router = as->opts.router,
		.dir = as->opts.dir,
		.project = as->opts.project,
		.agent = as->opts.kind_forced ? agent_driver(as->opts.kind)->name : NULL,
	};
}

static int create(struct assist *as, struct conv *ret, struct err *reterr)
{
	AUTO_CONV last = CONV_INIT;
	enum agent_kind kind = as->opts.kind;
	enum agent_kind before;
	int r = as->opts.kind_default
		? conv_last(as->opts.store, as->opts.dir, as->opts.clock, &last, reterr)
		: ERR_NOTFOUND;

	if (r < 0 && r != ERR_NOTFOUND)
		return r;
	if (r == 0 && agent_kind_parse(sv_of(last.agent), &before) &&
		agent_kind_available(before, &as->opts.agents[before]))
		kind = before;
	const struct conv_new what = {
		.dir = as->opts.dir,
		.project = as->opts.project,
		.agent = agent_driver(kind)->name,
	};
	return conv_create(as->opts.store, &what, &as->self, as->opts.clock, ret, reterr);
}

/* The same, about what failed when the sentence leans on that. */
static int create_heir(struct assist *as, struct conv *ret, struct err *reterr)
{
	struct routing rt = assist_routing(as);
	int r = create(as, ret, reterr);

	return r < 0 || !as->note.heir_of[0] ? r
					     : routing_inherit(&rt, ret, as->note.heir_of, reterr);
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
	AUTO_STR ago = STR_INIT;

	if (as->opts.kind_forced && strcmp(c->agent, wanted) != 0) {
		assist_tell(as, TEXT_OTHER_AGENT, TEXT_WORDS(conv_label(c), c->agent, wanted));
		return false;
	}
	if (as->opts.expiry_ms > 0 && c->age_ms > as->opts.expiry_ms) {
		text_ago(&ago, as->opts.language, c->age_ms);
		assist_tell(as, TEXT_TOO_OLD, TEXT_WORDS(conv_label(c), ago.buf));
		return false;
	}
	return true;
}

/* Told when a turn goes elsewhere than the last one here did. */
static bool tell_route(const struct assist *as, const struct conv *last, const struct conv *to)
{
	AUTO_STR when = STR_INIT;
	bool old = to && to->age_ms > router_opts(as->opts.router)->expiry_ms;

	/* Where the last one went is no news, unless that is long ago. */
	if ((to && strcmp(last->id, to->id) == 0 && !old) || (!to && last->turns == 0))
		return false;
	if (!to) {
		assist_tell(as, TEXT_ROUTED_NEW, TEXT_WORDS(NULL));
		return true;
	}
	text_ago(&when, as->opts.language, to->age_ms);
	if (strcmp(to->dir, as->opts.dir) != 0)
		str_addf(&when, ", in %s", to->dir);
	assist_tell(as, TEXT_ROUTED_TO, TEXT_WORDS(conv_label(to), when.buf));
	return true;
}

/* For "no, the other one": the best of the others, else the one that was left. */
static void note_other(struct assist *as, const struct routing_result *res, const char *chosen,
	const struct conv *last)
{
	size_t best = ROUTE_NONE;

	for (size_t i = 0; i < res->convs.n; i++)
		if (res->candidates[i].routable && strcmp(res->convs.v[i].id, chosen) != 0 &&
			(best == ROUTE_NONE ||
				res->candidates[i].score > res->candidates[best].score))
			best = i;
	const char *other = best != ROUTE_NONE	? res->convs.v[best].id
		: strcmp(last->id, chosen) != 0 ? last->id
						: "";
	(void)snprintf(as->note.other, sizeof(as->note.other), "%s", other);
}

/* 0 and the conversation, ERR_NOTFOUND for a new one. */
static int settle_route(struct assist *as, struct sv text, const struct routing_result *res,
	const struct conv *last, struct conv *ret, struct err *reterr)
{
	bool resume = res->decision.action == ROUTE_RESUME;
	int r = 0;

	const struct conv *blocked =
		res->decision.blocked == ROUTE_NONE ? NULL : &res->convs.v[res->decision.blocked];
	/* A sentence that leans on what runs right now means nothing anywhere else. */
	if (blocked && routing_runs(blocked))
		return busy_error(blocked, reterr);
	if (blocked)
		memcpy(as->note.heir_of, blocked->id, sizeof(as->note.heir_of));
	if (resume) {
		const struct conv *found = &res->convs.v[res->decision.index];
		r = assist_corrected(as, text, found->id, ret, reterr);
		if (r < 0)
			return r;
		if (r == 0)
			conv_copy(ret, found);
		resume = ret->id[0] != '\0';
	}
	log_write(as->opts.log, LOG_INFO, "route: %s %.4f (%s)", resume ? ret->id : "new",
		res->decision.confidence, res->decision.reason);
	note_other(as, res, resume ? ret->id : "", last);
	as->note.routed = true;
	as->note.told = tell_route(as, last, resume ? ret : NULL);
	return resume ? 0 : ERR_NOTFOUND;
}

static int route(struct assist *as, struct sv text, struct conv *ret, struct err *reterr)
{
	struct routing rt = assist_routing(as);
	struct routing_result res = ROUTING_RESULT_INIT;
	AUTO_CONV last = CONV_INIT;
	int r = conv_current(rt.store, rt.dir, rt.clock, &last, reterr);

	if (r == 0 || r == ERR_NOTFOUND)
		r = routing_decide(&rt, text, &res, reterr);
	if (r == 0)
		r = settle_route(as, text, &res, &last, ret, reterr);
	routing_result_release(&res);
	return r;
}

static int current(struct assist *as, struct conv *ret, struct err *reterr)
{
	int r = conv_current(as->opts.store, as->opts.dir, as->opts.clock, ret, reterr);

	if (r == 0 && !goes_on(as, ret)) {
		conv_release(ret);
		r = ERR_NOTFOUND;
	}
	return r;
}

static int choose(
	struct assist *as, const struct assist_request *req, struct conv *ret, struct err *reterr)
{
	struct store *store = as->opts.store;
	int r = ERR_NOTFOUND;

	if (req->mode == ASSIST_IN)
		r = conv_get(store, req->conversation, as->opts.clock, ret, reterr);
	else if (req->mode == ASSIST_GO_ON && as->opts.routes && !conv_pinned(store, as->opts.dir))
		r = route(as, req->text, ret, reterr);
	else if (req->mode == ASSIST_GO_ON)
		r = current(as, ret, reterr);
	if (r == ERR_NOTFOUND && req->mode != ASSIST_IN)
		return create_heir(as, ret, reterr);
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
	as->note = (struct route_note){ .routed = false };
	r = choose(as, req, ret, reterr);
	return store_end(as->opts.store, r, reterr);
}
