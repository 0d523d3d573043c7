/*
 * Which call a tool's result belongs to; private to the room. A result names its call by an id
 * only, so that what was called, and on which files, stands in another line, mostly the one before.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"
#include "transcript/transcript.h"

/* Calls whose results have not been met yet, the last CALLS_MAX of them. */
enum { CALLS_MAX = 64 };
struct open_call {
	char *id;
	struct strv terms; /* what it is found by, as a document */
};
struct calls {
	VEC(struct open_call) open;
};
void calls_release(struct calls *c);
/* Takes the terms. */
void calls_add(struct calls *c, struct sv id, struct strv *terms);
/* The call of that id, which is not open any more; false when it is not known. */
bool calls_take(struct calls *c, struct sv id, struct strv *ret);

/* The call of that id, looked for in the megabyte of the file before the result, at `before`: fn
 * gets its item. False when it does not stand there. */
bool call_before(const char *path, const struct transcript_format *format, uint64_t before,
	struct sv id, void (*fn)(void *data, const struct item *item), void *data);
