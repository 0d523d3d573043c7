/*
 * A hash map over words whose bytes live elsewhere (const tables): made at every start of the
 * program, so it copies nothing and allocates once for its expected size.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

struct wordmap_slot {
	struct sv key; /* key.p == NULL: free */
	uint64_t value;
};

struct wordmap {
	struct wordmap_slot *slots;
	size_t n, cap; /* cap is a power of two */
};

/* Room for `expected` words without growing. */
void wordmap_init(struct wordmap *m, size_t expected);
void wordmap_release(struct wordmap *m);
/* 0 when missing. */
uint64_t wordmap_get(const struct wordmap *m, struct sv key);
/* The value, made with 0 when missing; key must live as long as the map. Valid until the next. */
uint64_t *wordmap_ref(struct wordmap *m, struct sv key);
