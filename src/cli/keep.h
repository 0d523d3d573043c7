/*
 * What the commands about index and archive share: the room that does it (keep/), with what is to
 * be seen of it on standard error, and Ctrl-C as a way to end early.
 */
#pragma once

#include "cli/app.h"
#include "keep/doomed.h"
#include "os/interrupt.h"
#include "ui/progress.h"

/* app->store is open. Between the two, signals to end are a question that the work asks; what
 * cannot be read, and how far the archive is, is said. */
struct keeping {
	struct app *app;
	struct keeper keeper;
	struct term term;
	struct progress progress;
	struct interrupt interrupt;
};
int keeping_begin(struct app *app, struct keeping *ret, struct err *reterr) MUST_USE;
void keeping_end(struct keeping *k); /* harmless on a zeroed one */
#define AUTO_KEEPING CLEANUP(keeping_end) struct keeping

/* The vault for writing; says so when its database was made again. */
int keeping_vault(struct keeping *k, struct vault **ret, struct err *reterr) MUST_USE;
/* By its key, or the largest that is kept of a SESSION, be its file there or gone. */
int keeping_find(
	struct keeping *k, const char *spec, struct kept *ret, struct err *reterr) MUST_USE;

struct delete_flags {
	bool dry, yes, json;
};
/* ERR_BUSY when somebody has the session open; where it was not named, that is said and it is
 * passed over. */
int delete_add(struct app *app, struct doomed *d, const struct session_row *row, bool named,
	struct err *reterr) MUST_USE;
/* Asks, deletes, and says what was done. Exit status. */
int delete_all(struct app *app, const struct doomed *d, const struct delete_flags *flags,
	struct err *reterr) MUST_USE;
