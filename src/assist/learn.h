/*
 * What conversations are about, learnt from their turns and kept in the store for the router.
 */
#pragma once

#include "base/err.h"
#include "route/route.h"
#include "store/catalogue.h"
#include "store/conv.h"
#include "store/store.h"

/* The topic as it was kept; *ret is NULL when it has to be made from the prompts. Always NULL for a
 * router that has no topics (profile seed). Caller frees. */
int learn_topic(struct store *store, const struct router *router, int64_t seq,
	struct route_topic **ret, struct err *reterr) MUST_USE;
/* What was said in a conversation, oldest first, as far as it is looked at. Appends. */
int learn_prompts(
	struct store *store, const char *id, struct strv *out, struct err *reterr) MUST_USE;

/* What the catalogue knows of what a session is about; with `tail` also what was said last in it,
 * by the end of its file. Appends. */
void learn_session(const struct session_row *row, bool tail, struct strv *out);
/* A session of an agent's own became a conversation: it is about what it was about. */
int learn_adopted(struct store *store, struct router *router, const struct conv *c,
	struct err *reterr) MUST_USE;

/* A turn of the conversation ended: what was said and answered is what it is about. */
int learn_turn(struct store *store, struct router *router, const struct conv *c, struct sv prompt,
	struct sv answer, struct err *reterr) MUST_USE;
/* A topic of which more is known than was kept. */
int learn_keep(struct store *store, int64_t seq, const struct route_topic *topic,
	struct err *reterr) MUST_USE;
/* A conversation that begins where another failed is about the same. */
int learn_heir(struct store *store, struct router *router, const struct conv *heir,
	const struct conv *from, struct err *reterr) MUST_USE;

/* The stems of a text, each once. Appends. */
void learn_stems(struct router *router, struct sv text, struct strv *out);
