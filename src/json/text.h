/*
 * Pieces of JSON's lexical grammar that the files of this room share.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* White space between tokens; returns the first byte that is none, or end. */
static inline const char *json_skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p;
}

/* Bytes of the longest prefix that is valid UTF-8 (no surrogates, no overlong forms). */
size_t json_utf8_prefix(struct sv s);
/* Appends s with every byte that is not valid UTF-8 as U+FFFD. */
void json_add_utf8(struct str *out, struct sv s);
/* One past the number that begins at p, or NULL when none does. */
const char *json_number_end(const char *p, const char *end);
/* The four hexadecimal digits of a \u escape; false when there are fewer. */
bool json_hex4(const char *p, const char *end, unsigned *ret);
