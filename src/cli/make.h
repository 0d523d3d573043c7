/*
 * What the commands that make a session out of another share: where it may be written, and how to
 * go on with it. What they say is view/report.
 */
#pragma once

#include "archive/archive.h"
#include "assist/resolve.h"
#include "cli/app.h"
#include "store/catalogue.h"
#include "view/report.h"

/* The folder of --out. */
struct out_folder {
	char *dir; /* absolute, owned; NULL: not given */
	bool missing; /* it is made with the session */
};
void out_folder_release(struct out_folder *o);
/* One that is missing is fine when its parent is there, else it is an error. NULL as given is fine.
 */
int out_folder_find(const char *given, struct out_folder *ret, struct err *reterr) MUST_USE;
/*
 * After the attempt to write, r being its result: says that a folder was made, or takes the empty
 * one away; adds to *err what can be done where a folder takes no files (with in_place there is no
 * elsewhere). Returns r.
 */
int out_folder_done(
	struct app *app, const struct out_folder *o, bool in_place, int r, struct err *err);

/* ERR_BUSY when somebody writes to the session, or another one is read from its file; `instead` is
 * what the user can do then. */
int in_place_check(struct app *app, const struct session_row *row, const char *instead,
	struct err *reterr) MUST_USE;

/* Finds out how to go on with the session that was made: dir unless it is set, resume, unseen and
 * place. */
void made_find_next(struct app *app, const struct transcript_format *format, struct made *m);
/*
 * A new session that the agent finds takes its parent's place, when that is what goes on in its
 * folder or is the last session of this one; a name that was given here goes along wherever it
 * lies. Fills conversation, current and name. A failure is a warning, since the session is there;
 * then false.
 */
bool made_take_over(struct app *app, const struct resolved *of, struct made *m);

/* What goes on in its folder stays, unless `current`: then it is this one. A name (NULL: none) is
 * given to it. Fills conversation, current and name. */
int made_place(struct app *app, const char *name, bool current, struct made *m,
	struct err *reterr) MUST_USE;
