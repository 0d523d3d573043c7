/*
 * The listener's words: what the assistant says itself, in the language that is spoken.
 */
#pragma once

#include "assist/texts.h"

enum phrase {
	PHRASE_NOT_UNDERSTOOD,
	PHRASE_DEAF,
	PHRASE_TOO_LONG,
	PHRASE_FAILED,
	PHRASE_CUT,
	PHRASE_CUT_NOTICE, /* seconds */
	PHRASE_MAY_I, /* the tool */
	PHRASE_YES_OR_NO,
	PHRASE_ANSWER_YES_OR_NO,
	PHRASE_ANSWER_BY_CALL, /* our name */
	PHRASE_ANSWER_BY_KEY,
	PHRASE_ALLOWED,
	PHRASE_DENIED,
	PHRASE_NOBODY, /* could be asked */
};

/* With %s for what is said beside it. */
const char *phrase(enum phrase which, enum text_language language);
/* Appends it, `what` in each of these places. */
void phrase_add(struct str *out, enum phrase which, enum text_language language, const char *what);
/* What permission is asked for, cut to what can be listened to. */
void phrase_question(
	struct str *out, enum text_language language, const char *tool, const char *about);
/* That a recording was too long. */
void phrase_cut(struct str *out, enum text_language language, int64_t longest_ms);
