/* What agents' retries, deeds and failures are called for people. */
#include "agent/claude-stream.h"
#include "agent/codex-stream.h"
#include "agent/driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/driver.h"
#include "base/utf8.h"

static void claude_says(const char *name, int64_t status, const char *want)
{
	AUTO_STR out = STR_INIT;

	claude_retry_words(&out, sv_of(name), status);
	assert_string_equal(out.buf, want);
}

static void test_why_claude_tries_again_is_told(void **state)
{
	(void)state;
	claude_says("rate_limit", 429, "the limit of requests is reached (429)");
	claude_says("rate_limit", 529, "the model is overloaded (529)");
	claude_says("authentication_failed", 401,
		"the log-in was refused (401): start it once by itself and log in, or set its API "
		"key");
	claude_says("unknown", 0, "the model cannot be reached");
	claude_says("", 0, "the model cannot be reached");
	claude_says("unknown", 418, "the model's server refused (418)");
	claude_says("server_error", 0, "the model's server has an error");
	claude_says("strange\033[2Jthing", 0, "strangething");
}

static void codex_says(const char *why, const char *want)
{
	AUTO_STR out = STR_INIT;

	codex_retry_words(&out, sv_of(why));
	assert_string_equal(out.buf, want);
}

static void test_why_codex_tries_again_is_told(void **state)
{
	(void)state;
	codex_says(" ", "the connection to the model broke");
	codex_says("unexpected status 401 Unauthorized",
		"the log-in was refused: unexpected status 401 Unauthorized (start it once by "
		"itself "
		"and log in, or set its API key)");
	codex_says("timed out", "the connection to the model broke: timed out");
	codex_says("strange\033[2Jthing", "the connection to the model broke: strangething");
}

static void test_deeds_are_counted(void **state)
{
	struct deeds d = { .kinds = 0 };
	AUTO_STR out = STR_INIT;

	(void)state;
	deeds_print(&out, &d);
	assert_string_equal(out.buf, "");
	deeds_add(&d, SV("Bash"));
	deeds_add(&d, SV("Write"));
	deeds_add(&d, SV("Bash"));
	deeds_print(&out, &d);
	assert_string_equal(out.buf, "Bash ×2, Write");
	for (char c = 'a'; c < 'a' + DEEDS_MAX; c++)
		deeds_add(&d, sv_make(&c, 1));
	deeds_add(&d, SV("a name that is far longer than any tool's should be"));
	str_clear(&out);
	deeds_print(&out, &d);
	assert_string_equal(out.buf, "Bash ×2, Write, a, b, c, d +3");
}

/* The last line of a program's errors may be anything, and as long. */
static void test_messages_are_one_clean_line(void **state)
{
	struct agent_result result = agent_result_init();
	AUTO_STR said = STR_INIT;

	(void)state;
	agent_result_fail(&result, AGENT_FAILED, "x: %s", "two\nlines\033[2J");
	assert_int_equal(result.fail, AGENT_FAILED);
	assert_null(strpbrk(result.message, "\n\033"));
	for (int i = 0; i < ERR_MSG_MAX; i++)
		str_adds(&said, "é");
	for (int i = 0; i < 2; i++) {
		agent_result_fail(&result, AGENT_DIED, "%s%s", i ? "x" : "", said.buf);
		assert_true(utf8_valid(sv_of(result.message)));
		assert_true(strlen(result.message) >= ERR_MSG_MAX - 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_why_claude_tries_again_is_told),
		cmocka_unit_test(test_why_codex_tries_again_is_told),
		cmocka_unit_test(test_deeds_are_counted),
		cmocka_unit_test(test_messages_are_one_clean_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
