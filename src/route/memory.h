/*
 * What a conversation is remembered by: the words of its commands and answers, and which of them
 * stood together.
 */
#pragma once

#include "route/route.h"
#include "route/text.h"

enum memory_place {
	IN_COMMAND = 1 << 0,
	IN_ANSWER = 1 << 1,
	IN_FIRST = 1 << 2, /* in the command that began it */
	/* These change with every text and are not kept. */
	IN_LATEST = 1 << 3, /* in the latest command */
	IN_LATEST_ANSWER = 1 << 4,
	PLACES = 5,
};

struct memory_word {
	struct text_word w; /* `at` is in the memory's pool */
	uint8_t places;
};

/* One command or answer: words[uses[first]] … */
struct memory_text {
	uint32_t first, n;
	bool answer;
	uint8_t langs[LANG_COUNT]; /* as in struct text */
	uint32_t said, said_n; /* how it begins, in `said` */
	uint32_t vector; /* its number among the vectors, from 1; 0: not known */
};

struct memory_vector {
	int8_t v[ROUTE_MEANING_SIZE];
};

enum {
	MEMORY_COMMANDS_MAX = 12, /* the latest, and the first */
	MEMORY_ANSWERS_MAX = 4,
};

struct route_topic {
	struct str pool;
	VEC(struct memory_word) words;
	VEC(uint16_t) uses;
	VEC(struct memory_text) texts; /* oldest first */
	struct str said;
	VEC(struct memory_vector) vectors;
	bool grew;
};

/* t is what was read of the bytes. */
void memory_add(
	struct route_topic *m, const struct text *t, struct sv bytes, enum topic_source source);
/* Finds out what its texts mean, as far as that is not known. */
void memory_understand(struct route_topic *m, const struct route_meaning *meaning);
/* False: nobody can tell. */
bool memory_meaning(const struct route_meaning *meaning, struct sv text,
	const uint8_t langs[static LANG_COUNT], int8_t ret[static ROUTE_MEANING_SIZE]);
/* How alike two meanings are, -1 to 1. */
double memory_alike(
	const int8_t a[static ROUTE_MEANING_SIZE], const int8_t b[static ROUTE_MEANING_SIZE]);

static inline struct sv memory_word_sv(const struct route_topic *m, const struct memory_word *w)
{
	return sv_make(m->pool.buf + w->w.at, w->w.n);
}
