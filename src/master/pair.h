/*
 * The pair at work: an instructor and a worker go on with a run, on the caller's loop, until it
 * stops. Each step is in the run before the next thing happens, and what is done next follows from
 * the run's state (master/next.h); so the pair has nothing to lose. Each prompt is a turn
 * (turn/turn.h) in a conversation of its role.
 *
 * A prompt without an answer, after a crash or a failure, is settled from the agent's transcript by
 * its id: answered, the answer counts; not arrived, it is sent again; else the agent is asked to go
 * on. A limit is waited out, a full context shortened, an agent that dies is tried again.
 */
#pragma once

#include "archive/archive.h"
#include "master/run.h"
#include "turn/turn.h"

/* Borrowed for the pair's life. */
struct pair_opts {
	struct master_run *run; /* with a task, and not stopped */
	struct turn_host_opts turns; /* agents: what all turns have in common; keep is ours */
	const struct archive *archive; /* where originals of shortened sessions are kept */
	const char *const *envp; /* of the check */
	bool ask; /* somebody answers the worker's questions for permission: pair_answer() */
};

enum pair_event_type {
	PAIR_BEGINS, /* role, round, text: it is sent this; go_on: after an interruption */
	PAIR_AGENT, /* role, event: what its agent does. Not AGENT_EV_DONE; of the instructor's text
		       only what is meant for people */
	PAIR_ENDS, /* role, fail, denied, text: its whole answer, or why it failed; found: in the
		      transcript of a turn that had been interrupted; its words come in `said` then
		    */
	PAIR_DECIDED, /* act, text, model: what the instructor wants */
	PAIR_NEWS, /* role, news, words: as of a turn */
	PAIR_NOTE, /* text: one line */
	PAIR_WAITING, /* role, seconds, text: every second, what for */
	PAIR_CHECKS, /* text: the command runs */
	PAIR_CHECKED, /* status, text: the end of its output */
	PAIR_PAUSED, /* somebody interrupted: pair_say() goes on */
	PAIR_STOPPED, /* err, or stop and text: why. The last; not to be freed in it */
};

/* Valid during the call. */
struct pair_event {
	enum pair_event_type type;
	enum master_role role;
	int64_t round;
	const struct agent_event *event;
	enum agent_fail fail;
	bool go_on, found;
	const struct agent_denials *denied; /* NULL: not known */
	struct sv text, said, model;
	enum master_act act;
	enum turn_news news;
	const char *const *words;
	int64_t seconds;
	int status;
	enum master_stop stop;
	const struct err *err; /* a failure of ours: what the run has is on disk; NULL: none */
};
/* Called from the loop, never from within a call of the pair but pair_say(). */
typedef void (*pair_sink_fn)(void *data, const struct pair_event *ev);

struct pair;
struct pair *pair_new(const struct pair_opts *opts, pair_sink_fn sink, void *data);
/* Stops what runs, here and now; the run stays as it is. NULL is fine. */
void pair_free(struct pair *p);
/* Begins; everything else comes by the sink. */
void pair_begin(struct pair *p);
/* A line that was typed: round control, and words for the instructor at the next chance. After
 * PAIR_PAUSED it goes on, also with an empty one. Round control that is mistyped is told by a note,
 * and nothing else is done with the line: then 1. */
int pair_say(struct pair *p, struct sv line, struct err *reterr) MUST_USE;
/* Interrupts what runs; PAIR_PAUSED follows. */
void pair_interrupt(struct pair *p);
/* Saves and leaves: what runs is stopped, and is settled when the run goes on. */
void pair_leave(struct pair *p);
/* To AGENT_EV_ASK. */
void pair_answer(struct pair *p, const char *ask, enum agent_answer answer);
