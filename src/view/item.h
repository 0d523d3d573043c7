/*
 * One item of a session, readable or as an object.
 */
#pragma once

#include "transcript/transcript.h"
#include "ui/term.h"
#include "json/write.h"

struct show_style {
	const char *agent; /* who answers: "claude" */
	bool tools; /* everything: calls and results in full, thinking, what programs put in */
	bool thinking; /* thinking too */
};

struct show_state {
	enum item_kind speaker; /* whose words came last */
	bool begun;
	uint64_t turn; /* of the next item, for its heading; 0: not told */
	struct str text; /* reused */
};
#define SHOW_STATE_INIT                                \
	{                                              \
		.speaker = ITEM_META, .text = STR_INIT \
	}
void show_state_release(struct show_state *s);

/* Prints into the term; nothing for items that are not shown. */
void view_item(struct show_state *s, const struct show_style *style, struct term *t,
	const struct item *item);
/* What a call is about: the member that says most, else all of it. Appends, as it is. */
void view_call_gist(const struct item *item, struct str *out);
/* The same item as one JSON object, all of it. live: negative when not known; turn: 0 before the
 * first. */
void view_json_item(
	struct jw *w, const struct item *item, int live, uint64_t turn, struct str *tmp);
