#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "strategy/hook-settings.h"
#include "strategy/hook.h"
#include "json/scan.h"
#include "json/write.h"

#define ID "11111111-2222-4333-8444-555555555555"

static enum hook_word word_of(const char *prompt, struct str *rest)
{
	AUTO_STR json = STR_INIT;
	struct hook_input in;

	str_adds(&json, "{\"session_id\":\"" ID "\",\"prompt\":");
	json_quote(&json, sv_of(prompt));
	str_adds(&json, "}");
	assert_int_equal(hook_parse(str_sv(&json), &in, NULL), 0);
	return hook_word(&in, rest);
}

static void test_words_are_told_from_prompts(void **state)
{
	(void)state;
	static const struct {
		const char *prompt;
		enum hook_word word;
		const char *rest;
	} cases[] = {
		{ ">resume", HOOK_RESUME, "" },
		{ ">RESUME", HOOK_RESUME, "" },
		{ "  >Continue  ", HOOK_CONTINUE, "" },
		{ "\n\t>handoff the tests are next\nand more", HOOK_HANDOFF,
			"the tests are next\nand more" },
		{ ">trim 1000 Read,Bash", HOOK_TRIM, "1000 Read,Bash" },
		{ ">advise", HOOK_ADVISE, "" },
		{ ">lineage", HOOK_LINEAGE, "" },
		{ ">resumed", HOOK_NONE, "" },
		{ ">resume!", HOOK_NONE, "" },
		{ "> resume", HOOK_NONE, "" },
		{ ">>resume", HOOK_NONE, "" },
		{ "please >resume", HOOK_NONE, "" },
		{ "resume", HOOK_NONE, "" },
		{ ">", HOOK_NONE, "" },
		{ "", HOOK_NONE, "" },
		{ "\\>resume", HOOK_NONE, "" },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_STR rest = STR_INIT;
		assert_int_equal(word_of(cases[i].prompt, &rest), cases[i].word);
		assert_string_equal(rest.buf, cases[i].rest);
	}
}

static void test_word_in_escapes(void **state)
{
	(void)state;
	struct hook_input in;
	assert_int_equal(hook_parse(SV("{\"prompt\":\"\\u003eresume\"}"), &in, NULL), 0);
	assert_int_equal(hook_word(&in, NULL), HOOK_RESUME);
}

static void test_input_is_parsed(void **state)
{
	(void)state;
	struct hook_input in;
	AUTO_STR path = STR_INIT;
	const struct sv json = SV("{\"session_id\":\"" ID "\",\"transcript_path\":\"/a/b.jsonl\","
				  "\"cwd\":\"x\",\"hook_event_name\":\"SessionStart\","
				  "\"source\":\"resume\"}");
	assert_int_equal(hook_parse(json, &in, NULL), 0);
	assert_true(sv_is(in.session, ID));
	assert_true(sv_is(in.event, "SessionStart"));
	assert_true(sv_is(in.source, "resume"));
	assert_true(hook_transcript(&in, &path));
	assert_string_equal(path.buf, "/a/b.jsonl");
	assert_false(hook_cwd(&in, &path));
	assert_int_equal(hook_word(&in, NULL), HOOK_NONE);
}

static void test_hostile_input_is_refused_or_empty(void **state)
{
	(void)state;
	static const char *const bad[] = { "", "null", "[]", "{", "\"x\"",
		"{\"prompt\":", "nonsense" };
	static const char *const odd[] = {
		"{}",
		"{\"prompt\":42}",
		"{\"prompt\":{\"a\":\">resume\"}}",
		"{\"session_id\":\"../../etc/passwd\",\"prompt\":\"x\"}",
		"{\"session_id\":\"$(reboot)\"}",
		"{\"transcript_path\":\"/a\\u0000b\"}",
	};
	struct hook_input in;
	AUTO_STR path = STR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(hook_parse(sv_of(bad[i]), &in, NULL), ERR_INPUT);
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		assert_int_equal(hook_parse(sv_of(odd[i]), &in, NULL), 0);
		assert_int_equal(hook_word(&in, NULL), HOOK_NONE);
		assert_int_equal(in.session.n, 0);
		assert_false(hook_transcript(&in, &path));
	}
}

static void test_answers_are_json(void **state)
{
	(void)state;
	AUTO_STR out = STR_INIT;
	hook_block(&out, SV("a \"b\"\n"));
	assert_string_equal(out.buf, "{\"decision\":\"block\",\"reason\":\"a \\\"b\\\"\\n\"}\n");
	str_clear(&out);
	hook_context(&out, "SessionStart", SV("x"));
	assert_string_equal(out.buf,
		"{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\","
		"\"additionalContext\":\"x\"}}\n");
}

/* ---- settings ---- */

static const char program[] = "/opt/it's/faden";

