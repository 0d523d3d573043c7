/*
 * For tests: the machine with all others played. What it does is a text, one word for each act.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "listen/listener.h"

struct listener_rig {
	struct loop *loop;
	struct settings *settings;
	struct utterances *rules;
	struct listener *l;
	struct str log;
	struct str reply; /* the last that was shown */
	uint64_t items; /* given to the mouth, */
	uint64_t ended; /* and heard */
	uint64_t spoken[64]; /* 1: that item is a sentence */
	uint64_t id; /* of the last recording to recognise */
	struct hearing hearing;
	enum listener_state state;
	int over; /* 1: finished, 2: restart */
	struct turn_outcome turn;
};

static inline UNUSED void PRINTF(2, 3) note(struct listener_rig *r, const char *fmt, ...)
{
	va_list ap;

	if (r->log.len)
		str_addc(&r->log, ' ');
	va_start(ap, fmt);
	str_addvf(&r->log, fmt, ap);
	va_end(ap);
}

static inline UNUSED void op_hear(void *data, const struct hearing *how)
{
	((struct listener_rig *)data)->hearing = *how;
}

static inline UNUSED void op_record(void *data)
{
	note(data, "record");
}

static inline UNUSED void op_discard(void *data)
{
	note(data, "discard");
}

static inline UNUSED void op_recognise(
	void *data, uint64_t id, struct endpoint_recording *recording)
{
	struct listener_rig *r = data;

	r->id = id;
	free(TAKE_PTR(recording->samples));
	note(r, "recognise");
}

static inline UNUSED uint64_t item(struct listener_rig *r, bool spoken)
{
	r->items++;
	r->spoken[r->items % 64] = spoken;
	return r->items;
}

static inline UNUSED uint64_t op_sound(void *data, enum sound sound)
{
	note(data, "%s", sound_name(sound));
	return item(data, false);
}

static inline UNUSED uint64_t op_say(void *data, struct sv sentence, const char *language)
{
	note(data, "%s\"%.*s\"", language, SV_ARG(sentence));
	return item(data, true);
}

static inline UNUSED void op_hush(void *data)
{
	note(data, "hush");
}

static inline UNUSED void op_hold(void *data, bool hold)
{
	note(data, hold ? "hold" : "on");
}

static inline UNUSED void op_ask(void *data, struct sv text)
{
	note(data, "ask<%.*s>", SV_ARG(text));
}

static inline UNUSED void op_cancel(void *data)
{
	note(data, "cancel");
}

static inline UNUSED void op_permit(void *data, const char *ask, enum agent_answer answer)
{
	note(data, "%s:%s", ask,
		answer == AGENT_DENY		? "deny"
			: answer == AGENT_ALLOW ? "allow"
						: "always");
}

static inline UNUSED void op_state(void *data, enum listener_state state)
{
	((struct listener_rig *)data)->state = state;
}

static inline UNUSED void op_unsent(void *data, struct sv text)
{
	note(data, "unsent<%.*s>", SV_ARG(text));
}

static inline UNUSED void op_notice(void *data, const char *line)
{
	note(data, "notice(%s)", line);
}

static inline UNUSED void op_reply(void *data, const char *text)
{
	struct listener_rig *r = data;

	str_clear(&r->reply);
	str_adds(&r->reply, text);
}

static inline UNUSED void op_failed(void *data, const char *line)
{
	note(data, "failed(%s)", line);
}

static inline UNUSED void op_end(void *data, enum listener_end how)
{
	((struct listener_rig *)data)->over = how == LISTENER_RESTART ? 2 : 1;
}

static const struct listener_ops ops = {
	.hear = op_hear,
	.record = op_record,
	.discard = op_discard,
	.recognise = op_recognise,
	.sound = op_sound,
	.say = op_say,
	.hush = op_hush,
	.hold = op_hold,
	.ask = op_ask,
	.cancel = op_cancel,
	.permit = op_permit,
	.state = op_state,
	.unsent = op_unsent,
	.notice = op_notice,
	.reply = op_reply,
	.failed = op_failed,
	.end = op_end,
};

static inline UNUSED void set(struct settings *s, const char *name, const char *value)
{
	const struct setting_origin origin = { .source = SETTING_FILE };
	int id = settings_find(sv_of(name));

	assert_true(id >= 0);
	assert_int_equal(settings_set(s, (enum setting_id)id, sv_of(value), origin, NULL), 0);
}

