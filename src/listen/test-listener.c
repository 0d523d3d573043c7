/*
 * The machine with all others played: what it does is a text, one word for each act.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "listen/listener.h"

struct rig {
	struct loop *loop;
	struct settings *settings;
	struct utterances *rules;
	struct listener *l;
	struct str log;
	uint64_t items; /* given to the mouth, */
	uint64_t ended; /* and heard */
	uint64_t spoken[64]; /* 1: that item is a sentence */
	uint64_t id; /* of the last recording to recognise */
	struct hearing hearing;
	enum listener_state state;
	int over; /* 1: finished, 2: restart */
	struct turn_outcome turn;
};

static void PRINTF(2, 3) note(struct rig *r, const char *fmt, ...)
{
	va_list ap;

	if (r->log.len)
		str_addc(&r->log, ' ');
	va_start(ap, fmt);
	str_addvf(&r->log, fmt, ap);
	va_end(ap);
}

static void op_hear(void *data, const struct hearing *how)
{
	((struct rig *)data)->hearing = *how;
}

static void op_record(void *data)
{
	note(data, "record");
}

static void op_recognise(void *data, uint64_t id, struct endpoint_recording *recording)
{
	struct rig *r = data;

	r->id = id;
	free(TAKE_PTR(recording->samples));
	note(r, "recognise");
}

static uint64_t item(struct rig *r, bool spoken)
{
	r->items++;
	r->spoken[r->items % 64] = spoken;
	return r->items;
}

static uint64_t op_sound(void *data, enum sound sound)
{
	note(data, "%s", sound_name(sound));
	return item(data, false);
}

static uint64_t op_say(void *data, struct sv sentence, const char *language)
{
	note(data, "%s\"%.*s\"", language, SV_ARG(sentence));
	return item(data, true);
}

static void op_hush(void *data)
{
	note(data, "hush");
}

static void op_hold(void *data, bool hold)
{
	note(data, hold ? "hold" : "on");
}

static void op_ask(void *data, struct sv text)
{
	note(data, "ask<%.*s>", SV_ARG(text));
}

static void op_cancel(void *data)
{
	note(data, "cancel");
}

static void op_permit(void *data, const char *ask, enum agent_answer answer)
{
	note(data, "%s:%s", ask,
		answer == AGENT_DENY		? "deny"
			: answer == AGENT_ALLOW ? "allow"
						: "always");
}

static void op_state(void *data, enum listener_state state)
{
	((struct rig *)data)->state = state;
}

static void op_failed(void *data, const char *line)
{
	note(data, "failed(%s)", line);
}

static void op_end(void *data, enum listener_end how)
{
	((struct rig *)data)->over = how == LISTENER_RESTART ? 2 : 1;
}

static const struct listener_ops ops = {
	.hear = op_hear,
	.record = op_record,
	.recognise = op_recognise,
	.sound = op_sound,
	.say = op_say,
	.hush = op_hush,
	.hold = op_hold,
	.ask = op_ask,
	.cancel = op_cancel,
	.permit = op_permit,
	.state = op_state,
	.failed = op_failed,
	.end = op_end,
};

static void set(struct settings *s, const char *name, const char *value)
{
	const struct setting_origin origin = { .source = SETTING_FILE };
	int id = settings_find(sv_of(name));

	assert_true(id >= 0);
	assert_int_equal(settings_set(s, (enum setting_id)id, sv_of(value), origin, NULL), 0);
}

