#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/attr.h"
#include "ui/progress.h"

static void test_progress(void **state)
{
	(void)state;
	struct term t;
	struct progress p;

	term_init_capture(&t, 60, 10, false);
	progress_init(&p, &t, SV("Reading"), PROGRESS_ITEMS, 1000);
	progress_update(&p, 1, 5000, 1299);
	assert_string_equal(t.buf.buf, "");
	progress_update(&p, 1200, 5000, 1300);
	assert_string_equal(t.buf.buf, "\r\033[KReading: 1,200 of 5,000 (24%)");
	str_clear(&t.buf);
	progress_update(&p, 1300, 5000, 1399);
	assert_string_equal(t.buf.buf, "");
	progress_update(&p, 1400, 0, 1400);
	assert_string_equal(t.buf.buf, "\r\033[KReading: 1,400");
	str_clear(&t.buf);
	progress_release(&p);
	assert_string_equal(t.buf.buf, "\r\033[K");
	assert_int_equal(t.col, 0);
	term_release(&t);
}

static void test_progress_is_quiet(void **state)
{
	(void)state;
	struct term t;
	struct progress p;

	term_init_capture(&t, 0, 0, false);
	progress_init(&p, &t, SV("Reading"), PROGRESS_BYTES, 0);
	progress_update(&p, 1, 2, 10000);
	progress_release(&p);
	assert_string_equal(t.buf.buf, "");
	term_release(&t);

	term_init_capture(&t, 60, 10, false);
	progress_init(&p, &t, SV("Short work"), PROGRESS_BYTES, 0);
	progress_update(&p, 1, 2, 100);
	progress_release(&p);
	assert_string_equal(t.buf.buf, "");
	term_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_progress_is_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
