/*
 * Every word the router knows, as const data made at build time by gen-words: nothing is done at
 * the start of the program, and nothing in it is a pointer, so nothing is relocated either.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"
#include "route/lang.h"

/* One folded word or phrase. */
struct word_row {
	uint32_t at; /* in word_pool */
	uint16_t meaning; /* 0: none; with WORD_BEGINS_CONCEPT */
	uint8_t n;
	uint8_t masks[LANG_COUNT]; /* index into word_masks of each language; 0: unknown there */
};

enum {
	WORD_INDEX_SIZE = 1 << 14, /* slots; gen-words makes sure that they suffice */
	WORD_BEGINS_CONCEPT = 1 << 15, /* a concept's name of several words begins so */
	WORD_MASKS_MAX = 256, /* different ones of a language */
};

/* Beyond the classes, in word_masks: longer phrases begin with this one. */
#define WORD_BEGINS_PHRASE ((lang_mask)1 << 63)
_Static_assert(LANG_CLASS_COUNT < 63, "one bit a class and one for phrases");

extern const struct word_row word_rows[];
extern const uint16_t word_index[WORD_INDEX_SIZE]; /* number of a row plus one; 0: free */
extern const lang_mask word_masks[LANG_COUNT][WORD_MASKS_MAX];
extern const uint8_t word_pool[];

/* FNV-1a: the keys are ours, nobody prepares collisions. The slot to begin at; then the next. */
static inline size_t word_slot(struct sv key)
{
	uint64_t h = 14695981039346656037U;

	for (size_t i = 0; i < key.n; i++)
		h = (h ^ (unsigned char)key.p[i]) * 1099511628211U;
	return (h ^ h >> 32) % WORD_INDEX_SIZE;
}

/* NULL when unknown. */
const struct word_row *wordtable_find(struct sv key);

/*
 * Words that mean the same thing, in one language or across several: a subject named in German is
 * found when it comes back in English. A small table of everyday things; a word that is not in it
 * simply means itself.
 */
/* 0 when unknown. Common plural endings are tried. */
unsigned concept_of(struct sv folded_word);
/* Whether the name of a concept that has several words begins with this one. */
bool concept_begins(struct sv folded_word);
/* A German compound of two known things. */
bool concept_split(struct sv folded_word, unsigned *ret_first, unsigned *ret_second);
