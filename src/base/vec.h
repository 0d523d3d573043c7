/*
 * A growing array of any type:
 *
 *	VEC(struct turn) turns = VEC_INIT;
 *	vec_push(&turns, t);
 *	vec_each (&turns, t) use(t);      (t is a pointer to each element)
 *	vec_release(&turns);              (the array only, not what its elements own)
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define VEC(type)              \
	struct {               \
		type *v;       \
		size_t n, cap; \
	}
#define VEC_INIT          \
	{                 \
		.v = NULL \
	}
#define vec_grow(vec)                                                                      \
	do {                                                                               \
		if ((vec)->n == (vec)->cap) {                                              \
			(vec)->cap = (vec)->cap ? (vec)->cap * 2 : 8;                      \
			(vec)->v = xreallocarray((vec)->v, (vec)->cap, sizeof(*(vec)->v)); \
		}                                                                          \
	} while (0)
#define vec_push(vec, ...)                            \
	do {                                          \
		vec_grow(vec);                        \
		(vec)->v[(vec)->n++] = (__VA_ARGS__); \
	} while (0)
/* Takes `count` elements out, from `first` on; of an array that was never filled, none. */
#define vec_cut(vec, first, count)                                            \
	do {                                                                  \
		size_t first_ = (first), gone_ = (count);                     \
		if (gone_ > 0) {                                              \
			(vec)->n -= gone_;                                    \
			memmove((vec)->v + first_, (vec)->v + first_ + gone_, \
				((vec)->n - first_) * sizeof(*(vec)->v));     \
		}                                                             \
	} while (0)
#define vec_each(vec, item) \
	for (__auto_type item = (vec)->v; item && item < (vec)->v + (vec)->n; item++)
/* As qsort(), also for an array that was never filled. */
#define vec_sort(vec, compare)                                                 \
	do {                                                                   \
		if ((vec)->n > 1)                                              \
			qsort((vec)->v, (vec)->n, sizeof(*(vec)->v), compare); \
	} while (0)
#define vec_release(vec)                   \
	do {                               \
		free((vec)->v);            \
		(vec)->v = NULL;           \
		(vec)->n = (vec)->cap = 0; \
	} while (0)
