/*
 * Sentences that were said in a project, in the order in which it was told what is done with them:
 * each by whom, which is the session of processes it came from (a terminal), with what was noted of
 * it (assist/record.h). Only the last ones are kept.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "os/proc.h"
#include "store/store.h"

/* Which of them is asked for. */
struct said_query {
	const char *project;
	const struct proc_id *terminal; /* NULL: not known which */
	int64_t until; /* none after this one; 0: any */
};
enum said_by {
	SAID_HERE, /* by the same terminal */
	SAID_GONE, /* by one that is gone, or that is not known */
	SAID_ELSEWHERE /* by another one */
};
struct said {
	int64_t id;
	enum said_by by;
	char *dir;
	char *note;
};
#define SAID_INIT           \
	{                   \
		.dir = NULL \
	}
#define AUTO_SAID CLEANUP(said_release) struct said
void said_release(struct said *said);

/* The last one of this terminal, else the last of those that are gone, else of any.
 * ERR_NOTFOUND: none. */
int said_last(struct store *store, const struct said_query *query, struct said *ret,
	struct err *reterr) MUST_USE;
/* The last one of all, whoever said it and where; -1: none. */
int said_newest(struct store *store, int64_t *ret, struct err *reterr) MUST_USE;

int said_add(struct store *store, const struct said_query *by, const char *dir, const char *note,
	int64_t *ret_id, struct err *reterr) MUST_USE;
/* More is known of it by now. One that is no longer kept: no effect. */
int said_note(struct store *store, int64_t id, const char *note, struct err *reterr) MUST_USE;
