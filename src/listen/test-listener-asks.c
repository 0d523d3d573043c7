/* What permission is asked for, and who answers. */
#include "listen/test-listener.h"

/* How to answer is said at the end, and at that of the last reading by what a later answer begins
 * with; while our own voice calls us so, no call is believed. */
static void test_how_to_answer(void **state)
{
	struct listener_rig *r = *state;

	say(r, "Baue es.");
	heard_all(r, false);
	asks(r, "q1");
	for (int i = 0; i < 2; i++) {
		heard_all(r, false);
		str_clear(&r->log);
		assert_false(r->hearing.names_us);
		listener_nothing(r->l);
	}
	did(r,
		"de\"Darf ich Bash benutzen? make\" "
		"de\"Sag \"Hey Jarvis, ja\" oder \"Hey Jarvis, nein\".\"");
	assert_string_equal(r->reply.buf, "Sag \"Hey Jarvis, ja\" oder \"Hey Jarvis, nein\".");
	assert_true(r->hearing.names_us);
	heard_all(r, false);
	did(r, "ding record");
	assert_false(r->hearing.names_us);
	/* An answer before the end of the question is one; from there on it could be our own. */
	recorded(r);
	recognised(r, "Ja.");
	heard_all(r, false);
	asks(r, "q2");
	spoken_over(r);
	struct endpoint_recording some = recording(false);
	listener_overheard(r->l, &some);
	heard_all(r, false);
	recognised(r, "Ja.");
	did(r, "hold recognise on de\"Erlaubt.\" q2:allow");
	heard_all(r, false);
	asks(r, "q3");
	speaks(r);
	const struct player_event e = { .kind = PLAYER_ENDS, .id = ++r->ended, .spoken = true };
	listener_heard_us(r->l, &e);
	spoken_over(r);
	overheard(r, "Ja.");
	did(r, "hold recognise hush on ding record");
}

/* What is no answer three times is told the same. */
static void test_unclear_to_the_end(void **state)
{
	struct listener_rig *r = *state;

	say(r, "Baue es.");
	heard_all(r, false);
	asks(r, "q1");
	for (int i = 0; i < 2; i++) {
		heard_all(r, false);
		recorded(r);
		str_clear(&r->log);
		recognised(r, "Vielleicht.");
	}
	did(r,
		"de\"Bitte antworte mit ja oder nein.\" "
		"de\"Sag \"Hey Jarvis, ja\" oder \"Hey Jarvis, nein\".\"");
	assert_string_equal(r->reply.buf, "Sag \"Hey Jarvis, ja\" oder \"Hey Jarvis, nein\".");
}

static void test_permission(void **state)
{
	struct listener_rig *r = *state;

	say(r, "Baue es.");
	heard_all(r, false);
	str_clear(&r->log);
	asks(r, "q1");
	did(r, "de\"Darf ich Bash benutzen? make\" de\"Ja oder nein?\"");
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
	did(r, "de\"Darf ich Bash benutzen? make\" de\"Ja oder nein?\"");
	listener_called(r->l);
	recorded(r);
	recognised(r, "Hey Jarvis, nein.");
	did(r, "hush ding processing recognise de\"Nicht erlaubt.\" q2:deny");
	heard_all(r, false);
	/* Answered by a key. */
	asks(r, "q3");
	listener_permitted(r->l, "q3");
	did(r, "de\"Darf ich Bash benutzen? make\" de\"Ja oder nein?\" hush");
	heard_all(r, true);
	did(r, "");
	/* "stop" in place of an answer, or a key. */
	asks(r, "q5");
	heard_all(r, false);
	str_clear(&r->log);
	assert_true(listener_stop(r->l));
	did(r, "cancel discard");
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	heard_all(r, false);
	say(r, "Baue es.");
	heard_all(r, false);
	asks(r, "q4");
	heard_all(r, false);
	recorded(r);
	str_clear(&r->log);
	recognised(r, "Stopp");
	did(r, "cancel");
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	did(r, "de\"Abgebrochen.\"");
}

