/*
 * Codex's driver: what its two ways to run a turn share. codex.c has the driver itself and "exec
 * --json", codex-server.c the app server. Private to both.
 */
#pragma once

#include "agent/child.h"
#include "agent/codex-app-stream.h"
#include "agent/codex-stream.h"
#include "base/uuid.h"

enum { CODEX_ENDED_TEXT = 64 };

enum codex_step { /* with the server: what the answer is waited for */
	CODEX_HELLO,
	CODEX_CONFIG,
	CODEX_DEFAULTS,
	CODEX_THREAD,
	CODEX_TURN
};

/* What a request of the server is answered with. */
struct codex_asked {
	enum codex_request_kind kind;
	char *grant; /* JSON */
};

struct codex {
	struct agent *a;
	struct child child;
	struct codex_stream stream;
	struct codex_app app;
	bool no_server; /* the program that is installed has none */

	/* The process. */
	bool server; /* it is the server */
	char thread[UUID_TEXT]; /* that it has loaded; empty: none */
	enum agent_permission mode; /* in which it has */
	int64_t calls; /* ids of our requests */
	char lost[CODEX_ENDED_TEXT]; /* how it ended between two turns; empty: it did not */

	/* The turn. */
	bool in_turn;
	bool resume;
	bool have_result;
	char session[UUID_TEXT]; /* empty until it is told */
	char prompt_id[UUID_TEXT]; /* empty: none */
	struct str prompt;
	enum agent_permission wanted;
	struct agent_result result;
	struct agent_usage before; /* of the thread, before this turn */
	struct loop_source *timer; /* the step after this one; see the functions given to it */
	loop_timer_fn then; /* … once the process that runs has left; NULL: it stays */

	/* … with the server. */
	enum codex_step step;
	bool reused; /* it has served before */
	int64_t awaited; /* the request whose answer is waited for; 0: none */
	uint64_t prompt_end; /* where the prompt ends in its input; 0: not sent */
	bool interrupt; /* as soon as the turn has an id */
	struct str approval,
		sandbox; /* what the user's configuration says: JSON; empty: not asked */
};

/* "Codex" */
extern const char codex_called[];

/* ---- codex.c ---- */
void codex_set_timer(struct codex *c, int64_t ms, loop_timer_fn fn);
/* Ends the turn; codex_finish_soon() at the next round of the loop, for what runs within a callback
 * of the child. */
void codex_finish(struct codex *c);
void codex_finish_soon(struct codex *c);
/* Has all it will say: the process gets the end of its input and stop_ms to end. */
void codex_let_go(struct codex *c);
/* Kind, message and the end of a limit, from its words and the status of the model's server (0:
 * none). */
void codex_judge(struct codex *c, int status, struct sv said);
/* Starts "codex ARGUMENTS…". On failure the result tells why. */
int codex_start(struct codex *c, const struct strv *arguments);
/* Runs the turn with "exec --json". */
void codex_exec(struct codex *c);
/* Where the file of a session is; NULL: not to be found. Caller frees. */
char *codex_transcript(const struct agent_opts *opts, const char *session);

/* ---- codex-server.c ---- */
extern const struct codex_app_ops codex_server_ops;
/* Runs the turn with the server, or with "exec --json" when it turns out that there is none: before
 * anything of the prompt was sent. */
void codex_server(struct codex *c);
void codex_server_ended(struct codex *c, int status);
void codex_server_interrupt(struct codex *c);
void codex_server_answer(struct agent *a, const struct agent_question *q, enum agent_answer answer);
void codex_server_forget(void *own);
