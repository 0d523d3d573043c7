#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ui/choice.h"

static const struct choice_item items[] = {
	{ "claude", "Claude Code 2.1" },
	{ "日本", "wide" },
	{ "rehearsal", NULL },
};

static const char shown[] = "Which agent?\n"
			    "  1) claude     Claude Code 2.1\n"
			    "  2) 日本       wide\n"
			    "  3) rehearsal\n";

/* What is left of the input after the question is in *rest. */
static int ask(const char *input, int default_item, struct str *output, struct str *rest)
{
	int ends[2];
	char buf[64];
	int item = 99;
	struct term t;
	struct err err = ERR_INIT;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], input, strlen(input)), (ssize_t)strlen(input));
	(void)close(ends[1]);
	term_init_capture(&t, 60, 10, false);
	assert_int_equal(choice_ask(&t, ends[0], "Which agent?", items, ARRAY_LEN(items),
				 default_item, &item, &err),
		0);
	str_clear(output);
	str_add(output, str_sv(&t.buf));
	ssize_t n = read(ends[0], buf, sizeof(buf));
	str_clear(rest);
	str_add(rest, sv_make(buf, n > 0 ? (size_t)n : 0));
	(void)close(ends[0]);
	term_release(&t);
	return item;
}

static void test_number_name_and_default_choose(void **state)
{
	(void)state;
	AUTO_STR out = STR_INIT;
	AUTO_STR rest = STR_INIT;

	assert_int_equal(ask("2\ntyped ahead\n", 0, &out, &rest), 1);
	assert_string_equal(rest.buf, "typed ahead\n");
	assert_true(sv_starts(str_sv(&out), sv_of(shown)));
	assert_string_equal(out.buf + strlen(shown), "Number [1]: ");
	assert_int_equal(ask("rehearsal\n", CHOICE_NONE, &out, &rest), 2);
	assert_string_equal(out.buf + strlen(shown), "Number: ");
	assert_int_equal(ask("\n", 2, &out, &rest), 2);
	assert_int_equal(ask("\n", CHOICE_NONE, &out, &rest), CHOICE_NONE);
	assert_int_equal(ask(" 3 ", 0, &out, &rest), 2);
}

static void test_wrong_answers(void **state)
{
	(void)state;
	AUTO_STR out = STR_INIT;
	AUTO_STR rest = STR_INIT;

	assert_int_equal(ask("0\n4\nx\n1\n", 1, &out, &rest), 0);
	assert_int_equal(ask("a\nb\nc\nd\ne\n1\n", 1, &out, &rest), CHOICE_NONE);
	assert_string_equal(rest.buf, "1\n");
	assert_non_null(strstr(out.buf, "Please type a number from 1 to 3.\n"));
}

static void test_end_of_input(void **state)
{
	(void)state;
	AUTO_STR out = STR_INIT;
	AUTO_STR rest = STR_INIT;

	assert_int_equal(ask("", 1, &out, &rest), CHOICE_NONE);
	assert_int_equal(ask("9\n", 1, &out, &rest), CHOICE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number_name_and_default_choose),
		cmocka_unit_test(test_wrong_answers),
		cmocka_unit_test(test_end_of_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
