/*
 * What the router has learned, as const data: nothing is done at the start of the program, and
 * nothing in it is a pointer, so nothing is relocated either. Made by gen-tables from the files in
 * words/ and model/ while faden is built.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* A key is looked for where its hash says (table_place), then at the next until nothing is there. A
 * key is known by its hash alone: among some ten thousand, one in 400,000 strangers is taken for
 * one of them, which changes a weight, not more. */
#define TABLE_HASH_BEGIN 2166136261U
static inline uint32_t table_hash_add(uint32_t h, struct sv part)
{
	for (size_t i = 0; i < part.n; i++)
		h = (h ^ (unsigned char)part.p[i]) * 16777619U;
	return h;
}
static inline uint32_t table_hash_end(uint32_t h)
{
	h ^= h >> 15;
	return h ? h : 1;
}
static inline uint32_t table_place(uint32_t hash, uint32_t slots)
{
	return (uint32_t)((uint64_t)hash * slots >> 32);
}
static inline uint32_t table_hash(struct sv key)
{
	return table_hash_end(table_hash_add(TABLE_HASH_BEGIN, key));
}

enum known_flag {
	KNOWN_STOP = 0x1f, /* says nothing by itself: one bit a language, in the order of lang.h */
	KNOWN_FORM = 1 << 5, /* common enough to count for how a sentence is said */
	KNOWN_RARITY = 1 << 6, /* `rarity` holds */
	KNOWN_ORDER = 1 << 7, /* tells somebody to do something: explain, schreib */
};
struct known_word {
	uint32_t hash; /* 0: free */
	uint8_t flags;
	uint8_t rarity; /* of 255 */
	uint16_t meaning; /* words that have the same one are alike; 0: none */
};
extern const struct known_word known_words[];
extern const uint32_t known_words_slots;
/* NULL: unknown. */
static inline const struct known_word *known_find(struct sv word)
{
	uint32_t h = table_hash(word);

	for (uint32_t i = table_place(h, known_words_slots); known_words[i].hash; i++)
		if (known_words[i].hash == h)
			return &known_words[i];
	return NULL;
}

static inline bool known_as(struct sv word, unsigned flags)
{
	const struct known_word *known = known_find(word);

	return known && (known->flags & flags);
}

/* Phrases that stand in lists, one bit a list: see phrase.h. */
struct known_phrase {
	uint32_t hash; /* of its words with a blank between them; 0: free */
	uint64_t lists;
};
extern const struct known_phrase known_phrases[];
extern const uint32_t known_phrases_slots;

/* How much a turn of phrase speaks for each kind of sentence, in 1/1024. */
enum { LEAN_KINDS = 3 };
struct known_gram {
	uint32_t hash; /* 0: free */
	int16_t weight[LEAN_KINDS];
};
extern const struct known_gram known_grams[];
extern const uint32_t known_grams_slots;

/* The nets, one behind the other; see net.c for their order. */
extern const float net_weights[];
extern const float net_weights_meaning[];
