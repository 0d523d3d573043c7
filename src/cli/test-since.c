#include "cli/since.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"

static int64_t ms_of(const char *iso)
{
	int64_t ms = -1;

	assert_true(clock_parse_iso(sv_of(iso), &ms));
	return ms;
}

static void means(const char *text, const char *iso)
{
	struct err err = ERR_INIT;
	int64_t got = -1;

	if (since_parse(sv_of(text), ms_of("2026-07-10T23:30:00Z"), &got, &err) < 0)
		fail_msg("%s", err.msg);
	if (got != ms_of(iso))
		fail_msg("%s is off by %lld ms", text, (long long)(got - ms_of(iso)));
}

/* Two hours east of Greenwich it is the eleventh already. */
static void test_local_time(void **state)
{
	(void)state;
	assert_int_equal(setenv("TZ", "XXX-2", 1), 0);
	tzset();
	means("today", "2026-07-10T22:00:00Z");
	means("yesterday", "2026-07-09T22:00:00Z");
	means("2026-01-31", "2026-01-30T22:00:00Z");
	means("2026-01-31 14:00", "2026-01-31T12:00:00Z");
	means("2026-01-31T14:00Z", "2026-01-31T14:00:00Z");
	means("2026-01-31T14:00-01:00", "2026-01-31T15:00:00Z");
	means("2h", "2026-07-10T21:30:00Z");
	means("3d", "2026-07-07T23:30:00Z");
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "", "soon", "Today", "3 d", "2026", "2026-13-01",
		"2026-01-31x", "-3d", "99999999999999999999d" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int64_t ms;
		assert_int_equal(since_parse(sv_of(bad[i]), 0, &ms, NULL), ERR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_time),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
