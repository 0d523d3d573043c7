/*
 * Whether a session's own file may be replaced.
 */
#pragma once

#include "cli/app.h"
#include "store/catalogue.h"

/* ERR_BUSY when somebody writes to it, or another session is read from its file; `instead` is what
 * the user can do then. */
int in_place_check(struct app *app, const struct session_row *row, const char *instead,
	struct err *reterr) MUST_USE;
