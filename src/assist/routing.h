/*
 * The router over the store: which stored conversation a sentence belongs to, and what was learnt
 * from each turn. Deciding and taking happen in one transaction of the caller (store_begin()), so
 * that no two commands get the same conversation.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "base/vec.h"
#include "route/route.h"
#include "store/conv.h"
#include "store/store.h"

/* Borrowed; as long as the calls. */
struct routing {
	struct store *store;
	const struct clock *clock;
	struct router *router;
	const char *dir;
	const char *project;
	const char *agent; /* only this agent's conversations; NULL: any */
};

struct routing_result {
	VEC(struct conv) convs; /* what was looked at, most recent first */
	struct route_candidate *candidates; /* one each */
	struct route_decision decision; /* its index is into convs */
};
#define ROUTING_RESULT_INIT       \
	{                         \
		.convs = VEC_INIT \
	}
void routing_result_release(struct routing_result *res);

/* Looks at the project's recent conversations and at those anywhere that share a word. Empty text
 * is ERR_INPUT: it is dropped before routing. */
int routing_decide(const struct routing *rt, struct sv text, struct routing_result *ret,
	struct err *reterr) MUST_USE;

/* A turn of it runs in a process that lives. */
bool routing_runs(const struct conv *c);

/* A conversation that begins where another failed is about the same. */
int routing_inherit(const struct routing *rt, const struct conv *heir, const char *from_id,
	struct err *reterr) MUST_USE;

/* A turn of the conversation ended: what was said and answered is what it is about. */
int routing_learn(const struct routing *rt, const struct conv *c, struct sv prompt,
	struct sv answer, struct err *reterr) MUST_USE;
