/*
 * A turn: one prompt to an agent, and all that belongs to it. turn_begin() returns at once; the
 * turn runs on the caller's loop, tells what happens through its sink and ends with exactly one
 * done. Any number of turns run at once on one loop, each with an agent of its own.
 *
 * Inside: the conversation is taken by a lease and kept by a heartbeat; what a crash left in it is
 * looked up and told, and an agent that it left at work is waited for; the intent is in the journal
 * before anything is sent, and the prompt before anything is waited for; the agent's events go to
 * the sink; "no such conversation" is one fresh start; a limit of the agent can be waited out; the
 * end is in the journal before done. Nothing that may have arrived is sent twice.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/agents.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "os/loop.h"
#include "store/conv.h"
#include "store/store.h"
#include "transcript/home.h"

/* What the turns of a program share. Borrowed for the host's life. */
struct turn_host_opts {
	struct store *store;
	struct loop *loop;
	const struct clock *clock;
	const struct log *log;
	const struct agent_opts *agents; /* one a kind; dir is filled in here */
	const struct transcript_home *homes; /* to find transcripts and other writers */
	size_t n_homes;
	enum agent_permission permission; /* without what was given for this once */
	size_t keep; /* agents that are kept between turns; one is reused in its folder */
	/* How long an agent that a crash left behind may take to take its prompt before it is
	 * ended; twice that is waited for one that works. 0: TURN_ORPHAN_MS */
	int64_t orphan_ms;
};
enum { TURN_ORPHAN_MS = 30000 };

struct turn_host;
int turn_host_new(
	const struct turn_host_opts *opts, struct turn_host **ret, struct err *reterr) MUST_USE;
/* Ends the agents that were kept. All turns are freed before. NULL is fine. */
void turn_host_free(struct turn_host *host);
/* Who holds what our turns hold. */
const struct proc_id *turn_host_self(const struct turn_host *host);

/* The other faden whose agent this process is; 0: none. While no turn of it runs, it is only kept.
 */
int64_t turn_keeper(int64_t pid);
/* Whether it is the agent of a faden that is gone. */
bool turn_left(int64_t pid);
/* Asks another faden that only keeps this agent's process for its next turn to end it, as every
 * turn does by itself, and waits for that. False when it is no such process, or goes on. */
bool turn_let_go(int64_t pid);

/* What a person should be told, with up to three words that it is about; and for what became of a
 * turn or a wait that was interrupted, its id in the journal, else 0. */
enum turn_news {
	NEWS_BUSY, /* waiting for the conversation: who uses it */
	NEWS_NO_COSTS, /* a budget has no effect: the agent */
	NEWS_GONE, /* a fresh start: the agent, the session it lost */
	NEWS_LIMIT, /* waiting: the agent, seconds, the time it ends */
	NEWS_NOT_KEPT, /* the store no longer takes anything: why */
	NEWS_CALLS_FAILED, /* of a turn that ended alone, which is told next: the tools */
	/* A turn was interrupted; the last word is its conversation: */
	NEWS_STILL_AT_IT, /* the agent works on: its name, its process */
	NEWS_WAITS_FOR_IT, /* … and is waited for */
	NEWS_ENDS_IT, /* … and is ended, since it does not come to take its prompt */
	NEWS_ANSWERED, /* it ended alone: the prompt, the answer */
	NEWS_UNANSWERED, /* the prompt arrived: the prompt, the conversation */
	NEWS_NOT_SENT, /* … did not */
	NEWS_NOT_BEGUN, /* … was not sent: it waited for something; no conversation: may be empty */
	/* Whether it arrived is not known: */
	NEWS_UNKNOWN_SESSION, /* the agent had not told its session yet */
	NEWS_UNKNOWN_NO_RECORD, /* it keeps none */
	NEWS_UNKNOWN_GONE, /* its record is gone or cannot be read */
	NEWS_UNKNOWN_IN_HAND, /* the agent had it in hand, and it is not recorded that it was said
			       */
	NEWS_UNKNOWN_WORDS, /* something was said there since, in other words */
	NEWS_UNKNOWN_COMMAND, /* a command of the agent's own, which may leave no trace */
	NEWS_COUNT
};

struct turn_outcome {
	struct err err; /* code < 0: a failure of ours; what follows is as far as it came */
	enum agent_fail fail;
	char message[ERR_MSG_MAX]; /* why it failed, for a person */
	enum agent_delivery delivery;
	bool sent; /* the agent was given the prompt at all: without it err is about something
		      before */
	bool acted; /* the agent used a tool */
	struct str deeds; /* tools that ran: "Bash ×2, Write" */
	struct str begun; /* … and those that had not come to their end */
	struct agent_denials denied; /* what it was not allowed */
	struct conv conv; /* empty for a question, or when none was taken */
	struct str answer;
	struct agent_usage usage;
	int64_t duration_ms;
	int64_t limit_ends_ms;
};

