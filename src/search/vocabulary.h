/*
 * What a question is made of, in English and German: words that say nothing about what is looked
 * for, forms that no stemmer joins, and words that are too common to tell anything alone.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

/* A folded word that only holds a question together: where, did, wir. */
bool vocabulary_weak(struct sv word);
/* A folded word that beside a date says nothing of what is looked for: one of those above, or
 * happened, worked, sessions, gemacht. */
bool vocabulary_asking(struct sv word);
/* A folded word that is common everywhere: one of those above, or of programs. Two of them that
 * stand together are a term of the index (term_of_pair()): with other words here its version is
 * another. */
bool vocabulary_common(struct sv word);
/* All of them; some come twice. */
void vocabulary_each_common(void (*fn)(void *data, struct sv word), void *data);
/* Adds the other forms of an irregular word: of "went" go, goes, gone; nothing for other words. */
void vocabulary_forms(struct sv word, struct strv *out);
