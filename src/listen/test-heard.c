#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "listen/heard.h"

struct rig {
	struct settings *s;
	struct utterances *rules;
	struct heard_rules *h;
};

static void set(struct settings *s, const char *name, const char *value)
{
	const struct setting_origin origin = { .source = SETTING_FILE };
	struct err err = ERR_INIT;

	int id = settings_find(sv_of(name));
	assert_true(id >= 0);
	assert_int_equal(settings_set(s, (enum setting_id)id, sv_of(value), origin, &err), 0);
}

static int setup(void **state)
{
	static struct rig r;

	r.s = settings_new("/home/somebody");
	set(r.s, "stt.corrections", "cloud code=Claude Code, fahden = faden");
	r.rules = utterances_new(r.s);
	r.h = heard_new(r.s, r.rules);
	*state = &r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	heard_free(r->h);
	utterances_free(r->rules);
	settings_free(r->s);
	return 0;
}

/* NULL: nothing was meant. */
static void expect(const struct rig *r, const char *transcript, bool with_call, const char *meant)
{
	AUTO_STR out = STR_INIT;

	bool said = heard_meant(r->h, sv_of(transcript), with_call, &out);
	if (said != (meant != NULL))
		print_message("'%s' became '%s'\n", transcript, out.buf);
	assert_int_equal(said, meant != NULL);
	assert_string_equal(out.buf, meant ? meant : "");
}

static void test_nothing(void **state)
{
	static const char *const nothing[] = { "", ".", " . ", "…", "♪ ♪", "[Musik]",
		"[BLANK_AUDIO]", "(applause)", "Untertitel der Amara.org-Community",
		"Untertitel der Amara.org-Community.", "UNTERTITEL DER AMARA.ORG-COMMUNITY",
		"Thanks for watching!", "Vielen Dank fürs Zuschauen.", "Hey Jarvis.", "Jarvis",
		"Hey, Jarvis!", "you", NULL };

	for (size_t i = 0; nothing[i]; i++)
		expect(*state, nothing[i], true, NULL);
}

/* Invented phrases go as a whole, and nothing that only looks like a part of one. */
static void test_filter(void **state)
{
	expect(*state, "Wie spät ist es? Untertitel der Amara.org-Community", false,
		"Wie spät ist es?");
	expect(*state, "Untertitel der Amara.org-Community Wie spät ist es?", false,
		"Wie spät ist es?");
	expect(*state, "Was ist die Amara.org-Community?", false,
		"Was ist die Amara.org-Community?");
	expect(*state, "Untertitel der Amara.org-Communitys finden", false,
		"Untertitel der Amara.org-Communitys finden");
	/* Noise only counts alone. */
	expect(*state, "Write thanks for watching below it.", false,
		"Write thanks for watching below it.");
	expect(*state, "Can you hear me?", false, "Can you hear me?");
	expect(*state, "Zeig f(x) in [a, b] nicht", false, "Zeig f(x) in nicht");
	expect(*state, "[[Musik] laut] Mach weiter", false, "Mach weiter");
	expect(*state, "Zeig [a, [b] nicht", false, "Zeig [a, nicht");
}

static void test_corrections(void **state)
{
	expect(*state, "Starte Cloud Code.", false, "Starte Claude Code.");
	expect(*state, "Fahden ist fein, fahden.", false, "faden ist fein, faden.");
	expect(*state, "The cloud coded it.", false, "The cloud coded it.");
}

static void test_call(void **state)
{
	expect(*state, "Hey Jarvis, what time is it?", true, "what time is it?");
	expect(*state, "Hey, Jarvis. What time is it?", true, "What time is it?");
	expect(*state, "Hey Travis, what time is it?", true, "what time is it?");
	expect(*state, "Jarvis, wie spät ist es?", true, "wie spät ist es?");
	/* What others said before. */
	expect(*state, "and then we left. Hey Jarvis, what time is it?", true, "what time is it?");
	/* Without a call these are sentences about somebody. */
	expect(*state, "Hey Travis, what time is it?", false, "Hey Travis, what time is it?");
	expect(*state, "Tell Jarvis what time it is.", true, "Tell Jarvis what time it is.");
	expect(*state, "Davis is my colleague.", true, "Davis is my colleague.");
}

