/*
 * The words of a recogniser: it writes pieces of text by number.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { WORDS_MAX = 1 << 17 };

struct words {
	struct str *pieces; /* by number; bytes, which need not be whole characters */
	size_t n;
};
#define WORDS_INIT             \
	{                      \
		.pieces = NULL \
	}
void words_release(struct words *w);
/* {"piece": number, …}, bytes spelt as characters in GPT-2's way. */
int words_from_json(struct words *w, struct sv json, struct err *reterr) MUST_USE;
/* The string vocab_base64 of a program: a piece a line, "▁" for a blank, "<0xNN>" for a byte. */
int words_from_script(struct words *w, struct sv script, struct err *reterr) MUST_USE;
/* Appends the text of a number; one that is unknown is nothing. */
void words_add(const struct words *w, int64_t number, struct str *out);
/* Numbers for a text, the longest pieces first; bytes that no piece begins with are left out. At
 * most max: how many. */
size_t words_split(const struct words *w, struct sv text, int64_t *ret, size_t max);
