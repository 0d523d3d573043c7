/*
 * What drivers see of an agent; private to the room.
 */
#pragma once

#include "agent/agents.h"

/* The tools that ran in a turn, for whoever stops it and wants to know what was done. */
enum { DEEDS_MAX = 6, DEEDS_NAME_MAX = 24 };

struct deeds {
	struct {
		char name[DEEDS_NAME_MAX];
		unsigned times;
	} tool[DEEDS_MAX];
	unsigned kinds; /* in `tool` */
	unsigned others; /* calls of tools beyond those */
};

void deeds_add(struct deeds *d, struct sv tool);
/* "Bash, Write ×3 +2"; nothing when there are none. */
void deeds_print(struct str *out, const struct deeds *d);

/* A question for permission that waits for its answer. */
struct agent_question {
	char *id;
	struct agent_denial call; /* what it becomes when it is not allowed */
	void *own; /* what the driver needs to answer it; NULL: nothing */
};

struct agent {
	const struct agent_def *def;
	const struct agent_driver *driver; /* def's */
	struct agent_opts opts;
	struct loop *loop;
	agent_sink_fn sink;
	void *sink_data;
	void *priv; /* the driver's */

	/* The running turn. */
	bool busy;
	enum agent_fail stopped; /* AGENT_OK, or why we stopped it: cancelled, timed out … */
	int stop_level;
	bool silent; /* it was stopped for its silence */
	int tools_running;
	struct deeds deeds; /* calls that have ended; what waits for permission is none yet */
	struct deeds begun; /* … and those that have not, or were broken off when we stopped it */
	struct deeds behind; /* begun while a question was open: they wait for its answer too */
	struct agent_denials denied;
	VEC(struct agent_question) asked; /* that are open */
	uint64_t heard; /* bytes of its output */
	int64_t started_ms; /* age clock */
	struct str answer; /* all text so far */
	void (*gone)(void *data); /* of agent_leave(); NULL: it stays */
	void *gone_data;
	struct loop_source *stop_timer;
	struct loop_source *turn_timer;
	struct loop_source *idle_timer;
};

extern const struct agent_driver agent_rehearsal;
extern const struct agent_driver agent_claude;
extern const struct agent_driver agent_codex;
extern const struct agent_driver agent_exec;

/* Passes an event on and keeps the common state (silence, answer, tools). Not for DONE and ASK. */
void agent_emit(struct agent *a, const struct agent_event *ev);
void agent_emit_text(struct agent *a, enum agent_event_type type, struct sv text);
/* AGENT_EV_ASK: opens a question. `own` is the question's from here on, and goes with it by
 * driver->forget. Whoever answers at once, as we do where nobody is there to decide, ends the
 * question within the call. */
void agent_ask(struct agent *a, const struct agent_event *ev, void *own);
/* The question with this id; NULL: there is none that is open. */
const struct agent_question *agent_asked(const struct agent *a, struct sv id);
/* It needs no answer any more; none that is open: no effect. */
void agent_ask_over(struct agent *a, struct sv id);
/* The agent has refused a call by itself after AGENT_EV_TOOL_BEGIN of it: it did not run. What is
 * answered with AGENT_DENY is known. */
void agent_denied(struct agent *a, struct sv tool, struct sv about);
/* So many bytes came from the agent: it is not silent. More than AGENT_STREAM_MAX in a turn stop
 * it. */
void agent_alive(struct agent *a, size_t bytes);
/* Its process has ended between two turns. The agent may be gone afterwards. */
void agent_left(struct agent *a);
/* Ends the turn: completes the result (text, duration, the reason when we stopped it) and sends
 * AGENT_EV_DONE. The driver must not touch the turn afterwards. */
void agent_finish(struct agent *a, struct agent_result *result);
/* A result with nothing in it, for the driver to fill. */
struct agent_result agent_result_init(void);
/* Sets kind and message. */
void agent_result_fail(struct agent_result *result, enum agent_fail fail, const char *fmt, ...)
	PRINTF(3, 4);
