/*
 * What was done with the last sentence that was said here, for a correction of it: where it went,
 * and where it could have gone instead, in the order in which "the other one" goes through them.
 * Here is a project and a terminal: what the user was told of a sentence stands there, and the one
 * that was told of last is the last one, whichever turn ends last.
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
	int64_t when_ms; /* wall time */
	bool told; /* the user was told where */
	bool corrected; /* it went there by a correction */
	bool acted; /* it is not said again elsewhere … */
	bool done; /* … since the agent did something with it */
	bool asked; /* the answer ends with a question */
	bool answers; /* told who answers there, other than was chosen */
	bool here; /* this terminal's */
	bool others; /* another terminal's: nobody has told it here */
	char *dir; /* the folder it was said in */
	char *open; /* the session that the user was told is open in its agent; "" for none */
	char *text; /* how what was said begins; all of it is in the journal */
};
#define AUTO_RECORD CLEANUP(record_release) struct record
void record_release(struct record *rec);

struct decide_opts;
/* False when there is none; *ret is empty then. Another terminal's counts where `others`, and this
 * one has none. */
bool record_read(const struct decide_opts *o, bool others, struct record *ret);
/* It was said before a reset, here or where it was said. */
bool record_is_before_reset(const struct decide_opts *o, const struct record *rec);
/* *id is 0: one more, and set; else of that one more is known now. */
int record_write(const struct decide_opts *o, const struct record *rec, int64_t *id,
	struct err *reterr) MUST_USE;

/* Caller frees. */
char *place_of(const struct conv *c);
/* The conversation, or the session as one (assist/member.h). ERR_NOTFOUND when it is gone. */
int place_find(struct store *store, const char *place, const struct clock *clock, struct conv *ret,
	struct err *reterr) MUST_USE;
/* Its id alone: the conversation's, else the session's. */
const char *place_id(const char *place);
