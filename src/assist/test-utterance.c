#include "assist/utterance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"

/* The defaults with a few of them changed: pairs of id and value. */
struct change {
	enum setting_id id;
	const char *value;
};

struct made {
	struct settings *settings;
	struct utterances *rules;
};

static struct made make(const struct change *changes, size_t n)
{
	const struct setting_origin origin = { .source = SETTING_FILE };
	struct err err = ERR_INIT;
	struct made m = { .settings = settings_new("/home/me") };

	for (size_t i = 0; i < n; i++)
		if (settings_set(m.settings, changes[i].id, sv_of(changes[i].value), origin, &err) <
			0)
			fail_msg("%s", err.msg);
	m.rules = utterances_new(m.settings);
	return m;
}

static void unmake(struct made *m)
{
	utterances_free(m->rules);
	settings_free(m->settings);
}

static void check(const struct utterances *u, const char *text, enum utterance_kind want)
{
	struct utterance got;

	utterance_judge(u, sv_of(text), &got);
	if (got.kind != want)
		fail_msg("'%s' is %s (%s), not %s", text, utterance_kind_name(got.kind), got.reason,
			utterance_kind_name(want));
	assert_true(got.reason[0] != '\0');
	assert_true((got.keyword != NULL) == (want < UTTERANCE_COMMANDS));
}

static void check_all(
	const struct utterances *u, enum utterance_kind want, const char *const *texts)
{
	for (; *texts; texts++)
		check(u, *texts, want);
}

static void commands_as_people_say_them(void **state)
{
	(void)state;
	CLEANUP(unmake) struct made m = make(NULL, 0);
	const struct utterances *u = m.rules;
	check_all(u, UTTERANCE_CANCEL,
		(const char *[]){ "halt!", "Jarvis! Stopp!!", "hey jarvis brich ab", "STOP IT",
			"Ach, vergiss es", "abort", "Okay Jarvis, cancel", "stopp, danke",
			"Hör auf", "could you please stop", "/stop", "Lass gut sein.",
			"forget about it, thanks", "Nein! Stopp!", NULL });
	check_all(u, UTTERANCE_RESET,
		(const char *[]){ "Ein neues Gespräch bitte", "Jarvis, fang bitte von vorne an",
			"kannst du von vorne anfangen?", "vergiss jetzt bitte alles",
			"Let’s start over", "let's start over!", "start a new chat", "/reset",
			"Lass uns bitte von vorne anfangen", "reset, please", NULL });
	check_all(u, UTTERANCE_RESTART,
		(const char *[]){ "starte dich bitte neu", "Neustart, Jarvis", "restart now",
			"NEUSTARTEN", "Starte bitte das Programm neu", "Starte bitte neu!", NULL });
	check_all(u, UTTERANCE_UNDO,
		(const char *[]){ "Undo the reset", "Mach den Reset bitte rückgängig",
			"go back to the previous conversation", NULL });
}

static void sentences_that_only_hold_a_keyword(void **state)
{
	(void)state;
	CLEANUP(unmake) struct made m = make(NULL, 0);
	const struct utterances *u = m.rules;
	check_all(u, UTTERANCE_AGENT,
		(const char *[]){ "Halte die Datei offen", "stop words are missing in the index",
			"How can I cancel a thread in C?", "Starte das neu", "Starte ihn neu",
			"restart the database", "new conversation topics for the party",
			"Warum startet der Dienst von vorne?", "undo",
			"Was heißt Neustart auf Englisch?", "reset --hard HEAD~1",
			"never mind the tests, fix the parser", NULL });
}

static void help_and_small_talk_go_to_the_agent(void **state)
{
	(void)state;
	CLEANUP(unmake) struct made m = make(NULL, 0);
	const struct utterances *u = m.rules;
	check_all(u, UTTERANCE_AGENT,
		(const char *[]){ "help", "Hilfe!", "ja bitte", "Danke", "okay", "Hallo Jarvis",
			"no", "👍", "+1", "?!a", "你好", NULL });
}

