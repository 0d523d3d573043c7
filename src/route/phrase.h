/*
 * Utterances against lists of phrases, word by word: folded, whatever the punctuation and the white
 * space. The lists are the files of words/, all languages in one.
 */
#pragma once

#include "route/text.h"

/* clang-format off */
#define PHRASE_LISTS(X) \
	X(BEGINS, "begins")               /* a new subject: "new topic" */ \
	X(RETURNS, "returns")             /* to an earlier one: "back to" */ \
	X(TURNS_TO, "turns-to")           /* … or to a subject, whether there was one or not: "as for" */ \
	X(GO_ON, "go-on")                 /* all of it: with what was there, and no more than that */ \
	X(BACK_TO, "back-to")             /* what follows names what is meant */ \
	X(GO_BACK_TO, "go-back-to")       /* … unless it is a thing: "go back to the old colour" */ \
	X(CORRECT_DENY, "correct-deny")   /* no, wrong */ \
	X(CORRECT_NEW, "correct-new")     /* that should have been a new conversation */ \
	X(CORRECT_OTHER, "correct-other") /* … the other one */ \
	X(CORRECT_ABOUT, "correct-about") /* … the one about what follows */ \
	X(CORRECT_ONE, "correct-one")     /* ends a name: "the crawler one" */ \
	X(CORRECT_THREAD, "correct-thread") /* what only speaks of conversations */ \
	X(CORRECT_MEANT, "correct-meant") /* what follows was meant: "that was for" */ \
	X(CORRECT_NOT, "correct-not")     /* what follows was not, but what comes behind that */ \
	X(CORRECT_BEGIN, "correct-begin") /* what one says to have a conversation: "start", "in" */ \
	X(CORRECT_FRESH, "correct-fresh") /* … a new one */ \
	X(CORRECT_ELSE, "correct-else")   /* … another one */ \
	X(CORRECT_POLITE, "correct-polite") \
	X(CORRECT_ARTICLE, "correct-article") \
	X(PLAN_SAID, "plan-said")         /* decides wherever it stands: no code yet */ \
	X(PLAN_ORDER, "plan-order")       /* orders to plan that are names of things as well */ \
	X(PLAN_VERB, "plan-verb") \
	X(PLAN_NOUN, "plan-noun") \
	X(PLAN_FOLLOWS, "plan-follows")   /* what may follow "a plan" when a plan is meant */ \
	X(EDIT_VERB, "edit-verb") \
	X(THING_NEW, "thing-new")         /* a, ein */ \
	X(THING_KNOWN, "thing-known")     /* the, dieser */ \
	X(ORDER_OPENS, "order-opens")     /* what an order may come after: please, let's */ \
	X(JOINS, "joins")                 /* and, dann */ \
	X(NEEDS, "needs")                 /* by which alone something is asked for: I need */ \
	X(STATES, "states")               /* says how something is */ \
	X(OBJECTS, "objects")             /* it, how: what an order is about */ \
	X(WHERE, "where")                 /* a folder may follow: in the */
/* clang-format on */

enum phrase_list {
#define X(id, file) PHRASE_##id,
	PHRASE_LISTS(X)
#undef X
		PHRASE_LIST_COUNT
};
_Static_assert(PHRASE_LIST_COUNT <= 64, "one bit a list");

enum { PHRASE_WORDS_MAX = 10 };

/* The words of an utterance, nothing else. Release with text_release(). */
void phrase_read(struct text *t, struct sv bytes);
/* Number of words of the longest phrase of the list that stands at word i; of `more` too, which has
 * '|' between its phrases (NULL: none). */
size_t phrase_at(const struct text *t, size_t i, enum phrase_list list);
/* Whether one of them ends right before word i. */
bool phrase_ends_at(const struct text *t, size_t i, enum phrase_list list);
/* Whether one of them stands anywhere. */
bool phrase_in(const struct text *t, enum phrase_list list);
size_t phrase_among(const struct text *t, size_t i, const char *more);
/* Whether it says nothing but to go on with what was there: "continue", "mach bitte weiter". */
bool phrase_only_goes_on(const struct text *t);
/* What may stand before an order, please, now: where that begins. */
size_t phrase_skip_opening(const struct text *t);
/* One of them and a polite word are all that there is from word `from` on. */
bool phrase_is_whole(const struct text *t, size_t from, enum phrase_list list);
