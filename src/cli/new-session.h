/*
 * What the commands that make a session out of another say about it.
 */
#pragma once

#include <stdio.h>

#include "cli/app.h"
#include "transcript/tokens.h"
#include "transcript/transcript.h"

/* The agent's own words for going on with a session, before its id; NULL when it has none. */
const char *resume_words(const char *agent, const struct transcript_format *format);
/* "973 of 21,695 tokens (fitted), leaving 20,722" */
void saved_words(const struct figure *saved, const struct figure *before, struct str *out);
/* "  saved    973 of 21,695 tokens (fitted), leaving 20,722", or that it would save so much */
void print_saved_tokens(
	FILE *out, bool dry, const struct figure *saved, const struct figure *before);

/*
 * The folder of --out as an absolute path, for the caller to free. One that is missing is fine when
 * its parent is there (*ret_missing; it is made with the session), else it is an error.
 */
int out_folder(const char *out, char **ret, bool *ret_missing, struct err *reterr) MUST_USE;
/* After a failure to write: says what can be done when a folder takes no files. `out` is what --out
 * says, or NULL; with `in_place` there is no elsewhere. */
void out_hint(const struct app *app, const char *out, bool in_place, struct err *err);
/* When there was none before: says that it was made, or takes the empty one away when no session
 * came of it. */
void out_folder_made(struct app *app, const char *folder, bool written);
