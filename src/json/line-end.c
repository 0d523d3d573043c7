/*
 * The end of a line and what kinds of bytes stand before it, in one pass: files of gigabytes go
 * through here.
 */
#include <string.h>

#include "base/attr.h"
#include "json/block.h"
#include "json/jsonl-read.h"
#include "json/jsonl.h"

typedef uint8_t vector __attribute__((vector_size(32)));
typedef uint8_t unaligned __attribute__((vector_size(32), aligned(1), may_alias));

enum { STRIDE = 4 * sizeof(vector) };

static bool has_any(const vector *v)
{
	uint64_t w[sizeof(*v) / sizeof(uint64_t)];

	memcpy(w, v, sizeof(w));
	return (w[0] | w[1] | w[2] | w[3]) != 0;
}

/* Passes what has no byte below blank. */
static VECTOR_CLONES const char *skip_plain(const char *p, const char *end, unsigned *bytes)
{
	vector all = { 0 };

	for (; end - p >= STRIDE; p += STRIDE) {
		const unaligned *at = (const void *)p;
		vector a = at[0], b = at[1], c = at[2], d = at[3];
		vector low = (vector)((a < ' ') | (b < ' ') | (c < ' ') | (d < ' '));
		if (has_any(&low))
			break;
		all |= a | b | c | d;
	}
	all &= 0x80;
	*bytes |= has_any(&all) ? JSONL_HIGH : 0;
	return p;
}

/* The newline among the n bytes that were looked at, or n. */
static size_t take(struct block_kinds look, size_t n, unsigned *bytes)
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
		stop = take(block_kinds(p), BLOCK, &bytes);
		p = stop == BLOCK ? skip_plain(p + BLOCK, end, &bytes) : p + stop;
	}
	if (stop == BLOCK && p < end) {
		size_t n = (size_t)(end - p);
		memset(rest, ' ', sizeof(rest));
		memcpy(rest, p, n);
		p += take(block_kinds(rest), n, &bytes);
	}
	*ret_bytes = bytes;
	return (size_t)(p - text.p);
}
