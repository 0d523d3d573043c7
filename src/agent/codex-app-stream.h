/*
 * The output of "codex app-server" as calls: one JSON-RPC message a line. No process, no clock:
 * bytes in, calls out. Any bytes are fine; what is not understood is passed over, and what belongs
 * to another thread or turn as well. Private to the room.
 */
#pragma once

#include "agent/codex-item.h"

enum { CODEX_ASK_MAX = 2000 }; /* bytes of what somebody has to decide on */

/* What came of a request of ours. Slices are valid during the call. */
struct codex_reply {
	int64_t id;
	bool failed;
	bool unknown; /* it does not know such a request */
	struct sv said; /* the error in its words */
	struct jval result;
};

enum codex_request_kind {
	CODEX_ASKS_DECISION, /* may this command run, may these files change? */
	CODEX_ASKS_GRANT, /* more rights than it has */
	CODEX_ASKS_CONSENT, /* to the call of another server's tool */
	CODEX_ASKS_OTHER
};
/* A request of its own, which waits for an answer. Slices are valid during the call. */
struct codex_request {
	struct sv id; /* as it stands: a number or a string with its quotes */
	enum codex_request_kind kind;
	struct sv tool, about;
	struct sv scope; /* what "always" covers */
	struct sv grant; /* CODEX_ASKS_GRANT: what it wants, JSON */
};

/* The end of a turn. Slices are valid during the call. */
struct codex_end {
	bool failed;
	bool interrupted;
	enum agent_fail kind; /* AGENT_FAILED: it did not say */
	int status; /* of the model's server; 0: none */
	struct sv said; /* the error in its words */
	struct agent_usage total; /* of the thread from its beginning */
	int64_t limit_ends_ms; /* of the limits of the account that are reached; 0: none told */
};

struct codex_app_ops {
	/* TEXT, BREAK, THINKING, TOOL_BEGIN, TOOL_END, RETRY */
	void (*event)(void *data, const struct agent_event *ev);
	void (*reply)(void *data, const struct codex_reply *reply);
	void (*request)(void *data, const struct codex_request *request);
	/* A request of its own needs no answer any more. */
	void (*settled)(void *data, struct sv id);
	/* The prompt is in the thread. */
	void (*working)(void *data);
	void (*end)(void *data, const struct codex_end *end);
};

struct codex_app {
	const struct codex_app_ops *ops;
	void *data;
	struct lines lines;
	struct codex_items items;
	struct str thread, turn; /* whose words count; empty: nobody's */
	struct agent_usage total;
	int64_t limit_ends_ms;
};

void codex_app_init(struct codex_app *s, const struct codex_app_ops *ops, void *data);
void codex_app_release(struct codex_app *s);
/* A new process: nothing is known of it. */
void codex_app_restart(struct codex_app *s);
/* What follows is of this thread, and of no turn until the next call. */
void codex_app_thread(struct codex_app *s, struct sv thread);
/* … and of this turn. */
void codex_app_turn(struct codex_app *s, struct sv turn);
void codex_app_feed(struct codex_app *s, struct sv bytes);
void codex_app_end(struct codex_app *s);
