#include "base/hash.h"

#include <stdlib.h>
#include <sys/random.h>

__extension__ typedef unsigned __int128 wide;

/* Both halves of the product: the lower one alone leaves the high bits of what goes in at the top,
 * where the next word can take them back whatever the seed. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		abort();
	return seed;
}

uint64_t hash_bytes(uint64_t seed, struct sv bytes)
{
	const uint64_t by = (seed ^ UINT64_C(0xD6E8FEB86659FD93)) | 1;
	uint64_t h = seed ^ (bytes.n * UINT64_C(0x9E3779B97F4A7C15));

	for (size_t i = 0; i < bytes.n;) {
		uint64_t w = 0;
		size_t take = bytes.n - i < sizeof(w) ? bytes.n - i : sizeof(w);
		memcpy(&w, bytes.p + i, take);
		h = mix(h ^ w, by);
		i += take;
	}
	return mix(h, UINT64_C(0x9E3779B97F4A7C15));
}