static void check_install(const char *text, bool comes_back)
{
	AUTO_STR out = STR_INIT;
	AUTO_STR again = STR_INIT;
	AUTO_STR removed = STR_INIT;
	enum hook_state states[8];

	assert_int_equal(
		hook_settings_install(sv_of(text), program, &out, NULL), (int)hook_events_n);
	struct sv body = sv_starts(str_sv(&out), SV("\xef\xbb\xbf")) ? sv_from(str_sv(&out), 3)
								     : str_sv(&out);
	assert_int_equal(scan_check(body, NULL), 0);
	assert_int_equal(hook_settings_look(str_sv(&out), program, states, NULL), 0);
	for (size_t i = 0; i < hook_events_n; i++)
		assert_int_equal(states[i], HOOK_INSTALLED);
	assert_int_equal(hook_settings_install(str_sv(&out), program, &again, NULL), 0);
	assert_string_equal(again.buf, out.buf);
	assert_int_equal(
		hook_settings_remove(str_sv(&out), program, &removed, NULL), (int)hook_events_n);
	assert_int_equal(hook_settings_look(str_sv(&removed), program, states, NULL), 0);
	for (size_t i = 0; i < hook_events_n; i++)
		assert_int_equal(states[i], HOOK_ABSENT);
	if (comes_back)
		assert_string_equal(removed.buf, text);
}

static void test_install_and_remove_give_the_bytes_back(void **state)
{
	(void)state;
	check_install("", false);
	check_install("{}", false);
	check_install("{}\n", false);
	check_install("\xef\xbb\xbf{\"a\":1}", false);
	check_install("{\"a\":1}\n", false);
	check_install("{\n  \"model\": \"x\",\n  \"n\": 1E2\n}\n", true);
	check_install("{\n  \"hooks\": {\n    \"PostCompact\": []\n  },\n  \"z\": 1\n}\n", true);
	check_install("{\"hooks\":{\"UserPromptSubmit\":[{\"hooks\":[{\"type\":\"command\","
		      "\"command\":\"mine\"}]}],\"PostCompact\": []}}",
		false);
	check_install("{\"hooks\":{\"UserPromptSubmit\":[]}}", false);
	check_install("{\"hooks\":{}}", false);
}

static void test_other_bytes_stay(void **state)
{
	(void)state;
	AUTO_STR out = STR_INIT;
	const char *text = "{ \"odd\" : [1E2 , 0.10,\"\\u00e9\"]\t,\n\"hooks\":{\"PreCompact\":"
			   "[{\"matcher\":\"auto\",\"hooks\":[{\"command\":\"mine\"}]}]}}";
	assert_int_equal(
		hook_settings_install(sv_of(text), program, &out, NULL), (int)hook_events_n);
	assert_non_null(strstr(out.buf, "{ \"odd\" : [1E2 , 0.10,\"\\u00e9\"]\t,\n\"hooks\":{"));
	assert_non_null(
		strstr(out.buf, "[{\"matcher\":\"auto\",\"hooks\":[{\"command\":\"mine\"}]},"));
}

static void test_another_faden(void **state)
{
	(void)state;
	AUTO_STR old = STR_INIT;
	AUTO_STR out = STR_INIT;
	enum hook_state states[8];
	assert_int_equal(
		hook_settings_install(SV("{}"), "/old/faden", &old, NULL), (int)hook_events_n);
	assert_int_equal(hook_settings_look(str_sv(&old), program, states, NULL), 0);
	assert_int_equal(states[0], HOOK_OTHER);
	assert_int_equal(
		hook_settings_install(str_sv(&old), program, &out, NULL), (int)hook_events_n);
	assert_null(strstr(out.buf, "/old/faden"));
	assert_int_equal(hook_settings_look(str_sv(&out), program, states, NULL), 0);
	assert_int_equal(states[2], HOOK_INSTALLED);
}

