/*
 * A map from ids to small numbers that keeps no id but its hash: 12 bytes a slot, whatever the ids
 * are like. Two ids are taken for one with a chance of 2^-64 a pair; the hash is seeded per map, so
 * that hostile ids cannot be prepared. For tables of millions where a mistake would harm little.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

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
