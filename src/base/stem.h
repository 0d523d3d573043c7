/*
 * Stems of words, by Snowball. Not for several threads at once.
 */
#pragma once

#include <stdbool.h>

#include "base/lang.h"
#include "base/str.h"

struct stemmers {
	void *by_lang[LANG_COUNT]; /* made when first asked for; NULL before, or where there is none
				    */
};

void stemmers_release(struct stemmers *st);
/* The stem of a folded word, valid until the next call; the word itself where the language has no
 * stemmer. */
struct sv stem_of(struct stemmers *st, enum lang_id lang, struct sv word);
