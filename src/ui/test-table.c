#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "ui/table.h"

static const struct table_column columns[] = {
	{ .title = "ID" },
	{ .title = "NAME", .shrink = true },
	{ .title = "SIZE", .right = true },
	{ .title = "WHERE" },
};

static void fill(struct table *t)
{
	table_init(t, columns, ARRAY_LEN(columns));
	table_add(t, SV("a1"));
	table_add(t, SV("a rather long name of a talk"));
	table_addf(t, "%d", 12);
	table_add(t, SV("~/x"));
	table_add(t, SV("b2"));
	table_add(t, SV("日本語\n\033[2Jtab\there"));
	table_addf(t, "%d", 4096);
	table_add(t, SV(""));
}

static void check(size_t cols, const char *want)
{
	struct table t;
	struct term term;

	fill(&t);
	term_init_capture(&term, cols, 10, false);
	table_print(&t, &term);
	assert_string_equal(term.buf.buf, want);
	term_release(&term);
	table_release(&t);
}

static void test_wide_terminal_shows_all(void **state)
{
	(void)state;
	check(80,
		"ID  NAME                          SIZE  WHERE\n"
		"a1  a rather long name of a talk    12  ~/x\n"
		"b2  日本語 tab here               4096\n");
}

static void test_narrow_terminal_shrinks_a_column(void **state)
{
	(void)state;
	check(29,
		"ID  NAME          SIZE  WHERE\n"
		"a1  a rather lo…    12  ~/x\n"
		"b2  日本語 tab …  4096\n");
}

static void test_too_narrow(void **state)
{
	(void)state;
	check(8,
		"ID  NAME    SIZE  WHERE\n"
		"a1  a rat…    12  ~/x\n"
		"b2  日本…   4096\n");
}

static void test_pipe_gets_tabs(void **state)
{
	(void)state;
	check(0,
		"a1\ta rather long name of a talk\t12\t~/x\n"
		"b2\t日本語 tab here\t4096\t\n");
}

static void test_empty_table_prints_nothing(void **state)
{
	(void)state;
	struct table t;
	struct term term;

	table_init(&t, columns, ARRAY_LEN(columns));
	term_init_capture(&term, 40, 10, true);
	table_print(&t, &term);
	assert_string_equal(term.buf.buf, "");
	term_release(&term);
	table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wide_terminal_shows_all),
		cmocka_unit_test(test_narrow_terminal_shrinks_a_column),
		cmocka_unit_test(test_too_narrow),
		cmocka_unit_test(test_pipe_gets_tabs),
		cmocka_unit_test(test_empty_table_prints_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
