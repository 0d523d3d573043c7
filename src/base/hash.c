#include "base/hash.h"

#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

uint64_t hash_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		abort();
	return seed;
}

uint64_t hash_bytes(uint64_t seed, struct sv bytes)
{
	return XXH3_64bits_withSeed(bytes.p, bytes.n, seed);
}
