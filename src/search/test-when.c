#include "search/when.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"

/* A Tuesday. */
#define NOW "2026-11-17T09:30:00Z"

static int64_t ms_of(const char *iso)
{
	int64_t ms = -1;

	assert_true(clock_parse_iso(sv_of(iso), &ms));
	return ms;
}

static void write_out(const struct when *w, struct str *out)
{
	char from[CLOCK_TEXT_MAX], to[CLOCK_TEXT_MAX];

	clock_format_iso(w->from_ms, from);
	clock_format_iso(w->to_ms, to);
	str_addf(out, "%.10s..%.10s", from, to);
}

/* want: the first date that is found, and how many there are; "" for none. */
static void finds(const char *text, const char *want, size_t n)
{
	AUTO_STR got = STR_INIT;
	struct whens all;

	when_find(sv_of(text), ms_of(NOW), &all);
	if (all.n > 0)
		write_out(&all.v[0], &got);
	if (strcmp(got.buf, want) != 0 || all.n != n)
		fail_msg("%s: %s (%zu)", text, got.buf, all.n);
}

static void test_dates(void **state)
{
	static const struct {
		const char *text, *want;
	} one[] = {
		{ "What did Jon get on May 23, 2023?", "2023-05-23..2023-05-24" },
		{ "the call of 5 May 2023", "2023-05-05..2023-05-06" },
		{ "the 3rd of October, 2022", "2022-10-03..2022-10-04" },
		{ "am 5. Mai 2023 beschlossen", "2023-05-05..2023-05-06" },
		{ "was war am 31.1.2026?", "2026-01-31..2026-02-01" },
		{ "on 05/05/2025", "2025-05-05..2025-05-06" },
		{ "on 31/1/2026", "2026-01-31..2026-02-01" },
		{ "on 1/31/2026", "2026-01-31..2026-02-01" },
		{ "since 2026-01-31", "2026-01-31..2026-02-01" },
		{ "in 2026-02 or so", "2026-02-01..2026-03-01" },
		{ "December 2023", "2023-12-01..2024-01-01" },
		{ "im Jahr 2024", "2024-01-01..2025-01-01" },
		{ "what broke yesterday", "2026-11-16..2026-11-17" },
		{ "the day before yesterday", "2026-11-15..2026-11-16" },
		{ "was haben wir gestern geändert", "2026-11-16..2026-11-17" },
		{ "Vorgestern", "2026-11-15..2026-11-16" },
		{ "heute", "2026-11-17..2026-11-18" },
		{ "last Tuesday", "2026-11-10..2026-11-11" },
		{ "on Tuesday", "2026-11-17..2026-11-18" },
		{ "letzten Freitag", "2026-11-13..2026-11-14" },
		{ "Friday's call", "2026-11-13..2026-11-14" },
		{ "last week", "2026-11-09..2026-11-16" },
		{ "diese Woche", "2026-11-16..2026-11-23" },
		{ "last month", "2026-10-01..2026-11-01" },
		{ "letztes Jahr", "2025-01-01..2026-01-01" },
		{ "last weekend", "2026-11-14..2026-11-16" },
		{ "in the last three days", "2026-11-14..2026-11-18" },
		{ "two weeks ago", "2026-11-02..2026-11-09" },
		{ "a couple of days ago", "2026-11-15..2026-11-16" },
		{ "vor drei Monaten", "2026-08-01..2026-09-01" },
		{ "vor einer Stunde", "2026-11-17..2026-11-18" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(one); i++)
		finds(one[i].text, one[i].want, 1);
	finds("in March", "2026-03-01..2026-04-01", WHEN_YEARS);
	finds("im März", "2026-03-01..2026-04-01", WHEN_YEARS);
	/* Not one that is still to come. */
	finds("on December 24", "2025-12-24..2025-12-25", WHEN_YEARS - 1);
	finds("von gestern bis heute", "2026-11-16..2026-11-17", 2);
}

static void test_no_dates(void **state)
{
	static const char *const none[] = { "", "it may fail", "march on", "port 2023", "error 404",
		"version 1.2.3", "10.1.2.3", "2026-13-01", "99 May", "the last test", "one day",
		"three retries", "src/may.c", "03/04/2025", "31/31/2025", "05/05/2025/1",
		"\xff\xfe\x80", "5 of" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		finds(none[i], "", 0);
}

static void test_room(void **state)
{
	AUTO_STR text = STR_INIT;
	struct whens all;

	(void)state;
	for (int i = 0; i < 200; i++)
		str_adds(&text, "yesterday in June ");
	when_find(str_sv(&text), ms_of(NOW), &all);
	assert_int_equal(all.n, WHENS_MAX);
}

static void test_parse(void **state)
{
	static const struct {
		const char *text, *want;
	} good[] = { { "2w", "2026-11-03..2026-11-17" }, { "2026-01-31", "2026-01-31..2026-02-01" },
		{ "2026-01", "2026-01-01..2026-02-01" }, { "2025", "2025-01-01..2026-01-01" },
		{ "may", "2026-05-01..2026-06-01" }, { "März", "2026-03-01..2026-04-01" },
		{ "december", "2025-12-01..2026-01-01" }, { "gestern", "2026-11-16..2026-11-17" },
		{ "last week", "2026-11-09..2026-11-16" } };
	static const char *const bad[] = { "", "soon", "3 cats", "2026-13-01", "may be",
		"2026-01-31x", "x 2026-01-31" };
	struct when w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		AUTO_STR got = STR_INIT;
		assert_true(when_parse(sv_of(good[i].text), ms_of(NOW), &w));
		write_out(&w, &got);
		if (strcmp(got.buf, good[i].want) != 0)
			fail_msg("%s: %s", good[i].text, got.buf);
	}
	assert_true(when_parse(SV("2026-01-31T14:00Z"), ms_of(NOW), &w));
	assert_int_equal(w.from_ms, ms_of("2026-01-31T14:00:00Z"));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (when_parse(sv_of(bad[i]), ms_of(NOW), &w))
			fail_msg("%s is taken for a date", bad[i]);
}

static void test_meets(void **state)
{
	struct whens march;

	(void)state;
	when_find(SV("in March"), ms_of(NOW), &march);
	int64_t within = ms_of("2026-03-10T12:00:00Z"), after = ms_of("2026-04-04T12:00:00Z"),
		long_after = ms_of("2026-09-01T12:00:00Z"), other = ms_of("2024-03-31T23:00:00Z");
	assert_true(when_meets(&march, within, within) == 1);
	assert_true(when_meets(&march, other, other) == 1);
	assert_true(when_meets(&march, ms_of("2026-01-01T00:00:00Z"), after) == 1);
	double soon = when_meets(&march, after, after);
	assert_true(soon > 0.4 && soon < 0.8);
	assert_true(when_meets(&march, long_after, long_after) < 0.01);
	assert_true(when_meets(&(struct whens){ .n = 0 }, within, within) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_no_dates),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_meets),
	};

	(void)setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
