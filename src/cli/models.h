/*
 * Models on the command line: what is installed, with its licence, and getting it.
 */
#pragma once

#include "cli/app.h"
#include "model/model.h"
#include "json/write.h"

/* Those with these names; ERR_USAGE with the nearest name when there is none. At most max. */
int models_named(int argc, char **argv, const struct model_def **ret, size_t max, size_t *ret_n,
	struct err *reterr) MUST_USE;

/* Says what is fetched, how much and under which licence, and gets it: how many were. Ctrl-C ends
 * it; what is whole stays. */
int models_get(struct app *app, struct models *m, const struct model_def *const *defs, size_t n,
	struct err *reterr) MUST_USE;

/* These as one JSON array, or as a table. */
void models_print(struct app *app, const struct models *m, const struct model_def *const *defs,
	size_t n, bool json);
