/*
 * A hash map from bytes to a 64-bit value (an index, a count, or a pointer cast through
 * uintptr_t). Keys are copied. The hash is seeded per map, so hostile keys cannot be prepared.
 * Not safe for use from several threads without a lock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct map_slot {
	char *key; /* NULL: free */
	uint32_t key_n;
	uint32_t hash;
	uint64_t value;
};

struct map {
	struct map_slot *slots;
	size_t n, cap;
	uint64_t seed;
};

#define MAP_INIT              \
	{                     \
		.slots = NULL \
	}
#define AUTO_MAP CLEANUP(map_release) struct map

void map_release(struct map *m);
bool map_get(const struct map *m, struct sv key, uint64_t *ret_value);
/* Sets or replaces; true when the key is new. */
bool map_put(struct map *m, struct sv key, uint64_t value);
/* The slot's value for in-place change, made with 0 when missing; valid until the next put. */
uint64_t *map_ref(struct map *m, struct sv key);
/* Walks: start with *at = 0; false at the end. The order is arbitrary. */
bool map_next(const struct map *m, size_t *at, struct sv *ret_key, uint64_t *ret_value);
