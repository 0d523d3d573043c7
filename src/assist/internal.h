/*
 * Shared by the files of this room; not for others.
 */
#pragma once

#include "assist/assist.h"
#include "assist/routing.h"
#include "os/proc.h"
#include "store/journal.h"

/* What the router decided for the running turn. */
struct route_note {
	bool routed;
	bool told; /* the user was told that it goes elsewhere */
	char other[UUID_TEXT]; /* the next best, or the one left; may be empty */
	char heir_of[UUID_TEXT]; /* new, because this one failed; else empty */
};

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
	struct route_note note;
	char *corrected; /* a text that is said again elsewhere */
	char corrected_to[UUID_TEXT];
	struct str prompt; /* its beginning, for the router to learn from */
	bool acted; /* the agent used a tool in it */

	/* Between two tries, while a limit is waited out. */
	bool waiting;
	bool gave_up;
	int64_t wait_until_ms; /* wall time */
};

/* The router as this assistant uses it. */
struct routing assist_routing(const struct assist *as);

void assist_notice(const struct assist *as, const char *fmt, ...) PRINTF(2, 3);
/* A notice in the user's language; the words as for text_fill(). */
void assist_tell(const struct assist *as, enum text_id id, struct text_words words);

/* choose.c: the conversation of a request, held by us. */
int assist_choose(struct assist *as, const struct assist_request *req, struct conv *ret,
	struct err *reterr) MUST_USE;

/* limit.c: the same, but a conversation in use is waited for a while. */
int assist_choose_patiently(struct assist *as, const struct assist_request *req, struct conv *ret,
	struct err *reterr) MUST_USE;

/* turn.c: one turn in the conversation that as->conv holds. */
int assist_turn(struct assist *as, struct sv text, struct err *reterr) MUST_USE;

/* Writes the turn's end and gives the conversation back. failure: what went wrong on our side, NULL
 * when the agent's result says all. */
int assist_turn_end(struct assist *as, const struct err *failure, struct err *reterr) MUST_USE;

/* recover.c: explains an unfinished turn of a conversation that we hold now. */
int assist_settle(struct assist *as, struct conv *c, struct err *reterr) MUST_USE;
/* Is a process of the agent writing the session? */
bool assist_writer(const struct assist *as, const struct conv *c, int64_t *ret_pid);
/* The transcript of a session: by its driver, else by searching the agent's home. NULL: none. */
char *assist_transcript(const struct assist *as, const struct conv *c);

/* limit.c: true when the agent's limit was reached and is to be waited out. */
bool assist_limit_waits(const struct assist *as, const struct assist_outcome *out);
/* Waits until then, or until assist_cancel(). *ret_over is true when the limit has ended. */
int assist_limit_wait(struct assist *as, const struct assist_outcome *out, bool *ret_over,
	struct err *reterr) MUST_USE;

/* correct.c: writes down how the running turn was routed, for a correction of it. */
int assist_route_note(struct assist *as, struct err *reterr) MUST_USE;
/* A correction by words: *req becomes what is to be done instead, or *ret_done is set and the
 * outcome holds our reply. Anything else is left as it is. */
int assist_correct(struct assist *as, struct assist_request *req, struct assist_outcome *out,
	bool *ret_done, struct err *reterr) MUST_USE;
/* Was such a text sent into `wrong` before and corrected? 1 and the right conversation (untouched
 * when it was a new one), 0, or negative. */
int assist_corrected(struct assist *as, struct sv text, const char *wrong, struct conv *ret,
	struct err *reterr) MUST_USE;
