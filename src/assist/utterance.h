/*
 * What an utterance is to the assistant: a command, something for the agent, or nothing.
 *
 * It is a command when all of it is one: the assistant's name, politeness and filler words, case,
 * punctuation, white space and Unicode form are taken away, and what is left must be one of the
 * keywords. "Stopp, bitte!" cancels; "Stelle die Stoppuhr" goes to the agent. With `contains`, a
 * keyword anywhere in the text is enough, also inside a word. When two lists match, the order is
 * cancel, reset, restart, undo.
 */
#pragma once

#include <stdbool.h>

#include "config/keywords.h"

/* clang-format off */
#define UTTERANCE_LIST(X) \
	X(UTTERANCE_CANCEL,  "cancel")  /* stop what runs */ \
	X(UTTERANCE_RESET,   "reset")   /* the next turn starts fresh */ \
	X(UTTERANCE_RESTART, "restart") /* start the program anew */ \
	X(UTTERANCE_UNDO,    "undo")    /* take the last reset back */ \
	X(UTTERANCE_AGENT,   "agent")   /* for the agent, "help" too */ \
	X(UTTERANCE_IGNORED, "ignored") /* nothing was said */
/* clang-format on */

enum utterance_kind {
#define X(id, name) id,
	UTTERANCE_LIST(X)
#undef X
};
/* The kinds before this one have keywords. */
#define UTTERANCE_COMMANDS (UTTERANCE_UNDO + 1)

const char *utterance_kind_name(enum utterance_kind kind);

/* Everything is copied. */
struct utterance_opts {
	const char *name; /* the assistant's: "Jarvis"; NULL or "": none */
	const struct strv *also; /* what a recogniser makes of the name; NULL: none */
	const struct keywords *keywords[UTTERANCE_COMMANDS]; /* NULL: the default list */
	const struct keywords *filler; /* NULL: the default list */
	bool contains;
};

enum {
	/* Longer than this is no command: no keyword with its fillers comes near it. */
	UTTERANCE_BYTES_MAX = 4096,
	UTTERANCE_REASON_MAX = 320,
};

struct utterance {
	enum utterance_kind kind;
	const char *keyword; /* as configured, NULL unless a command; the rules own it */
	const char *lang; /* of the keyword: "de", "en", ""; NULL unless a command */
	char reason[UTTERANCE_REASON_MAX]; /* one line for a person */
};

/* The rules made ready: compile once, judge many. */
struct utterances;
int utterances_new(
	const struct utterance_opts *opts, struct utterances **ret, struct err *reterr) MUST_USE;
void utterances_free(struct utterances *u); /* NULL is fine */

/* text may hold any bytes. */
void utterance_judge(const struct utterances *u, struct sv text, struct utterance *ret);
