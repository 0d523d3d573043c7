/*
 * Who answers: asked for by option, set in the configuration, chosen at an earlier start, or the
 * embedded rehearsal agent. A turn may cost money, so an installed agent is never taken unasked.
 */
#pragma once

#include "cli/assistant.h"

/* Sets kind, forced and by_default of a, whose programs are known. */
int pick_agent(struct app *app, const struct assistant_opts *opts, struct assistant *a,
	struct err *reterr) MUST_USE;
