/*
 * The index as a search needs it: there, and with what was said last. A search does not wait for
 * all sessions to be looked at. Within a short time it takes in what the sessions have that were
 * active last, and sessions that are new in their folders or in new ones; the rest is left to an
 * index of everything in the background, and what is known to be missing is said.
 */
#pragma once

#include "keep/keeper.h"

struct fresh {
	struct index_view *view; /* closed by index_view_close() */
	size_t left; /* sessions that are known not to be in it yet */
	bool never; /* everything has never been looked at to the end: others may be missing */
	struct err failed; /* why what is new could not be taken in; code 0: it could */
	bool due; /* an index of everything should be started: once a minute, whoever asks */
};
enum { FRESH_MS = 60, FRESH_FIRST_MS = 3000 };
/* budget_ms for what is new, first_ms for an index that is not there yet. ERR_NOTFOUND,
 * SEGMENT_DAMAGED and what index_update() fails with when there is none. */
int fresh_view(const struct keeper *k, int64_t budget_ms, int64_t first_ms, struct fresh *ret,
	struct err *reterr) MUST_USE;
