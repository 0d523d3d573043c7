/*
 * A whole new session of an agent, made from what was said elsewhere: in a session of another
 * agent, in a file from another machine, in a run. The agent resumes it as one of its own.
 *
 * Items come one by one and go to the file in pieces, so that their number does not matter. What
 * the models insist on is seen to here: a session begins with words of a user, every call has its
 * result right behind it, and no result stands without a call. The file appears whole or not at
 * all.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/uuid.h"
#include "transcript/home.h"
#include "transcript/native.h"

/* All borrowed until native_close(). */
struct native_opts {
	const struct transcript_home *home; /* whose session it is to be */
	const char *dir; /* of its work, resolved */
	const char *id; /* NULL: chosen here; see uuid_new() */
	const char *path; /* where to write; NULL: where the agent looks for it */
	const char *branch; /* git; NULL: not told */
	const char *model; /* of answers that name none; NULL: the agent decides */
	const char *like; /* see native_lines; NULL: none */
	/* What is said in it about where it comes from: members of SESSION_NOTE_KEY, beginning
	 * with "relation". NULL: nothing. */
	void (*note)(void *data, struct jw *w);
	void *data;
	const struct clock *clock;
	bool dry; /* nothing is written: the report says what it would have, without a path */
	bool durable; /* the disk is waited for: nothing is left that it could be made from again */
};

struct native_report {
	char id[UUID_TEXT];
	char *path; /* owned */
	uint64_t prompts, answers, calls, results; /* that it has */
	uint64_t unanswered; /* calls without a result, which now says so */
	uint64_t orphans; /* results without a call, left out */
	uint64_t bytes;
};
#define NATIVE_REPORT_INIT   \
	{                    \
		.path = NULL \
	}
void native_report_release(struct native_report *r);

struct native;
/* ERR_INPUT when sessions of the format cannot be written. -EEXIST comes from native_finish(). */
int native_open(const struct native_opts *opts, struct native **ret, struct err *reterr) MUST_USE;
/* Empty texts are passed over. */
int native_add(struct native *n, const struct native_item *item, struct err *reterr) MUST_USE;
/* The file appears. ERR_NOTFOUND when nothing was said. */
int native_finish(struct native *n, struct native_report *ret, struct err *reterr) MUST_USE;
void native_close(struct native *n); /* NULL is fine; without native_finish() nothing is left */