/* The recogniser's slips, on the whole utterance. */
static void test_slips(void **state)
{
	const struct rig *r = *state;
	static const struct {
		const char *said;
		enum utterance_kind kind;
	} rows[] = {
		{ "Neue conversation.", UTTERANCE_RESET },
		{ "Neue Konversation", UTTERANCE_RESET },
		{ "neue Konversasion!", UTTERANCE_RESET },
		{ "New conversion", UTTERANCE_RESET },
		{ "Stop.", UTTERANCE_CANCEL },
		{ "Stopp!", UTTERANCE_CANCEL },
		{ "Hey Jarvis, stop.", UTTERANCE_CANCEL },
		{ "Abbrechn.", UTTERANCE_CANCEL },
		{ "Vergis es.", UTTERANCE_CANCEL },
		{ "Neu starten", UTTERANCE_RESTART },
		{ "Neustard.", UTTERANCE_RESTART },
		{ "Restart", UTTERANCE_RESTART },
		{ "Undo the reset.", UTTERANCE_UNDO },
		/* said more than once */
		{ "undo reset undo reset", UTTERANCE_UNDO },
		{ "Stop, stop, stop!", UTTERANCE_CANCEL },
		{ "Neustard. Neustard.", UTTERANCE_RESTART },
		{ "Lade das Preset. Lade das Preset.", UTTERANCE_AGENT },
		/* what Whisper base writes of "Neustart": nobody says the city and nothing else */
		{ "Neustadt.", UTTERANCE_RESTART },
		/* never on parts */
		{ "Lade das Preset", UTTERANCE_AGENT },
		{ "Preset", UTTERANCE_AGENT },
		{ "Stelle die Stoppuhr", UTTERANCE_AGENT },
		{ "Starte neuen Timer", UTTERANCE_AGENT },
		{ "Neue Konversationsrunde planen", UTTERANCE_AGENT },
		{ "Lies das nochmal von vorne vor", UTTERANCE_AGENT },
		{ "Was kannst du?", UTTERANCE_AGENT },
		{ "Hilfe", UTTERANCE_AGENT },
		{ "Top", UTTERANCE_AGENT },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_STR out = STR_INIT;
		struct utterance u;
		assert_true(heard_meant(r->h, sv_of(rows[i].said), true, &out));
		utterance_judge(r->rules, str_sv(&out), &u);
		if (u.kind != rows[i].kind)
			print_message("'%s' became '%s'\n", rows[i].said, out.buf);
		assert_int_equal(u.kind, rows[i].kind);
	}
}

static void test_answers(void **state)
{
	const struct rig *r = *state;
	static const struct {
		const char *said;
		enum heard_answer answer;
	} rows[] = {
		{ "Ja.", HEARD_YES },
		{ "Ja, bitte!", HEARD_YES },
		{ "Yes, please.", HEARD_YES },
		{ "Okay", HEARD_YES },
		{ "Jarvis, ja", HEARD_YES },
		{ "Always.", HEARD_ALWAYS },
		{ "Ja, immer", HEARD_ALWAYS },
		{ "Nein.", HEARD_NO },
		{ "No, thanks", HEARD_NO },
		{ "Don’t.", HEARD_NO },
		{ "Jacke", HEARD_UNCLEAR },
		{ "Yesterday", HEARD_UNCLEAR },
		{ "Ja oder nein", HEARD_UNCLEAR },
		{ "", HEARD_UNCLEAR },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(heard_answer(r->h, sv_of(rows[i].said)), rows[i].answer);
	}
}

static void test_an_answer_in_what_we_say(void **state)
{
	const struct rig *r = *state;

	assert_true(heard_has_answer(r->h, SV("May I use Bash? yes|head")));
	assert_true(heard_has_answer(r->h, SV("Bitte antworte mit ja oder nein.")));
	assert_true(heard_has_answer(r->h, SV("Darf ich Write benutzen? go ahead.txt")));
	assert_false(heard_has_answer(r->h, SV("Darf ich Bash benutzen? make yesterday")));
}

static void test_our_name(void **state)
{
	const struct rig *r = *state;

	assert_true(heard_names_us(r->h, SV("Say Hey Jarvis to call me.")));
	assert_false(heard_names_us(r->h, SV("It is a quarter past nine.")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_corrections),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_slips),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_an_answer_in_what_we_say),
		cmocka_unit_test(test_our_name),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
