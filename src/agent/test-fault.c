#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/fault.h"

static void test_words_tell_the_kind_of_failure(void **state)
{
	static const struct {
		int status;
		const char *said;
		enum agent_fail kind;
		bool not_delivered;
	} cases[] = {
		{ 0, "No conversation found with session ID: x", AGENT_NO_SESSION, true },
		{ 0, "Error: Session ID x is already in use.", AGENT_IN_USE, true },
		{ 0, "--x cannot be used with root/sudo privileges", AGENT_REFUSED, true },
		{ 0, "Not inside a trusted directory and --y was not specified.", AGENT_REFUSED,
			true },
		{ 0, "error: unknown option '--x'", AGENT_TOO_OLD, true },
		{ 0, "Not logged in · Please run /login", AGENT_NOT_LOGGED_IN, false },
		{ 401, "x", AGENT_NOT_LOGGED_IN, false },
		{ 400, "Prompt is too long", AGENT_CONTEXT_FULL, false },
		{ 400, "nope", AGENT_FAILED, false },
		{ 429, "x", AGENT_RATE_LIMITED, false },
		{ 0, "You've hit your session limit · resets 3pm", AGENT_RATE_LIMITED, false },
		{ 0, "no rollout found for thread id x", AGENT_NO_SESSION, true },
		{ 0, "x already has an active writer", AGENT_IN_USE, true },
		{ 529, "Overloaded", AGENT_FAILED, false },
		{ 0, "", AGENT_FAILED, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault fault = fault_of(cases[i].status, sv_of(cases[i].said));
		if (fault.kind != cases[i].kind)
			fail_msg("%s is %s", cases[i].said, agent_fail_name(fault.kind));
		assert_int_equal(fault.not_delivered, cases[i].not_delivered);
	}
}

enum { NOON = 12 * 3600 };
static const int64_t now = (1750000000LL / 86400 * 86400 + NOON) * 1000; /* noon UTC */

static int64_t in(const char *said)
{
	int64_t end = fault_limit_end(sv_of(said), now);

	return end ? (end - now) / 1000 : -1;
}

static void test_words_tell_when_a_limit_ends(void **state)
{
	(void)state;
	assert_int_equal(in("Claude AI usage limit reached|1850000000"), 1850000000 - now / 1000);
	assert_int_equal(in("a|b"), -1);
	assert_int_equal(in("limit · resets 3pm (UTC)"), 3 * 3600);
	assert_int_equal(in("limit · resets 11:30am (UTC)"), 23 * 3600 + 1800);
	assert_int_equal(in("limit · resets 12am"), 12 * 3600);
	assert_int_equal(in("limit resets at 15:04"), 3 * 3600 + 240);
	assert_int_equal(in("Try again in 1 day 2 hours 3 minutes."), 86400 + 7200 + 180);
	assert_int_equal(in("try again in 1.898s"), 2);
	assert_int_equal(in("try again at 5:14 PM."), 5 * 3600 + 14 * 60);
	assert_int_equal(in("resets soon"), -1);
	assert_int_equal(in("resets 99pm"), -1);
	assert_int_equal(in("try again in 99999999999999999999 days"), -1);
	assert_int_equal(in(""), -1);
}

static void test_messages_are_clean_and_say_what_to_do(void **state)
{
	struct agent_result result = agent_result_init();

	(void)state;
	fault_tell(&result, "X", AGENT_NOT_LOGGED_IN, SV(" no\nkey \x1b[31m "));
	assert_int_equal(result.fail, AGENT_NOT_LOGGED_IN);
	assert_non_null(strstr(result.message, "X: no key"));
	assert_non_null(strstr(result.message, "log in"));
	assert_null(strchr(result.message, '\x1b'));
	fault_tell(&result, "X", AGENT_CONTEXT_FULL, SV("too long"));
	assert_non_null(strstr(result.message, "'faden trim' or 'faden rollover'"));
	fault_tell(&result, "X", AGENT_FAILED, SV(""));
	assert_string_equal(result.message, "X: failed");
	fault_tell(&result, "X", AGENT_REFUSED, SV("Not inside a trusted directory and --y"));
	assert_non_null(strstr(result.message, "ai.outside_git"));
	fault_tell(&result, "X", AGENT_REFUSED, SV("/src/git: --x cannot be used with root"));
	assert_non_null(strstr(result.message, "ai.permission_mode"));
}

static int set_utc(void **state)
{
	(void)state;
	return setenv("TZ", "UTC", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_tell_the_kind_of_failure),
		cmocka_unit_test(test_words_tell_when_a_limit_ends),
		cmocka_unit_test(test_messages_are_clean_and_say_what_to_do),
	};

	return cmocka_run_group_tests(tests, set_utc, NULL);
}
