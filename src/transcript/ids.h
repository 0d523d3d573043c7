/*
 * Which record has an id: open addressing over the numbers of records, counted from 1. The ids are
 * not kept here but looked up where the records lie, which must not move meanwhile. Where an id
 * lies goes by a number that nobody knows: ids may be made to have hashes that are close together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

struct ids {
	const char *first; /* the id of the first record */
	size_t stride; /* from one to the next */
	uint32_t *slots;
	size_t mask;
	uint64_t by;
	bool twice; /* for the caller: several records have one id */
};

/* For the records of a VEC that have their id, a uint64_t, as that member. Empty at first. */
#define ids_new(vec, member) \
	ids_of((vec)->v, offsetof(__typeof__(*(vec)->v), member), sizeof(*(vec)->v), (vec)->n)
static inline struct ids ids_of(const void *records, size_t offset, size_t stride, size_t n)
{
	size_t cap = 16;

	while (cap < n * 2)
		cap *= 2;
	return (struct ids){
		.first = n > 0 ? (const char *)records + offset : NULL,
		.stride = stride,
		.slots = xcalloc(cap, sizeof(uint32_t)),
		.mask = cap - 1,
		.by = hash_seed() | 1,
	};
}

static inline void ids_release(struct ids *x)
{
	free(x->slots);
}

/* The place of an id: 0 there means that no record has it so far. */
static inline uint32_t *ids_slot(const struct ids *x, uint64_t id)
{
	size_t at = (size_t)(id * x->by >> 32) & x->mask;

	while (x->slots[at] &&
		*(const uint64_t *)(const void *)(x->first + (x->slots[at] - 1) * x->stride) != id)
		at = (at + 1) & x->mask;
	return &x->slots[at];
}
