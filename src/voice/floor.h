/*
 * What sounds all the time, a fan or a room full of people, taken out of a stretch of sound: what
 * begins and ends within it stays.
 */
#pragma once

#include <stddef.h>

enum { FLOOR_ROWS_MAX = 256 };

void floor_sort(float *of, size_t n); /* the softest first */

/* n rows (FLOOR_ROWS_MAX at most) of so many bands each: the power of a moment, as a logarithm to
 * the base of ten. In place. */
void floor_take_out(float *rows, size_t n, size_t bands);
