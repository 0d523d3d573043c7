#include "master/decision.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "master/rounds.h"

static void finished_or_not(void **state)
{
	static const char *const done[] = { "DONE", "DONE.", "DONE!", "DONE !!", "   DONE\t",
		"The parser works, all tests pass.\nDONE", "**DONE**", "__DONE__", "*DONE*",
		"_DONE_", "***DONE***", "**DONE.**", "**DONE**!", "# DONE", "### DONE",
		"## **DONE**", "DONE ✅", "DONE ✔️", "\r\nDONE\r\n\r\n", "fertig\nDONE",
		"```\nmake test\n```\nDONE", "DONE\n```", "```\nDONE\n```\n" };
	static const char *const not_done[] = { "", "\n\n", "done", "Done.", "DONE?", "DONE,",
		"DONE: all of it", "All is well. DONE", "It is DONE", "DONE\nOne thing is left.",
		"we are not **DONE** yet", "- DONE", "* DONE", "3. DONE", "> DONE", "\"DONE\"",
		"'DONE'", "DONE_", "DONELY", "aDONE", "**DONE", "DONE**", "*DONE_", "x_DONE_",
		"#DONE", "####### DONE", "`DONE`", "DO\nNE", "ＤＯＮＥ", "```", "DONE ❌" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(done); i++)
		if (!decision_is_done(sv_of(done[i])))
			fail_msg("not taken as the end: %s", done[i]);
	for (size_t i = 0; i < ARRAY_LEN(not_done); i++)
		if (decision_is_done(sv_of(not_done[i])))
			fail_msg("taken as the end: %s", not_done[i]);
}

