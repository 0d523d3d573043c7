/*
 * The assistant that both the typed and the spoken front end are: one sentence in, what it is
 * (a command of ours or a turn for the agent), which conversation it belongs to, the turn with its
 * journal and lease, the answer as a stream of events.
 *
 * One struct assist a process; it belongs to one thread and one loop. assist_say() runs the loop
 * until the sentence is done; a callback on the same loop (a key, a signal) may call
 * assist_cancel() meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "assist/texts.h"
#include "assist/utterance.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "route/route.h"
#include "route/tasktype.h"
#include "store/conv.h"
#include "store/store.h"
#include "transcript/home.h"

/* What the front end wants to hear; any may be NULL. Called while assist_say() runs. */
struct assist_ui {
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
};

/* Borrowed for the assistant's life. */
struct assist_opts {
	struct store *store;
	struct loop *loop;
	const struct clock *clock;
	const struct log *log;
	struct assist_ui ui;
	const char *dir; /* resolved; conversations belong to it */
	const char *project; /* git root, or dir */
	enum agent_kind kind; /* who answers in a new conversation */
	bool kind_default; /* nobody chose it: a folder goes on with the agent it had before */
	bool kind_forced; /* asked for: a conversation of another agent does not go on */
	const struct agent_opts *agents; /* one a kind; dir is filled in here */
	const struct transcript_home *homes; /* to find transcripts and other writers */
	size_t n_homes;
	struct router *router; /* learns from every turn; NULL: none */
	bool routes; /* and decides; else the folder's last conversation goes on */
	bool tasks; /* a turn that plans runs in the agent's plan mode */
	const struct route_task_words *task_words; /* of the configuration; may be NULL */
	const struct utterances *rules; /* NULL: every sentence is for the agent */
	enum text_language language;
	int64_t expiry_ms; /* a conversation older than this does not go on by itself; 0: never old
			    */
	bool wait_on_limit; /* when the agent's limit is reached: wait until it ends */
};

enum assist_mode {
	ASSIST_GO_ON, /* where the router says; without one the folder's current conversation */
	ASSIST_NEW, /* a fresh one */
	ASSIST_IN /* the one given */
};

struct assist_request {
	struct sv text;
	enum assist_mode mode;
	const char *conversation; /* ASSIST_IN */
};

/* What became of a sentence. */
struct assist_outcome {
	enum utterance_kind kind;
	char reply[ERR_MSG_MAX]; /* our own answer to a command of ours; else empty */
	/* For UTTERANCE_AGENT: */
	enum agent_fail fail;
	char message[ERR_MSG_MAX]; /* why it failed, for a person */
	struct str deeds; /* tools that ran: "Bash ×2, Write" */
	enum agent_delivery delivery;
	struct conv conv;
	struct str answer;
	struct agent_usage usage;
	int64_t duration_ms;
	int64_t limit_ends_ms;
};
void assist_outcome_init(struct assist_outcome *o);
void assist_outcome_release(struct assist_outcome *o);

struct assist;
int assist_new(const struct assist_opts *opts, struct assist **ret, struct err *reterr) MUST_USE;
void assist_free(struct assist *as); /* NULL is fine; ends the agent's process */

/*
 * One sentence, to its end. A failure of the agent is an outcome (0 is returned); an error is a
 * failure of ours: the store, a conversation in use. UTTERANCE_RESTART and UTTERANCE_CANCEL are
 * reported for the front end to act on.
 */
int assist_say(struct assist *as, const struct assist_request *req, struct assist_outcome *out,
	struct err *reterr) MUST_USE;
void assist_cancel(struct assist *as);

/*
 * What a crash left behind in the folder's current conversation is looked up in the transcript and
 * told by notices; nothing is sent again. Done by assist_say() too; front ends call it at start.
 */
int assist_recover(struct assist *as, struct err *reterr) MUST_USE;
