/*
 * A session that begins as a copy of another one, up to a turn: the same agent goes on from there
 * under a new id. What need not change does not: the lines are those of the parent but for the id.
 * The parent is only read.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "branch/turns.h"
#include "strategy/rewrite.h"
#include "transcript/home.h"
#include "transcript/transcript.h"

/* All borrowed. */
struct fork_opts {
	const struct session_info *parent;
	const struct transcript_home *home; /* of its agent; NULL: a path in no home */
	uint64_t at; /* the last turn that is taken; 0: all there is */
	enum session_relation relation; /* SESSION_FORKED or SESSION_REPLAYED */
	const char *out_dir; /* NULL: where the agent looks for it */
	bool dry; /* all but writing */
	const struct clock *clock;
};

struct fork_report {
	struct rewrite_result file; /* path NULL when dry */
	struct turn_cut cut; /* its path: the file that was copied, of a fork maybe its parent's */
};
#define FORK_REPORT_INIT                    \
	{                                   \
		.file = REWRITE_RESULT_INIT \
	}
void fork_report_release(struct fork_report *r);

/* ERR_INPUT when there are fewer turns. */
int fork_session(
	const struct fork_opts *opts, struct fork_report *ret, struct err *reterr) MUST_USE;

/* Members of the note in a session that was made from others. */
struct branch_note {
	enum session_relation relation;
	const char *id, *path; /* of the parent */
	uint64_t turn; /* of the parent, up to which it goes; 0: not told */
	const char *other_id, *other_path; /* merged: what was brought home; NULL: nothing */
	const char *from_agent; /* ported: whose the parent is; NULL: the same agent's */
	int64_t now_ms;
};
void branch_note_put(const struct branch_note *note, struct jw *w);
