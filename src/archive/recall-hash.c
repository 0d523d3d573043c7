/*
 * The content hash. All that is taken out of sessions goes through it, gigabytes as the case may
 * be. The library is built for any processor; what its header holds takes 40 % of the time when it
 * is compiled for AVX2. So that is done here as well, and which one runs goes by the processor.
 */
#include <xxhash.h>

#include "archive/archive.h"
#include "base/wide.h"

static struct recall_hash hash_anywhere(struct sv raw)
{
	XXH128_hash_t h = XXH3_128bits(raw.p, raw.n);

	return (struct recall_hash){ h.low64, h.high64 };
}

#ifdef HAVE_AVX2

/* Included once more in this way, the header defines all functions anew, as static ones. */
#pragma GCC push_options
#pragma GCC target("avx2")
#define XXH_INLINE_ALL
#include <xxhash.h>

static struct recall_hash hash_avx2(struct sv raw)
{
	XXH128_hash_t h = XXH3_128bits(raw.p, raw.n);

	return (struct recall_hash){ h.low64, h.high64 };
}
#pragma GCC pop_options

struct recall_hash recall_hash(struct sv raw)
{
	return HAVE_AVX2() ? hash_avx2(raw) : hash_anywhere(raw);
}

#else

struct recall_hash recall_hash(struct sv raw)
{
	return hash_anywhere(raw);
}

#endif
