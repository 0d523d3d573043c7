/*
 * Two sessions side by side: the turns both begin with, then what each has that the other has not.
 * Turns are the same by the ids that copies keep, or by their words (branch/turns.h); behind the
 * common part, turns with the same words of the user stand beside each other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "branch/turns.h"
#include "lineage/lineage.h"
#include "store/catalogue.h"

/* Not in this one. */
#define DIFF_NONE SIZE_MAX

enum { DIFF_A, DIFF_B, DIFF_SIDES };

struct diff_turn {
	size_t at[DIFF_SIDES]; /* of the turns of each side, or DIFF_NONE */
	bool same; /* in words and deeds, too */
};

/* What one side has behind the common part; turns on a way that was left do not count. */
struct diff_side {
	uint64_t turns, calls, failed, model_calls;
	uint64_t commands; /* calls that are commands in a shell: what they change is not known */
	struct usage usage;
	struct strv files; /* changed there by other calls, each once */
};

struct session_diff {
	struct turn_views of[DIFF_SIDES];
	size_t common; /* turns that both begin with */
	VEC(struct diff_turn) rest; /* in an order that is right for both */
	struct diff_side side[DIFF_SIDES];
	struct strv both; /* files that both sides have changed */
	bool equal; /* nothing differs */
};
#define SESSION_DIFF_INIT                                   \
	{                                                   \
		.of = { TURN_VIEWS_INIT, TURN_VIEWS_INIT }, \
	}
#define AUTO_SESSION_DIFF CLEANUP(session_diff_release) struct session_diff
void session_diff_release(struct session_diff *d);

struct diff_input {
	const struct session_info *session;
	const struct transcript_home *home; /* of its agent; NULL: none */
};
int session_diff_read(const struct diff_input inputs[static DIFF_SIDES], struct session_diff *ret,
	struct err *reterr) MUST_USE;

/* ---- of lists ---- */

struct diff_match {
	size_t a, b;
};
typedef VEC(struct diff_match) diff_matches;
/* What two lists have in common in the same order, as much as there is; of very long ones only what
 * they begin and end with. Appends. */
void diff_lists(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, diff_matches *ret);

/* ---- where they come from ---- */

/* The last session that both come from, which may be one of them; ret_node's strings are of *ret_a,
 * the way to the first. NULL: there is none. */
int session_ancestor(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const struct session_row *a, const struct session_row *b, struct lineage *ret_a,
	const struct lineage_node **ret_node, struct err *reterr) MUST_USE;
