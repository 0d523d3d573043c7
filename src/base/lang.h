/*
 * The languages that faden has words of, and what a user's own words say.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

enum lang_id { LANG_EN, LANG_DE, LANG_FR, LANG_ES, LANG_ZH, LANG_COUNT };
const char *lang_name(enum lang_id lang); /* "en", "de" … */

/* What a word or phrase of the configuration says. */
/* clang-format off */
#define LANG_CLASSES(X) \
	X(CONTINUES, "continuation") /* goes on with what was said: while you're at it */ \
	X(RETURNS, "return")         /* what follows names an earlier subject: back to */ \
	X(BEGINS, "new")             /* a new subject begins: new topic */
/* clang-format on */

enum lang_class {
#define X(id, name) LANG_##id,
	LANG_CLASSES(X)
#undef X
		LANG_CLASS_COUNT
};

bool lang_class_parse(struct sv name, enum lang_class *ret);
/* The names, with commas. Appends. */
void lang_class_list(struct str *out);

/* Words of the configuration: '|' between them. */
struct lang_extra {
	struct sv cls; /* name of a class */
	struct sv words;
};
