/*
 * What was done with the last sentence of a folder, for a correction of it: where it went, and
 * where it could have gone instead, in the order in which "the other one" goes through them.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "store/conv.h"
#include "store/store.h"

enum { RECORD_PLACES_MAX = 6 };

/* A place is a conversation's id, or AGENT:SESSION for a session that has none yet (see
 * assist/member.h); empty: a conversation that is only about to begin. */
struct record {
	struct strv places;
	size_t at; /* which of them it went to */
	unsigned said; /* a bit for each of them where it was said */
	bool told; /* the user was told where */
	bool acted; /* something was done with it: it is not said again elsewhere */
	bool asked; /* the answer ends with a question */
	char *open; /* the session that the user was told is open in its agent; "" for none */
	char *text; /* how what was said begins; all of it is in the journal */
};
#define AUTO_RECORD CLEANUP(record_release) struct record
void record_release(struct record *rec);

/* False when there is none; *ret is empty then. */
bool record_read(struct store *store, const char *dir, struct record *ret);
int record_write(struct store *store, const char *dir, const struct record *rec,
	struct err *reterr) MUST_USE;

/* Caller frees. */
char *place_of(const struct conv *c);
/* The conversation, or the session as one (assist/member.h). ERR_NOTFOUND when it is gone. */
int place_find(struct store *store, const char *place, const struct clock *clock, struct conv *ret,
	struct err *reterr) MUST_USE;
/* Its id alone: the conversation's, else the session's. */
const char *place_id(const char *place);
