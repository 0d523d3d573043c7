/*
 * What a question is made of, in English and German: words that say nothing about what is looked
 * for, and forms that no stemmer joins.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

/* A folded word that only holds a question together: where, did, wir. */
bool vocabulary_weak(struct sv word);
/* Adds the other forms of an irregular word: of "went" go, goes, gone; nothing for other words. */
void vocabulary_forms(struct sv word, struct strv *out);
