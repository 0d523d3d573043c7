/*
 * What Whisper hears: how loud 80 bands of pitch are, a column each 10 ms, as logarithms.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	MEL_BANDS = 80,
	MEL_HOP = 160, /* samples at 16 kHz */
};

struct mel;
struct mel *mel_new(void); /* tables; some milliseconds */
void mel_free(struct mel *m); /* NULL is fine */
/* n samples, -1 to 1, and silence behind them, as `columns` columns: out has MEL_BANDS rows of
 * them. */
void mel_run(const struct mel *m, const float *samples, size_t n, size_t columns, float *out);
