/*
 * Words by class and language. The tables are const data; a configuration may add words to any
 * class of any language, and languages of its own.
 */
#pragma once

#include "base/str.h"

/* One addition from the configuration: words separated by '|', blanks inside a phrase. */
struct lang_extra {
	struct sv language; /* "en", "de", … */
	struct sv cls; /* name of a word class */
	struct sv words;
};
