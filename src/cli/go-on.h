/*
 * How to go on with a session that was made or changed.
 */
#pragma once

#include "cli/app.h"
#include "store/catalogue.h"

/*
 * Prints to app->out the commands that go on with the session of this id at path. When the agent
 * does not look for it there, they would fail: then where it has to be moved first. `of` is the
 * session it was made from, or itself: of the same agent and format.
 */
void go_on_print(struct app *app, const struct session_row *of, const char *id, const char *path);
/* The same for one that lies where it should; words as of resume_words(), dir is where its work is,
 * "" when that is not known. */
void go_on_commands(const struct app *app, const char *words, const char *id, const char *dir);
