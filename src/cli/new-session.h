/*
 * What the commands that make a session out of another say about it.
 */
#pragma once

#include <stdio.h>

#include "transcript/tokens.h"
#include "transcript/transcript.h"

/* The agent's own words for going on with a session, before its id; NULL when it has none. */
const char *resume_words(const char *agent, enum transcript_format format);
/* "  tokens   973 less (fitted) of 21,695 (exact)" */
void print_saved_tokens(FILE *out, const struct figure *saved, const struct figure *before);
/* The commands that go on with it; words as of resume_words(). */
void print_resume(FILE *out, const char *words, const char *id);
