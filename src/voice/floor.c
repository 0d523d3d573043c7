#include "voice/floor.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define TIMES 2.0F /* of an ordinary moment: others who speak are louder than that now and then */
#define TRACE 0.03F /* of each moment stays: nothing at all is in no room */

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

void floor_sort(float *of, size_t n)
{
	qsort(of, n, sizeof(*of), by_size);
}

void floor_take_out(float *rows, size_t n, size_t bands)
{
	float sorted[FLOOR_ROWS_MAX];

	assert(n <= FLOOR_ROWS_MAX);
	for (size_t b = 0; n > 0 && b < bands; b++) {
		for (size_t i = 0; i < n; i++)
			sorted[i] = rows[i * bands + b];
		floor_sort(sorted, n);
		const float always = TIMES * powf(10, sorted[n / 2]);
		for (size_t i = 0; i < n; i++) {
			float *row = &rows[i * bands + b], power = powf(10, *row);
			*row = log10f(fmaxf(power - always, power * TRACE));
		}
	}
}
