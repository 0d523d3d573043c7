/*
 * What the assistant itself says, in the user's language.
 */
#pragma once

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
	TEXT_GO_ON, /* to the agent, after an interruption */
	TEXT_COUNT
};

const char *text_get(enum text_id id, enum text_language language);
