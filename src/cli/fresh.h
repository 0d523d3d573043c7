/*
 * The index as a search needs it: there, and with what was said last. A search does not wait for
 * all sessions to be looked at: what was active last is taken in within a short time, the rest is
 * left to an index of its own in the background, and what is missing is said.
 */
#pragma once

#include "cli/app.h"
#include "search/index.h"

/* app->store is open. *ret is closed by index_view_close(). */
int fresh_view(
	struct app *app, const char *dir, struct index_view **ret, struct err *reterr) MUST_USE;
