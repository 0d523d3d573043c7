/*
 * Which record has an id: open addressing over the numbers of records, counted from 1. The ids are
 * not kept here but looked up where the records lie, which must not move meanwhile. Where an id
 * lies goes by a number that nobody knows: ids may be made to have hashes that are close together.
 */
#pragma once

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
};

/* For at most n records; `first` may be NULL when there are none. */
static inline struct ids ids_new(const uint64_t *first, size_t stride, size_t n)
{
	size_t cap = 16;

	while (cap < n * 2)
		cap *= 2;
	return (struct ids){ (const char *)first, stride, xcalloc(cap, sizeof(uint32_t)), cap - 1,
		hash_seed() | 1 };
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
