/*
 * The index as a search needs it: there, and with what was said last. A search does not wait for
 * all sessions to be looked at, unless nobody did for a minute. Within a short time it takes in
 * what the sessions have that were active last, and sessions that are new in their folders. Who
 * finds nothing in that looks at the others as well, and who does not says that they were not
 * looked at.
 */
#pragma once

#include "keep/keeper.h"

struct fresh_rest; /* the look at all others */
struct fresh {
	struct index_view *view;
	struct fresh_rest *rest; /* NULL: nothing is left to look at */
	int64_t checked_ms; /* when all sessions were looked at last, in wall time; 0: never */
	struct index_stats stats; /* of taking in what is new; left: what is known to be missing */
	bool unseen; /* by fresh_rest(): not all of the others were looked at */
	bool never; /* everything has never been looked at to the end: others may be missing */
	bool busy; /* another one takes in what is new; the last of it may be missing */
	struct err failed; /* why what is new could not be taken in; code 0: it could */
	bool due; /* an index of everything should be started: once a minute, whoever asks */
};
void fresh_release(struct fresh *fresh); /* the rest is not waited for */
enum { FRESH_MS = 60, FRESH_FIRST_MS = 3000 };
/* budget_ms for what is new, first_ms for an index that is not there yet. ERR_NOTFOUND,
 * SEGMENT_DAMAGED and what index_update() fails with when there is none. */
int fresh_view(const struct keeper *k, int64_t budget_ms, int64_t first_ms, struct fresh *ret,
	struct err *reterr) MUST_USE;

/*
 * The others: looked at with `all`, and by a thread that is at it already when nobody has looked
 * for a minute and there are not too many for it. What is found is taken in within budget_ms. True
 * when there is another view now, in which there is more. unseen, left, busy and failed of *fresh
 * tell what may be missing all the same.
 */
bool fresh_rest(const struct keeper *k, struct fresh *fresh, bool all, int64_t budget_ms);
