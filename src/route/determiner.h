/*
 * Whether a word that opens a noun phrase has its noun: "that loop", or "that" alone.
 */
#pragma once

#include "route/sentence.h"

/* Nothing that could be the noun of this determiner follows. */
bool determiner_stands_alone(const struct sentence *s, size_t i);
/* "das gefällt mir", "hast du das geändert": unknown, small, with the ending of a verb, and no
 * noun behind it. */
bool german_small_verb(const struct sentence *s, size_t i);
