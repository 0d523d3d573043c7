/*
 * Agents: whoever answers a prompt. One interface, one driver an agent.
 *
 * A turn runs on a struct loop of the caller: agent_send() starts it and returns, events arrive
 * through the sink while the loop runs, and exactly one AGENT_EV_DONE ends it. One turn at a time.
 * Nothing is ever sent twice: a driver that fails says whether the prompt can have arrived.
 *
 * agent.c holds what all drivers share: the time limits and the escalation of a cancel (ask, then
 * TERM, then KILL to the whole process tree).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "os/loop.h"

/* Why a turn failed: kind, stable name for programs. */
/* clang-format off */
#define AGENT_FAIL_LIST(X) \
	X(AGENT_OK,            "ok") \
	X(AGENT_NO_SESSION,    "no-session")    /* the agent knows no such conversation */ \
	X(AGENT_NOT_LOGGED_IN, "not-logged-in") \
	X(AGENT_RATE_LIMITED,  "rate-limited") \
	X(AGENT_CONTEXT_FULL,  "context-full") \
	X(AGENT_REFUSED,       "refused")       /* permission bypass refused, as for root */ \
	X(AGENT_MISSING,       "missing")       /* the program is not there */ \
	X(AGENT_TOO_OLD,       "too-old")       /* it does not know what we need of it */ \
	X(AGENT_IN_USE,        "in-use")        /* another program writes this session */ \
	X(AGENT_OVER_BUDGET,   "over-budget") \
	X(AGENT_CANCELLED,     "cancelled") \
	X(AGENT_TIMED_OUT,     "timed-out") \
	X(AGENT_DIED,          "died") \
	X(AGENT_FAILED,        "failed")        /* anything else it said */
/* clang-format on */

enum agent_fail {
#define X(name, text) name,
	AGENT_FAIL_LIST(X)
#undef X
};
const char *agent_fail_name(enum agent_fail fail);
bool agent_fail_parse(struct sv name, enum agent_fail *ret);

enum agent_permission {
	AGENT_PERM_DEFAULT,
	AGENT_PERM_ACCEPT_EDITS,
	AGENT_PERM_PLAN,
	AGENT_PERM_BYPASS
};

struct agent_usage {
	int64_t input; /* tokens; -1: not said */
	int64_t cache_read;
	int64_t cache_write;
	int64_t output;
	double cost_usd; /* negative: not said */
};
#define AGENT_USAGE_NONE                                                                       \
	{                                                                                      \
		.input = -1, .cache_read = -1, .cache_write = -1, .output = -1, .cost_usd = -1 \
	}

/* Did the prompt reach the agent? Decides what may be tried again. */
enum agent_delivery { AGENT_NOT_DELIVERED, AGENT_MAYBE_DELIVERED, AGENT_DELIVERED };

/* A call of a tool that was not allowed, by the user or by the agent's own rules: it did not run.
 */
struct agent_denial {
	char *tool;
	char *about; /* in one line; may be empty */
	bool asked; /* somebody was asked and said no */
};
enum { AGENT_DENIALS_MAX = 100 }; /* a turn; more are passed over */
struct agent_denials {
	VEC(struct agent_denial) list;
};
void agent_denials_add(struct agent_denials *d, struct sv tool, struct sv about, bool asked);
void agent_denials_release(struct agent_denials *d);

struct agent_result {
	enum agent_fail fail;
	char message[ERR_MSG_MAX]; /* one line for a person; empty when ok */
	enum agent_delivery delivery;
	struct sv text; /* the whole answer; valid during the event */
	const char *session; /* the agent's session id; NULL when never told */
	struct sv deeds; /* tools that ran in it: "Bash ×2, Write"; valid during the event */
	struct sv begun; /* … and those that had not come to their end with it */
	const struct agent_denials *denied; /* what it was not allowed; valid during the event */
	struct agent_usage usage;
	int64_t limit_ends_ms; /* AGENT_RATE_LIMITED: wall time when it ends, 0 unknown */
	int64_t duration_ms;
};

enum agent_event_type {
	AGENT_EV_SESSION, /* session: the agent's id for this conversation; empty: it gets the
			     prompt first */
	AGENT_EV_TEXT, /* text: a piece of the answer */
	AGENT_EV_BREAK, /* the answer goes on after a tool: a paragraph ends here */
	AGENT_EV_THINKING, /* text: may be empty */
	AGENT_EV_TOOL_BEGIN, /* tool, text: what it is about in one line */
	AGENT_EV_TOOL_END, /* tool, failed */
	AGENT_EV_RETRY, /* text: why, in plain words; delay_ms, 0: not told */
	AGENT_EV_NOTICE, /* text: one line the user should see */
	AGENT_EV_ASK, /* ask, tool, text: may it do this? It waits for agent_answer() */
	AGENT_EV_ASK_OVER, /* ask: the question no longer needs an answer */
	AGENT_EV_DONE /* result */
};

/* A question for permission. `id` names it until it is answered or over; the end of the turn ends
 * it too. It comes behind AGENT_EV_TOOL_BEGIN of the call that it is about. */
struct agent_ask {
	const char *id;
	bool always; /* AGENT_ALLOW_ALWAYS is there */
	struct sv scope; /* what that covers, in the agent's words; empty: the tool */
};
enum agent_answer { AGENT_DENY, AGENT_ALLOW, AGENT_ALLOW_ALWAYS /* this kind, in this session */ };

