/*
 * The rehearsal agent's transcript: a session file in Claude Code's format, append-only. Private
 * to the room.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/uuid.h"

struct rehearsal_log {
	char *path; /* NULL: nothing is kept */
	char session[UUID_TEXT];
	char parent[UUID_TEXT]; /* uuid of the last line; empty before the first */
	const char *cwd; /* borrowed */
	const struct clock *clock;
	struct strv said; /* the user's messages, oldest first */
};

/* Opens a session: reads what was said in it. exists tells whether the file is there. home NULL:
 * nothing is kept. */
int rehearsal_log_open(struct rehearsal_log *log, const char *home, const char *cwd,
	const char *session, const struct clock *clock, bool *ret_exists,
	struct err *reterr) MUST_USE;
void rehearsal_log_release(struct rehearsal_log *log);

/* Each appends lines and makes them durable. */
/* id: under which it was sent, which the line keeps; NULL: none. */
int rehearsal_log_user(
	struct rehearsal_log *log, struct sv text, const char *id, struct err *reterr) MUST_USE;
int rehearsal_log_interrupt(struct rehearsal_log *log, struct err *reterr) MUST_USE;
int rehearsal_log_answer(struct rehearsal_log *log, struct sv text, struct err *reterr) MUST_USE;
int rehearsal_log_tool(struct rehearsal_log *log, const char *tool, const char *input,
	const char *output, struct err *reterr) MUST_USE;
