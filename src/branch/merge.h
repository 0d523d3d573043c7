/*
 * What was found on another branch, brought home: a child of one session that goes on with the
 * conclusions of another, as turns that say where they come from. The words of the user there and
 * the last answer to them go along; how it was got there does not, but is counted. What an earlier
 * merge has brought is not brought again.
 *
 * Both sessions are only read. The child is a session of the first one's agent.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "branch/diff.h"
#include "strategy/rewrite.h"

/* All borrowed. */
struct merge_opts {
	const struct session_row *home, *other;
	const struct session_diff *diff; /* of the two, in this order */
	/* The session that both come from; NULL: none is known. */
	const struct lineage_node *ancestor;
	bool unrelated; /* also where they have nothing in common */
	bool dry; /* all but writing */
	const struct clock *clock;
};

struct merge_report {
	struct rewrite_result file; /* path NULL when dry */
	uint64_t turns; /* brought home */
	uint64_t calls; /* of tools in them, which stay behind */
	uint64_t bytes; /* of what was added */
};
#define MERGE_REPORT_INIT                   \
	{                                   \
		.file = REWRITE_RESULT_INIT \
	}
void merge_report_release(struct merge_report *r);

/* ERR_NOTFOUND: the other one has nothing to bring. ERR_INPUT: they have nothing in common and that
 * is not asked for, or lines of the agent cannot be written. */
int merge_sessions(
	const struct merge_opts *opts, struct merge_report *ret, struct err *reterr) MUST_USE;
