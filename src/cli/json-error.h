/*
 * A failure for programs that asked for --json. The dispatcher says it for every command; one that
 * has more to tell than the four members prints an object that begins with them, and sets
 * app->told.
 */
#pragma once

#include "cli/app.h"

struct jw;

/* "error" and "code", "session_id" and "path", which are null: the members, within an object. */
void json_error_members(struct jw *w, int code, const struct err *err);
/* One line: {"error":…,"code":…,"session_id":null,"path":null}. */
void json_error_put(FILE *to, int code, const struct err *err);
/* That line on app->out, unless one is there already. */
void json_error(struct app *app, int code, const struct err *err);
