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
	X(GO_ON, "go-on")                 /* all of it: with what was there, and no more than that */ \
	X(BACK_TO, "back-to")             /* what follows names what is meant */ \
	X(GO_BACK_TO, "go-back-to")       /* … unless it is a thing: "go back to the old colour" */ \
	X(CORRECT_DENY, "correct-deny")   /* no, wrong */ \
	X(CORRECT_NEW, "correct-new")     /* that should have been a new conversation */ \
	X(CORRECT_OTHER, "correct-other") /* … the other one */ \
	X(CORRECT_ABOUT, "correct-about") /* … the one about what follows */ \
	X(CORRECT_THREAD, "correct-thread") /* what only speaks of conversations */ \
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
	X(OBJECTS, "objects")             /* it, how: what an order is about */
/* clang-format on */

enum phrase_list {
#define X(id, file) PHRASE_##id,
	PHRASE_LISTS(X)
#undef X
		PHRASE_LIST_COUNT
};
_Static_assert(PHRASE_LIST_COUNT <= 32, "one bit a list");

enum { PHRASE_WORDS_MAX = 10 };

/* The words of an utterance, nothing else. Release with text_release(). */
void phrase_read(struct text *t, struct sv bytes);
/* Number of words of the longest phrase of the list that stands at word i; of `more` too, which has
 * '|' between its phrases (NULL: none). */
size_t phrase_at(const struct text *t, size_t i, enum phrase_list list);
size_t phrase_among(const struct text *t, size_t i, const char *more);
/* The text from word i to the end, without closing punctuation. */
struct sv phrase_rest(const struct text *t, size_t i, struct sv bytes);

/* What a word or phrase of the configuration says. */
/* clang-format off */
#define LANG_CLASSES(X) \
	X(CONTINUES, "continuation") /* goes on with what was said: while you're at it */ \
	X(RETURNS, "return")         /* what follows names an earlier subject: back to */ \
	X(BEGINS, "new")             /* a new subject begins: new topic */
/* clang-format on */

enum lang_class {
#define X(id, name) LANG_##id,
	LANG_CLASSES(X)
#undef X
		LANG_CLASS_COUNT
};

bool lang_class_parse(struct sv name, enum lang_class *ret);
/* The names, with commas. Appends. */
void lang_class_list(struct str *out);
