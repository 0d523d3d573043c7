#include "base/hash.h"

#include <sys/random.h>
#include <xxhash.h>

uint64_t hash_seed(void)
{
	static const char here = 0;
	uint64_t seed;

	/* Where the system gives none, an address is better than nothing. */
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		seed = (uintptr_t)&here;
	return seed;
}

uint64_t hash_bytes(uint64_t seed, struct sv bytes)
{
	return XXH3_64bits_withSeed(bytes.p, bytes.n, seed);
}
