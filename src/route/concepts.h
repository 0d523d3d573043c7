/*
 * Words that mean the same thing, in one language or across several: a subject named in German is
 * found when it comes back in English. A small table of everyday things; a word that is not in it
 * simply means itself.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

/* 0 when unknown. Common plural endings are tried. */
unsigned concept_of(struct sv folded_word);
/* Whether the name of a concept that has several words begins with this one. */
bool concept_begins(struct sv folded_word);
/* A German compound of two known things. */
bool concept_split(struct sv folded_word, unsigned *ret_first, unsigned *ret_second);