/* Who hears of a turn; any may be NULL but done. Called from the loop, never from turn_begin() or
 * turn_cancel(); turn_recover() tells its news before it returns. Any may cancel the turn. */
struct turn_sink {
	void *data;
	/* The conversation is ours: before anything is sent. Again after a limit. */
	void (*begin)(void *data, const struct conv *c);
	void (*news)(void *data, enum turn_news what, const char *const words[3], int64_t turn);
	/* Every second while a limit is waited out. */
	void (*waiting)(void *data, int64_t seconds_left);
	/* Everything is written down. The turn may be freed in here, the outcome goes with it. */
	void (*done)(void *data, const struct turn_outcome *out);

	/* Every event of the agent, straight to who shows it. AGENT_EV_DONE comes before the end is
	 * written down: the answer is complete on the screen without waiting for the disk. */
	agent_sink_fn event;
	void *event_data;
};

/* What is to be done in which conversation. */
struct turn_job {
	/* With ERR_BUSY: the conversation whose interrupted turn has to be explained before this
	 * one can be decided on, since it may be the very same; else empty */
	char first[UUID_TEXT];
	/* Taken by conv_take() or made by conv_create() for the host's self. With ERR_BUSY: which
	 * one it waits for, */
	struct conv conv;
	bool lasts; /* … unless nobody knows how long: then it is refused */
	bool ebbs; /* … who has it lets go within a minute, and is waited for longer */
	struct str prompt;
	enum conv_task task; /* CONV_PLAN: in the agent's plan mode */
	bool own_rights; /* with the host's permission, not that of its agents */
	bool leans; /* it means nothing in a session that has nothing in it */
	/* A turn that was lost, sent again: its step and the id it had. 0: a new one */
	int64_t again;
	char prompt_id[UUID_TEXT];
};

/*
 * Decides on the job, within a transaction of the store that the turn has begun: 0; TURN_NONE when
 * there is nothing to send after all, which ends the turn without a word; ERR_BUSY when somebody
 * else has the conversation: it is asked again a while later; any other error ends the turn.
 * Whatever it changed is undone by an error.
 */
enum { TURN_NONE = 1 };
typedef int (*turn_claim_fn)(void *data, struct turn_job *job, struct err *reterr);

/* A prompt that is answered alone: no conversation, no tools, nothing kept but the journal. */
struct turn_question {
	const struct agent_def *kind; /* one that can.answer_only; others are ERR_INPUT … */
	bool trusted; /* … unless the user named it for this: what it does is up to it */
	struct sv prompt;
	const char *scratch; /* an existing folder for files of this question, removed at its end */
	const char *schema; /* JSON schema of the answer, for agents that take one; NULL: none */
	int64_t timeout_ms; /* 0: none */
};

/* Borrowed until done. */
struct turn_opts {
	int64_t parent; /* what it is part of in the journal; 0: nothing */
	turn_claim_fn claim;
	void *claim_data;
	const struct turn_question *question; /* instead of claim */
	int64_t busy_ms; /* how long a conversation in use is waited for */
	const char *go_on; /* a limit is waited out; this is said when the prompt had arrived. NULL:
			      no waiting */
};

struct turn;
struct turn *turn_begin(
	struct turn_host *host, const struct turn_opts *opts, const struct turn_sink *sink);
/* Stops it, harder each time; it still ends with its done. While it waits, it ends at once. */
void turn_cancel(struct turn *t);
/* The same where nobody is left to hear how it ends: whoever comes next is told. */
void turn_abandon(struct turn *t);
/* Answers an AGENT_EV_ASK of its agent, from within the event or later. One that is over: no
 * effect. */
void turn_answer(struct turn *t, const char *ask, enum agent_answer answer);
/* After done, or from within it, but from no other callback. One that still runs is stopped here,
 * written down as cancelled, and no done comes. NULL is fine. */
void turn_free(struct turn *t);

/*
 * What crashes left behind in the conversations of a folder is looked up in the transcripts and
 * told, each once; nothing is sent again. Those in use are left, and `except` (NULL: none).
 * What an agent still works on is told as well.
 */
enum turn_running { TURN_RUNNING_PASS, TURN_RUNNING_ONCE, TURN_RUNNING_ALWAYS };
int turn_recover(struct turn_host *host, const char *dir, const char *except,
	enum turn_running running, const struct turn_sink *sink, struct err *reterr) MUST_USE;
/*
 * What became of the conversation's last prompt, sent under this id, as the transcript tells now:
 * NEWS_ANSWERED with the answer appended, NEWS_UNANSWERED, NEWS_NOT_SENT, also when no turn was
 * begun with it, or NEWS_UNKNOWN_…. NEWS_COUNT: its turn has no end yet; the next turn there waits
 * for its agent and tells.
 */
int turn_fate(struct turn_host *host, const char *conversation, const char *prompt_id,
	enum turn_news *ret, struct str *answer, struct err *reterr) MUST_USE;
