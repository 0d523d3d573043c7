/*
 * The spans within a line of Markdown. A part of markdown.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { MARKDOWN_CODE_INDENT = 4 /* columns; also what a tab in front of a line counts */ };

static inline bool markdown_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

enum span_kind {
	SPAN_TEXT, /* inner as it is */
	SPAN_CODE,
	SPAN_EMPHASIS,
	SPAN_STRONG,
	SPAN_BOTH, /* strong emphasis */
	SPAN_LINK, /* also an image */
};

struct span {
	enum span_kind kind;
	struct sv inner; /* all slices point into the input */
	struct sv mark; /* the opening mark as it was written */
	struct sv url;
};

/*
 * Cuts the next span off the front of s (s.n > 0) and returns how many bytes it takes; 0 when
 * that depends on what comes next, which cannot be when `whole` (nothing more comes in this line).
 * `before` is the character in front of s, 0 at the beginning of a line.
 */
size_t span_next(struct sv s, bool whole, uint32_t before, struct span *ret);
