/*
 * Sessions that somebody told of who must not wait, an agent's hook, and the one who takes them in
 * later. Between them is a file in the state folder: paths, each ended by a NUL.
 *
 * At most one takes in at a time, and whoever tells while it does is heard by it: it looks for more
 * before it ends, and a lock lies around that.
 */
#pragma once

#include "keep/keeper.h"

enum {
	TOLD_MAX = 1024 * 1024
}; /* bytes that wait; beyond them all is forgotten, and found by the
      next look at everything */

/* Notes the path. 1 when nobody is at it: somebody should told_take(), else 0. */
int told_add(const char *state_dir, const char *path, struct err *reterr) MUST_USE;

struct told_stats {
	size_t read; /* files with something new for the index */
	uint64_t bytes_read;
	size_t archived; /* files with something new for the archive */
};
/*
 * Takes the sessions that were told of, and the files of their sub-agents, into index and archive.
 * Waits settle_ms before each look, since an agent tells before its last line is written. What is
 * told meanwhile is taken, too. At once 0 and nothing taken when another one is at it.
 */
int told_take(
	const struct keeper *k, int settle_ms, struct told_stats *ret, struct err *reterr) MUST_USE;
