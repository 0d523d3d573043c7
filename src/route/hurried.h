/*
 * Words as hurried people type them: French and Spanish without accents, and with hanging pronouns
 * cut off as the tokeniser does.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

enum hurry { HURRY_HYPHENS, HURRY_ACCENTS, HURRY_COUNT };

/* Writes the variant (never longer than the word, not terminated) and its length; false when it
 * is the word itself or longer than `size`. */
bool hurried(enum hurry how, struct sv word, char *out, size_t size, size_t *ret_n);
