/*
 * A unit for systemd that runs one of our commands as a service of the user's.
 */
#pragma once

#include "cli/app.h"

/* words: the command and its options. more: further lines of [Service]; NULL: none. */
int unit_print(struct app *app, const char *description, const char *words, const char *more,
	struct err *reterr) MUST_USE;
