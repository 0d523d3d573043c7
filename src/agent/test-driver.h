/*
 * For tests: one driver with a program of the test's own in a folder of its own, and what its last
 * turn gave.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/agents.h"
#include "os/test-temp.h"

#define SESSION "11111111-1111-4111-8111-111111111111"
#define PROMPT_ID "22222222-2222-4222-8222-222222222222"

struct driver_rig {
	const struct agent_def *kind;
	char *dir;
	char *program;
	const char *env[8];
	struct agent_opts opts;
	struct loop *loop;
	struct agent *agent;
	int cancels; /* to come, at the next rounds */
	bool done;
	enum agent_fail fail;
	enum agent_delivery delivery;
	int64_t took_ms;
	struct str answer, message, session, notices;
};

static inline void driver_heard(void *data, const struct agent_event *ev)
{
	struct driver_rig *rig = data;

	if (ev->type == AGENT_EV_NOTICE)
		str_add(&rig->notices, ev->text);
	if (ev->type == AGENT_EV_SESSION)
		str_adds(&rig->session, ev->session);
	if (ev->type != AGENT_EV_DONE)
		return;
	assert_false(rig->done);
	rig->done = true;
	rig->fail = ev->result->fail;
	rig->delivery = ev->result->delivery;
	rig->took_ms = ev->result->duration_ms;
	str_add(&rig->answer, ev->result->text);
	str_adds(&rig->message, ev->result->message);
}

static inline struct driver_rig *driver_rig_new(const char *agent)
{
	struct driver_rig *rig = xcalloc(1, sizeof(*rig));

	rig->kind = agent_named(sv_of(agent));
	rig->dir = temp_folder();
	rig->program = path_join(rig->dir, agent);
	rig->answer = rig->message = rig->session = rig->notices = (struct str)STR_INIT;
	rig->env[0] = "PATH=/usr/bin:/bin";
	rig->opts = (struct agent_opts){ .program = rig->program,
		.dir = rig->dir,
		.envp = rig->env,
		.system_prompt = "-be \"brief\"\nü",
		.stop_ms = 300 };
	rig->loop = loop_new();
	return rig;
}

static inline int driver_rig_free(void **state)
{
	struct driver_rig *rig = *state;

	agent_free(rig->agent);
	loop_free(rig->loop);
	temp_remove(rig->dir);
	str_release(&rig->answer);
	str_release(&rig->message);
	str_release(&rig->session);
	str_release(&rig->notices);
	free(rig->program);
	free(rig);
	return 0;
}

/* Sends and waits for the end. */
static inline void driver_turn(struct driver_rig *rig, const struct agent_turn *turn)
{
	rig->done = false;
	str_clear(&rig->answer);
	str_clear(&rig->message);
	str_clear(&rig->session);
	if (!rig->agent)
		assert_int_equal(agent_open(rig->kind, &rig->opts, rig->loop, driver_heard, rig,
					 &rig->agent, NULL),
			0);
	assert_int_equal(agent_send(rig->agent, turn, NULL), 0);
	while (!rig->done) {
		assert_int_equal(loop_step(rig->loop, 100, NULL), 0);
		if (rig->cancels > 0) {
			rig->cancels--;
			agent_cancel(rig->agent);
		}
	}
}

static inline void expect(
	const struct driver_rig *rig, enum agent_fail fail, enum agent_delivery delivery)
{
	if (rig->fail != fail)
		fail_msg("%s: %s", agent_fail_name(rig->fail), rig->message.buf);
	assert_int_equal(rig->delivery, delivery);
}
