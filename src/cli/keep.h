/*
 * What the commands about index and archive share: the room that does it (keep/), with what is to
 * be seen of it on standard error, and Ctrl-C as a way to end early.
 */
#pragma once

#include "cli/app.h"
#include "keep/doomed.h"
#include "os/interrupt.h"
#include "ui/progress.h"
#include "ui/table.h"

/* app->store is open. Between the two, signals to end are a question that the work asks; what
 * cannot be read, and how far the archive is, is said. */
struct keeping {
	struct app *app;
	struct keeper keeper;
	struct term term;
	struct progress progress;
	struct interrupt interrupt;
	bool takes_all; /* what is there is taken now, so that damage is mended */
};
int keeping_begin(
	struct app *app, struct sv label, struct keeping *ret, struct err *reterr) MUST_USE;
void keeping_end(struct keeping *k); /* harmless on a zeroed one */
#define AUTO_KEEPING CLEANUP(keeping_end) struct keeping

/* That the archive's database says what its packs do, before something is brought back by it; says
 * so when it had to be made again. An archive that is not there yet is fine. */
int keeping_check(struct keeping *k, struct err *reterr) MUST_USE;
/* The vault for writing; says so when its database was made again. */
int keeping_vault(struct keeping *k, struct vault **ret, struct err *reterr) MUST_USE;
/* Which files are shorter than their copies, a note each, and how these take their place. */
void keeping_say_torn(struct app *app, const kept_vec *torn);
/* The same of the file of one session, if that is so. */
void keeping_say_if_torn(struct app *app, const char *session, const char *path);
/* By its key, or the largest that is kept of a SESSION, be its file there or gone. */
int keeping_find(
	struct keeping *k, const char *spec, struct kept *ret, struct err *reterr) MUST_USE;

/* Rows, as wide as the terminal that the stream leads to; elsewhere with tabs. */
void keeping_table(FILE *to, const struct table *table);
/* Asks at a terminal: 1 yes, 0 no. ERR_USAGE where nobody can be asked: `what` would go. */
int keeping_confirm(
	struct app *app, const char *what, const char *question, struct err *reterr) MUST_USE;

/* Before something is forgotten: what an earlier one left that was cut short. */
int delete_finish(struct app *app, struct err *reterr) MUST_USE;

struct delete_flags {
	bool dry, yes, json;
};
/* ERR_BUSY when somebody has the session open; where it was not named (spec is NULL), that is said
 * and it is passed over. */
int delete_add(struct app *app, struct doomed *d, const struct session_row *row, const char *spec,
	struct err *reterr) MUST_USE;
/* Asks, deletes, and says what was done. Exit status. */
int delete_all(struct app *app, const struct doomed *d, const struct delete_flags *flags,
	struct err *reterr) MUST_USE;
