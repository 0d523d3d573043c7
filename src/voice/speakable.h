/*
 * What is said of an answer: sentences, made from Markdown as it streams. Code, tables and
 * addresses are not read out but named ("code on screen"), once where several follow each other; of
 * a path its last part is said. Marks are left out; abbreviations, units and dates are written out
 * in the language of the sentence, and end none. Which language that is, its own words tell.
 */
#pragma once

#include "base/str.h"

enum speakable_language { SPEAKABLE_UNKNOWN, SPEAKABLE_DE, SPEAKABLE_EN };

enum {
	/* A sentence that has not ended here is cut at a word: nobody waits for the rest, and
	 * engines take no more. */
	SPEAKABLE_SENTENCE_MAX = 400,
};

/* One sentence, ready to be said: valid UTF-8, one line, with a letter or a digit in it. Language
 * by its text and those before it, never unknown. */
typedef void (*speakable_fn)(void *data, struct sv sentence, enum speakable_language language);

struct speakable;
/* fallback: where the text does not tell. */
struct speakable *speakable_new(enum speakable_language fallback, speakable_fn fn, void *data);
void speakable_free(struct speakable *s); /* NULL is fine */
/* The next piece of the answer, cut anywhere; sentences are told from within as soon as they are
 * complete. */
void speakable_feed(struct speakable *s, struct sv text);
/* A paragraph ends (a tool ran), or the answer: what is left is told. */
void speakable_flush(struct speakable *s);
const char *speakable_code(enum speakable_language language); /* "de", "en" */
