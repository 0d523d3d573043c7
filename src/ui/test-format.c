#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ui/format.h"

static const struct format_field fields[] = {
	{ "id", FORMAT_TEXT, NULL },
	{ "name", FORMAT_TEXT, NULL },
	{ "turns", FORMAT_NUMBER, NULL },
	{ "size", FORMAT_SIZE, NULL },
	{ "last", FORMAT_TIME, NULL },
};

enum { NOW = 1700000000 };

static const union format_value values[] = {
	{ .text = { "a1", 2 } },
	{ .text = { "日本\n\033[2Jx", 12 } },
	{ .number = 1234 },
	{ .number = 2500000 },
	{ .number = (int64_t)(NOW - 7200) * 1000 },
};

static void check(const char *format, const char *want)
{
	struct format f;
	struct err err = ERR_INIT;
	AUTO_STR out = STR_INIT;

	assert_int_equal(format_parse(&f, sv_of(format), fields, ARRAY_LEN(fields), &err), 0);
	format_row(&f, values, (int64_t)NOW * 1000, &out);
	assert_string_equal(out.buf, want);
	format_release(&f);
}

static void test_rows_follow_the_format(void **state)
{
	(void)state;
	check("", "\n");
	check("{id}", "a1\n");
	check("{id}\\t{name}", "a1\t日本 x\n");
	check("{{{id}}} \\\\ \\n", "{a1} \\ \n\n");
	check("[{id:5}][{id:>5}][{id:<5}]", "[a1   ][   a1][a1   ]\n");
	check("[{name:8}][{name:.5}][{name:.4}][{name:>8.5}]",
		"[日本 x  ][日本…][日…][   日本…]\n");
}

static void test_numbers_dates_and_sizes(void **state)
{
	(void)state;
	check("[{turns}][{turns:6}][{turns:<6}][{turns:human}]", "[1234][  1234][1234  ][1,234]\n");
	check("[{size}][{size:human}][{size:human:8}][{size:>8:human}]",
		"[2500000][2.5 MB][  2.5 MB][  2.5 MB]\n");
	check("[{last:unix}][{last:iso}][{last:ago}][{last:ago:10}]",
		"[1699992800][2023-11-14T20:13:20.000Z][2 h ago][2 h ago   ]\n");
}

static void refuse(const char *format, const char *part)
{
	struct format f;
	struct err err = ERR_INIT;

	assert_int_equal(
		format_parse(&f, sv_of(format), fields, ARRAY_LEN(fields), &err), ERR_USAGE);
	assert_non_null(strstr(err.msg, part));
	assert_null(strchr(err.msg, '\033'));
}

static void test_bad_formats_are_refused(void **state)
{
	(void)state;
	refuse("{nam}", "no field \"nam\"; there are: id, name, turns, size, last");
	refuse("x{}", "no field \"\"");
	refuse("{\033[2J}", "no field \"\"");
	refuse("{id", "'{' without '}'");
	refuse("id}", "'}}'");
	refuse("\\q", "backslash");
	refuse("\\", "backslash");
	refuse("{last:human}", "local, iso, ago, unix");
	refuse("{id:iso}", "is not one of: or a width");
	refuse("{id:}", "width");
	refuse("{id:>}", "width");
	refuse("{id:.}", "width");
	refuse("{id:5.}", "width");
	refuse("{id:1001}", "width");
	refuse("{id:99999999999999999999999}", "width");
}

static void test_format_has_a_limit(void **state)
{
	(void)state;
	struct format f;
	struct err err = ERR_INIT;
	AUTO_STR text = STR_INIT;

	for (int i = 0; i < FORMAT_MAX; i++)
		str_addc(&text, 'x');
	assert_int_equal(format_parse(&f, str_sv(&text), fields, ARRAY_LEN(fields), &err), 0);
	format_release(&f);
	str_addc(&text, 'x');
	assert_int_equal(
		format_parse(&f, str_sv(&text), fields, ARRAY_LEN(fields), &err), ERR_USAGE);
	assert_int_equal(format_parse(&f, SV("{id:1000}"), fields, ARRAY_LEN(fields), &err), 0);
	format_release(&f);
}

static void test_sizes_for_people(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes;
		const char *want;
	} cases[] = {
		{ 0, "0 B" },
		{ 999, "999 B" },
		{ 1000, "1.0 kB" },
		{ 1249, "1.2 kB" },
		{ 9949, "9.9 kB" },
		{ 9950, "10 kB" },
		{ 15000000, "15 MB" },
		{ 999499, "999 kB" },
		{ 999500, "1.0 MB" },
		{ 3400000000, "3.4 GB" },
		{ UINT64_MAX, "18 EB" },
	};
	char text[SIZE_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_format(cases[i].bytes, text);
		assert_string_equal(text, cases[i].want);
	}
}

static void test_counts_have_separators(void **state)
{
	(void)state;
	static const struct {
		int64_t n;
		const char *want;
	} cases[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ -1234567, "-1,234,567" },
		{ INT64_MAX, "9,223,372,036,854,775,807" },
		{ INT64_MIN, "-9,223,372,036,854,775,808" },
	};
	char text[SIZE_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_format_count(cases[i].n, text);
		assert_string_equal(text, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_for_people),
		cmocka_unit_test(test_counts_have_separators),
		cmocka_unit_test(test_rows_follow_the_format),
		cmocka_unit_test(test_numbers_dates_and_sizes),
		cmocka_unit_test(test_bad_formats_are_refused),
		cmocka_unit_test(test_format_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