static void nothing_said(void **state)
{
	(void)state;
	CLEANUP(unmake) struct made m = make(NULL, 0);
	const struct utterances *u = m.rules;
	check_all(u, UTTERANCE_IGNORED,
		(const char *[]){ "", " \t\n", "...", "?!", "\u00a0\u3000", "\u200b\ufeff", "—",
			"Jarvis", "Hey, Jarvis!", "okay jarvis", "\x01", NULL });
	struct utterance got;
	utterance_judge(u, sv_make("\0\0", 2), &got);
	assert_int_equal(got.kind, UTTERANCE_IGNORED);
}

static void unicode_forms(void **state)
{
	(void)state;
	CLEANUP(unmake) struct made m = make(NULL, 0);
	const struct utterances *u = m.rules;
	check(u, "zuru\u0308cksetzen", UTTERANCE_RESET);
	check(u, "ZURÜCKSETZEN", UTTERANCE_RESET);
	check(u, "sto\u00adpp", UTTERANCE_CANCEL);
	check(u, "\u200fstopp\u200f", UTTERANCE_CANCEL);
	check(u, "vergiss\u00a0es", UTTERANCE_CANCEL);
	check(u, "vergiss\u2003\u2003es", UTTERANCE_CANCEL);
	check(u, "stopp\xff", UTTERANCE_CANCEL);
}

static void tells_keyword_and_language(void **state)
{
	(void)state;
	CLEANUP(unmake) struct made m = make(NULL, 0);
	const struct utterances *u = m.rules;
	struct utterance got;
	utterance_judge(u, SV("Jarvis, vergiss es!"), &got);
	assert_string_equal(got.keyword, "vergiss es");
	assert_string_equal(got.lang, "de");
	assert_string_equal(got.reason, "the whole utterance is the cancel keyword 'vergiss es'");
	utterance_judge(u, SV("start over"), &got);
	assert_string_equal(got.lang, "en");
	/* A word of several languages tells none. */
	utterance_judge(u, SV("Reset, please"), &got);
	assert_string_equal(got.lang, "");
	utterance_judge(u, SV("die Stoppuhr"), &got);
	assert_string_equal(got.reason, "'stopp' (cancel) is only a part of it");
}

static void own_keywords(void **state)
{
	(void)state;
	const struct change changes[] = {
		{ SETTING_ID_assistant_name, "Frau Holle" },
		{ SETTING_ID_commands_cancel, "Bitte!, RUHE jetzt" },
		{ SETTING_ID_commands_reset, "Ruhe, Neue  Runde" },
		{ SETTING_ID_commands_filler, "jetzt, bitte" },
	};
	CLEANUP(unmake) struct made m = make(changes, ARRAY_LEN(changes));
	const struct utterances *u = m.rules;
	check(u, "bitte", UTTERANCE_CANCEL);
	check(u, "Frau Holle, neue runde", UTTERANCE_RESET);
	check(u, "Frau Holle", UTTERANCE_IGNORED);
	check(u, "Hey Frau Holle", UTTERANCE_IGNORED);
	check(u, "holle neue runde", UTTERANCE_AGENT);
	/* "Ruhe" is in both lists once the filler is gone: cancel comes first. */
	check(u, "Ruhe", UTTERANCE_CANCEL);
	check(u, "stopp", UTTERANCE_AGENT);
	check(u, "Neustart", UTTERANCE_RESTART);
}

static void misheard_names(void **state)
{
	(void)state;
	const struct change also = { SETTING_ID_assistant_also_called, "Dschawis" };
	CLEANUP(unmake) struct made m = make(&also, 1);
	const struct utterances *u = m.rules;
	check(u, "Dschawis, stopp", UTTERANCE_CANCEL);
	check(u, "Jarvis, stopp", UTTERANCE_CANCEL);
}

static void without_a_name(void **state)
{
	(void)state;
	const struct change nameless = { SETTING_ID_assistant_name, "" };
	CLEANUP(unmake) struct made m = make(&nameless, 1);
	const struct utterances *u = m.rules;
	check(u, "stopp", UTTERANCE_CANCEL);
	check(u, "Jarvis, stopp", UTTERANCE_AGENT);
}

