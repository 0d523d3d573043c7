/*
 * Words by class and language. The lists are words-XX.c, made into const data while faden is built
 * (wordtable.h); a configuration may add words to any class of any language.
 *
 * A class says what a word or phrase does in a sentence, not what it means: whether it points
 * back, opens a continuation, names an action everybody names, and so on. Words that have no
 * class are what a sentence is about.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"

/* clang-format off */
#define LANG_CLASSES(X) \
	X(ART, "article")            /* the, der, le */ \
	X(INDEF, "indefinite")       /* a, ein, une */ \
	X(PREP, "preposition")       /* in, für, sur */ \
	X(CONJ, "conjunction")       /* opens a clause: that, weil, quand */ \
	X(AND, "and")                /* and, or, und, oder */ \
	X(PRON, "pronoun")           /* needs an antecedent: it, ihn, 它 */ \
	X(WEAKPRON, "weak-pronoun")  /* pronoun or article or nothing: es, sie, la */ \
	X(DEM, "demonstrative")      /* this, diese, ce */ \
	X(THERE, "there")            /* points back to a place or thing: there, dafür, y */ \
	X(SELF, "self")              /* I, my, wir */ \
	X(YOU, "you")                /* you, your, du */ \
	X(AUX, "auxiliary")          /* is, hat, peut */ \
	X(WH, "question")            /* what, wie, pourquoi */ \
	X(FILL, "filler")            /* uh, mal, bitte */ \
	X(FUNC, "function")          /* any other word without a meaning of its own */ \
	X(ASSENT, "assent")          /* yes, passt, d'accord */ \
	X(DENY, "denial")            /* no, nein */ \
	X(START, "start")            /* continues when it opens the sentence: also, außerdem */ \
	X(STEP, "step")              /* next step when it opens the sentence: now, dann */ \
	X(ANYWHERE, "continuation")  /* continues wherever it stands: while you're at it */ \
	X(TOO, "too")                /* adds to something: too, auch, instead */ \
	X(STILL, "still")            /* presupposes an earlier state: still, again, wieder */ \
	X(RETURN, "return")          /* what follows names an earlier subject: back to */ \
	X(FRESH, "new")              /* a new subject begins: new topic, anderes Thema */ \
	X(ASIDE, "aside")            /* by the way */ \
	X(UNDO, "undo")              /* undo, rückgängig */ \
	X(DONE, "agent")             /* what the agent has done: did you, your change */ \
	X(EXPLETIVE, "expletive")    /* an it that means nothing: is it possible */ \
	X(VERB, "verb")              /* actions that everybody asks for */ \
	X(DEED, "deed")              /* work with a name of its own: import, sort, the export */ \
	X(ADJUST, "adjustment")      /* changes something that is there: mention, skip, färb */ \
	X(NOUN, "noun")              /* things that every project has */ \
	X(RESULT, "result")          /* things that only exist after work was done: the fix, der Plan */ \
	X(ADJ, "adjective")          /* qualities and manners */ \
	X(COMP, "comparative")       /* shorter, größer */ \
	X(NUM, "number")             /* two, zweite */ \
	X(TIME, "time")              /* today, Montag */ \
	X(PAST, "past")              /* points to an earlier session: from yesterday */ \
	X(WAIT, "wait")              /* for what is running: when that is done */ \
	X(HERE, "surroundings")      /* this X is here, not in what was said: project, Rechner */ \
	X(ONE, "one")                /* stands for a noun: one, ones, the other */
/* clang-format on */

enum lang_class {
#define X(id, name) LANG_##id,
	LANG_CLASSES(X)
#undef X
		LANG_CLASS_COUNT
};

typedef uint64_t lang_mask;
#define LANG_BIT(id) ((lang_mask)1 << LANG_##id)

enum { LANG_PHRASE_MAX = 6 }; /* words in a phrase */

enum lang_id { LANG_EN, LANG_DE, LANG_FR, LANG_ES, LANG_ZH, LANG_COUNT };
const char *lang_name(enum lang_id lang); /* "en", "de" … */

/* One addition from the configuration, spelled as in a word list: '|' between words. */
struct lang_extra {
	struct sv language; /* "en", "de", …; of another one the words count in any sentence */
	struct sv cls; /* name of a class */
	struct sv words;
};

/* Empty (zeroed) it knows no word at all. */
struct lexicon {
	bool own_words; /* those of wordtable.h */
	struct map extra[LANG_COUNT]; /* of the configuration: folded phrase → lang_mask */
};

void lexicon_init(struct lexicon *lex, const struct lang_extra *extra, size_t n_extra);
void lexicon_release(struct lexicon *lex);
/* 0 when unknown. The phrase is folded (utf8_normalise) with single blanks. */
lang_mask lexicon_get(const struct lexicon *lex, enum lang_id lang, struct sv phrase);

/* The same for a word with an ending of its language taken off; open classes only. */
lang_mask lexicon_inflected(const struct lexicon *lex, enum lang_id lang, struct sv word);
/* Whether a longer phrase begins with this one. */
bool lexicon_goes_on(const struct lexicon *lex, enum lang_id lang, struct sv phrase);

/* Which languages know the word, alone or as the beginning of a phrase. */
void lexicon_languages(const struct lexicon *lex, struct sv word, bool ret[static LANG_COUNT]);

bool lang_class_parse(struct sv name, enum lang_class *ret);
/* The names, with commas. Appends. */
void lang_class_list(struct str *out);
