/*
 * Character properties as the seed's language has them (its regular expressions, lower() and
 * split()), which are not C's and not all of utf8proc's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* White space of split() and \s: NEL, NBSP, the separators U+001C to U+001F and all of Zs. */
bool unicode_space(uint32_t cp);
/* \w: letters, numbers, underscore. */
bool unicode_word(uint32_t cp);
/* Full lower case: U+0130 gives two code points, capital sigma ends a word as final sigma. */
void unicode_lower(struct str *out, struct sv s);
