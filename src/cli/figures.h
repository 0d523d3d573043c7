/*
 * What a strategy saves, in one line for people.
 */
#pragma once

#include <stdio.h>

#include "transcript/tokens.h"

/* "  tokens   973 less (fitted) of 21,695 (exact)" */
void print_saved_tokens(FILE *out, const struct figure *saved, const struct figure *before);
