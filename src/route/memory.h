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
};

struct memory_word {
	struct text_word w; /* `at` is in the memory's pool */
	uint8_t places;
};

/* One command or answer: words[uses[first]] … */
struct memory_text {
	uint32_t first, n;
	bool answer;
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
};

void memory_add(struct route_topic *m, const struct text *t, enum topic_source source);

static inline struct sv memory_word_sv(const struct route_topic *m, const struct memory_word *w)
{
	return sv_make(m->pool.buf + w->w.at, w->w.n);
}
