/*
 * What a sentence means, as a direction in space: sentences of like meaning point to like places.
 * By all-MiniLM-L6-v2, an English network that the user has installed (model/model.h); German is
 * said in English words first, where the dictionary for that is there (meaning/gloss.h).
 *
 * Nothing is opened before it is needed: that takes a tenth of a second or two, and some 60 MB.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { MEANING_SIZE = 384 };

/* Where Debian's trans-de-en has the dictionary, and how one gets it. */
#define MEANING_DICTIONARY "/usr/share/trans/de-en"
#define MEANING_GET_DICTIONARY "apt install trans-de-en"

struct meaning;
/* models_dir: where networks lie, there or not. */
struct meaning *meaning_new(const char *models_dir);
void meaning_free(struct meaning *m); /* NULL is fine */

/* Files of it are there; whether they are what they were shows when they are opened. */
bool meaning_installed(const struct meaning *m);
/* German can be glossed: there is a table, with its end. */
bool meaning_has_german(const struct meaning *m);
/* Opens it, unless it is; tried once. The error names what mends it. */
int meaning_open(struct meaning *m, struct err *reterr) MUST_USE;
/* It is open. */
bool meaning_ready(const struct meaning *m);
/* Why it could not be opened; NULL: it could, or nobody has asked yet. */
const char *meaning_failure(const struct meaning *m);
/* Makes the table of German words from the user's dictionary; how many it has. ERR_NOTFOUND: there
 * is no dictionary. */
int meaning_make_german(
	const struct meaning *m, const char *dictionary, struct err *reterr) MUST_USE;
/* Takes it away again. */
void meaning_drop_german(const struct meaning *m);

/* ret: its place, scaled to bytes; only directions can be compared. Languages other than "en" and
 * "de" are ERR_INPUT. */
int meaning_of(struct meaning *m, struct sv text, const char *language,
	int8_t ret[static MEANING_SIZE], struct err *reterr) MUST_USE;
