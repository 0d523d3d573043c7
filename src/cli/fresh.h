/*
 * The index as a search needs it (keep/fresh.h), with what is missing said on standard error and an
 * index of everything started in the background when it is time.
 */
#pragma once

#include "cli/app.h"
#include "keep/fresh.h"

/* That the index was made anew, and why; nothing when it was not. */
void fresh_say_anew(struct app *app, const struct index_stats *s);

/* app->store is open. */
int fresh_view_said(struct app *app, struct fresh *ret, struct err *reterr) MUST_USE;
/* Follows it: fresh_rest(), and what may be missing. */
bool fresh_rest_said(struct app *app, struct fresh *fresh, bool all);
