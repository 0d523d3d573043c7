#include "voice/mel.h"

#include <stdbool.h>

#include <math.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/wide.h"

enum {
	WINDOW = 400,
	HALF = WINDOW / 2,
	BINS = HALF + 1,
	RATE = 16000,
	LANES = 208, /* HALF + 1, and some that are always 0, for whole vectors */
};

struct mel {
	float window[WINDOW];
	float cosine[BINS][LANES], sine[BINS][LANES];
	float bands[MEL_BANDS][BINS];
	unsigned from[MEL_BANDS], to[MEL_BANDS]; /* bins of a band that are not 0 */
};

/* Pitch as Slaney has it: linear up to 1 kHz, logarithmic above. */
static double to_hz(double mel)
{
	return mel < 15 ? mel * 200 / 3 : 1000 * exp((mel - 15) * log(6.4) / 27);
}

static double to_mel(double hz)
{
	return hz < 1000 ? hz * 3 / 200 : 15 + log(hz / 1000) * 27 / log(6.4);
}

struct mel *mel_new(void)
{
	struct mel *m = xcalloc(1, sizeof(*m));
	const double top = to_mel(RATE / 2.0);

	for (int i = 0; i < WINDOW; i++)
		m->window[i] = (float)(0.5 - 0.5 * cos(2 * M_PI * i / WINDOW));
	for (int k = 0; k < BINS; k++) {
		for (int i = 0; i <= HALF; i++) {
			double a = 2 * M_PI * ((double)k * i) / WINDOW;
			m->cosine[k][i] = (float)cos(a);
			m->sine[k][i] = (float)sin(a);
		}
	}
	for (int b = 0; b < MEL_BANDS; b++) {
		double low = to_hz(top * b / (MEL_BANDS + 1));
		double mid = to_hz(top * (b + 1) / (MEL_BANDS + 1));
		double high = to_hz(top * (b + 2) / (MEL_BANDS + 1));
		m->from[b] = BINS;
		for (unsigned k = 0; k < BINS; k++) {
			double hz = (double)k * RATE / WINDOW;
			double w = fmin((hz - low) / (mid - low), (high - hz) / (high - mid));
			if (w <= 0)
				continue;
			/* All bands have the same area. */
			m->bands[b][k] = (float)(w * 2 / (high - low));
			m->from[b] = k < m->from[b] ? k : m->from[b];
			m->to[b] = k + 1;
		}
	}
	return m;
}

void mel_free(struct mel *m)
{
	free(m);
}

/* The power of each pitch in a window, in what was given. Half of a window is enough: sums for the
 * cosines, which are even, differences for the sines, which are odd. */
VECTOR_BODY float *power_of_any(const struct mel *m, const float *x, float *power)
{
	float even[LANES] = { 0 }, odd[LANES] = { 0 };

	even[0] = x[0];
	even[HALF] = x[HALF];
	for (int i = 1; i < HALF; i++) {
		even[i] = x[i] + x[WINDOW - i];
		odd[i] = x[i] - x[WINDOW - i];
	}
	for (int k = 0; k < BINS; k++) {
		float re[8] = { 0 }, im[8] = { 0 };
		for (int i = 0; i < LANES; i += 8) {
			for (int j = 0; j < 8; j++) {
				re[j] += even[i + j] * m->cosine[k][i + j];
				im[j] += odd[i + j] * m->sine[k][i + j];
			}
		}
		float a = 0, b = 0;
		for (int j = 0; j < 8; j++) {
			a += re[j];
			b += im[j];
		}
		power[k] = a * a + b * b;
	}
	return power;
}
VECTOR_CLONES(float *, power_of, (const struct mel *m, const float *x, float *power), (m, x, power))

void mel_run(const struct mel *m, const float *samples, size_t n, size_t columns, float *out)
{
	float top = -10;

	for (size_t c = 0; c < columns; c++) {
		float x[WINDOW], power[BINS];
		bool silent = c * MEL_HOP >= n + HALF;
		for (int i = 0; !silent && i < WINDOW; i++) {
			/* A window lies around its time; before the start stands a mirror. */
			ptrdiff_t at = (ptrdiff_t)(c * MEL_HOP) + i - HALF;
			at = at < 0 ? -at : at;
			x[i] = (size_t)at < n ? samples[at] * m->window[i] : 0;
		}
		if (!silent)
			power_of(m, x, power);
		for (size_t b = 0; b < MEL_BANDS; b++) {
			float sum = 0;
			for (unsigned k = m->from[b]; !silent && k < m->to[b]; k++)
				sum += power[k] * m->bands[b][k];
			float v = log10f(fmaxf(sum, 1e-10F));
			out[b * columns + c] = v;
			top = fmaxf(top, v);
		}
	}
	for (size_t i = 0; i < columns * MEL_BANDS; i++)
		out[i] = (fmaxf(out[i], top - 8) + 4) / 4;
}
