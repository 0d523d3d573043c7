/*
 * Round control, as it is typed at the beginning of a line: [r+5] five rounds more, [r=10] ten from
 * now on, [r=unlimited] any number, [compact] shortens the sessions; any number of them, from left
 * to right, in any case.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { ROUNDS_UNLIMITED = -1 };
#define ROUNDS_MAX ((int64_t)1000000000)

struct rounds_line {
	int64_t remaining; /* afterwards; ROUNDS_UNLIMITED stays so when some are added */
	bool changed; /* there was a marker for it */
	bool compact;
	struct sv text; /* what is left of the line, without blanks around it */
	struct sv wrong; /* what it begins with that was meant as one and is none; empty: nothing */
	struct sv late; /* a marker in the text, where it is only words; empty: none */
};

/* remaining: before it. A number beyond ROUNDS_MAX counts as that. */
struct rounds_line rounds_read(struct sv line, int64_t remaining);