static int setup(void **state)
{
	struct rig *r = xcalloc(1, sizeof(*r));

	r->loop = loop_new();
	r->log = (struct str)STR_INIT;
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

static int teardown(void **state)
{
	struct rig *r = *state;

	listener_free(r->l);
	utterances_free(r->rules);
	settings_free(r->settings);
	loop_free(r->loop);
	str_release(&r->log);
	free(r);
	return 0;
}

/* What was done since the last look. */
static void did(struct rig *r, const char *expected)
{
	assert_string_equal(r->log.buf, expected);
	str_clear(&r->log);
}

/* The mouth has said all that it was given; hushed: it was told to be quiet. */
static void heard_all(struct rig *r, bool hushed)
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
static void speaks(struct rig *r)
{
	while (!r->spoken[(r->ended + 1) % 64]) {
		const struct player_event e = { .kind = PLAYER_ENDS, .id = ++r->ended };
		listener_heard_us(r->l, &e);
	}
	const struct player_event e = { .kind = PLAYER_BEGINS, .id = r->ended + 1, .spoken = true };
	listener_heard_us(r->l, &e);
}

static struct endpoint_recording recording(bool with_call)
{
	return (struct endpoint_recording){
		.samples = xcalloc(1, sizeof(int16_t)), .n = 1, .with_call = with_call
	};
}

static void recorded(struct rig *r)
{
	struct endpoint_recording some = recording(true);

	listener_recorded(r->l, &some);
}

static void recognised(struct rig *r, const char *text)
{
	listener_recognised(r->l, r->id, 0, sv_of(text), "", NULL);
}

static void event(struct rig *r, enum agent_event_type type, const char *text)
{
	listener_event(r->l, &(struct agent_event){ .type = type, .text = sv_of(text) });
}

static void asks(struct rig *r, const char *id)
{
	const struct agent_ask ask = { .id = id };

	listener_event(r->l,
		&(struct agent_event){ .type = AGENT_EV_ASK,
			.tool = SV("Bash"),
			.text = SV("make"),
			.ask = &ask });
}

static void done(struct rig *r, enum utterance_kind kind, const char *reply, enum agent_fail fail)
{
	r->turn = (struct turn_outcome){ .fail = fail };
	const struct assistant_outcome out = {
		.kind = kind, .reply = reply, .language = TEXT_GERMAN, .turn = &r->turn
	};
	event(r, AGENT_EV_DONE, "");
	listener_done(r->l, &out);
}

static void steps(struct rig *r, int ms)
{
	int64_t until = clock_run_ms() + ms;

	while (clock_run_ms() < until)
		assert_int_equal(loop_step(r->loop, 1, NULL), 0);
}

/* Says it all, up to the agent. */
static void say(struct rig *r, const char *text)
{
	listener_called(r->l);
	recorded(r);
	recognised(r, text);
}

/* ---- */

static void test_a_spoken_turn(void **state)
{
	struct rig *r = *state;

	listener_called(r->l);
	assert_int_equal(r->state, LISTENER_RECORDING);
	did(r, "ding");
	heard_all(r, false);
	recorded(r);
	assert_int_equal(r->state, LISTENER_PROCESSING);
	assert_true(r->hearing.holds);
	did(r, "processing recognise");
	recognised(r, "Hey Jarvis, wie spät ist es?");
	assert_false(r->hearing.holds);
	assert_true(r->hearing.waits && r->hearing.busy);
	did(r, "ask<wie spät ist es?>");
	event(r, AGENT_EV_TEXT, "Es ist zwölf Uhr. Genau");
	event(r, AGENT_EV_TEXT, " genommen kurz danach.");
	speaks(r);
	assert_int_equal(r->state, LISTENER_SPEAKING);
	assert_true(r->hearing.speaks);
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	did(r, "de\"Es ist zwölf Uhr.\" de\"Genau genommen kurz danach.\"");
	heard_all(r, false);
	did(r, "ready");
	assert_int_equal(r->state, LISTENER_LISTENING);
	assert_false(r->hearing.busy || r->hearing.waits || r->hearing.speaks);
	did(r, "");
}

/* Every interval from the first on, none once the answer has begun, none for what was typed. */
static void test_beeps(void **state)
{
	struct rig *r = *state;

	say(r, "Rechne.");
	heard_all(r, false);
	did(r, "ding processing recognise ask<Rechne.>");
	for (int i = 0; i < 2; i++) {
		for (int n = 0; n < 5000 && r->log.len == 0; n++)
			steps(r, 1);
		did(r, "thinking");
		heard_all(r, false);
	}
	event(r, AGENT_EV_TEXT, "Fertig.\n");
	steps(r, 50);
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	steps(r, 50);
	did(r, "de\"Fertig.\"");
	heard_all(r, false);
	did(r, "ready");
	listener_typed(r->l, SV("Rechne."));
	steps(r, 50);
	event(r, AGENT_EV_TEXT, "Fertig.");
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	did(r, "ask<Rechne.>");
}

static void test_one_queue(void **state)
{
	struct rig *r = *state;

	listener_typed(r->l, SV("eins"));
	did(r, "ask<eins>");
	listener_typed(r->l, SV("zwei"));
	listener_typed(r->l, SV("  "));
	assert_int_equal(r->state, LISTENER_PROCESSING);
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	did(r, "ask<zwei>");
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	assert_int_equal(r->state, LISTENER_LISTENING);
	/* What was spoken first comes first, though its text comes later. */
	listener_called(r->l);
	recorded(r);
	listener_typed(r->l, SV("vier"));
	did(r, "ding processing recognise");
	recognised(r, "drei");
	did(r, "ask<drei>");
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	did(r, "ready ask<vier>");
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	/* "stop" does not wait in it. */
	listener_typed(r->l, SV("fünf"));
	listener_typed(r->l, SV("stopp"));
	did(r, "ask<fünf> hush cancel");
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	did(r, "");
}

static void test_nothing_is_sent(void **state)
{
	struct rig *r = *state;

	listener_called(r->l);
	listener_nothing(r->l);
	did(r, "ding ready");
	heard_all(r, false);
	assert_int_equal(r->state, LISTENER_LISTENING);
	say(r, ".");
	did(r, "ding processing recognise ready");
	heard_all(r, false);
	say(r, "Hey Jarvis.");
	heard_all(r, false);
	did(r, "ding processing recognise ready");
	assert_int_equal(r->state, LISTENER_LISTENING);
}

static void test_spoken_errors(void **state)
{
	struct rig *r = *state;
	const struct err err = { .code = -EIO, .msg = "the engine died" };

	listener_called(r->l);
	recorded(r);
	heard_all(r, false);
	listener_recognised(r->l, r->id, -EIO, SV(""), "", &err);
	assert_int_equal(r->state, LISTENER_ERROR);
	did(r,
		"ding processing recognise failed(the engine died) de\"Entschuldigung, ich konnte "
		"dich nicht verstehen. Bitte versuche es nochmal.\"");
	heard_all(r, false);
	did(r, "ready");
	assert_int_equal(r->state, LISTENER_LISTENING);
	say(r, "Rechne.");
	heard_all(r, false);
	str_clear(&r->log);
	done(r, UTTERANCE_AGENT, "", AGENT_TIMED_OUT);
	did(r, "de\"Die Verarbeitung hat zu lange gedauert. Bitte versuche es nochmal.\"");
	heard_all(r, false);
	did(r, "ready");
	say(r, "Rechne.");
	heard_all(r, false);
	str_clear(&r->log);
	done(r, UTTERANCE_AGENT, "", AGENT_FAILED);
	assert_int_equal(r->state, LISTENER_ERROR);
	did(r, "de\"Entschuldigung, bei der Verarbeitung ist ein Fehler aufgetreten.\"");
	heard_all(r, false);
	did(r, "ready");
	assert_int_equal(r->state, LISTENER_LISTENING);
}

/* No voice: the error sound in its place, once an answer; said once. */
static void test_the_mouth_fails(void **state)
{
	struct rig *r = *state;
	const struct err err = { .code = ERR_NOTFOUND, .msg = "no voice" };
	struct player_event e = {
		.kind = PLAYER_ENDS, .spoken = true, .r = ERR_NOTFOUND, .err = &err
	};

	for (int i = 0; i < 2; i++) {
		say(r, "Rechne.");
		heard_all(r, false);
		event(r, AGENT_EV_TEXT, "Eins. Zwei. ");
		done(r, UTTERANCE_AGENT, "", AGENT_OK);
		str_clear(&r->log);
		e.id = ++r->ended;
		listener_heard_us(r->l, &e);
		e.id = ++r->ended;
		listener_heard_us(r->l, &e);
		did(r, i == 0 ? "failed(no voice) hush error ready" : "hush error ready");
		heard_all(r, false);
		assert_int_equal(r->state, LISTENER_LISTENING);
	}
}

/* Called while it works: it stops, and hears what comes. */
static void test_called_at_work(void **state)
{
	struct rig *r = *state;

	say(r, "Rechne.");
	heard_all(r, false);
	str_clear(&r->log);
	listener_called(r->l);
	did(r, "cancel ding");
	heard_all(r, false);
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	did(r, ""); /* nobody is spoken to who is about to speak */
	assert_int_equal(r->state, LISTENER_RECORDING);
	recorded(r);
	recognised(r, "Hey Jarvis, stopp!");
	did(r, "processing recognise de\"Abgebrochen.\"");
	heard_all(r, false);
	did(r, "ready");
	assert_int_equal(r->state, LISTENER_LISTENING);

	/* … or something else is wanted */
	say(r, "Rechne.");
	heard_all(r, false);
	listener_called(r->l);
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	recorded(r);
	str_clear(&r->log);
	recognised(r, "Rechne anders.");
	did(r, "ask<Rechne anders.>");
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	heard_all(r, false);

	/* … or nothing follows */
	say(r, "Rechne.");
	heard_all(r, false);
	listener_called(r->l);
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	str_clear(&r->log);
	listener_nothing(r->l);
	did(r, "de\"Abgebrochen.\"");
}

static void test_called_while_it_speaks(void **state)
{
	struct rig *r = *state;

	say(r, "Erzähle.");
	heard_all(r, false);
	event(r, AGENT_EV_TEXT, "Es war einmal. ");
	speaks(r);
	str_clear(&r->log);
	listener_called(r->l);
	did(r, "hush cancel ding");
	/* What the agent still says is not spoken. */
	event(r, AGENT_EV_TEXT, "Und so weiter. ");
	heard_all(r, true);
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	did(r, "");
	assert_int_equal(r->state, LISTENER_RECORDING);
	listener_nothing(r->l);
	heard_all(r, false);

	/* The agent is done, and its answer is still being said. */
	say(r, "Erzähle.");
	heard_all(r, false);
	event(r, AGENT_EV_TEXT, "Es war einmal. ");
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	speaks(r);
	str_clear(&r->log);
	listener_called(r->l);
	heard_all(r, true);
	recorded(r);
	recognised(r, "Stopp");
	did(r, "hush ding processing recognise de\"Abgebrochen.\"");
}

/* "Stopp" by itself, without a call. */
static void test_overheard(void **state)
{
	struct rig *r = *state;
	struct endpoint_recording some = recording(false);

	/* Nothing to stop: it is not even listened to. */
	listener_overheard(r->l, &some);
	did(r, "");
	say(r, "Erzähle.");
	heard_all(r, false);
	event(r, AGENT_EV_TEXT, "Es war einmal. ");
	speaks(r);
	str_clear(&r->log);
	some = recording(false);
	listener_overheard(r->l, &some);
	recognised(r, "Es war einmal.");
	did(r, "recognise"); /* our own voice */
	some = recording(false);
	listener_overheard(r->l, &some);
	recognised(r, "Stopp!");
	did(r, "recognise hush cancel");
	heard_all(r, true);
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	did(r, "de\"Abgebrochen.\"");
	heard_all(r, false);
	did(r, "ready");
	assert_int_equal(r->state, LISTENER_LISTENING);
}

/* Somebody speaks over it: a pause, until it is known what that was. */
static void test_interrupted(void **state)
{
	struct rig *r = *state;
	struct endpoint_recording some;

	listener_interrupted(r->l); /* it says nothing */
	say(r, "Erzähle.");
	heard_all(r, false);
	listener_interrupted(r->l);
	event(r, AGENT_EV_TEXT, "Es war einmal. Und so weiter. ");
	speaks(r);
	str_clear(&r->log);
	listener_interrupted(r->l);
	some = recording(false);
	listener_overheard(r->l, &some);
	recognised(r, "Stopp!");
	did(r, "hold recognise hush on cancel");
	heard_all(r, true);
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	heard_all(r, false);

	/* Nobody meant it: it speaks on, and is not stopped by that again and again. */
	say(r, "Erzähle.");
	heard_all(r, false);
	event(r, AGENT_EV_TEXT, "Es war einmal. Und so weiter. ");
	speaks(r);
	str_clear(&r->log);
	listener_interrupted(r->l);
	some = recording(false);
	listener_overheard(r->l, &some);
	uint8_t before = r->hearing.in_vain;
	recognised(r, "Das Essen ist fertig.");
	assert_int_equal(r->hearing.in_vain, before + 1);
	listener_interrupted(r->l);
	listener_let_go(r->l);
	listener_interrupted(r->l);
	listener_let_go(r->l);
	did(r, "hold recognise on hold on");
	assert_int_equal(r->hearing.in_vain, before + 2);
	/* A call ends the pause, too. */
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	heard_all(r, false);
	say(r, "Erzähle.");
	heard_all(r, false);
	event(r, AGENT_EV_TEXT, "Es war einmal. ");
	speaks(r);
	str_clear(&r->log);
	listener_interrupted(r->l);
	listener_called(r->l);
	did(r, "hold hush on cancel ding");
}

static void test_our_own_name(void **state)
{
	struct rig *r = *state;

	say(r, "Wie heißt du?");
	heard_all(r, false);
	event(r, AGENT_EV_TEXT, "Sag einfach Hey Jarvis. Dann höre ich. ");
	speaks(r);
	assert_true(r->hearing.names_us);
	const struct player_event e = { .kind = PLAYER_ENDS, .id = ++r->ended, .spoken = true };
	listener_heard_us(r->l, &e);
	assert_false(r->hearing.names_us);
}

static void test_permission(void **state)
{
	struct rig *r = *state;

	say(r, "Baue es.");
	heard_all(r, false);
	str_clear(&r->log);
	asks(r, "q1");
	did(r, "de\"Darf ich Bash benutzen? make\"");
	heard_all(r, false);
	assert_int_equal(r->state, LISTENER_RECORDING);
	did(r, "ding record");
	heard_all(r, false);
	recorded(r);
	recognised(r, "Vielleicht.");
	did(r, "processing recognise de\"Bitte antworte mit ja oder nein.\"");
	heard_all(r, false);
	did(r, "ding record");
	recorded(r);
	recognised(r, "Ja.");
	did(r, "processing recognise de\"Erlaubt.\" q1:allow");
	/* The next one: not understood is asked again; a call is an answer, not the end. */
	asks(r, "q2");
	heard_all(r, false);
	str_clear(&r->log);
	listener_nothing(r->l);
	did(r, "de\"Darf ich Bash benutzen? make\"");
	listener_called(r->l);
	recorded(r);
	recognised(r, "Hey Jarvis, nein.");
	did(r, "hush ding processing recognise de\"Nicht erlaubt.\" q2:deny");
	heard_all(r, false);
	/* Answered by a key. */
	asks(r, "q3");
	listener_permitted(r->l, "q3");
	did(r, "de\"Darf ich Bash benutzen? make\" hush");
	heard_all(r, true);
	did(r, "");
	/* "stop" in place of an answer. */
	asks(r, "q4");
	heard_all(r, false);
	recorded(r);
	str_clear(&r->log);
	recognised(r, "Stopp");
	did(r, "cancel");
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	did(r, "de\"Abgebrochen.\"");
}

static void test_commands(void **state)
{
	struct rig *r = *state;

	say(r, "Neue conversation.");
	heard_all(r, false);
	str_clear(&r->log);
	done(r, UTTERANCE_RESET, "Alles klar, ich starte eine neue Konversation.", AGENT_OK);
	did(r, "de\"Alles klar, ich starte eine neue Konversation.\"");
	heard_all(r, false);
	did(r, "ready");
	assert_int_equal(r->state, LISTENER_LISTENING);
	say(r, "Neustart");
	heard_all(r, false);
	str_clear(&r->log);
	done(r, UTTERANCE_RESTART, "Alles klar, ich starte jetzt neu.", AGENT_OK);
	did(r, "de\"Alles klar, ich starte jetzt neu.\"");
	steps(r, 5);
	assert_int_equal(r->over, 0); /* that is said first */
	heard_all(r, false);
	steps(r, 5);
	assert_int_equal(r->over, 2);
}

/* The sound of a restart is one of ours: who has begun to speak since is heard to the end. */
static void test_back(void **state)
{
	struct rig *r = *state;

	listener_back(r->l);
	say(r, "Rechne.");
	listener_sound_ended(r->l);
	heard_all(r, false);
	event(r, AGENT_EV_TEXT, "Eins. ");
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	steps(r, 3);
	assert_int_equal(r->over, 0);
	heard_all(r, false);
	did(r, "ready hush ding processing recognise ask<Rechne.> de\"Eins.\" ready");
	steps(r, 3);
	assert_int_equal(r->over, 1);
}

/* At the end of a file all that was said is finished first. */
static void test_the_end(void **state)
{
	struct rig *r = *state;

	listener_called(r->l);
	recorded(r);
	listener_sound_ended(r->l);
	steps(r, 3);
	assert_int_equal(r->over, 0);
	recognised(r, "Rechne.");
	heard_all(r, false);
	asks(r, "q1"); /* nobody can answer any more */
	did(r, "ding processing recognise ask<Rechne.> de\"Darf ich Bash benutzen? make\"");
	heard_all(r, false);
	did(r, "de\"Nicht erlaubt: niemand kann mehr antworten.\" q1:deny");
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	steps(r, 3);
	assert_int_equal(r->over, 0);
	heard_all(r, false);
	steps(r, 3);
	assert_int_equal(r->over, 1);
}

static void test_typing(void **state)
{
	struct rig *r = *state;

	listener_typing(r->l, true);
	assert_int_equal(r->state, LISTENER_TYPING);
	listener_called(r->l);
	assert_int_equal(r->state, LISTENER_RECORDING);
	listener_nothing(r->l);
	assert_int_equal(r->state, LISTENER_TYPING);
	listener_typing(r->l, false);
	heard_all(r, false);
	assert_int_equal(listener_state(r->l), LISTENER_LISTENING);
	/* A key in place of the call. */
	str_clear(&r->log);
	listener_push(r->l);
	did(r, "ding record");
	listener_push(r->l);
	did(r, "record");
	/* Somebody who is not called speaks: there is no sound. */
	listener_nothing(r->l);
	str_clear(&r->log);
	listener_began(r->l);
	assert_int_equal(r->state, LISTENER_RECORDING);
	did(r, "");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_spoken_turn),
		T(test_beeps),
		T(test_one_queue),
		T(test_nothing_is_sent),
		T(test_spoken_errors),
		T(test_the_mouth_fails),
		T(test_called_at_work),
		T(test_called_while_it_speaks),
		T(test_overheard),
		T(test_interrupted),
		T(test_our_own_name),
		T(test_permission),
		T(test_commands),
		T(test_back),
		T(test_the_end),
		T(test_typing),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
