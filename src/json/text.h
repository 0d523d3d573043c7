/*
 * Pieces of JSON's lexical grammar that the files of this room share.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* White space between tokens; returns the first byte that is none, or end. */
static inline const char *json_skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p;
}

enum { JSON_WORD = 8 };

/*
 * How many of the eight bytes at p, from the first on, stand in a string for themselves and are
 * ASCII: no control character, no quote, no backslash, no byte of 0x80 and above. Each term sets
 * the high bit of the bytes it means; a borrow can reach only bytes behind the first such one,
 * which in little-endian order do not matter.
 */
static inline size_t json_plain_bytes(const char *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	uint64_t w;

	memcpy(&w, p, JSON_WORD);
	w = le64toh(w);
	uint64_t quote = w ^ ones * '"', backslash = w ^ ones * '\\';
	uint64_t hits = ((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) |
		((backslash - ones) & ~backslash) | w;
	hits &= highs;
	return hits ? (size_t)__builtin_ctzll(hits) / 8 : JSON_WORD;
}

/* Bytes of the longest prefix that is valid UTF-8 (no surrogates, no overlong forms). */
size_t json_utf8_prefix(struct sv s);
/* Length of the well-formed sequence of two to four bytes there, 0 when there is none. */
size_t json_utf8_sequence(const char *at, const char *end);
/* One past the number that begins at p, or NULL when none does. */
const char *json_number_end(const char *p, const char *end);