static void what_the_worker_is_to_do(void **state)
{
	static const struct {
		const char *answer;
		enum decision_act act;
		const char *system_prompt, *text, *model;
		int64_t timeout_ms;
	} cases[] = {
		{ "{\"act\":\"start\",\"system_prompt\":\"You write "
		  "C.\",\"instruction\":\"Begin.\"}",
			DECISION_START, "You write C.", "Begin.", NULL, 0 },
		{ "{\"act\":\"start\",\"instruction\":\" Begin.\\n\"}", DECISION_START, NULL,
			"Begin.", NULL, 0 },
		{ "Good. On we go.\n\n```json\n{\n  \"act\": \"tell\",\n  \"message\": \"Two.\",\n"
		  "  \"model\": \"haiku\",\n  \"worker_timeout_s\": 90\n}\n```\n",
			DECISION_TELL, NULL, "Two.", "haiku", 90000 },
		{ "{\"act\":\"tell\",\"instruction\":\"the other name\"}", DECISION_TELL, NULL,
			"the other name", NULL, 0 },
		{ "{\"act\":\"tell\",\"message\":\"a\"}\nno:\n{\"act\":\"tell\",\"message\":\"b\"}",
			DECISION_TELL, NULL, "b", NULL, 0 },
		{ "{\"x\":{\"act\":1}}\n  "
		  "{\"act\":\"tell\",\"message\":\"{\\\"act\\\":\\\"done\\\"}\","
		  "\"model\":null,\"system_prompt\":null}",
			DECISION_TELL, NULL, "{\"act\":\"done\"}", NULL, 0 },
		{ "{\"act\":\"done\"}", DECISION_DONE, NULL, NULL, NULL, 0 },
		{ "{\"act\":\"done\",\"message\":null}\nDONE", DECISION_DONE, NULL, NULL, NULL, 0 },
		{ "All ten are there.\nDONE", DECISION_DONE, NULL, NULL, NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_PAIR_DECISION d = PAIR_DECISION_INIT;
		pair_decision_read(sv_of(cases[i].answer), &d);
		if (d.act != cases[i].act)
			fail_msg("%s: %d, %s", cases[i].answer, (int)d.act, d.wrong);
		assert_true(sv_is(sv_of(d.system_prompt), cases[i].system_prompt));
		if (cases[i].text)
			assert_string_equal(d.text, cases[i].text);
		assert_true(sv_is(sv_of(d.model), cases[i].model));
		assert_int_equal(d.timeout_ms, cases[i].timeout_ms);
	}
}

static void what_is_to_be_corrected(void **state)
{
	static const char *const wrong[] = { "", "I think we should begin with the parser.",
		"{\"act\":\"start\"}", "{\"act\":\"tell\",\"message\":\"  \"}",
		"{\"act\":\"begin\",\"instruction\":\"x\"}", "{\"act\":1,\"message\":\"x\"}",
		"{\"act\":\"tell\",\"message\":\"x\"", "here: {\"act\":\"tell\",\"message\":\"x\"}",
		"{\"act\":\"tell\",\"message\":\"x\"}\nDONE",
		"{\"act\":\"tell\",\"message\":\"x\",\"worker_timeout_s\":0}",
		"{\"act\":\"tell\",\"message\":\"x\",\"worker_timeout_s\":\"soon\"}",
		"{\"act\":\"tell\",\"message\":\"x\",\"worker_timeout_s\":604801}",
		"{\"act\":\"tell\",\"message\":\"a\\u0000b\"}", "{\"message\":\"x\"}", "[]", "{" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		AUTO_PAIR_DECISION d = PAIR_DECISION_INIT;
		pair_decision_read(sv_of(wrong[i]), &d);
		if (d.act != DECISION_NONE || !d.wrong[0])
			fail_msg("taken for a decision: %s", wrong[i]);
	}
}

static void words_before_the_object_are_for_people(void **state)
{
	static const char answer[] = "One.\n```\nx\n```\nTwo.\n```json\n{\"act\":\"done\"}\n```\n";
	AUTO_PAIR_DECISION d = PAIR_DECISION_INIT;

	(void)state;
	pair_decision_read(SV("Bare.\n {\"act\":\"done\"}"), &d);
	assert_int_equal(d.begins, strlen("Bare.\n "));
	pair_decision_release(&d);
	pair_decision_read(sv_of(answer), &d);
	assert_int_equal(d.begins, strlen("One.\n```\nx\n```\nTwo.\n"));
	pair_decision_release(&d);
	pair_decision_read(SV("Nothing."), &d);
	assert_int_equal(d.begins, strlen("Nothing."));
}

/* Openings without an end must not cost the square of the answer; the end of a long one counts. */
static void words_within_the_object_are_for_people(void **state)
{
	static const struct {
		const char *answer, *words;
		enum decision_act act;
	} cases[] = {
		{ "{\"say\":\"I look.\",\"act\":\"tell\",\"system_prompt\":null,"
		  "\"instruction\":null,\"message\":\"x\",\"model\":null,"
		  "\"worker_timeout_s\":null}",
			"I look.", DECISION_TELL },
		{ "{\"say\":\"All done.\",\"act\":\"done\",\"message\":null}", "All done.",
			DECISION_DONE },
		{ "Before.\n\n{\"act\":\"done\"}", "Before.", DECISION_DONE },
		{ "Before.\n{\"say\":\"Within.\",\"act\":\"done\"}", "Before.\n\nWithin.",
			DECISION_DONE },
		{ "{\"say\":7,\"act\":\"done\"}", "", DECISION_DONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_PAIR_DECISION d = PAIR_DECISION_INIT;
		AUTO_STR words = STR_INIT;
		pair_decision_read(sv_of(cases[i].answer), &d);
		pair_decision_words(sv_of(cases[i].answer), &d, &words);
		assert_int_equal(d.act, cases[i].act);
		assert_true(sv_is(str_sv(&words), cases[i].words));
	}
}

static void long_answers(void **state)
{
	AUTO_PAIR_DECISION d = PAIR_DECISION_INIT;
	AUTO_STR answer = STR_INIT;

	(void)state;
	while (answer.len < DECISION_BYTES_MAX)
		str_adds(&answer, "{\n");
	pair_decision_read(str_sv(&answer), &d);
	assert_int_equal(d.act, DECISION_NONE);
	pair_decision_release(&d);
	str_adds(&answer, "{\"act\":\"tell\",\"message\":\"x\"}");
	pair_decision_read(str_sv(&answer), &d);
	assert_int_equal(d.act, DECISION_TELL);
}

static void round_control(void **state)
{
	enum { INF = ROUNDS_UNLIMITED };
	static const struct {
		const char *line;
		int64_t before;
		const char *text;
		int64_t after;
		bool compact, changed;
	} cases[] = {
		{ "go on", 4, "go on", 4, false, false },
		{ "[r+3] go on", 4, "go on", 7, false, true },
		{ "[r=12]go on", 4, "go on", 12, false, true },
		{ "[r=12] [r+3]  go on ", 4, "go on", 15, false, true },
		{ "[r+3][r=1]", 4, "", 1, false, true },
		{ "\t[R+1] [R=9]\tx", 0, "x", 9, false, true },
		{ "[r=0] x", 4, "x", 0, false, true },
		{ "[r+3] x", INF, "x", INF, false, true },
		{ "[r=3] x", INF, "x", 3, false, true },
		{ "[r+0005]", 1, "", 6, false, true },
		{ "x [r+3]", 4, "x [r+3]", 4, false, false },
		{ "[r-3] x", 4, "[r-3] x", 4, false, false },
		{ "[r+] x", 4, "[r+] x", 4, false, false },
		{ "[r+-1] x", 4, "[r+-1] x", 4, false, false },
		{ "[r+1 ] x", 4, "[r+1 ] x", 4, false, false },
		{ "[r+1.5] x", 4, "[r+1.5] x", 4, false, false },
		{ "[r+3", 4, "[r+3", 4, false, false },
		{ "[rr+3]", 4, "[rr+3]", 4, false, false },
		{ "[r+99999999999999999999]", 4, "", 1000000000, false, true },
		{ "[compact]", 4, "", 4, true, false },
		{ "[Compact] [r+1] x", 4, "x", 5, true, true },
		{ "[r=2] [compact] x", INF, "x", 2, true, true },
		{ "[compact", 4, "[compact", 4, false, false },
		{ "[r=unlimited] x", 4, "x", INF, false, true },
		{ "[R=Unlimited][r+2]", 4, "", INF, false, true },
		{ "[r+unlimited]", 4, "[r+unlimited]", 4, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rounds_line got = rounds_read(sv_of(cases[i].line), cases[i].before);
		if (!sv_is(got.text, cases[i].text) || got.remaining != cases[i].after ||
			got.compact != cases[i].compact || got.changed != cases[i].changed)
			fail_msg("%s: %.*s, %lld", cases[i].line, SV_ARG(got.text),
				(long long)got.remaining);
	}
}

static void mistyped_round_control(void **state)
{
	static const struct {
		const char *line, *wrong;
	} cases[] = {
		{ "[r5] x", "[r5]" },
		{ "[r +5]", "[r +5]" },
		{ "[r+five] more", "[r+five]" },
		{ "[r=unlimted]", "[r=unlimted]" },
		{ "[r+2] [r-1]", "[r-1]" },
		{ "[r]", "[r]" },
		{ "[r+3", "[r+3" },
		{ "[Rounds=5]", "[Rounds=5]" },
		{ "[compct] x", "[compct]" },
		{ "[compact", "[compact" },
		{ "[readme] is wrong", "" },
		{ "[1] is a footnote", "" },
		{ "[company] names", "" },
		{ "[", "" },
		{ "go on [r5]", "" },
		{ "[r+2] go on", "" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rounds_line got = rounds_read(sv_of(cases[i].line), 4);
		if (!sv_is(got.wrong, cases[i].wrong))
			fail_msg("%s: \"%.*s\"", cases[i].line, SV_ARG(got.wrong));
	}
}

static void round_control_that_comes_late(void **state)
{
	static const struct {
		const char *line, *late;
	} cases[] = {
		{ "do it well [r+2]", "[r+2]" },
		{ "do [R=3] it [r+2]", "[R=3]" },
		{ "[r+2] do it [compact]", "[compact]" },
		{ "[r+2] do it", "" },
		{ "do it [r+2", "" },
		{ "see [1] and [readme]", "" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rounds_line got = rounds_read(sv_of(cases[i].line), 4);
		if (!sv_is(got.late, cases[i].late))
			fail_msg("%s: \"%.*s\"", cases[i].line, SV_ARG(got.late));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finished_or_not),
		cmocka_unit_test(what_the_worker_is_to_do),
		cmocka_unit_test(what_is_to_be_corrected),
		cmocka_unit_test(words_before_the_object_are_for_people),
		cmocka_unit_test(words_within_the_object_are_for_people),
		cmocka_unit_test(long_answers),
		cmocka_unit_test(round_control),
		cmocka_unit_test(mistyped_round_control),
		cmocka_unit_test(round_control_that_comes_late),
		cmocka_unit_test(round_control_that_comes_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
