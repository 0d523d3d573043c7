/*
 * The index as a search needs it (keep/fresh.h), with what is missing said on standard error and an
 * index of everything started in the background when it is time.
 */
#pragma once

#include "cli/app.h"
#include "search/index.h"

/* app->store is open. *ret is closed by index_view_close(). */
int fresh_view_said(struct app *app, struct index_view **ret, struct err *reterr) MUST_USE;
