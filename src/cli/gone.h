/*
 * Sessions whose file is gone: what is still known of them.
 */
#pragma once

#include "cli/app.h"
#include "store/catalogue.h"

/* A session that is gone, by what a person calls it (also by the path it had), from the catalogue,
 * its children and the archive. ERR_NOTFOUND. */
int gone_find(
	struct app *app, const char *spec, struct session_row *ret, struct err *reterr) MUST_USE;
/* The copy that the archive has of the session, absolute; NULL when there is none. Caller frees. */
char *gone_copy(struct app *app, const struct session_row *row);
/* After ERR_NOTFOUND for spec: when it is one that is gone, *err says that instead, with the copy
 * in the archive when there is one. False, and nothing done, when it is not. */
bool gone_explain(struct app *app, const char *spec, struct err *err);
