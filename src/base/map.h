/*
 * Maps from bytes. The hash is seeded per map, so hostile keys cannot be prepared; it is never
 * written down and never compared with one of another seed. Not safe for use from several threads
 * without a lock.
 *
 * struct map leads to a 64-bit value (an index, a count, or a pointer cast through uintptr_t) and
 * keeps copies of its keys. struct idmap leads to a small number and keeps of a key nothing but its
 * hash: 12 bytes a slot, whatever the ids are like. Two ids are taken for one with a chance of
 * 2^-64 a pair: for tables of millions where a mistake would harm little.
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

struct idmap_slot {
	uint32_t hash[2]; /* both 0: free */
	uint32_t value;
};

struct idmap {
	struct idmap_slot *slots;
	size_t n, cap;
	uint64_t seed;
};

#define IDMAP_INIT            \
	{                     \
		.slots = NULL \
	}

void idmap_release(struct idmap *m);
bool idmap_get(const struct idmap *m, struct sv id, uint32_t *ret_value);
/* Sets or replaces. */
void idmap_put(struct idmap *m, struct sv id, uint32_t value);

/* For tables of another shape. */
uint64_t hash_seed(void); /* another one each time */
uint64_t hash_bytes(uint64_t seed, struct sv bytes);
