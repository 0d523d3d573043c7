/*
 * What a text or a conversation is about: terms with weights, and how well two of them agree.
 */
#pragma once

#include "base/vec.h"
#include "route/route.h"
#include "route/sentence.h"
#include "route/stem.h"
#include "route/wordtable.h"

enum term_flag {
	TERM_WHOLE = 1 << 0, /* a whole word, compound or identifier, not a part of one */
	TERM_PAIR = 1 << 1, /* two neighbours written as one: "feuchte sensor" */
	TERM_NAME = 1 << 2, /* of a word that sentences are about */
	TERM_FOCUS = 1 << 3,
	TERM_HEAD = 1 << 4,
	TERM_IDENT =
		1 << 5, /* an identifier or compound of several parts, hardly shared by chance */
	TERM_DEFINITE = 1 << 6, /* the X, in the focus */
	TERM_GERMAN = 1 << 7, /* German makes compounds: Gitarrenspuren, die Spuren */
};

struct topic_term {
	uint32_t key_at, key_n; /* folded word, in text */
	uint32_t stem_at, stem_n;
	unsigned meaning; /* 0: none */
	unsigned pair; /* two concepts as one number; 0: none */
	float weight;
	uint16_t group; /* terms of one word (or pair of words) share it */
	uint16_t chunk;
	uint8_t flags;
};

enum {
	TOPIC_TERMS_MAX = 600, /* beyond that a long conversation gets no new ones */
	TOPIC_QUERY_MAX = 80, /* the same for the text to be decided: what counts is said first */
};

struct route_topic {
	VEC(struct topic_term) terms;
	struct str text;
};

/* What turns words into terms. Not for several threads at once. */
struct words {
	struct lexicon lex;
	struct stemmers stemmers;
};

void words_init(struct words *w, const struct lang_extra *extra, size_t n_extra);
void words_release(struct words *w);

/* Adds the terms of a sentence. A term that is there already keeps the greater weight. */
void topic_add(
	struct words *w, struct route_topic *t, const struct sentence *s, enum topic_source source);

static inline struct sv term_key(const struct route_topic *t, const struct topic_term *m)
{
	return sv_make(t->text.buf + m->key_at, m->key_n);
}
static inline struct sv term_stem(const struct route_topic *t, const struct topic_term *m)
{
	return sv_make(t->text.buf + m->stem_at, m->stem_n);
}
