/*
 * "Did you mean …?": the candidate nearest to a mistyped word.
 */
#pragma once

#include <stddef.h>

#include "base/str.h"

struct suggest {
	struct sv word;
	const char *best; /* NULL while nothing is near enough */
	size_t distance; /* of best */
};

#define SUGGEST_INIT(w)     \
	{                   \
		.word = (w) \
	}

/* For printf: "%s%s%s" becomes " (did you mean 'best'?)", or nothing for NULL. */
#define SUGGEST_ARG(best) \
	(best) ? " (did you mean '" : "", (best) ? (best) : "", (best) ? "'?)" : ""

/* Offers a candidate; the text must outlive the suggest. Of equals the first one stays. */
void suggest_offer(struct suggest *s, const char *candidate);

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b, bytewise, ASCII
 * case ignored; more than SUGGEST_MAX_WORD bytes on either side count as far apart. */
enum { SUGGEST_MAX_WORD = 64 };
size_t suggest_distance(struct sv a, struct sv b);
