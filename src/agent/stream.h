/*
 * What the decoders of agents' output share: lines out of a stream that comes in pieces, members
 * that may be missing or of another type, what a tool call is about. Private to the room.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "json/scan.h"

/* A line beyond the limit is passed over as a whole and counted; everything else is handed on as it
 * is, without its newline. */
struct lines {
	struct str part; /* the line that is not complete yet */
	size_t max;
	bool skipping;
	uint64_t skipped; /* lines passed over */
};

typedef void (*lines_fn)(void *data, struct sv line);

void lines_init(struct lines *l, size_t max);
void lines_release(struct lines *l);
/* Forgets what is incomplete. */
void lines_clear(struct lines *l);
/* Calls fn for every line that these bytes complete. The slice is valid during the call. */
void lines_feed(struct lines *l, struct sv bytes, lines_fn fn, void *data);
/* The end of the stream: a last line without a newline counts. */
void lines_end(struct lines *l, lines_fn fn, void *data);

/* A member of an object; J_NONE when there is none. */
static inline struct jval value_member(struct jval obj, const char *key)
{
	struct jval val;

	return scan_get(obj, sv_of(key), &val) > 0 ? val : (struct jval){ 0 };
}

static inline bool value_is(struct jval val, const char *text)
{
	return scan_string_eq(val, sv_of(text));
}

/* Appends what a tool call is about in one line: its command, file, address, question. At most max
 * bytes, scrubbed; nothing when the input says nothing of the kind. */
void tool_about(struct str *out, struct jval input, size_t max);
/* The same for a text. */
void tool_about_text(struct str *out, struct sv text, size_t max);
