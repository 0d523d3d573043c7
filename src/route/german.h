/*
 * German verbs hide their stems: a particle stands in front or at the end of the clause, ge and zu
 * stand inside.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

/* ab, ein, zurück: what can be split off a verb. */
bool german_particle(struct sv folded_word);
/* abgesenkt → absenkt, gerundet → rundet, hochgeladen → hochladen, abzuschalten → abschalten.
 * Appends to *out; false when the word has no such form. */
bool german_present(struct str *out, struct sv folded_word);
