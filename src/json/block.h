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

enum { BLOCK = 64 };

struct block {
	uint64_t quote, backslash;
};
struct block_brackets {
	uint64_t open, close; /* of either kind */
};

#if defined(__SSE2__)

enum { BLOCK_SHORT = 16 };

/* The first quote of sixteen bytes, when no backslash stands before it; else -1. Most strings are
 * that short. */
static inline int block_short(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	unsigned quote = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
	unsigned backslash = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));

	return quote && !(backslash & (quote ^ (quote - 1))) ? __builtin_ctz(quote) : -1;
}

/* Part of every 64-bit x86; wider vectors would gain little here and need two programs in one. */
static inline __m128i block_load(const char *p, unsigned i)
{
	return _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * (size_t)i));
}

static inline uint64_t block_bits(__m128i equal, unsigned i)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(equal) << 16 * i;
}

static inline struct block block_at(const char *p)
{
	const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
	struct block b = { 0, 0 };

	for (unsigned i = 0; i < 4; i++) {
		__m128i v = block_load(p, i);
		b.quote |= block_bits(_mm_cmpeq_epi8(v, quote), i);
		b.backslash |= block_bits(_mm_cmpeq_epi8(v, backslash), i);
	}
	return b;
}

/* The bit that makes "[" of "{" is the same that makes "]" of "}". */
static inline struct block_brackets block_brackets(const char *p)
{
	const __m128i bit = _mm_set1_epi8(0x20), open = _mm_set1_epi8('{'),
		      close = _mm_set1_epi8('}');
	struct block_brackets b = { 0, 0 };

	for (unsigned i = 0; i < 4; i++) {
		__m128i v = _mm_or_si128(block_load(p, i), bit);
		b.open |= block_bits(_mm_cmpeq_epi8(v, open), i);
		b.close |= block_bits(_mm_cmpeq_epi8(v, close), i);
	}
	return b;
}

#else

/* The high bits of the bytes that are c, gathered by a multiplication. */
static inline uint64_t block_equal(uint64_t w, char c)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), low7 = ~(ones << 7);
	uint64_t x = w ^ ones * (unsigned char)c;

	x = ~(((x & low7) + low7) | x) & ~low7;
	return (x >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static inline uint64_t block_word(const char *p, unsigned i)
{
	uint64_t w;

	memcpy(&w, p + 8 * (size_t)i, sizeof(w));
	return le64toh(w);
}

enum { BLOCK_SHORT = 8 };

static inline int block_short(const char *p)
{
	uint64_t w = block_word(p, 0);
	unsigned quote = (unsigned)block_equal(w, '"'), backslash = (unsigned)block_equal(w, '\\');

	return quote && !(backslash & (quote ^ (quote - 1))) ? __builtin_ctz(quote) : -1;
}

static inline struct block block_at(const char *p)
{
	struct block b = { 0, 0 };

	for (unsigned i = 0; i < 8; i++) {
		uint64_t w = block_word(p, i);
		b.quote |= block_equal(w, '"') << 8 * i;
		b.backslash |= block_equal(w, '\\') << 8 * i;
	}
	return b;
}

static inline struct block_brackets block_brackets(const char *p)
{
	const uint64_t bits = UINT64_C(0x2020202020202020);
	struct block_brackets b = { 0, 0 };

	for (unsigned i = 0; i < 8; i++) {
		uint64_t w = block_word(p, i) | bits;
		b.open |= block_equal(w, '{') << 8 * i;
		b.close |= block_equal(w, '}') << 8 * i;
	}
	return b;
}

#endif

/* Whether the byte at `at` stands behind an odd number of backslashes; `carry`: the block's first
 * byte does. */
static inline unsigned block_escaped(uint64_t backslash, unsigned carry, unsigned at)
{
	uint64_t before = at ? backslash << (BLOCK - at) : 0;
	unsigned run = ~before ? (unsigned)__builtin_clzll(~before) : BLOCK;

	return run >= at ? (at + carry) & 1 : run & 1;
}

/* The same for the byte behind the block. */
static inline unsigned block_carry(uint64_t backslash, unsigned carry)
{
	return backslash == ~UINT64_C(0) ? carry : (unsigned)__builtin_clzll(~backslash) & 1;
}

/* Quotes that begin or end a string. */
static inline uint64_t block_quotes(const struct block *b, unsigned carry)
{
	uint64_t quotes = b->quote;

	if (b->backslash == 0)
		return quotes & ~(uint64_t)carry;
	for (uint64_t left = b->quote; left; left &= left - 1)
		if (block_escaped(b->backslash, carry, (unsigned)__builtin_ctzll(left)))
			quotes &= ~(left & -left);
	return quotes;
}

/* Bits from each opening quote up to the one that closes it, without that: what lies in strings,
 * when the block begins outside of one. */
static inline uint64_t block_inside(uint64_t quotes)
{
	quotes ^= quotes << 1;
	quotes ^= quotes << 2;
	quotes ^= quotes << 4;
	quotes ^= quotes << 8;
	quotes ^= quotes << 16;
	return quotes ^ quotes << 32;
}
