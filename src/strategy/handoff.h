/*
 * A handoff note: a file for people and agents that says where a session is, how to go on, and
 * where the work stands.
 */
#pragma once

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

/* Writes the note under a name of its own; *ret_path is the caller's. A session that cannot be
 * read, or is larger than HANDOFF_SESSION_MAX, has no brief in its note. */
int handoff_write(const struct handoff *h, char **ret_path, struct err *reterr) MUST_USE;
