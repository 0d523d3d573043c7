#include <errno.h>

#include "listen/test-listener.h"

static void test_a_spoken_turn(void **state)
{
	struct listener_rig *r = *state;

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
	struct listener_rig *r = *state;

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
	struct listener_rig *r = *state;

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
	struct listener_rig *r = *state;

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
	struct listener_rig *r = *state;
	const struct err err = { .code = -EIO, .msg = "the engine died" };

	listener_called(r->l);
	recorded(r);
	heard_all(r, false);
	listener_recognised(r->l, r->id, -EBADMSG, SV(""), "", &err);
	assert_int_equal(r->state, LISTENER_ERROR);
	did(r,
		"ding processing recognise failed(the engine died) de\"Entschuldigung, ich konnte "
		"dich nicht verstehen. Bitte versuche es nochmal.\"");
	heard_all(r, false);
	did(r, "ready");
	assert_int_equal(r->state, LISTENER_LISTENING);
	/* To say it again is no remedy for what comes back, nor for what gives no answer at all: a
	 * program that is not there or fails, a server that is gone. */
	const int failures[] = { -EBADMSG, ERR_AGENT, -ENOENT, -ECONNREFUSED, -ETIMEDOUT, -EIO,
		ERR_NOTFOUND, ERR_INPUT };
	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		recorded(r);
		listener_recognised(r->l, r->id, failures[i], SV(""), "", &err);
		heard_all(r, false);
		did(r,
			"processing recognise failed(the engine died) de\"Die Spracherkennung "
			"funktioniert nicht. Mehr dazu steht auf dem Bildschirm.\" ready");
		/* It works again. */
		say(r, ".");
		heard_all(r, false);
		str_clear(&r->log);
	}
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
	struct listener_rig *r = *state;
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
	struct listener_rig *r = *state;

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
	struct listener_rig *r = *state;

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
	struct listener_rig *r = *state;
	struct endpoint_recording some = recording(false);

	/* Nothing to stop: it is not even listened to. */
	listener_overheard(r->l, &some);
	did(r, "");
	say(r, "Erzähle.");
	heard_all(r, false);
	event(r, AGENT_EV_TEXT, "Es war einmal. ");
	speaks(r);
	str_clear(&r->log);
	overheard(r, "Es war einmal.");
	did(r, "recognise"); /* our own voice */
	overheard(r, "Stopp!");
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
	struct listener_rig *r = *state;

	listener_interrupted(r->l); /* it says nothing */
	say(r, "Erzähle.");
	heard_all(r, false);
	listener_interrupted(r->l);
	event(r, AGENT_EV_TEXT, "Es war einmal. Und so weiter. ");
	spoken_over(r);
	overheard(r, "Stopp!");
	did(r, "hold recognise hush on cancel");
	heard_all(r, true);
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	heard_all(r, false);

	/* Nobody meant it: it speaks on, and is not stopped by that again and again. */
	say(r, "Erzähle.");
	heard_all(r, false);
	event(r, AGENT_EV_TEXT, "Es war einmal. Und so weiter. ");
	spoken_over(r);
	uint8_t before = r->hearing.in_vain;
	overheard(r, "Das Essen ist fertig.");
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
	spoken_over(r);
	listener_called(r->l);
	did(r, "hold hush on cancel ding");
}

static void test_our_own_name(void **state)
{
	struct listener_rig *r = *state;

	say(r, "Wie heißt du?");
	heard_all(r, false);
	event(r, AGENT_EV_TEXT, "Sag einfach Hey Jarvis. Dann höre ich. ");
	speaks(r);
	assert_true(r->hearing.names_us);
	const struct player_event e = { .kind = PLAYER_ENDS, .id = ++r->ended, .spoken = true };
	listener_heard_us(r->l, &e);
	assert_false(r->hearing.names_us);
}

