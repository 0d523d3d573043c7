/*
 * The words the router knows, as people write them. Only gen-words reads these lists; the program
 * has the table made from them (wordtable.h).
 */
#pragma once

#include <stddef.h>

#include "route/lang.h"

/* Words of each class, '|' between them, lower case, blanks inside phrases. Folded (see
 * utf8_normalise) but for the sharp s, which German readers expect to see. */
struct word_list {
	const char *words[LANG_CLASS_COUNT];
};

extern const struct word_list words_en, words_de, words_fr, words_es, words_zh;

/* One row a concept, spelled the same way. A concept's number is its row plus one. */
extern const char *const concept_rows[];
extern const size_t n_concept_rows;
