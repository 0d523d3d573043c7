/*
 * Sessions that were made in the agents themselves, as members of what goes on: a conversation
 * without an id of ours that has a session. It is made one by member_adopt(), when a turn goes
 * there and not before.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "store/catalogue.h"
#include "store/conv.h"
#include "store/project.h"
#include "store/store.h"

/* The session as a conversation that nobody has begun here yet. Caller releases. */
void member_of(const struct session_row *row, const struct clock *clock, struct conv *ret);

/* Has a session and no conversation. */
static inline bool is_member(const struct conv *c)
{
	return !c->id[0] && c->session;
}

/*
 * What was begun where the project lay before, or in a work tree that is gone, goes on in the same
 * folder of what is there now: true, with another dir and project. kin: the places that are gone;
 * NULL is fine.
 */
bool member_bring(const struct project *kin, const char *project, struct conv *c);

/* Makes the conversation; *c is it from then on. One that has been made since is taken. */
int member_adopt(struct store *store, struct conv *c, const struct clock *clock,
	struct err *reterr) MUST_USE;
