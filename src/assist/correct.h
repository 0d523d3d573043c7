/*
 * What an utterance says about conversations. Corrections of the router by words: "no, new
 * conversation", "nein, die andere", "go back to the one about the login page".
 *
 * The whole utterance must be one (names of conversations aside), so that "no, the other button"
 * stays a command. "No, the other one" may still answer a question of the agent: ask only right
 * after a turn whose routing was told to the user.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

enum route_correction {
	CORRECT_NONE,
	CORRECT_NEW, /* it should have begun a conversation */
	CORRECT_OTHER, /* it belongs to another one: the second best, or the one before */
	CORRECT_ABOUT, /* it belongs to the one about … */
};

struct route_correct_words {
	struct sv about; /* a slice of text, for CORRECT_ABOUT only */
	bool bare; /* that is all, or nothing says of what it is the other one: "no, the crawler",
		      "no, the last one", which may as well be an answer */
	bool name; /* … without an article: only a name that was given can be meant */
	bool meant; /* … but said to have been meant: "no, I meant the crawler" */
	bool word; /* … in a single word */
	bool denies; /* begins with a no */
	bool sure; /* speaks of conversations, so it is for nobody but the router */
};

/* *ret is set unless the result is CORRECT_NONE; may be NULL. */
enum route_correction route_correct(struct sv text, struct route_correct_words *ret);

/* Nothing but that it goes on with what was there: "continue", "mach bitte weiter". It means
 * nothing where there is nothing. */
bool route_only_goes_on(struct sv text);

/* What it speaks of: the text without the words by which it goes back to that or on with it.
 * Appends.
 */
void route_subject(struct sv text, struct str *out);

/* Nothing but that it goes back to something, "back to kumquat": what that is called, a slice of
 * text. Long ones, and orders about a thing ("go back to the old colour"), are for the agent. */
bool route_goes_back(struct sv text, struct sv *ret_to);

/* It goes back to something and has more to say behind a comma or colon, "back to the parser, the
 * lexer is slow": the first part, a slice of text. */
bool route_goes_back_first(struct sv text, struct sv *ret_part);
