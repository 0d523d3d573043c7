/*
 * What the exporters share. A part of export.c.
 */
#pragma once

#include "base/vec.h"
#include "view/export.h"
#include "view/item.h"

enum {
	EXPORT_CONTENTS_MAX = 2000, /* prompts in the contents of a page */
	EXPORT_HELD_MAX = 4 * 1024 * 1024, /* bytes of calls that wait for their results */
	EXPORT_BRIEF = 4000, /* bytes of an input or result that is shown in short */
};

/* A call of a page, which waits for its result to stand below it. */
struct export_call {
	struct str id, head, body;
	bool answered, failed;
};

struct exporter {
	const struct export_driver *driver;
	struct export_style style;
	struct term_sink sink;
	struct str out; /* of the item in hand */
	struct str text; /* reused */
	const struct session_row *row;
	const char *agent; /* who answers, in words */
	struct str who; /* … where that is not the agent of the session */
	size_t sessions; /* begun */
	enum item_kind speaker; /* whose words came last; ITEM_META: nobody's */
	struct term term; /* text */
	struct show_state state;
	bool listed; /* Markdown: a list of calls is open */
	bool any; /* JSON: an item stands before the next one */
	/* the page */
	size_t messages; /* numbered so far */
	VEC(struct export_call) calls;
	size_t held; /* bytes of them */
	struct str contents;
	size_t prompts;
};

struct export_driver {
	void (*session)(struct exporter *x, const struct session_view *view);
	void (*item)(struct exporter *x, const struct item *item);
	void (*pause)(struct exporter *x); /* somebody else speaks */
	void (*session_end)(struct exporter *x);
	void (*end)(struct exporter *x);
};
extern const struct export_driver export_markdown, export_html;

/* From here on the answers are this one's; the name is copied. */
void export_speaker(struct exporter *x, const char *who);
int export_end_session(struct exporter *x, struct err *reterr) MUST_USE;
/* The item's text, trimmed and scrubbed, in x->text until the next call. */
struct sv export_text(struct exporter *x, const struct item *item);
/* Whether the item is shown at all. */
bool export_shown(struct exporter *x, const struct item *item);
