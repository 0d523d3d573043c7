/*
 * Shared by the files of this room; not for others.
 */
#pragma once

#include "assist/assist.h"
#include "os/proc.h"

struct assist {
	struct assist_opts opts;
	struct proc_id self;
	struct agent *agent; /* NULL until the first turn */
	enum agent_kind agent_kind;
	char *agent_dir; /* folder the agent was opened for */

	/* The running turn. */
	bool done;
	struct assist_outcome *out;
	struct conv *conv; /* held by us */
	int64_t turn_id;
	struct loop_source *beat;
	struct err err; /* a failure inside a callback */
	bool acted; /* the agent used a tool in it */

	/* Between two tries, while a limit is waited out. */
	bool waiting;
	bool gave_up;
	int64_t wait_until_ms; /* wall time */
};

void assist_notice(const struct assist *as, const char *fmt, ...) PRINTF(2, 3);

/* choose.c: the conversation of a request, held by us; *ret_fresh when it was made now. */
int assist_choose(struct assist *as, const struct assist_request *req, struct conv *ret,
	struct err *reterr) MUST_USE;

/* turn.c: one turn in the conversation that as->conv holds. */
int assist_turn(struct assist *as, struct sv text, struct err *reterr) MUST_USE;

/* Writes the turn's end and gives the conversation back. failure: what went wrong on our side, NULL
 * when the agent's result says all. */
int assist_turn_end(struct assist *as, const struct err *failure, struct err *reterr) MUST_USE;

/* recover.c: explains an unfinished turn of a conversation that we hold now. */
int assist_settle(struct assist *as, struct conv *c, struct err *reterr) MUST_USE;
/* The transcript of a session: by its driver, else by searching the agent's home. NULL: none. */
char *assist_transcript(const struct assist *as, const struct conv *c);

/* limit.c: true when the agent's limit was reached and is to be waited out. */
bool assist_limit_waits(const struct assist *as, const struct assist_outcome *out);
/* Waits until then, or until assist_cancel(). *ret_over is true when the limit has ended. */
int assist_limit_wait(struct assist *as, const struct assist_outcome *out, bool *ret_over,
	struct err *reterr) MUST_USE;
