/*
 * What the assistant itself says, in the user's language.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

enum text_language { TEXT_GERMAN, TEXT_ENGLISH };

enum text_id {
	TEXT_RESET, /* a new conversation begins */
	TEXT_UNDONE, /* the old one is back */
	TEXT_NOTHING_TO_UNDO,
	TEXT_CANCELLED_NOTHING, /* cancel when nothing runs */
	TEXT_CANCELLED,
	TEXT_CANCELLED_DONE, /* with what was done already: one %s */
	TEXT_RESTART,
	TEXT_ROUTED_NEW, /* the router says: a new conversation */
	TEXT_ROUTED_TO, /* … another one: its name, when and where it was */
	TEXT_SAME_THERE, /* what was said is said again in: its name */
	TEXT_SAME_NEW, /* … in a new one */
	TEXT_NEXT_THERE, /* what comes next goes to: its name */
	TEXT_NEXT_NEW,
	TEXT_DONE_NEXT_THERE, /* … and what was done stands */
	TEXT_DONE_NEXT_NEW,
	TEXT_NONE_ABOUT, /* no conversation about: the words */
	TEXT_NO_OTHER,
	TEXT_PLANNING,
	TEXT_PLAN_TO_DOING,
	TEXT_GO_ON, /* to the agent, after an interruption */
	TEXT_COUNT
};

const char *text_get(enum text_id id, enum text_language language);
/* The text with its %s filled in, in their order; NULL for one that it does not have. Appends. */
void text_fill(struct str *out, enum text_id id, enum text_language language, const char *first,
	const char *second);
/* "just now", "12 min ago". Appends. */
void text_ago(struct str *out, enum text_language language, int64_t age_ms);