/* Up to a question that is being read out. */
static void asked_aloud(struct listener_rig *r, const char *id)
{
	say(r, "Baue es.");
	heard_all(r, false);
	asks(r, id);
	speaks(r);
	str_clear(&r->log);
}

/* What is said while a question is being read out is an answer to it. */
static void test_answered_before_its_end(void **state)
{
	struct listener_rig *r = *state;

	asked_aloud(r, "q1");
	assert_true(r->hearing.busy); /* somebody is listened to */
	listener_interrupted(r->l);
	overheard(r, "Ja, bitte.");
	did(r, "hold recognise hush on de\"Erlaubt.\" q1:allow");
	heard_all(r, true);
	/* "stop" ends it all. */
	asks(r, "q2");
	spoken_over(r);
	overheard(r, "Stopp!");
	did(r, "hold recognise hush on cancel");
	heard_all(r, true);
	done(r, UTTERANCE_AGENT, "", AGENT_CANCELLED);
	heard_all(r, false);
	/* A call is for an answer; what is none does not matter. */
	asked_aloud(r, "q3");
	listener_interrupted(r->l);
	overheard(r, "Das Essen ist fertig.");
	did(r, "hold recognise on");
	listener_called(r->l);
	heard_all(r, true);
	recorded(r);
	recognised(r, "Nein.");
	did(r, "hush ding processing recognise de\"Nicht erlaubt.\" q3:deny");
	heard_all(r, false);
	/* The question has just come to its end: no second recording begins. */
	asks(r, "q4");
	spoken_over(r);
	struct endpoint_recording some = recording(false);
	listener_overheard(r->l, &some);
	heard_all(r, false);
	did(r, "hold recognise on");
	recognised(r, "Ja.");
	did(r, "de\"Erlaubt.\" q4:allow");
	heard_all(r, false);
	/* … but for what was no answer one does. */
	asks(r, "q5");
	spoken_over(r);
	some = recording(false);
	listener_overheard(r->l, &some);
	heard_all(r, false);
	recognised(r, "Das Essen ist fertig.");
	did(r, "hold recognise on ding record");
}

/* Nothing is allowed by our own voice, nor before anybody can know what for. */
static void test_no_answer(void **state)
{
	struct listener_rig *r = *state;

	asked_aloud(r, "q1");
	overheard(r, "Ja."); /* perhaps it was us: it makes way for an answer */
	did(r, "recognise hush ding record");
	heard_all(r, true);
	listener_nothing(r->l);
	heard_all(r, false);
	recorded(r);
	str_clear(&r->log);
	recognised(r, "Vielleicht.");
	did(r,
		"de\"Bitte antworte mit ja oder nein.\" "
		"de\"Sag \"Hey Jarvis, ja\" oder \"Hey Jarvis, nein\".\"");
	speaks(r);
	listener_interrupted(r->l);
	overheard(r, "Ja."); /* an answer is a part of what is said */
	did(r, "hold recognise hush on ding record");
	listener_permitted(r->l, "q1");
	heard_all(r, true);
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	heard_all(r, false);
	/* A sneeze allows nothing, but may well be a no. */
	say(r, "Baue es.");
	heard_all(r, false);
	asks(r, "q5");
	spoken_over(r);
	struct endpoint_recording scant = recording(false);
	scant.speech = ENDPOINT_RATE / 10;
	listener_overheard(r->l, &scant);
	recognised(r, "Yeah.");
	did(r, "hold recognise hush on ding record");
	heard_all(r, true);
	listener_nothing(r->l);
	spoken_over(r);
	scant = recording(false);
	scant.speech = ENDPOINT_RATE / 10;
	listener_overheard(r->l, &scant);
	recognised(r, "No.");
	did(r, "hold recognise hush on de\"Nicht erlaubt.\" q5:deny");
	heard_all(r, true);
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	heard_all(r, false);
	str_clear(&r->log);
	/* What is asked has an answer in it: it makes way for one. */
	say(r, "Baue es.");
	heard_all(r, false);
	asks_about(r, "q2", "yes | head");
	spoken_over(r);
	overheard(r, "Yes.");
	did(r, "hold recognise hush on ding record");
	heard_all(r, true);
	recorded(r);
	recognised(r, "Ja.");
	did(r, "processing recognise de\"Erlaubt.\" q2:allow");
	heard_all(r, false);
	/* Still at what stands before the question. */
	event(r, AGENT_EV_TEXT, "Dafür brauche ich etwas. ");
	asks(r, "q3");
	spoken_over(r);
	overheard(r, "Ja.");
	did(r, "hold recognise on");
}

