/*
 * German said in English words, one by one: good enough for a network that tells English sentences
 * of like meaning. The dictionary is Ding's (Debian's trans-de-en), which is the user's own and
 * under the GPL: the table is made from it on the user's machine and nowhere else.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

/* Reads the dictionary and writes the table, whole or not at all; how many words it has.
 * ERR_NOTFOUND: there is no such dictionary. */
int gloss_make(const char *dictionary, const char *table, struct err *reterr) MUST_USE;

/* One line of the dictionary: `take` for each German word and its English; for tests and
 * gloss_make().
 */
void gloss_line(struct sv line,
	void (*take)(void *data, struct sv german, struct sv english, unsigned worse), void *data);

/* The bytes of a table look like one from its first line to its end. */
bool gloss_sound(struct sv table);
/* table: the bytes of one, sorted lines of a word, a tab and its English. What has no English stays
 * as it is. Appends. */
void gloss_text(struct sv table, struct sv text, struct str *out);
