/*
 * Sessions to choose from at a terminal (cli/pick-rows.h): for a command that needs one.
 */
#pragma once

#include <stdbool.h>

#include "cli/app.h"
#include "store/catalogue.h"

/* Whether somebody can be asked: all three streams are one terminal that can draw, and no program
 * waits for JSON. */
bool pick_possible(const struct app *app);

struct pick_opts {
	const char *question; /* what is wanted, as a line of its own; NULL: none */
	const char *words; /* to begin with; NULL: none */
	const struct catalogue_matches *among; /* NULL: all that the catalogue has */
	bool gone; /* also those whose file is gone */
};

/* Lets one be chosen; *ret_path, which the caller frees, is its file. ERR_CANCELLED when none was,
 * ERR_NOTFOUND when there is none. A signal that ends the program ends it here. */
int pick_session(struct app *app, const struct pick_opts *opts, char **ret_path,
	struct err *reterr) MUST_USE;
