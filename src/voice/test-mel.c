#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "voice/mel.h"

enum { N = 8000, COLUMNS = 60 };

/* The loudest band of a column. */
static int loudest(const float *out, size_t column)
{
	int best = 0;

	for (int b = 1; b < MEL_BANDS; b++) {
		if (out[(size_t)b * COLUMNS + column] > out[(size_t)best * COLUMNS + column])
			best = b;
	}
	return best;
}

static void test_tones(void **state)
{
	/* Bands by Slaney's scale: the middle of band b is at (b + 1) / 81 of the way to 8 kHz. */
	static const struct {
		double hz;
		int band;
	} tones[] = { { 259, 6 }, { 1000, 26 }, { 4000, 62 } };
	struct mel *m = mel_new();
	float samples[N];
	float out[MEL_BANDS * COLUMNS];

	(void)state;
	for (size_t t = 0; t < 3; t++) {
		for (int i = 0; i < N; i++)
			samples[i] = (float)(0.5 * sin(2 * M_PI * tones[t].hz * i / 16000));
		mel_run(m, samples, N, COLUMNS, out);
		int band = loudest(out, 20);
		assert_in_range(band, tones[t].band - 1, tones[t].band + 1);
		/* The top is what the formula gives for that power; nothing is 2 below it. */
		float top = out[(size_t)band * COLUMNS + 20];
		for (size_t i = 0; i < MEL_BANDS * COLUMNS; i++)
			assert_true(out[i] >= top - 2.0001F);
		/* Behind the sound it is silent. */
		assert_float_equal(out[COLUMNS - 1], out[40 * COLUMNS + COLUMNS - 1], 1e-6F);
	}
	mel_free(m);
}

/* A tenth of the amplitude is two less in logarithms of power, a quarter of it here. */
static void test_level(void **state)
{
	struct mel *m = mel_new();
	float samples[N];
	float loud[MEL_BANDS * COLUMNS], soft[MEL_BANDS * COLUMNS];

	(void)state;
	for (int i = 0; i < N; i++)
		samples[i] = (float)(0.5 * sin(2 * M_PI * 1000 * i / 16000));
	mel_run(m, samples, N, COLUMNS, loud);
	for (int i = 0; i < N; i++)
		samples[i] /= 10;
	mel_run(m, samples, N, COLUMNS, soft);
	int band = loudest(loud, 20);
	size_t at = (size_t)band * COLUMNS + 20;
	assert_float_equal(loud[at] - soft[at], 0.5F, 1e-4F);
	mel_free(m);
}

/* The band's value by the formula, in doubles and without tricks. */
static void test_formula(void **state)
{
	struct mel *m = mel_new();
	float samples[N];
	float out[MEL_BANDS * COLUMNS];
	const int column = 17, band = 5;
	double sum = 1e-10;

	(void)state;
	srand(7);
	for (int i = 0; i < N; i++)
		samples[i] = (float)rand() / (float)RAND_MAX - 0.5F;
	mel_run(m, samples, N, COLUMNS, out);
	for (int k = 0; k <= 200; k++) {
		double re = 0, im = 0;
		for (int i = 0; i < 400; i++) {
			double x = (double)samples[column * 160 + i - 200] *
				(0.5 - 0.5 * cos(2 * M_PI * i / 400));
			re += x * cos(2 * M_PI * k * i / 400);
			im -= x * sin(2 * M_PI * k * i / 400);
		}
		/* Below 1 kHz bands are equally wide: 45.245 mel / 81 × 200/3 Hz. */
		double wide = 45.245640471924965 / 81 * 200 / 3, hz = k * 40.0;
		double w = fmin((hz - band * wide) / wide, ((band + 2) * wide - hz) / wide);
		if (w > 0)
			sum += w * 2 / (2 * wide) * (re * re + im * im);
	}
	assert_float_equal(out[band * COLUMNS + column], (float)((log10(sum) + 4) / 4), 1e-4F);
	mel_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tones),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_formula),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
