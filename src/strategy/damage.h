/*
 * In one line what repair would find, for who works with a session and does not mend it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "transcript/transcript.h"

/* Larger sessions are not looked at: it would double the time. */
enum { DAMAGE_SIZE_MOST = 64 * 1024 * 1024 };

struct damage {
	const char *level; /* as of repair; NULL: none that matters, or not looked at */
	const char *cause; /* the first of that level */
	size_t reachable, entries;
};

/* Only what keeps part of the history from the model counts, or the session from being resumed. */
struct damage damage_of(const char *path, const struct transcript_format *format, bool in_use);
/* "only 8 of 21 entries are reached: faden repair ID"; nothing when there is none. */
void damage_text(const struct damage *d, const char *id, struct str *out);
