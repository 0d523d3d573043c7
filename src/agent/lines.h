/*
 * Lines out of a stream that comes in pieces. A line beyond the limit is passed over as a whole
 * and counted; everything else is handed on as it is, without its newline. Private to the room.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

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
