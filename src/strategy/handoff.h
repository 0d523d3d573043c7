/*
 * A handoff note: a file for people and agents that says where a session is, how to go on, and
 * where the work stands.
 */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "transcript/transcript.h"

enum { HANDOFF_BRIEF_MAX = 16 * 1024, HANDOFF_SESSION_MAX = 512 * 1024 * 1024 };

/* All borrowed. */
struct handoff {
	const char *folder; /* where notes are kept; made when it is missing */
	const char *session; /* its id */
	const char *transcript; /* its file, which need not exist yet; NULL: not known */
	const char *cwd; /* NULL: not known */
	const char *words; /* what the user wants to be said; NULL: nothing */
	const struct clock *clock;
};

/* Whether the session has no file yet, or one in which nobody said anything. */
bool handoff_nothing(const char *transcript);

/* Writes the note under a name of its own; *ret_path is the caller's. For a session that cannot be
 * read, or is larger than HANDOFF_SESSION_MAX, it says why it has no brief. */
int handoff_write(const struct handoff *h, char **ret_path, struct err *reterr) MUST_USE;