/* All slices are valid during the call only. */
struct agent_event {
	enum agent_event_type type;
	struct sv text;
	struct sv tool;
	const char *session;
	bool failed;
	int64_t delay_ms;
	const struct agent_ask *ask;
	const struct agent_result *result;
};
typedef void (*agent_sink_fn)(void *data, const struct agent_event *ev);

/* Borrowed for the agent's life. */
struct agent_opts {
	const char *program; /* executable; NULL for the embedded one */
	const char *const *command; /* of an agent that is a command: program and arguments */
	const char *const *envp; /* environment of its process; NULL: an empty one */
	const char *dir; /* working directory */
	const char *home; /* where this agent keeps its sessions; NULL: its default */
	const char *model; /* NULL: the agent's choice */
	const char *system_prompt; /* NULL: none; the same bytes on every turn */
	const char *script; /* the rehearsal agent's: file to follow; NULL: none */
	enum agent_permission permission;
	/* Whoever listens answers AGENT_EV_ASK: agent_can.ask. Without it what would be asked is
	 * denied. */
	bool ask;
	bool outside_git; /* one that works in git repositories only may work elsewhere too */
	/* Only the prompt is answered: without tools, hooks and servers, and nothing is kept of it.
	 * Codex still has tools that read in some versions; it gets its read-only sandbox. */
	bool answer_only;
	bool no_tools; /* agent_can.no_tools: every turn is answered without tools */
	/* JSON schema of the answer, which has the object on a line of its own behind the words
	 * that there may be, with answer_only the object alone; NULL: none. An agent that comes to
	 * no such object says what it says. */
	const char *schema;
	const char *schema_file; /* with answer_only: a file that holds it, for who wants one */
	bool keep_alive; /* keep the process between turns: agent_can.keep_alive */
	int64_t timeout_ms; /* whole turn; 0: none */
	int64_t idle_ms; /* silence outside of tools; 0: none */
	int64_t stop_ms; /* what a process gets to end after its turn; 0: AGENT_STOP_STEP_MS */
	int64_t step_ms; /* … and between the steps of a stop; 0: stop_ms */
	/* The program ends with this agent: one that takes longer to end than people notice is seen
	 * off by a process of its own, so that nobody waits and nothing stays. */
	bool see_off;
	double max_budget_usd; /* all turns of this agent together; 0: none */
	const struct clock *clock;
	const struct log *log; /* NULL: none */
};

struct agent_turn {
	struct sv prompt;
	const char *prompt_id; /* a UUID of ours that goes with it: agent_can.prompt_ids; or NULL */
	bool again; /* it was sent under this id before and, as far as is known, did not arrive */
	const char *session; /* id to use; NULL: the agent makes one (Codex) */
	bool resume; /* session exists: go on with it; else begin it */
	bool plan; /* this turn in the agent's plan mode */
};

struct agent;
struct agent_def; /* agents.h */
struct agent_question; /* driver.h */

struct agent_driver {
	/* Prepares a->priv. No process yet. */
	int (*open)(struct agent *a, struct err *reterr);
	/* Begins a turn. An error here means: nothing was sent, no event will come. */
	int (*send)(struct agent *a, const struct agent_turn *turn, struct err *reterr);
	/* Stops the running turn, harder each time: 0 ask, 1 TERM, 2 KILL. A turn that is asked to
	 * stop still ends with one AGENT_EV_DONE. */
	void (*stop)(struct agent *a, int level);
	/* To a question of the running turn, which ends with the call. NULL: it asks nothing. */
	void (*answer)(struct agent *a, const struct agent_question *q, enum agent_answer answer);
	/* Frees what it keeps of a question. NULL: nothing. */
	void (*forget)(void *own);
	/* Begins to end the process that waits for the next turn, which ends with agent_left().
	 * False: there is none. NULL: there never is. */
	bool (*leave)(struct agent *a);
	void (*close)(struct agent *a); /* NULL priv is fine */
	/* Takes away what it leaves behind of a folder it was only asked a question in. NULL:
	 * nothing. */
	void (*forget_folder)(const struct agent_opts *opts, const char *dir);
};

enum { AGENT_STOP_STEP_MS = 3000, AGENT_ANSWER_MAX = 64 * 1024 * 1024 };
#define AGENT_STREAM_MAX (4LL * 1024 * 1024 * 1024) /* bytes of output in one turn */

int agent_open(const struct agent_def *def, const struct agent_opts *opts, struct loop *loop,
	agent_sink_fn sink, void *sink_data, struct agent **ret, struct err *reterr) MUST_USE;
/* Ends the process if one lives, politely, and waits for that up to opts.stop_ms. NULL is fine. */
void agent_free(struct agent *a);
/* Between two turns: ends the process on the loop, where nobody has to wait for it. `gone` is
 * called from the loop then, and may free the agent, which gets no further turn. False: there is no
 * process, and no call. */
bool agent_leave(struct agent *a, void (*gone)(void *data), void *data) MUST_USE;
/* An empty prompt is ERR_INPUT. The agent may be sent the next turn from within AGENT_EV_DONE, but
 * not freed from within any event. */
int agent_send(struct agent *a, const struct agent_turn *turn, struct err *reterr) MUST_USE;
/* Answers an AGENT_EV_ASK, from within it or later. A question that is over: no effect. */
void agent_answer(struct agent *a, const char *ask, enum agent_answer answer);
/* Cancels the running turn; again: harder at once. Nothing runs: no effect. */
void agent_cancel(struct agent *a);