/* Half of what was said is not sent by itself; it is told at once, and what was heard is shown. */
static void test_too_long(void **state)
{
	struct listener_rig *r = *state;
	struct endpoint_recording some = recording(true);
	const struct err err = { .code = -EIO, .msg = "the engine died" };

	listener_called(r->l);
	heard_all(r, false);
	str_clear(&r->log);
	some.cut = true;
	listener_recorded(r->l, &some);
	did(r,
		"processing notice(Die Aufnahme endete nach 30 s (audio.max_recording_sec); was "
		"danach gesagt wurde, ist nicht darin.) de\"Das war zu lang. Ich habe nichts davon "
		"abgeschickt.\" recognise");
	assert_string_equal(r->reply.buf, "Das war zu lang. Ich habe nichts davon abgeschickt.");
	recognised(r, "Hey Jarvis, es war einmal");
	did(r, "unsent<es war einmal>");
	heard_all(r, false);
	did(r, "ready");
	assert_int_equal(r->state, LISTENER_LISTENING);
	/* … nothing was heard in it, or could be */
	for (int i = 0; i < 2; i++) {
		some = recording(false);
		some.cut = true;
		listener_recorded(r->l, &some);
		heard_all(r, false);
		str_clear(&r->log);
		if (i == 0)
			recognised(r, ".");
		else
			listener_recognised(r->l, r->id, -EIO, SV(""), "", &err);
		heard_all(r, false);
		did(r,
			i == 0 ? "ready"
			       : "failed(the engine died) de\"Die Spracherkennung funktioniert "
				 "nicht. Mehr dazu steht auf dem Bildschirm.\" ready");
	}
	/* To a question it is no answer. */
	say(r, "Baue es.");
	heard_all(r, false);
	asks(r, "q1");
	heard_all(r, false);
	some = recording(false);
	some.cut = true;
	listener_recorded(r->l, &some);
	str_clear(&r->log);
	recognised(r, "Ja und dann");
	did(r, "de\"Bitte antworte mit ja oder nein.\"");
}

/* A key while somebody speaks: nothing of it is sent. */
static void test_discarded(void **state)
{
	struct listener_rig *r = *state;

	assert_false(listener_stop(r->l));
	listener_called(r->l);
	heard_all(r, false);
	assert_true(listener_stop(r->l));
	did(r, "ding discard de\"Abgebrochen.\"");
	heard_all(r, false);
	did(r, "ready");
	assert_int_equal(r->state, LISTENER_LISTENING);
	assert_false(listener_stop(r->l));
	/* … a key was pressed for it, or nobody had to call */
	listener_push(r->l);
	heard_all(r, false);
	assert_true(listener_stop(r->l));
	heard_all(r, false);
	listener_began(r->l);
	assert_true(listener_stop(r->l));
	heard_all(r, false);
	did(r, "ding record discard de\"Abgebrochen.\" ready discard de\"Abgebrochen.\" ready");
	/* The turn that the call has cancelled says so itself, once. */
	say(r, "Rechne.");
	heard_all(r, false);
	listener_called(r->l);
	heard_all(r, false);
	str_clear(&r->log);
	assert_true(listener_stop(r->l));
	did(r, "cancel discard");
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	heard_all(r, false);
	did(r, "de\"Abgebrochen.\" ready");
	/* … also when it is at its end already */
	say(r, "Rechne.");
	heard_all(r, false);
	listener_called(r->l);
	heard_all(r, false);
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	str_clear(&r->log);
	assert_true(listener_stop(r->l));
	heard_all(r, false);
	did(r, "discard de\"Abgebrochen.\" ready");
	assert_int_equal(r->state, LISTENER_LISTENING);
	/* "stop" that is typed is meant for it too, but not what begins anew. */
	listener_called(r->l);
	heard_all(r, false);
	str_clear(&r->log);
	listener_typed(r->l, SV("neue Konversation"));
	did(r, "ask<neue Konversation>");
	done(r, UTTERANCE_RESET, "", AGENT_OK);
	assert_int_equal(r->state, LISTENER_RECORDING);
	listener_typed(r->l, SV("stopp"));
	did(r, "discard de\"Abgebrochen.\"");
}

static void test_commands(void **state)
{
	struct listener_rig *r = *state;

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
	struct listener_rig *r = *state;

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
	struct listener_rig *r = *state;

	listener_called(r->l);
	recorded(r);
	listener_sound_ended(r->l);
	steps(r, 3);
	assert_int_equal(r->over, 0);
	recognised(r, "Rechne.");
	heard_all(r, false);
	asks(r, "q1"); /* nobody can answer any more */
	did(r,
		"ding processing recognise ask<Rechne.> de\"Darf ich Bash benutzen? make\" de\"Ja "
		"oder nein?\"");
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
	struct listener_rig *r = *state;

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
		T(test_too_long),
		T(test_discarded),
		T(test_commands),
		T(test_back),
		T(test_the_end),
		T(test_typing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
