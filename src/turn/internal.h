/*
 * Shared by the files of this room; not for others.
 */
#pragma once

#include "base/vec.h"
#include "os/proc.h"
#include "store/journal.h"
#include "turn/turn.h"

/* An agent and the turn that it runs. */
struct turn_agent {
	struct turn_host *host;
	struct agent *agent;
	const struct agent_def *kind;
	char *dir;
	char *session; /* of its last turn: a process that was kept has it open; NULL: none */
	char *transcript; /* … as it was after that turn; NULL: there was none */
	int64_t size;
	char prompt_id[UUID_TEXT];
	bool own_rights; /* as the turns have it that it may run */
	struct turn *turn; /* NULL: it is kept for the next */
};

struct turn_host {
	struct turn_host_opts opts;
	struct proc_id self;
	VEC(struct turn_agent *) idle; /* kept, the one used last at the end */
	VEC(struct turn_agent *) leaving; /* not kept: their processes are about to end */
	VEC(struct turn *) running;
	VEC(struct turn *) unwritten; /* over, and the store did not take their end yet */
	struct loop_source *wanted; /* somebody else wants what is kept */
};

/* turn.c */
/* The last try to write down how turns ended. */
void turn_drop_ends(struct turn_host *host);

/* host.c */
int turn_agent_make(struct turn_host *host, const struct agent_def *kind,
	const struct agent_opts *opts, agent_sink_fn sink, struct turn_agent **ret,
	struct err *reterr) MUST_USE;
/* One that was kept in the conversation's folder for turns with such rights: with its session, or
 * with another one when no more may be kept. NULL: a new one has its place. */
struct turn_agent *turn_agent_kept(struct turn_host *host, const struct agent_def *kind,
	const struct conv *c, bool own_rights);
/* Kept for the next turn of the session, as far as there is room; not from within its events. */
void turn_agent_keep(struct turn_agent *a, const struct turn *t);
/* One that is kept does not know what was said in its session elsewhere since, or has other rights:
 * it is let go, and the next one will. */
void turn_agent_refresh(struct turn_host *host, const char *session, bool own_rights);
/* One that waits for its next turn gets none: nobody waits for its process to end. */
void turn_agent_dismiss(struct turn_agent *a);
/* Whether one of those still has the session. */
bool turn_agent_leaving(const struct turn_host *host, const char *session);
/* Ended here and now. NULL is fine. */
void turn_agent_drop(struct turn_agent *a);
/* Of a transcript; 0: there is none. */
int64_t turn_size_of(const char *path);

void turn_tell(const struct turn_sink *sink, enum turn_news what, const char *a, const char *b,
	const char *c);

/* Whether a turn of ours is at it: the lease is the process's and does not tell its turns apart. */
bool turn_runs(const struct turn_host *host, const char *conversation);

/* Who has a session open. */
struct turn_writer {
	const char *agent; /* whose session it is, a constant; NULL: one that is not known here */
	bool open; /* somebody has */
	int64_t pid; /* 0: its number is not known */
	bool orphan; /* an agent of a faden that is gone: it ends by itself */
	int64_t keeper; /* a faden that may only keep it for its next turn; 0: none */
};
/* recover.c: whether a process of the agent has the conversation's session. */
bool turn_writer(const struct turn_host *host, const struct conv *c, struct turn_writer *ret);
/* Explains the unfinished turn of a conversation that nobody holds; tells it and writes it down.
 * ret->open: not now, somebody is still at it. Not from within a transaction. */
int turn_settle(struct turn_host *host, const char *id, const struct turn_sink *sink,
	struct turn_writer *ret, struct err *reterr) MUST_USE;
/* Whether the unfinished turn's prompt has been taken by the agent, or nobody can tell. */
bool turn_took(struct turn_host *host, const char *id);
/* The agent died with the prompt in its hands: whether it had taken it is looked up, and added to
 * what is said of the failure. */
void turn_look_after_death(struct turn *t);
/* The transcript of a session of it, owned by the caller. NULL: none. */
char *turn_transcript(const struct turn_host *host, const struct conv *c, const char *session);

/* question.c: a folder of its own, with neither instructions nor settings of a project. */
struct turn_place {
	char *dir;
	char *schema_file;
};
int turn_place_make(
	struct turn_place *p, const struct turn_question *q, struct err *reterr) MUST_USE;
/* Removes it with all traces of it in the agent's home. */
void turn_place_remove(
	struct turn_place *p, const struct turn_question *q, const struct agent_opts *agent);
struct agent_opts turn_question_agent(
	const struct turn_place *p, const struct turn_question *q, const struct agent_opts *agent);

/* ---- a turn ---- */

enum turn_phase {
	PHASE_WAITING, /* for its start or a conversation in use: nothing is held */
	PHASE_RUNNING, /* the agent has the word */
	PHASE_LOST, /* the agent lost the session: nothing arrived, about to start fresh */
	PHASE_LIMITED, /* a limit is waited out */
	PHASE_ENDING
};

struct turn {
	struct turn_host *host;
	struct turn_opts opts;
	struct turn_sink sink;
	enum turn_phase phase;
	struct turn_job job;
	struct turn_outcome out;
	struct turn_place place; /* of a question */
	const struct agent_def *kind; /* who answers */
	struct turn_agent *agent; /* NULL: not at work */
	int64_t step; /* its intent in the journal; 0: none yet */
	int64_t wait; /* … that its prompt waits; 0: it does not */
	char prompt_id[UUID_TEXT]; /* goes with the prompt; empty: the agent keeps none */
	bool held; /* we have the conversation */
	bool abandoned; /* its end is not written down: to others it was killed with its program */
	bool resumes; /* a session that exists */
	bool fresh; /* has started fresh: a second loss is the agent's answer */
	bool unwritten; /* out.err is about its end in the journal, not about itself */
	char again[UUID_TEXT]; /* after a limit: this conversation once more; else empty */
	bool told_busy;
	int64_t busy_since_ms; /* age clock */
	struct turn_writer orphan; /* whom it waits for, in this conversation */
	char orphan_at[UUID_TEXT];
	int64_t orphan_since_ms, orphan_looked_ms;
	int orphan_signals; /* sent to end it */
	bool orphan_idle; /* no turn of it is without an end */
	struct turn_writer kept; /* by another faden, which was asked to let go of it */
	int64_t kept_until_ms; /* age clock: no longer waited for */
	struct loop_source *timer; /* what comes next */
	struct loop_source *beat; /* looks whether all is as it should be, and beats now and then */
	int64_t beaten_ms;
	bool told_lost; /* that nothing is kept any more */
};

/* turn.c: what comes next, and when. Who is told of anything may cancel within the call: it is set
 * before the telling, or the phase is looked at after it. */
void turn_after(struct turn *t, int64_t ms, loop_timer_fn next);
/* Tries to begin; once more after each wait. */
void turn_start(void *data);
void turn_end_soon(struct turn *t);

/* wait.c */
int turn_note_wait(
	struct turn *t, const struct conv *c, struct sv prompt, struct err *reterr) MUST_USE;
/* first: this one is not waited for yet. An error: no longer. */
int turn_wait_for_orphan(struct turn *t, bool first, struct err *reterr) MUST_USE;
/* False: long enough. */
bool turn_wait_for_keeper(struct turn *t, const struct turn_writer *writer);
