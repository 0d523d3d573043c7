/*
 * The conversation loops behind plain `faden`: at a terminal, and line by line on a pipe.
 */
#pragma once

#include "cli/app.h"

struct talk_opts {
	bool new_session;
	const char *agent;
	const char *model;
	const char *permission;
};

/* Both return an exit status or a negative error. */
int talk_at_terminal(struct app *app, const struct talk_opts *opts, struct err *reterr);
int talk_by_lines(struct app *app, const struct talk_opts *opts, struct err *reterr);
