#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "voice/floor.h"

enum { ROWS = 9, BANDS = 2, WORD = 4 };

static void test_word_stays(void **state)
{
	float rows[ROWS][BANDS];

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		rows[i][0] = 3;
		rows[i][1] = -1;
	}
	rows[WORD][0] = 5; /* 20 dB above what is there always */
	floor_take_out(&rows[0][0], ROWS, BANDS);
	assert_float_equal(rows[WORD][0], log10f(1e5F - 2e3F), 1e-4F);
	/* The rest is a trace, in a band that is loud and in one that is not. */
	assert_float_equal(rows[WORD - 1][0], 3 + log10f(0.03F), 1e-4F);
	assert_float_equal(rows[WORD][1], -1 + log10f(0.03F), 1e-4F);
}

static void test_silence(void **state)
{
	float rows[FLOOR_ROWS_MAX][1];

	(void)state;
	floor_take_out(&rows[0][0], 0, 1);
	for (size_t i = 0; i < FLOOR_ROWS_MAX; i++)
		rows[i][0] = i % 4 == 0 ? 1 : -8;
	floor_take_out(&rows[0][0], FLOOR_ROWS_MAX, 1);
	/* Where nothing is, nothing is taken from speech. */
	assert_float_equal(rows[0][0], 1, 1e-4F);
	assert_true(isfinite(rows[1][0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_word_stays),
		cmocka_unit_test(test_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
