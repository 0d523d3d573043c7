/*
 * A sentence as words. Cuts at white space and punctuation but keeps identifiers, file names and
 * hyphenated words whole; marks what is quoted (a caption is not a signal); knows the apostrophes
 * and quotation marks of every keyboard; cuts Chinese at the words of the lexicon.
 */
#pragma once

#include "base/vec.h"
#include "route/lang.h"

enum token_flag {
	TOKEN_QUOTED = 1 << 0,
	TOKEN_UPPER = 1 << 1, /* begins with a capital */
	TOKEN_IDENT = 1 << 2, /* snake_case, camelCase, a.file, a/path */
	TOKEN_HAN = 1 << 3,
	TOKEN_CLITIC = 1 << 4, /* a pronoun hanging on the verb: fais-le, versuch's, hazlo */
	TOKEN_IN_PHRASE = 1 << 5, /* part of a longer phrase that begins before it */
};

struct token {
	struct sv raw; /* in the text */
	uint32_t word_at, word_n; /* folded, in struct token_list.words */
	lang_mask cls; /* of the word alone */
	lang_mask phrase; /* of the longest known phrase that begins here (at least the word) */
	uint8_t phrase_n; /* its words */
	uint8_t flags;
	char before; /* punctuation in front: 0 none, ',' or '.' (any full stop, also ':' and ';')
		      */
	char after; /* the same behind, besides '?' */
};

struct token_list {
	VEC(struct token) v;
	struct str words;
	enum lang_id lang; /* of most words */
	bool lang_sure; /* … of which at least one is of no other */
	enum lang_id second; /* also spoken; the same as lang when there is none */
	bool question; /* ends with a question mark */
	bool mixed_case; /* capitals are used as the language wants them */
};

#define TOKENS_INIT                              \
	{                                        \
		.words = {.buf = str_empty_buf } \
	}

void tokens_release(struct token_list *t);
/* Cuts text (any bytes) and looks every word up. *t is empty before. */
void tokens_read(struct token_list *t, struct sv text, const struct lexicon *lex);
static inline struct sv token_word(const struct token_list *t, const struct token *k)
{
	return sv_make(t->words.buf + k->word_at, k->word_n);
}

/*
 * Utterances against lists of phrases, word by word: folded, whatever the punctuation, the white
 * space and the apostrophes.
 */
/* Words of an utterance without classes. Release with tokens_release(). */
void phrase_read(struct token_list *t, struct sv text);
/* Number of words of the longest phrase of the list ('|' between them) that stands at word i. */
size_t phrase_at(const struct token_list *t, size_t i, const char *list);
/* The text from word i to the end, without closing punctuation. */
struct sv phrase_rest(const struct token_list *t, size_t i);
