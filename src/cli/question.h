/*
 * A question to an agent about a session, for the commands that need one.
 */
#pragma once

#include "cli/app.h"
#include "store/catalogue.h"

/*
 * Asks the agent of that name; NULL: the one that is configured, else the session's own. It has no
 * tools and keeps nothing. On a terminal, app->err says who is asked. *ret_agent (may be NULL) is
 * the agent's name, a constant.
 */
int question_ask(struct app *app, const char *agent, const struct session_row *about,
	const char *schema, struct sv prompt, struct str *answer, const char **ret_agent,
	struct err *reterr) MUST_USE;
