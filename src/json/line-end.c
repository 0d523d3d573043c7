/*
 * The end of a line and what kinds of bytes stand before it, in one pass: files of gigabytes go
 * through here.
 */
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "json/jsonl-read.h"
#include "json/jsonl.h"
#include "json/text.h"

enum { BLOCK = 64 };

/* Of 64 bytes, one bit each. */
struct look {
	uint64_t newline, low, high;
};

#ifdef __SSE2__
static struct look look_at(const char *p)
{
	const __m128i newline = _mm_set1_epi8('\n'), last = _mm_set1_epi8(' ' - 1);
	struct look look = { 0, 0, 0 };

	for (unsigned i = 0; i < BLOCK / 16; i++) {
		__m128i x = _mm_loadu_si128((const void *)(p + (size_t)i * 16));
		__m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, last), x);
		look.newline |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, newline))
			<< (16 * i);
		look.low |= (uint64_t)(unsigned)_mm_movemask_epi8(low) << (16 * i);
		look.high |= (uint64_t)(unsigned)_mm_movemask_epi8(x) << (16 * i);
	}
	return look;
}

/* Passes blocks without a byte below blank. */
static const char *skip_plain(const char *p, const char *end, unsigned *bytes)
{
	const __m128i last = _mm_set1_epi8(' ' - 1);
	__m128i all = _mm_setzero_si128();

	for (; end - p >= BLOCK; p += BLOCK) {
		const __m128i *at = (const void *)p;
		__m128i a = _mm_loadu_si128(at), b = _mm_loadu_si128(at + 1);
		__m128i c = _mm_loadu_si128(at + 2), d = _mm_loadu_si128(at + 3);
		__m128i least = _mm_min_epu8(_mm_min_epu8(a, b), _mm_min_epu8(c, d));
		__m128i low = _mm_cmpeq_epi8(_mm_min_epu8(least, last), least);
		if (_mm_movemask_epi8(low))
			break;
		all = _mm_or_si128(all, _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d)));
	}
	*bytes |= _mm_movemask_epi8(all) ? JSONL_HIGH : 0;
	return p;
}
#else
/* The high bits of eight bytes, gathered by a multiplication. */
static uint64_t gather(uint64_t highs)
{
	return (highs >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static struct look look_at(const char *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7, low7 = ~highs;
	struct look look = { 0, 0, 0 };

	for (unsigned i = 0; i < BLOCK / 8; i++) {
		uint64_t w;
		memcpy(&w, p + (size_t)i * 8, 8);
		w = le64toh(w);
		uint64_t x = w ^ ones * '\n';
		look.newline |= gather(~(((x & low7) + low7) | x) & highs) << (8 * i);
		look.low |= gather(~(((w & low7) + ones * (0x80 - ' ')) | w) & highs) << (8 * i);
		look.high |= gather(w & highs) << (8 * i);
	}
	return look;
}

static const char *skip_plain(const char *p, const char *end, unsigned *bytes)
{
	for (; end - p >= BLOCK; p += BLOCK) {
		struct look look = look_at(p);
		if (look.low)
			break;
		*bytes |= look.high ? JSONL_HIGH : 0;
	}
	return p;
}
#endif

/* The newline among the n bytes that were looked at, or n. */
static size_t take(struct look look, size_t n, unsigned *bytes)
{
	size_t stop = look.newline ? (size_t)__builtin_ctzll(look.newline) : n;
	uint64_t before = stop < BLOCK ? (UINT64_C(1) << stop) - 1 : ~UINT64_C(0);

	*bytes |= (look.low & before ? JSONL_LOW : 0) | (look.high & before ? JSONL_HIGH : 0);
	return stop;
}

size_t jsonl_line_end(struct sv text, unsigned *ret_bytes)
{
	const char *p = text.p, *end = text.p + text.n;
	char rest[BLOCK];
	unsigned bytes = 0;
	size_t stop = BLOCK;

	p = skip_plain(p, end, &bytes);
	while (stop == BLOCK && end - p >= BLOCK) {
		stop = take(look_at(p), BLOCK, &bytes);
		p = stop == BLOCK ? skip_plain(p + BLOCK, end, &bytes) : p + stop;
	}
	if (stop == BLOCK && p < end) {
		size_t n = (size_t)(end - p);
		memset(rest, ' ', sizeof(rest));
		memcpy(rest, p, n);
		p += take(look_at(rest), n, &bytes);
	}
	*ret_bytes = bytes;
	return (size_t)(p - text.p);
}
