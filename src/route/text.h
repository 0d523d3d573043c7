/*
 * A text as the model reads it: all tokens in order, for how it is said, and the words that it is
 * about, each once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/lang.h"
#include "base/stem.h"
#include "base/str.h"
#include "base/vec.h"

enum {
	TEXT_WORDS_MAX = 120, /* that are kept of one text: what counts is said first */
	TEXT_WORD_MAX = 40, /* bytes of one; longer ones are cut */
	TEXT_STEMS = 2,
};

struct text_token {
	uint32_t at; /* in pool, folded */
	uint32_t from, to; /* in the text */
	uint16_t n;
	bool mark; /* of punctuation */
	bool apart; /* any punctuation stands before it */
	bool quoted;
};

enum word_flag {
	WORD_IDENT = 1 << 0, /* an identifier, or a part of one */
	WORD_JOINED = 1 << 1, /* two neighbours written as one, only to be found as a whole */
	WORD_CJK = 1 << 2, /* two characters of a script without blanks */
};

struct text_word {
	uint32_t at; /* in pool, folded and without marks on letters */
	uint8_t n;
	uint8_t flags;
	uint16_t meaning; /* 0: none that others have too */
	float rarity; /* 0 everybody says it, 1 hardly anybody */
	uint32_t hash;
	uint32_t stems[TEXT_STEMS]; /* hashes; 0: none */
};

struct text {
	struct str pool;
	VEC(struct text_token) tokens;
	VEC(struct text_word) words;
	uint16_t token_of[TEXT_WORDS_MAX]; /* one a word: where it stands first; not what is joined
					    */
	size_t n_words; /* tokens that are no marks */
	bool question, quotes, identifiers;
	uint8_t langs[LANG_COUNT]; /* words that a language has as fillers, at most 255 */
};
#define TEXT_INIT                \
	{                        \
		.pool = STR_INIT \
	}
void text_release(struct text *t);

/* Adds to an empty one. stemmers NULL: only tokens are wanted. */
void text_read(struct text *t, struct sv bytes, struct stemmers *stemmers);

static inline struct sv text_token_sv(const struct text *t, const struct text_token *k)
{
	return sv_make(t->pool.buf + k->at, k->n);
}
static inline struct sv text_word_sv(const struct text *t, const struct text_word *w)
{
	return sv_make(t->pool.buf + w->at, w->n);
}

/* Three characters of a word, its beginning and end marked; i is the one in the middle. */
static inline uint32_t text_gram(struct sv w, size_t i)
{
	uint32_t a = i ? (unsigned char)w.p[i - 1] : '^', b = (unsigned char)w.p[i];
	uint32_t c = i + 1 < w.n ? (unsigned char)w.p[i + 1] : '$';

	return a << 16 | b << 8 | c;
}

/*
 * How alike two words are, 0 to 1: the same, the same stem or meaning; else by their bytes `a` and
 * `b`, which is asked for only where they have three characters in common: one within the other, or
 * written much alike.
 */
double word_sameness(const struct text_word *wa, const struct text_word *wb);
double word_likeness(
	const struct text_word *wa, struct sv a, const struct text_word *wb, struct sv b);
