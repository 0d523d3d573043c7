/*
 * Looking at the words of a sentence that has been read; for the files that judge it.
 */
#pragma once

#include <assert.h>

#include "route/sentence.h"

static inline const struct token *at(const struct sentence *s, size_t i)
{
	assert(i < s->tokens.v.n);
	return &s->tokens.v.v[i];
}

/* NULL behind the end. */
static inline const struct token *peek(const struct sentence *s, size_t i)
{
	return i < s->tokens.v.n ? &s->tokens.v.v[i] : NULL;
}

/* It says something about the subject. */
static inline bool content(const struct sentence *s, size_t i)
{
	return i < s->tokens.v.n && s->words[i].kind != WORD_NONE;
}

static inline bool thing(const struct sentence *s, size_t i)
{
	return i < s->tokens.v.n &&
		(s->words[i].kind == WORD_NAME || s->words[i].kind == WORD_NOUN);
}
