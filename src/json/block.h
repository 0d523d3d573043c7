/*
 * Sixty-four bytes of a text at a time, one bit a byte: how the scanner passes over gigabytes.
 * Private to this room.
 */
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { BLOCK = 64, BLOCK_SHORT = 16, BLOCK_ESCAPE = 255 };

struct block {
	uint64_t quote, backslash;
	uint64_t open, close; /* brackets of either kind */
};
struct block_kinds {
	uint64_t newline, low, high; /* low: below blank; high: not ASCII */
};

/* The first quote of BLOCK_SHORT bytes by their bits; BLOCK_SHORT when there is none, BLOCK_ESCAPE
 * when a backslash stands before it. */
static inline int block_first(unsigned quote, unsigned backslash)
{
	unsigned first = quote | 1u << BLOCK_SHORT;

	return backslash & (first ^ (first - 1)) ? BLOCK_ESCAPE : __builtin_ctz(first);
}

#if defined(__SSE2__)

/* Part of every 64-bit x86; wider vectors would gain little here and need two programs in one. */
static inline __m128i block_load(const char *p, unsigned i)
{
	return _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * (size_t)i));
}

static inline uint64_t block_bits(__m128i equal, unsigned i)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(equal) << 16 * i;
}

static inline int block_short(const char *p)
{
	__m128i v = block_load(p, 0);

	return block_first((unsigned)block_bits(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), 0),
		(unsigned)block_bits(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')), 0));
}

static inline uint64_t block_quote(const char *p)
{
	const __m128i quote = _mm_set1_epi8('"');
	__m128i a = _mm_cmpeq_epi8(block_load(p, 0), quote);
	__m128i b = _mm_cmpeq_epi8(block_load(p, 1), quote);
	__m128i c = _mm_cmpeq_epi8(block_load(p, 2), quote);
	__m128i d = _mm_cmpeq_epi8(block_load(p, 3), quote);

	if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))) == 0)
		return 0;
	return block_bits(a, 0) | block_bits(b, 1) | block_bits(c, 2) | block_bits(d, 3);
}

/* The bit that makes "[" of "{" is the same that makes "]" of "}". */
static inline struct block block_at(const char *p)
{
	const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
	const __m128i bit = _mm_set1_epi8(0x20), open = _mm_set1_epi8('{'),
		      close = _mm_set1_epi8('}');
	struct block b = { 0, 0, 0, 0 };

	for (unsigned i = 0; i < 4; i++) {
		__m128i v = block_load(p, i), w = _mm_or_si128(v, bit);
		b.quote |= block_bits(_mm_cmpeq_epi8(v, quote), i);
		b.backslash |= block_bits(_mm_cmpeq_epi8(v, backslash), i);
		b.open |= block_bits(_mm_cmpeq_epi8(w, open), i);
		b.close |= block_bits(_mm_cmpeq_epi8(w, close), i);
	}
	return b;
}

/* A byte is low when it is the smaller of itself and the largest low one. */
static inline struct block_kinds block_kinds(const char *p)
{
	const __m128i newline = _mm_set1_epi8('\n'), last = _mm_set1_epi8(' ' - 1);
	struct block_kinds b = { 0, 0, 0 };

	for (unsigned i = 0; i < 4; i++) {
		__m128i v = block_load(p, i);
		b.newline |= block_bits(_mm_cmpeq_epi8(v, newline), i);
		b.low |= block_bits(_mm_cmpeq_epi8(_mm_min_epu8(v, last), v), i);
		b.high |= block_bits(v, i);
	}
	return b;
}

#else

static inline uint64_t block_word(const char *p, unsigned i)
{
	uint64_t w;

	memcpy(&w, p + 8 * (size_t)i, sizeof(w));
	return le64toh(w);
}

/* The high bits of eight bytes, gathered by a multiplication. */
static inline uint64_t block_gather(uint64_t highs)
{
	return (highs >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* The bytes that are c. */
static inline uint64_t block_equal(uint64_t w, char c)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), low7 = ~(ones << 7);
	uint64_t x = w ^ ones * (unsigned char)c;

	return block_gather(~(((x & low7) + low7) | x) & ~low7);
}

static inline int block_short(const char *p)
{
	uint64_t a = block_word(p, 0), b = block_word(p, 1);

	return block_first((unsigned)(block_equal(a, '"') | block_equal(b, '"') << 8),
		(unsigned)(block_equal(a, '\\') | block_equal(b, '\\') << 8));
}

static inline uint64_t block_quote(const char *p)
{
	uint64_t quote = 0;

	for (unsigned i = 0; i < 8; i++)
		quote |= block_equal(block_word(p, i), '"') << 8 * i;
	return quote;
}

static inline struct block block_at(const char *p)
{
	const uint64_t bits = UINT64_C(0x2020202020202020);
	struct block b = { 0, 0, 0, 0 };

	for (unsigned i = 0; i < 8; i++) {
		uint64_t w = block_word(p, i);
		b.quote |= block_equal(w, '"') << 8 * i;
		b.backslash |= block_equal(w, '\\') << 8 * i;
		b.open |= block_equal(w | bits, '{') << 8 * i;
		b.close |= block_equal(w | bits, '}') << 8 * i;
	}
	return b;
}

static inline struct block_kinds block_kinds(const char *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7, low7 = ~highs;
	struct block_kinds b = { 0, 0, 0 };

	for (unsigned i = 0; i < 8; i++) {
		uint64_t w = block_word(p, i);
		uint64_t low = ~(((w & low7) + ones * (0x80 - ' ')) | w) & highs;
		b.newline |= block_equal(w, '\n') << 8 * i;
		b.low |= block_gather(low) << 8 * i;
		b.high |= block_gather(w & highs) << 8 * i;
	}
	return b;
}

#endif

/* Quotes that begin or end a string, in a block that begins outside of one. */
static inline uint64_t block_quotes(const struct block *b)
{
	uint64_t quotes = b->quote;

	for (uint64_t left = b->backslash ? b->quote : 0; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctzll(left);
		uint64_t before = at ? ~(b->backslash << (BLOCK - at)) : ~UINT64_C(0);
		unsigned run = before ? (unsigned)__builtin_clzll(before) : BLOCK;
		if ((run < at ? run : at) & 1)
			quotes &= ~(UINT64_C(1) << at);
	}
	return quotes;
}

/* Bits from each opening quote up to the one that closes it, without that: what lies in strings. */
static inline uint64_t block_inside(uint64_t quotes)
{
	quotes ^= quotes << 1;
	quotes ^= quotes << 2;
	quotes ^= quotes << 4;
	quotes ^= quotes << 8;
	quotes ^= quotes << 16;
	return quotes ^ quotes << 32;
}
