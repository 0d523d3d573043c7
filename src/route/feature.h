/*
 * A decision in numbers: what a careful reader would look at, for the sentence and for each
 * conversation that it may belong to. What they weigh is learned (net.h).
 */
#pragma once

#include "route/manner.h"
#include "route/memory.h"
#include "route/route.h"

/* Of the sentence. Name, what it is part of. */
/* clang-format off */
#define SENTENCE_FEATURES(X) \
	X(S_NEW, MANNER)       /* how it is said: it begins something */ \
	X(S_LEANS, MANNER) \
	X(S_NAMES, MANNER) \
	X(S_LENGTH, MANNER) \
	X(S_WORDS, MANNER)     /* that it is about */ \
	X(S_RARITY, NOVEL)     /* of all of them */ \
	X(S_UNKNOWN, NOVEL)    /* rarity of those that were said nowhere */ \
	X(S_STRANGEST, NOVEL) \
	X(S_NO_WORDS, MANNER) \
	X(S_QUESTION, MANNER) \
	X(S_CHOICE, PLACE)     /* how many there are since the reset */ \
	X(S_IDENT, NOVEL) \
	X(S_ALL_RESET, PLACE)  /* there are some, but all from before the reset */ \
	X(S_UNHEARD, NOVEL)    /* as S_UNKNOWN, answers included */ \
	X(S_RETURNS, MANNER)   /* it says that it goes back to something */ \
	X(S_ORDER, MANNER)     /* it begins with an order */ \
	X(S_NOVEL, NOVEL)      /* the share of it that nobody has said or heard */ \
	X(S_ORDER_NOVEL, NOVEL) /* an order about that, leaning on nothing */ \
	X(S_MEANS, MEANING)    /* how like it the likest text is */

/* Of a conversation. */
#define CONV_FEATURES(X) \
	X(C_SHARE, WORDS)      /* of the sentence's rarity that its commands know */ \
	X(C_MASS, WORDS)       /* the same as a sum */ \
	X(C_BEST, WORDS)       /* its rarest known word */ \
	X(C_COUNT, WORDS) \
	X(C_OWN_SHARE, WORDS)  /* what only this one knows */ \
	X(C_OWN_MASS, WORDS) \
	X(C_FIRST, WORDS)      /* known from the command that began it */ \
	X(C_LATEST, WORDS)     /* … from the latest one */ \
	X(C_MISSING, NOVEL)    /* what it does not know */ \
	X(C_IDENT, WORDS)      /* an identifier that both have */ \
	X(C_SPELT, WORDS)      /* likeness letter by letter: the best command */ \
	X(C_SPELT_LATEST, WORDS) \
	X(C_SPELT_FIRST, WORDS) \
	X(C_SPELT_AHEAD, WORDS) /* of all others */ \
	X(C_AGE, TIME) \
	X(C_RANK, TIME)        /* among those since the reset, by time */ \
	X(C_LAST, TIME)        /* nothing was active after it */ \
	X(C_LAST_HERE, TIME)   /* … in this folder */ \
	X(C_HERE, PLACE) \
	X(C_ELSEWHERE, PLACE) \
	X(C_NEAR, PLACE)       /* above, below or in the same project */ \
	X(C_RESET, PLACE) \
	X(C_LEANS_HERE, LEANS) \
	X(C_LEANS_LAST, LEANS) \
	X(C_LEANS_OTHER, LEANS) \
	X(C_NAMES_MASS, WORDS) \
	X(C_NEW_MASS, WORDS) \
	X(C_LAST_MASS, WORDS) \
	X(C_JUST_NOW, TIME) \
	X(C_LONG_AGO, TIME) \
	X(C_ONLY, PLACE)       /* there is no other */ \
	X(C_LEANS_AGE, LEANS) \
	X(C_BEST_OTHER, WORDS) \
	X(C_ANSWER_MASS, ANSWER) /* known from the agent's answers alone */ \
	X(C_ANSWER_BEST, ANSWER) \
	X(C_OWN_ALL, ANSWER)   /* what only this one knows, answers included */ \
	X(C_MISSING_ALL, NOVEL) \
	X(C_ANSWER_LATEST, ANSWER) \
	X(C_NAMES_ANSWER, ANSWER) \
	X(C_LEANS_ANSWER, ANSWER) \
	X(C_ANSWERED, ANSWER) \
	X(C_SPELT_ANSWER, ANSWER) \
	X(C_FOLDER_NAMED, PLACE) /* the sentence says where: "in worker" */ \
	X(C_RETURNS_MASS, WORDS) /* it goes back to something that is known here … */ \
	X(C_RETURNS_LAST, LEANS) /* … or that ran last here */ \
	X(C_BACK_SHARE, WORDS) /* of what it says that it goes back to, what only this one knows */ \
	X(C_TURNS, TIME)       /* how often it went on; beyond a few it is the same */ \
	X(C_ONCE, TIME) \
	X(C_TONGUE, MANNER)    /* in the language of the sentence */ \
	X(C_TONGUE_LAST, MANNER) \
	X(C_MEANS, MEANING)    /* likeness of what is meant: the best command; all 0 where not known */ \
	X(C_MEANS_LATEST, MEANING) \
	X(C_MEANS_FIRST, MEANING) \
	X(C_MEANS_USUAL, MEANING) /* the mean of its commands */ \
	X(C_MEANS_AHEAD, MEANING) /* of all others */ \
	X(C_MEANS_LAST, MEANING) /* where it ran last here */ \
	X(C_MEANS_ANSWER, MEANING) \
	X(C_MEANS_ANSWER_LATEST, MEANING) \
	X(C_MEANS_ALL_AHEAD, MEANING) /* answers included */
/* clang-format on */

enum feature_group {
	GROUP_WORDS,
	GROUP_ANSWER,
	GROUP_NOVEL,
	GROUP_MANNER,
	GROUP_LEANS,
	GROUP_TIME,
	GROUP_PLACE,
	GROUP_MEANING,
	GROUP_COUNT
};

enum {
#define X(name, group) name,
	SENTENCE_FEATURES(X)
#undef X
		SENTENCE_FEATURE_COUNT
};
enum {
#define X(name, group) name,
	CONV_FEATURES(X)
#undef X
		CONV_FEATURE_COUNT
};

struct feature_row {
	size_t index; /* of the conversation */
	double x[CONV_FEATURE_COUNT];
	size_t word, answer_word; /* the rarest of the sentence's words that it knows; ROUTE_NONE */
};

struct features {
	double s[SENTENCE_FEATURE_COUNT];
	VEC(struct feature_row) rows; /* of those that it may belong to; to be released */
	bool meaning; /* what is meant counts */
	size_t strange; /* the rarest word that nobody knows; ROUTE_NONE */
};

/*
 * `topics` has one a conversation. What runs or has failed is read like the others: whether it can
 * go on is no reason to mean another. means: what the sentence means; NULL: not known.
 */
void features_read(const struct text *t, const double manner[static MANNER_COUNT],
	const struct route_query *query, const struct route_conv *convs,
	struct route_topic *const *topics, size_t n, const int8_t *means, struct features *ret);