/* Who is in the room has no say in what was typed, whatever they were asked before. */
static void test_asked_on_the_screen(void **state)
{
	struct listener_rig *r = *state;

	asked_aloud(r, "q1");
	listener_interrupted(r->l);
	overheard(r, "Ja.");
	heard_all(r, true);
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	heard_all(r, false);
	listener_typed(r->l, SV("Baue es."));
	str_clear(&r->log);
	asks(r, "q2");
	overheard(r, "Ja.");
	overheard(r, "Das Essen ist fertig.");
	did(r, "recognise recognise");
	assert_int_equal(r->state, LISTENER_ASKING);
	/* … but for who calls: it is read out then. */
	listener_called(r->l);
	listener_nothing(r->l);
	did(r, "ding de\"Darf ich Bash benutzen? make\" de\"Ja oder nein?\"");
	heard_all(r, false);
	recorded(r);
	recognised(r, "Nein.");
	did(r, "ding record processing recognise de\"Nicht erlaubt.\" q2:deny");
	heard_all(r, false);
	done(r, UTTERANCE_AGENT, "", AGENT_OK);
	/* Nor when the turn ends while its question is still to be said. */
	str_clear(&r->log);
	say(r, "Baue es.");
	heard_all(r, false);
	asks(r, "q3");
	done(r, UTTERANCE_AGENT, "", AGENT_FAILED);
	listener_typed(r->l, SV("Baue es."));
	asks(r, "q4");
	spoken_over(r);
	overheard(r, "Ja.");
	did(r, "hold recognise on");
}

/* Three times without an answer: it is left to a call, and what is said in the room is not taken
 * for one. */
static void test_not_asked_for_ever(void **state)
{
	struct listener_rig *r = *state;

	say(r, "Baue es.");
	heard_all(r, false);
	asks(r, "q1");
	for (int i = 0; i < 3; i++) {
		heard_all(r, false);
		assert_int_equal(r->state, LISTENER_RECORDING);
		recorded(r);
		recognised(r, "Vielleicht.");
	}
	heard_all(r, false);
	assert_int_equal(r->state, LISTENER_ASKING);
	str_clear(&r->log);
	overheard(r, "Das Essen ist fertig.");
	overheard(r, "Ja.");
	did(r, "recognise recognise");
	/* Who calls and says nothing, or something else, is told what is asked. */
	listener_called(r->l);
	listener_nothing(r->l);
	did(r, "ding de\"Darf ich Bash benutzen? make\" de\"Ja oder nein?\"");
	heard_all(r, false);
	did(r, "ding record");
	listener_nothing(r->l);
	listener_nothing(r->l);
	heard_all(r, false);
	str_clear(&r->log);
	listener_called(r->l);
	recorded(r);
	recognised(r, "Hey Jarvis, frag mich.");
	did(r,
		"ding processing recognise de\"Bitte antworte mit ja oder nein.\" de\"Darf ich "
		"Bash benutzen? make\" de\"Ja oder nein?\"");
	heard_all(r, false);
	str_clear(&r->log);
	listener_called(r->l);
	recorded(r);
	recognised(r, "Hey Jarvis, nein.");
	did(r, "ding processing recognise de\"Nicht erlaubt.\" q1:deny");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_how_to_answer),
		T(test_unclear_to_the_end),
		T(test_permission),
		T(test_answered_before_its_end),
		T(test_no_answer),
		T(test_asked_on_the_screen),
		T(test_not_asked_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
