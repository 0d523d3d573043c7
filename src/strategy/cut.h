/*
 * Which texts of a piece a trim takes out: for those who do it, and those who foretell it.
 */
#pragma once

#include "strategy/placeholder.h"
#include "transcript/line.h"

enum cut_what {
	CUT_TEXT, /* a string */
	CUT_BLOCKS, /* a list of nothing but texts, which are long together */
	CUT_PICTURE, /* a block of a list that may hold one; its size is not looked at */
};
struct cut {
	enum cut_what what;
	struct jval val;
	size_t chars; /* of its texts */
	struct sv part; /* the member of a tool's input that it is, or is in; empty: none */
	struct sv span; /* what it is in the line: val, unless that lies in the text of a string */
	const struct text_walk *inside; /* that string and its text; NULL: none */
};
typedef void cut_fn(void *data, const struct cut *cut);

/* Calls fn for each text of `least` characters or more, in order; placeholders stay. */
void cut_each(const struct line_piece *piece, const char *text_type, size_t least, cut_fn *fn,
	void *data);
