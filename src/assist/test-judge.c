#include "assist/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"

static int chosen(const char *answer)
{
	struct judge_question q = { .places = STRV_INIT };

	strv_add(&q.places, "");
	strv_add(&q.places, "first");
	strv_add(&q.places, "second");
	int choice = judge_read(&q, sv_of(answer));
	judge_question_release(&q);
	return choice;
}

static void choices_are_read(void **state)
{
	(void)state;
	assert_int_equal(chosen("{\"choice\":\"new\"}"), 0);
	assert_int_equal(chosen(" {\"choice\": \"2\", \"why\": \"it leans\"}\n"), 2);
	assert_int_equal(chosen("```json\n{\"choice\":\"1\"}\n```"), 1);
	assert_int_equal(chosen("1"), 1);
	assert_int_equal(chosen("{\"choice\": 2}"), 2);
	assert_int_equal(chosen("{\"choice\": \" 2 \"}"), 2);
	assert_int_equal(chosen("\"2\""), 2);
	assert_int_equal(chosen("\"new\""), 0);
	assert_int_equal(chosen("```json\n{\"choice\": 1}\n```\n"), 1);
	assert_int_equal(chosen("``` {\"choice\": \"new\"} ```"), 0);
	assert_int_equal(chosen("```text\nnew\n```"), 0);
	assert_int_equal(chosen("```2```"), 2);
	assert_int_equal(chosen("new\n"), 0);
}

static void all_else_is_none(void **state)
{
	static const char *const answers[] = { "", "3", "0", "-1", "01", "first", "null",
		"{\"choice\":3}", "{\"choice\":-1}", "{\"choice\":1.0}", "{\"choice\":1e0}",
		"{\"choice\":[\"1\"]}", "{\"choice\":{\"choice\":\"1\"}}", "{\"choice\":null}",
		"{\"choice\":true}", "{\"choice\":\"1 2\"}", "{\"choice\":\"new\\u0000\"}",
		"{\"choice\":\"\\\"1\\\"\"}", "{\"choice\":\"3\"}", "{\"choice\":\"new\"",
		"{\"choice\":\"new\"}}", "{\"choice\":\"new\"} {\"choice\":\"1\"}",
		"I choose {\"choice\":\"1\"}", "[\"new\"]", "[1]", "\"\"", "```", "``````",
		"```\n```", "```json\n1\n2\n```", "{}", "{\"choices\":\"1\"}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++)
		if (chosen(answers[i]) != -1)
			fail_msg("%s is no choice", answers[i]);
}

/* What is more than a word and its object is not looked at. */
static void long_answers_are_none(void **state)
{
	AUTO_STR answer = STR_INIT;

	(void)state;
	str_adds(&answer, "{\"why\":\"");
	while (answer.len < 8192)
		str_addc(&answer, 'x');
	str_adds(&answer, "\",\"choice\":\"1\"}");
	assert_int_equal(chosen(answer.buf), -1);
}

static void only_close_choices_are_put(void **state)
{
	const struct judge_opts nobody = { .kind = NULL };
	const struct judge_opts somebody = { .kind = agent_embedded() };
	struct decision d;

	(void)state;
	decision_init(&d);
	d.what = DECIDED_TURN;
	d.by = BY_ROUTER;
	d.close = true;
	assert_true(judge_wanted(&somebody, &d));
	assert_false(judge_wanted(&nobody, &d));
	d.waits = true;
	assert_false(judge_wanted(&somebody, &d));
	d.waits = false;
	d.close = false;
	assert_false(judge_wanted(&somebody, &d));
	d.close = true;
	d.by = BY_PIN;
	assert_false(judge_wanted(&somebody, &d));
	decision_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choices_are_read),
		cmocka_unit_test(all_else_is_none),
		cmocka_unit_test(long_answers_are_none),
		cmocka_unit_test(only_close_choices_are_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
