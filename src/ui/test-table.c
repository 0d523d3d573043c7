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

/* Size goes before place, and neither before the name has more than its room. */
static void test_what_can_be_spared_makes_room(void **state)
{
	static const struct table_column spare[] = {
		{ .title = "ID" },
		{ .title = "NAME", .shrink = true, .room = 12 },
		{ .title = "SIZE", .right = true, .spare = 2 },
		{ .title = "WHERE", .spare = 1 },
	};
	static const struct {
		size_t cols;
		uint64_t hidden;
		const char *want;
	} cases[] = {
		{ 29, 0, "ID  NAME          SIZE  WHERE\na1  a rather lo…    12  ~/x\n" },
		{ 28, 0, "ID  NAME               WHERE\na1  a rather long na…  ~/x\n" },
		{ 22, 0, "ID  NAME\na1  a rather long nam…\n" },
		{ 14, 0, "ID  NAME\na1  a rather …\n" },
		{ 29, 1 << 3, "ID  NAME                 SIZE\na1  a rather long name…    12\n" },
		{ 0, 1 << 3, "a1\ta rather long name of a talk\t12\t~/x\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct table t;
		struct term term;
		fill(&t);
		t.columns = spare;
		t.hidden = cases[i].hidden;
		term_init_capture(&term, cases[i].cols, 10, false);
		table_print(&t, &term);
		str_cut(&term.buf, strlen(cases[i].want));
		assert_string_equal(term.buf.buf, cases[i].want);
		term_release(&term);
		table_release(&t);
	}
}

/* Whichever needs less gives first, and a path keeps its end. */
static void test_what_needs_less_gives_first(void **state)
{
	static const struct table_column paths[] = {
		{ .title = "WHERE", .shrink = true, .room = 10, .tail = true },
		{ .title = "NAME", .shrink = true, .room = 14 },
	};
	static const struct {
		size_t cols;
		const char *want;
	} cases[] = {
		{ 60, "WHERE             NAME\n~/work/日本/shop  the long name of a talk\n" },
		{ 26, "WHERE       NAME\n…日本/shop  the long name…\n" },
		{ 24, "WHERE     NAME\n…本/shop  the long name…\n" },
		{ 22, "WHERE   NAME\n…/shop  the long name…\n" },
		{ 20, "WHERE   NAME\n…/shop  the long na…\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct table t;
		struct term term;
		table_init(&t, paths, ARRAY_LEN(paths));
		table_add(&t, SV("~/work/日本/shop"));
		table_add(&t, SV("the long name of a talk"));
		term_init_capture(&term, cases[i].cols, 10, false);
		table_print(&t, &term);
		assert_string_equal(term.buf.buf, cases[i].want);
		term_release(&term);
		table_release(&t);
	}
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
		cmocka_unit_test(test_what_can_be_spared_makes_room),
		cmocka_unit_test(test_what_needs_less_gives_first),
		cmocka_unit_test(test_pipe_gets_tabs),
		cmocka_unit_test(test_empty_table_prints_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
