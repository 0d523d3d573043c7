/*
 * The SESSION that a person means: one way from what was typed to what it is, for every command,
 * page and voice. Nothing is printed and nobody is asked: who can ask has the candidates.
 */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "base/err.h"
#include "store/catalogue.h"
#include "store/conv.h"
#include "transcript/home.h"

/* Where to look. Borrowed for the call. */
struct resolve_opts {
	struct store *store;
	const struct transcript_home *homes;
	size_t n_homes;
	const struct clock *clock;
	const char *archive_dir;
	const char *here; /* the folder, resolved; NULL: it is gone */
	const char *home; /* the user's, for paths in messages */
	const struct catalogue_opts *reading; /* who is told when all are read; may be NULL */
};

/* What is wanted of it. */
enum {
	/* Nothing need be named: what goes on in this folder, else the last session that any agent
	 * had here. */
	RESOLVE_HERE = 1 << 0,
	/* Agent, id, format and path are enough, the rest of the row may be empty: a path or full
	 * id then costs no more than finding the file, however long it is. */
	RESOLVE_FILE = 1 << 1,
	/* With RESOLVE_FILE: a path may lead to a file in which no session can be recognised any
	 * more, when it lies where an agent keeps them or is called by an id. */
	RESOLVE_DAMAGED = 1 << 2,
	/* Also one whose file is gone, or damaged where the archive has it, from what catalogue,
	   children and archive know of it. */
	RESOLVE_GONE = 1 << 3,
	/* The conversation that it belongs to, if there is one. */
	RESOLVE_CONVERSATION = 1 << 4,
	/* Whose place a session made from it takes: last_here is told of a named one too, as far as
	 * the catalogue knows without looking. */
	RESOLVE_PLACE = 1 << 5,
};

struct resolved {
	struct session_row row; /* empty where a conversation itself was named and is wanted */
	struct conv conv; /* RESOLVE_CONVERSATION; empty: the session has none yet */
	char *kept; /* RESOLVE_GONE: the archive's key of one that is gone; NULL: it has none */
	struct err unread; /* RESOLVE_GONE: why the archive cannot tell now; code 0: it can */
	bool damaged; /* RESOLVE_GONE: its file is there, and cannot be unpacked */
	/* Nothing goes on here, and it is the folder's last session; of a named one this is looked
	 * for only with RESOLVE_PLACE. */
	bool last_here;
	struct catalogue_matches candidates; /* ERR_AMBIGUOUS: those that fit */
};
#define RESOLVED_INIT                                       \
	{                                                   \
		.row = SESSION_ROW_INIT, .conv = CONV_INIT, \
	}
#define AUTO_RESOLVED CLEANUP(resolved_release) struct resolved
void resolved_release(struct resolved *r); /* after a failure too */

/*
 * spec: a path, an id or a fragment of one, a name; our own conversation ids too; NULL with
 * RESOLVE_HERE. ERR_NOTFOUND says how to get back one that is gone; ERR_AMBIGUOUS leaves the
 * candidates in *ret. Other failures are of the store or the file.
 */
int resolve_session(const struct resolve_opts *opts, const char *spec, unsigned flags,
	struct resolved *ret, struct err *reterr) MUST_USE;
/* The conversation of a session, made for it when it has none yet. */
int resolve_conversation(const struct resolve_opts *opts, const struct session_row *row,
	struct conv *ret, struct err *reterr) MUST_USE;
/*
 * Whether the agent has deleted the session of a conversation, as far as that is certain: it was
 * there, and has neither its place nor its name any more. *ret_back: the command that brings it
 * back from the archive, which has it or cannot be read now, but for the session; NULL: that has no
 * copy. opts may be NULL: nothing is known then.
 */
bool resolve_lost(const struct resolve_opts *opts, const struct conv *c, const char **ret_back);
/* The agent's session of the conversation that goes on in the folder; NULL: none. Caller frees. */
char *resolve_current(const struct resolve_opts *opts);
