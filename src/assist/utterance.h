/*
 * What an utterance is to the assistant: a command, something for the agent, or nothing.
 *
 * It is a command when all of it is one: the assistant's name, politeness and filler words, case,
 * punctuation, white space and Unicode form are taken away, and what is left must be one of the
 * keywords. "Stopp, bitte!" cancels; "Stelle die Stoppuhr" goes to the agent. With commands.match:
 * contains, a keyword anywhere in the text is enough, also inside a word. When two lists match, the
 * order is cancel, reset, restart, undo.
 */
#pragma once

#include <stdbool.h>

#include "config/settings.h"

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

/* The setting with the keywords of a command (below UTTERANCE_COMMANDS), and its value. */
enum setting_id utterance_setting(enum utterance_kind command);
const struct keywords *utterance_keywords(const struct settings *s, enum utterance_kind command);

enum {
	/* Longer than this is no command: no keyword with its fillers comes near it. */
	UTTERANCE_BYTES_MAX = 4096,
	UTTERANCE_REASON_MAX = 320,
};

struct utterance {
	enum utterance_kind kind;
	const char *keyword; /* as configured, NULL unless a command; the settings own it */
	const char *lang; /* of the keyword: "de", "en", "" any or several; NULL unless a command */
	char reason[UTTERANCE_REASON_MAX]; /* one line for a person */
};

/* The rules made ready: compile once, judge many. */
struct utterances;
/* By the settings' names, keywords and filler words; they must live as long. */
struct utterances *utterances_new(const struct settings *s);
void utterances_free(struct utterances *u); /* NULL is fine */

/* text may hold any bytes. */
void utterance_judge(const struct utterances *u, struct sv text, struct utterance *ret);