static void test_only_what_install_writes_is_ours(void **state)
{
	(void)state;
	static const char *const own[] = {
		"other hook user-prompt-submit || exit 0",
		"'/bin/other' hook user-prompt-submit || exit 0",
		"faden hook user-prompt-submit",
		"faden hook user-prompt-submit || exit 0",
		"/opt/faden hook user-prompt-submit || exit 0",
		"faden  hook  user-prompt-submit",
		"faden hook user-prompt-submitted",
		"cd /tmp && '/opt/faden' hook user-prompt-submit || exit 0",
		"'/opt/faden' hook user-prompt-submit || exit 0; mine",
		"'/opt/faden' hook user-prompt-submit",
		"'/opt/faden' hook user-prompt-submit | tee log || exit 0",
		"'faden' hook user-prompt-submit || exit 0",
		"'mine' '/opt/faden' hook user-prompt-submit || exit 0",
		"'mine'; '/opt/faden' hook user-prompt-submit || exit 0",
		"'/opt/faden' hook session-start || exit 0",
		"'/opt/faden hook user-prompt-submit || exit 0",
		"'/opt/faden' hook user-prompt-submit || exit 0 ",
		"\"/opt/faden\" hook user-prompt-submit || exit 0",
	};
	static const char *const ours[] = {
		"'/opt/faden' hook user-prompt-submit || exit 0",
		"'/opt/faden-1.2' hook user-prompt-submit || exit 0",
		"'/o'\\''pt/faden' hook user-prompt-submit || exit 0",
		"$'/o\\'pt\\x1b/faden' hook user-prompt-submit || exit 0",
	};
	for (size_t i = 0; i < ARRAY_LEN(own) + ARRAY_LEN(ours); i++) {
		bool is_own = i < ARRAY_LEN(own);
		const char *command = is_own ? own[i] : ours[i - ARRAY_LEN(own)];
		AUTO_STR text = STR_INIT;
		AUTO_STR out = STR_INIT;
		AUTO_STR with = STR_INIT;
		AUTO_STR back = STR_INIT;
		str_adds(&text, "{\"hooks\":{\"UserPromptSubmit\":[{\"hooks\":[{\"command\":");
		json_quote(&text, sv_of(command));
		str_adds(&text, "}]}]}}");
		assert_int_equal(hook_settings_remove(str_sv(&text), program, &out, NULL), !is_own);
		assert_int_equal(strcmp(out.buf, text.buf) == 0, is_own);
		assert_int_equal(hook_settings_install(str_sv(&text), program, &with, NULL),
			(int)hook_events_n);
		assert_int_equal(hook_settings_remove(str_sv(&with), program, &back, NULL),
			(int)hook_events_n);
		AUTO_STR quoted = STR_INIT;
		json_quote(&quoted, sv_of(command));
		assert_int_equal(strstr(with.buf, quoted.buf) != NULL, is_own);
		assert_int_equal(strstr(back.buf, quoted.buf) != NULL, is_own);
	}
}

static void test_what_is_like_ours_is_told(void **state)
{
	(void)state;
	AUTO_STRV out = STRV_INIT;
	const struct sv text = SV("{\"hooks\":{\"PreCompact\":[{\"hooks\":[{\"command\":\"mine\"},"
				  "{\"command\":\"mine; faden hook pre-compact\"},"
				  "{\"command\":\"faden hook pre-compact\"}]},"
				  "{\"hooks\":[{\"command\":\"faden hook pre-compact -x\"}]}]}}");
	hook_settings_own(text, &hook_events[0], program, &out);
	assert_int_equal(out.n, 0);
	hook_settings_own(text, &hook_events[2], program, &out);
	assert_int_equal(out.n, 3);
	assert_string_equal(out.v[0], "mine; faden hook pre-compact");
	assert_string_equal(out.v[1], "faden hook pre-compact");
	assert_string_equal(out.v[2], "faden hook pre-compact -x");
	AUTO_STR with = STR_INIT;
	AUTO_STRV none = STRV_INIT;
	assert_int_equal(hook_settings_install(SV("{}"), program, &with, NULL), (int)hook_events_n);
	hook_settings_own(str_sv(&with), &hook_events[2], program, &none);
	assert_int_equal(none.n, 0);
}

static void test_a_program_of_another_name_finds_its_own(void **state)
{
	(void)state;
	AUTO_STR with = STR_INIT;
	AUTO_STR without = STR_INIT;
	AUTO_STR again = STR_INIT;
	assert_int_equal(
		hook_settings_install(SV("{\"a\":1}"), "/opt/f", &with, NULL), (int)hook_events_n);
	assert_int_equal(hook_settings_install(str_sv(&with), "/opt/f", &again, NULL), 0);
	assert_int_equal(
		hook_settings_remove(str_sv(&with), "/opt/f", &without, NULL), (int)hook_events_n);
	assert_null(strstr(without.buf, "hook"));
}

static void check_refused(const char *text, const char *says)
{
	AUTO_STR out = STR_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(hook_settings_install(sv_of(text), program, &out, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, says));
	assert_int_equal(out.len, 0);
}

static void test_broken_settings_are_refused_by_line(void **state)
{
	(void)state;
	check_refused("{\n  // mine\n  \"a\": 1\n}", "line 2 is not valid JSON");
	check_refused("{\n  \"a\": 1,\n}", "line 3 is not valid JSON");
	check_refused("{\"a\":1", "line 1 is not valid JSON");
	check_refused("[]", "no object");
	check_refused("{\n\"hooks\": []}", "line 2: \"hooks\" is not an object");
	check_refused(
		"{\"hooks\":{\n\n\"PreCompact\":{}}}", "line 3: \"PreCompact\" is not a list");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_are_told_from_prompts),
		cmocka_unit_test(test_word_in_escapes),
		cmocka_unit_test(test_input_is_parsed),
		cmocka_unit_test(test_hostile_input_is_refused_or_empty),
		cmocka_unit_test(test_answers_are_json),
		cmocka_unit_test(test_install_and_remove_give_the_bytes_back),
		cmocka_unit_test(test_other_bytes_stay),
		cmocka_unit_test(test_another_faden),
		cmocka_unit_test(test_only_what_install_writes_is_ours),
		cmocka_unit_test(test_what_is_like_ours_is_told),
		cmocka_unit_test(test_a_program_of_another_name_finds_its_own),
		cmocka_unit_test(test_broken_settings_are_refused_by_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
