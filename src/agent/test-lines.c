#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/stream.h"

static void note(void *data, struct sv line)
{
	str_addf(data, "[%.*s]", SV_ARG(line));
}

static void test_lines_are_joined_over_pieces(void **state)
{
	AUTO_STR out = STR_INIT;
	struct lines l;

	(void)state;
	lines_init(&l, 4);
	lines_feed(&l, SV("a\n\nbc"), note, &out);
	lines_feed(&l, SV("de\nf"), note, &out);
	assert_string_equal(out.buf, "[a][][bcde]");
	lines_end(&l, note, &out);
	assert_string_equal(out.buf, "[a][][bcde][f]");
	assert_int_equal(l.skipped, 0);
	lines_release(&l);
}

static void test_long_lines_are_passed_over(void **state)
{
	AUTO_STR out = STR_INIT;
	struct lines l;

	(void)state;
	lines_init(&l, 4);
	lines_feed(&l, SV("12345\nok\n1234\n123"), note, &out);
	lines_feed(&l, SV("45"), note, &out);
	lines_feed(&l, SV("6789012345\nend\n"), note, &out);
	assert_string_equal(out.buf, "[ok][1234][end]");
	assert_int_equal(l.skipped, 2);
	lines_feed(&l, SV("12345"), note, &out);
	lines_end(&l, note, &out);
	lines_feed(&l, SV("x\n"), note, &out);
	assert_string_equal(out.buf, "[ok][1234][end][x]");
	lines_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_joined_over_pieces),
		cmocka_unit_test(test_long_lines_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
