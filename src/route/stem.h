/*
 * Stems of words, by Snowball. Not for several threads at once.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "route/lang.h"

struct stemmers {
	void *by_lang[LANG_COUNT]; /* made when first asked for; NULL before, or where there is none
				    */
};

void stemmers_release(struct stemmers *st);
/* The stem of a folded word, valid until the next call; the word itself where the language has no
 * stemmer. */
struct sv stem_of(struct stemmers *st, enum lang_id lang, struct sv word);

/*
 * German verbs hide their stems: a particle stands in front or at the end of the clause, ge and zu
 * stand inside.
 */
/* ab, ein, zurück: what can be split off a verb. */
bool german_particle(struct sv folded_word);
/* abgesenkt → absenkt, gerundet → rundet, hochgeladen → hochladen, abzuschalten → abschalten.
 * Appends to *out; false when the word has no such form. */
bool german_present(struct str *out, struct sv folded_word);
