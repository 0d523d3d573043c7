/*
 * Sessions to choose from at a terminal (cli/pick-rows.h): for a command that needs one, or to do
 * something with it at once.
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
	bool gone; /* also those whose file is gone, as far as the archive has them */
	bool only_gone; /* … and no others */
	bool only_kept; /* only those that the archive has */
	const char *const *dirs; /* only those begun in one of them or below; n_dirs 0: any */
	size_t n_dirs;
	const char *agent; /* only those of one agent; NULL: any */
};

/* Lets one be chosen; *ret_path, which the caller frees, is its file. ERR_CANCELLED when none was,
 * ERR_NOTFOUND when there is none. A signal that ends the program ends it here. */
int pick_session(struct app *app, const struct pick_opts *opts, char **ret_path,
	struct err *reterr) MUST_USE;
/* The same to do something with it at once: resume it, trim it … Returns as a command does. The
 * store is open. */
int pick_and_act(struct app *app, const struct pick_opts *opts, struct err *reterr) MUST_USE;
