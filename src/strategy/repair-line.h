/*
 * One line of a session that is not one plain JSON object: what is wrong with it, and which entries
 * can still be read from it. Private to repair.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "base/vec.h"
#include "transcript/transcript.h"

enum {
	LINE_NULL = 1u << 0,
	LINE_OTHER = 1u << 1, /* something that is no object */
	LINE_TORN = 1u << 2,
	LINE_BURIED = 1u << 3, /* an object behind a torn one */
	LINE_GLUED = 1u << 4, /* several objects */
	LINE_NUL = 1u << 5,
	LINE_CONTROL = 1u << 6,
};

struct line_part {
	struct sv text; /* one object */
	bool seen; /* the agent reads it too */
};

struct mended {
	struct str buf; /* what was cleaned */
	VEC(struct line_part) parts; /* slices of the line or of buf */
	struct sv torn; /* the last piece that is cut off, empty when there is none */
	unsigned damage; /* LINE_ bits; 0: the line is one object, or blank */
};
#define MENDED_INIT             \
	{                       \
		.buf = STR_INIT \
	}
void mended_release(struct mended *m);

/* The text without its newline. Clears m first. */
void line_mend(struct mended *m, const struct transcript_format *format, struct sv text);

/* Whether it has bytes below blank: a parse alone does not tell whether it is fine. */
bool line_is_low(struct sv text);
