/*
 * Bringing a bundle in. It is read twice: bring_look() reads and checks all of it, compares it with
 * what is there and writes nothing; bring_write() then writes what is missing, a session after the
 * other, its own file last. What is there is never overwritten:
 *
 *	the same bytes, or those and more       it is there already
 *	the session is there with other bytes   it comes as a copy with an id of its own
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/uuid.h"
#include "bundle/pack.h"
#include "store/catalogue.h"
#include "store/store.h"
#include "transcript/home.h"

/* Borrowed until the end. */
struct bring_opts {
	struct store *store;
	const struct transcript_home *homes;
	size_t n_homes;
	const char *here; /* the folder of runs; NULL: the one that each comes from */
	const char *stage; /* a folder for what must be changed before it is put in its place */
	const struct clock *clock;
	/* The bundle from its beginning; called once for each reading. */
	int (*open)(void *data, struct pack_source *ret, struct err *reterr);
	void *data;
};

enum bring_state {
	BRING_NEW,
	BRING_THERE,
	BRING_PARTLY, /* the session is there, something beside it is not */
	BRING_OTHER, /* another one has the id: it gets its own */
};

struct bring_session {
	enum bring_state state;
	const struct transcript_home *home;
	char *path; /* where it lies or will lie; of a copy once it is written */
	char *folder; /* of what lies beside it, without a '/' at the end */
	char *rival; /* OTHER: the file that has its id */
	char id[UUID_TEXT + SESSION_NAME_MAX]; /* OTHER: of the copy */
	bool written;
};

/* Of each file of the manifest: how it compares with what is there. */
enum bring_file { BRING_FILE_NEW, BRING_FILE_SAME, BRING_FILE_MORE, BRING_FILE_OTHER };

struct bring {
	struct bring_opts opts;
	struct pack_reader *reader; /* of the first reading: it has the manifest */
	VEC(struct bring_session) sessions; /* as in the manifest */
	VEC(enum bring_file) files;
	pack_sums sums;
};
void bring_init(struct bring *b, const struct bring_opts *opts);
void bring_release(struct bring *b);
/* Valid after bring_look() has begun: also when it failed later, NULL when it has none. */
const struct bundle_manifest *bring_manifest(const struct bring *b);

/* ERR_INPUT, ERR_LIMIT, ERR_NEWER: it is refused, and the message says which file of it and why. */
int bring_look(struct bring *b, struct err *reterr) MUST_USE;
/* After a failure the sessions that are `written` are there whole, and of the others nothing. */
int bring_write(struct bring *b, struct err *reterr) MUST_USE;
/* Makes a session that is there known, with the name it had where it comes from unless it has one.
 * A run becomes the one that goes on in its folder; *ret stays empty then. */
int bring_register(
	struct bring *b, size_t session, struct session_row *ret, struct err *reterr) MUST_USE;
