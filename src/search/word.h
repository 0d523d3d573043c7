/*
 * Text to words, for the index and for what is looked for in it alike.
 *
 * A word is composed (NFC) and case-folded, so that "Straße" is "strasse". Digits are words.
 * Identifiers (camelCase, snake_case, kebab-case, main.c) come as a whole and then part by part:
 * the parts have positions one after the other, the whole that of its first part. Scripts without
 * blanks come as overlapping pairs of characters. What is longer than WORD_MAX without a break, and
 * long runs of base64, is no word. Any bytes are taken; invalid UTF-8 separates words.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/stem.h"
#include "base/str.h"

enum {
	WORD_MAX = 64, /* bytes of a word, before and after folding */
	TERM_MAX = 254, /* bytes of a term of a field */
};

enum word_kind {
	WORD_PLAIN,
	WORD_WHOLE, /* an identifier; its parts follow */
	WORD_PART,
	WORD_PAIR, /* two characters of a script without blanks */
	WORD_LAST, /* the last one of such a run: found by its beginning, not to be asked for */
};

struct word_at {
	struct sv text; /* valid until the next call */
	uint32_t position;
	enum word_kind kind;
	size_t from, size; /* where it stands in the text, in bytes */
};

struct word_walk {
	struct sv text;
	size_t at;
	size_t end; /* of the identifier or run that `at` is in; 0: in none */
	size_t looked; /* known to be no base64 up to here */
	uint32_t position;
	bool pairs; /* the run has no blanks */
	bool many; /* the identifier has parts */
	bool plain; /* it is one word of small ASCII letters and digits */
	char buf[WORD_MAX];
};

/* The text stays the caller's and must outlive the walk. Nothing is to be released. */
void words_begin(struct word_walk *w, struct sv text);
bool words_next(struct word_walk *w, struct word_at *ret);

/* ---- terms that are no words ---- */

/* A term of a field begins with this byte, which no word has. */
enum term_field {
	TERM_TOOL = 1, /* name of a tool that was called */
	TERM_FILE = 2, /* a path in a tool's input, whole and by its last part */
	TERM_PAIR = 3, /* two common words, the one behind the other */
};
/* Appends the term for a value: the byte and the folded value; of one that is too long its end. */
void term_of_field(struct str *out, enum term_field field, struct sv value);
/* The term for two words of vocabulary_common() that stand together; where it is, the first of them
 * is. */
enum { PAIR_TERM_MAX = 2 * WORD_MAX + 2 };
struct sv term_of_pair(struct sv first, struct sv second, char buf[static PAIR_TERM_MAX]);

/* ---- word forms ---- */

/*
 * What words have in common that mean the same: their stem by one language, or the word without
 * marks (é is e). Only words of letters have forms.
 */
enum word_form { FORM_ENGLISH, FORM_GERMAN, FORM_UNMARKED, FORMS };
struct word_forms {
	struct stemmers stemmers;
	char buf[FORMS][WORD_MAX];
};
#define WORD_FORMS_INIT                              \
	{                                            \
		.stemmers = { .by_lang = { NULL } }, \
	}
void word_forms_release(struct word_forms *f);
/* The form of a folded word, which may be the word itself; empty when it has none. Valid until the
 * same form is asked for again. One thread at a time. */
struct sv word_form(struct word_forms *f, enum word_form form, struct sv word);
