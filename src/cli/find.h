/*
 * The SESSION argument of commands: what a person calls a conversation, to what it is.
 */
#pragma once

#include "cli/app.h"
#include "store/catalogue.h"
#include "store/conv.h"

/* The session: a path, an id or a fragment of one, a name; our own conversation ids too. When
 * several fit, ERR_AMBIGUOUS and the candidates on standard error. After sessions_open() a store
 * that cannot be written is no obstacle. */
int find_session(
	struct app *app, const char *spec, struct session_row *ret, struct err *reterr) MUST_USE;
/* The same for the first of argc words; without one, the conversation that goes on in this folder.
 */
int find_given(struct app *app, int argc, char **argv, struct session_row *ret,
	struct err *reterr) MUST_USE;
/* find_session() for who needs only agent, id, format and path: the rest of *ret may be empty. A
 * path or full id costs no more than finding the file, however long it is. */
int find_file(
	struct app *app, const char *spec, struct session_row *ret, struct err *reterr) MUST_USE;
/* The same, and a path may lead to a file in which no session can be recognised any more, when it
 * lies where an agent keeps them or is called by an id. */
int find_damaged(
	struct app *app, const char *spec, struct session_row *ret, struct err *reterr) MUST_USE;
/* The session that goes on in the conversation whose id this is; NULL when it is none of ours or
 * has none. Caller frees. */
char *find_session_of(struct app *app, const char *spec);
/* The conversation that the session belongs to, made for it when it has none yet. */
int find_conversation(
	struct app *app, const char *spec, struct conv *ret, struct err *reterr) MUST_USE;