static inline UNUSED int setup(void **state)
{
	struct listener_rig *r = xcalloc(1, sizeof(*r));

	r->loop = loop_new();
	r->log = r->reply = (struct str)STR_INIT;
	r->settings = settings_new("/home/somebody");
	set(r->settings, "ai.thinking_beep_interval", "0.02");
	r->rules = utterances_new(r->settings);
	const struct listener_opts opts = {
		.loop = r->loop,
		.settings = r->settings,
		.rules = r->rules,
		.language = TEXT_GERMAN,
		.ops = &ops,
		.data = r,
	};
	r->l = listener_new(&opts);
	*state = r;
	return 0;
}

static inline UNUSED int teardown(void **state)
{
	struct listener_rig *r = *state;

	listener_free(r->l);
	utterances_free(r->rules);
	settings_free(r->settings);
	loop_free(r->loop);
	str_release(&r->log);
	str_release(&r->reply);
	free(r);
	return 0;
}

/* What was done since the last look. */
static inline UNUSED void did(struct listener_rig *r, const char *expected)
{
	assert_string_equal(r->log.buf, expected);
	str_clear(&r->log);
}

/* The mouth has said all that it was given; hushed: it was told to be quiet. */
static inline UNUSED void heard_all(struct listener_rig *r, bool hushed)
{
	/* What it is given meanwhile included. */
	while (r->ended < r->items) {
		struct player_event e = { .kind = PLAYER_BEGINS, .id = ++r->ended };
		e.spoken = r->spoken[e.id % 64];
		if (!hushed)
			listener_heard_us(r->l, &e);
		e.kind = PLAYER_ENDS;
		e.r = hushed ? ERR_CANCELLED : 0;
		e.idle = r->ended == r->items;
		listener_heard_us(r->l, &e);
	}
}

/* The first sample of the next sentence is heard, after what comes before it. */
static inline UNUSED void speaks(struct listener_rig *r)
{
	while (!r->spoken[(r->ended + 1) % 64]) {
		const struct player_event e = { .kind = PLAYER_ENDS, .id = ++r->ended };
		listener_heard_us(r->l, &e);
	}
	const struct player_event e = { .kind = PLAYER_BEGINS, .id = r->ended + 1, .spoken = true };
	listener_heard_us(r->l, &e);
}

/* … and somebody speaks over it. */
static inline UNUSED void spoken_over(struct listener_rig *r)
{
	speaks(r);
	str_clear(&r->log);
	listener_interrupted(r->l);
}

static inline UNUSED struct endpoint_recording recording(bool with_call)
{
	return (struct endpoint_recording){
		.samples = xcalloc(1, sizeof(int16_t)),
		.n = 1,
		.speech = ENDPOINT_RATE,
		.with_call = with_call,
	};
}

static inline UNUSED void recorded(struct listener_rig *r)
{
	struct endpoint_recording some = recording(true);

	listener_recorded(r->l, &some);
}

static inline UNUSED void recognised(struct listener_rig *r, const char *text)
{
	listener_recognised(r->l, r->id, 0, sv_of(text), "", NULL);
}

static inline UNUSED void overheard(struct listener_rig *r, const char *text)
{
	struct endpoint_recording some = recording(false);

	listener_overheard(r->l, &some);
	recognised(r, text);
}

static inline UNUSED void event(
	struct listener_rig *r, enum agent_event_type type, const char *text)
{
	listener_event(r->l, &(struct agent_event){ .type = type, .text = sv_of(text) });
}

static inline UNUSED void asks_about(struct listener_rig *r, const char *id, const char *text)
{
	const struct agent_ask ask = { .id = id };

	listener_event(r->l,
		&(struct agent_event){ .type = AGENT_EV_ASK,
			.tool = SV("Bash"),
			.text = sv_of(text),
			.ask = &ask });
}

static inline UNUSED void asks(struct listener_rig *r, const char *id)
{
	asks_about(r, id, "make");
}

static inline UNUSED void done(
	struct listener_rig *r, enum utterance_kind kind, const char *reply, enum agent_fail fail)
{
	r->turn = (struct turn_outcome){ .fail = fail };
	const struct assistant_outcome out = {
		.kind = kind, .reply = reply, .language = TEXT_GERMAN, .turn = &r->turn
	};
	event(r, AGENT_EV_DONE, "");
	listener_done(r->l, &out);
}

static inline UNUSED void steps(struct listener_rig *r, int ms)
{
	int64_t until = clock_run_ms() + ms;

	while (clock_run_ms() < until)
		assert_int_equal(loop_step(r->loop, 1, NULL), 0);
}

/* Says it all, up to the agent. */
static inline UNUSED void say(struct listener_rig *r, const char *text)
{
	listener_called(r->l);
	recorded(r);
	recognised(r, text);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
