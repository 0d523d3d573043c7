/*
 * Words that mean the same thing, in one language or across several: a subject named in German is
 * found when it comes back in English. A small table of everyday things; a word that is not in it
 * simply means itself.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "route/wordmap.h"

struct concepts {
	struct strv owned; /* keys that are not in the table as written */
	struct wordmap words; /* folded word or phrase → number of its concept */
};

void concepts_init(struct concepts *c);
void concepts_release(struct concepts *c);
/* 0 when unknown. Common plural endings are tried. */
unsigned concept_of(const struct concepts *c, struct sv folded_word);
/* A German compound of two known things. */
bool concept_split(
	const struct concepts *c, struct sv folded_word, unsigned *ret_first, unsigned *ret_second);
