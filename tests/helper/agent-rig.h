/*
 * What the conformance suite of the agent interface stands on: one agent on one loop, and what its
 * last turn gave. The tests of one process run one after the other, so there is one rig.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include "agent/agents.h"

enum { NO_REPLY = -1 };
enum {
	TURN_WAIT_MS = 60 * 1000,
	SOON_MS = 15000,
	HANG_MS = 8000,
	QUICK_MS = 500,
	MILLION = 1000 * 1000
};

struct rig {
	const struct agent_def *kind;
	const char *program;
	char *here;
	char *script; /* rehearsal: what the next turns do */

	struct loop *loop;
	struct agent *agent;
	struct agent_opts opts;
	char session[128];
	const char *prompt_id; /* of the next prompt; NULL: none */

	/* The last turn. */
	bool done;
	enum agent_fail fail;
	enum agent_delivery delivery;
	struct agent_usage usage;
	int64_t limit_ends_ms;
	int64_t took_ms;
	struct str message;
	struct str answer;
	struct str streamed;
	struct str tools;
	struct str notices;
	int begun, ended, sessions, retries;
	struct str asks; /* questions for permission */
	struct str deeds;
	struct str denied;
	int reply; /* to them: enum agent_answer, or NO_REPLY */
	enum agent_event_type cancel_on; /* AGENT_EV_DONE: never */
};

extern struct rig rig;
extern const char system_prompt[];

int set_up(void **state);
int tear_down(void **state);
/* Keeps what the events say; data is a struct rig. */
void rig_sink(void *data, const struct agent_event *ev);
/* Opens the agent anew with rig.opts. */
void open_agent(void);

/* Sends; the turn runs while the loop is stepped. */
void begin(struct sv prompt, bool resume, bool plan);
void step_until(bool (*fn)(void), int64_t ms);
bool is_done(void);
bool has_spoken(void);
/* Sends and waits for the end. */
void turn(const char *prompt, bool resume);

bool is_rehearsal(void);
/* What the agent does in the turns that follow; the prompt itself tells it to the model. */
const char *order(const char *for_model, const char *for_rehearsal);

/* Begins a turn with a tool that has left its group and would run for long. */
void begin_tool(void);
bool tool_gone(void);
/* The agent's process, 0 for none. */
pid_t agent_pid(void);

void expect_ok(void);
void expect_fail(enum agent_fail fail, enum agent_delivery delivery);
void expect_has(const struct str *text, const char *words);
