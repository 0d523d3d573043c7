/*
 * The assistant that every front end talks to: one sentence in, what it is and which conversation
 * it belongs to (assist/decide.h), then a turn (turn/turn.h); the answer as a stream of events.
 *
 * It belongs to one thread and runs on the caller's loop: assistant_say() begins and returns, a
 * callback ends it. One sentence at a time.
 */
#pragma once

#include "assist/judge.h"
#include "store/journal.h"
#include "turn/turn.h"

/* What became of a sentence. */
struct assistant_outcome {
	/* code < 0: a failure of ours: the store, a conversation in use. A failure of the agent is
	 * turn->fail. */
	struct err err;
	enum utterance_kind kind; /* UTTERANCE_RESTART and UTTERANCE_CANCEL are for the front end */
	const char *reply; /* our own answer; else empty */
	enum text_language language; /* of whoever said it */
	enum decision_by by; /* who decided where it goes */
	bool unplaced; /* there is no place for it, as the reply says: nothing was sent */
	const struct judgement *judged; /* what an agent said about that */
	const struct turn_outcome *turn; /* blank when nothing was sent */
};

/* What the front end wants to hear; any may be NULL. Called from the loop, notice also from within
 * assistant_recover(). */
struct assistant_ui {
	void *data;
	/* The conversation of this turn is known: before anything is sent. */
	void (*begin)(void *data, const struct conv *c);
	/* Every event of the agent. AGENT_EV_DONE comes before the turn's end is written down, so
	 * that the answer is complete on the screen without waiting for the disk. */
	void (*event)(void *data, const struct agent_event *ev);
	/* One line the user should see. */
	void (*notice)(void *data, const char *line);
	/* Every second while a limit of the agent is waited out. */
	void (*waiting)(void *data, int64_t seconds_left);
	/* An agent that an interrupted turn has left at work is waited for: its name, its process.
	 */
	void (*waits_for)(void *data, const char *agent, const char *pid);
};

/* Borrowed for the assistant's life. */
struct assistant_opts {
	struct turn_host_opts turns;
	struct decide_opts decide;
	struct assistant_ui ui;
	struct judge_opts judge; /* who is asked about close choices */
	const struct agent_def *kind; /* who answers in a new conversation */
	bool waits; /* a conversation in use is waited for, where sentences are not routed too */
	bool wait_on_limit; /* when the agent's limit is reached: wait until it ends */
};

struct assistant;
int assistant_new(
	const struct assistant_opts *opts, struct assistant **ret, struct err *reterr) MUST_USE;
void assistant_free(struct assistant *as); /* NULL is fine; ends the agent's process */

/* Begins with a sentence; the text is borrowed until done, which comes once, from the loop. The
 * outcome is valid until the next sentence. */
typedef void (*assistant_done_fn)(void *data, const struct assistant_outcome *out);
void assistant_say(
	struct assistant *as, const struct request *req, assistant_done_fn done, void *data);
/*
 * A talk stays in its conversation: in the one that its first sentence went to, unless it is told
 * before. c: what goes on, an agent's own too; empty: a new one.
 */
void assistant_stay(struct assistant *as, const struct conv *c);
/* The same for one that the user has named: what was allowed for this talk holds there, too. */
void assistant_enter(struct assistant *as, const struct conv *c);
/* What comes next from elsewhere (a command, a program anew) is about this talk's conversation: it
 * is what goes on in the folder, whatever came in between. */
int assistant_lead(struct assistant *as, struct err *reterr) MUST_USE;
/* … and may have changed what goes on there: then the talk is there from now on. */
void assistant_follow(struct assistant *as);
/* A new conversation begins with the next sentence. */
int assistant_reset(struct assistant *as, struct err *reterr) MUST_USE;
/* Stops what runs; nothing runs: no effect. */
void assistant_cancel(struct assistant *as);
/* The same for a signal that ends the program: when the terminal is gone, nobody hears how it
 * ended, and whoever comes next is told. */
void assistant_stop(struct assistant *as, int signo);
/* What runs, or ran last, is a turn that plans because its words say so. */
bool assistant_plans(const struct assistant *as);
/* Answers an AGENT_EV_ASK, from within the event or later; one that is over: no effect. */
void assistant_answer(struct assistant *as, const char *ask, enum agent_answer answer);
/* Ends it at once, and no done comes: for who cannot run the loop any longer. Not from within a
 * callback. */
void assistant_drop(struct assistant *as);

/*
 * What crashes left behind in the folder's conversations is looked up in the transcripts and told
 * by notices, each once; nothing is sent again. Every turn does it too; front ends call it at
 * start. `running`: what an agent still works on (turn/turn.h). It is told in the language of
 * `next`, what will be said then; empty: not known yet.
 */
int assistant_recover(struct assistant *as, enum turn_running running, struct sv next,
	struct err *reterr) MUST_USE;
/* One of the turns that were told not to have reached their agent, for a request with it as
 * `again`; each is given once. ERR_NOTFOUND: no more. */
int assistant_next_lost(struct assistant *as, struct turn_record *ret, struct err *reterr) MUST_USE;
