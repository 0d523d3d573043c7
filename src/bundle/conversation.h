/*
 * One conversation as it is read out, for showing and for exporting: its items in order over all
 * the files that it lies in, from the archive where the file is gone.
 *
 * Memory does not grow with the files, but for a few bytes a record where forks or `live` need to
 * know the chain.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "archive/archive.h"
#include "base/err.h"
#include "branch/turns.h"
#include "store/catalogue.h"
#include "transcript/home.h"
#include "transcript/transcript.h"

struct conversation_opts {
	bool live; /* only what a resume would send */
	int64_t last; /* only the last turns, so many; 0: all */
	const char *at; /* from this message on: where its line begins, or a uuid; NULL: all */
};

struct conversation {
	const struct transcript_format *format;
	struct conversation_opts opts;
	bool subagent; /* the work of one, in a file of its own */
	int kept; /* what the archive has of a session that is gone; -1: it is there */
	uint64_t lost; /* … bytes of it that are damaged, and left out */
	struct session_parts parts; /* a Codex fork keeps its history in its parent's file */
	size_t first; /* the part to begin with */
	uint64_t offset; /* … and where in it, a line */
	uint64_t skipped, lines; /* records and lines before that */
	uint64_t turn; /* of the item that is given, see branch/turns.h; 0: before the first */
	struct passed passed; /* lines that were too long to look into, once it is read */
};
#define CONVERSATION_INIT                               \
	{                                               \
		.kept = -1, .parts = SESSION_PARTS_INIT \
	}
#define AUTO_CONVERSATION CLEANUP(conversation_release) struct conversation
void conversation_release(struct conversation *c);

/* Where it is. Borrowed for the call. */
struct conversation_of {
	const struct session_row *row;
	const char *kept; /* the archive's key of one that is gone; NULL: there is none */
	const struct archive *archive;
	const struct transcript_home *home; /* of its agent; NULL: none */
	const char *user_home; /* for paths in messages */
};
/* ERR_NOTFOUND: the file is gone and not kept, or opts->at names nothing in it. opts stay borrowed.
 * Release it after a failure too. */
int conversation_open(struct conversation *c, const struct conversation_of *of,
	const struct conversation_opts *opts, struct err *reterr) MUST_USE;
/* The items in order. A result of fn other than 0 ends it and is returned. */
int conversation_each(struct conversation *c, int (*fn)(void *data, const struct item *item),
	void *data, struct err *reterr) MUST_USE;