static void contains_is_the_literal_rule(void **state)
{
	(void)state;
	const struct change contains = { SETTING_ID_commands_match, "contains" };
	CLEANUP(unmake) struct made m = make(&contains, 1);
	const struct utterances *u = m.rules;
	check(u, "Stelle die Stoppuhr auf fünf Minuten", UTTERANCE_CANCEL);
	check(u, "Lade das Preset Küche", UTTERANCE_RESET);
	check(u, "Starte neuen Timer", UTTERANCE_RESTART);
	check(u, "Reset und Neustart", UTTERANCE_RESET);
	check(u, "Vergiss es, starte von vorne", UTTERANCE_CANCEL);
	check(u, "Wie ist das Wetter?", UTTERANCE_AGENT);
	check(u, "undo the reset", UTTERANCE_UNDO);
	check(u, "…", UTTERANCE_IGNORED);
}

static void keywords_are_checked(void **state)
{
	(void)state;
	AUTO_KEYWORDS k = KEYWORDS_INIT;
	struct err err = ERR_INIT;
	assert_int_equal(keywords_add(&k, SV("de"), SV(" "), &err), ERR_INPUT);
	assert_int_equal(keywords_add(&k, SV("de"), SV("..."), &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "empty keyword '...'"));
	assert_int_equal(keywords_parse(&k, SV("de: stopp,, halt"), &err), ERR_INPUT);
	char big[KEYWORD_BYTES_MAX + 1];
	memset(big, 'x', sizeof(big));
	assert_int_equal(keywords_add(&k, SV(""), sv_make(big, KEYWORD_BYTES_MAX), &err), 0);
	assert_int_equal(keywords_add(&k, SV(""), sv_make(big, sizeof(big)), &err), ERR_LIMIT);
}

static void keywords_have_a_limit(void **state)
{
	(void)state;
	AUTO_KEYWORDS k = KEYWORDS_INIT;
	for (int i = 0; i < KEYWORDS_MAX; i++)
		assert_int_equal(keywords_add(&k, SV(""), SV("x"), NULL), 0);
	assert_int_equal(keywords_add(&k, SV(""), SV("x"), NULL), ERR_LIMIT);
}

static void one_language_can_be_replaced(void **state)
{
	(void)state;
	AUTO_KEYWORDS k = KEYWORDS_INIT;
	assert_int_equal(keywords_parse(&k, SV("de: eins, zwei; en: one"), NULL), 0);
	keywords_drop_lang(&k, SV("de"));
	assert_int_equal(k.texts.n, 1);
	assert_string_equal(k.texts.v[0], "one");
	assert_string_equal(k.langs.v[0], "en");
}

/* At the limit a text is still looked at, one byte beyond it is the agent's. */
static void long_texts(void **state)
{
	(void)state;
	CLEANUP(unmake) struct made m = make(NULL, 0);
	const struct utterances *u = m.rules;
	char text[UTTERANCE_BYTES_MAX + 2];
	memset(text, '.', sizeof(text));
	memcpy(text, "stopp", 5);
	struct utterance got;
	utterance_judge(u, sv_make(text, UTTERANCE_BYTES_MAX), &got);
	assert_int_equal(got.kind, UTTERANCE_CANCEL);
	utterance_judge(u, sv_make(text, UTTERANCE_BYTES_MAX + 1), &got);
	assert_int_equal(got.kind, UTTERANCE_AGENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_as_people_say_them),
		cmocka_unit_test(sentences_that_only_hold_a_keyword),
		cmocka_unit_test(help_and_small_talk_go_to_the_agent),
		cmocka_unit_test(nothing_said),
		cmocka_unit_test(unicode_forms),
		cmocka_unit_test(tells_keyword_and_language),
		cmocka_unit_test(own_keywords),
		cmocka_unit_test(misheard_names),
		cmocka_unit_test(without_a_name),
		cmocka_unit_test(contains_is_the_literal_rule),
		cmocka_unit_test(keywords_are_checked),
		cmocka_unit_test(keywords_have_a_limit),
		cmocka_unit_test(one_language_can_be_replaced),
		cmocka_unit_test(long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
