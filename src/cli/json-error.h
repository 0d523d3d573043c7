/*
 * A failure for programs that asked for --json.
 */
#pragma once

#include "cli/app.h"

/* The line below, on any stream. */
void json_error_put(FILE *to, int code, const struct err *err);
/* One line on app->out: {"error":…,"code":…,"session_id":null,"path":null}. */
void json_error(struct app *app, int code, const struct err *err);
/* The end of a command that failed: that line when json is true, *reterr (may be NULL) set, code
 * returned. */
int json_fail(struct app *app, bool json, int code, const struct err *err, struct err *reterr);
