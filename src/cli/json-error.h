/*
 * A failure for programs that asked for --json.
 */
#pragma once

#include "cli/app.h"

/* One line on app->out: {"error":…,"code":…,"session_id":null,"path":null}. */
void json_error(struct app *app, int code, const struct err *err);
