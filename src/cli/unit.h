/*
 * A unit for systemd that runs one of our commands as a service of the user's: shown, installed and
 * started, or taken away again.
 */
#pragma once

#include "cli/app.h"
#include "cli/opt.h"

struct unit_opts {
	bool print, install, remove;
};
#define OPT_UNIT(type, field)                                                           \
	OPT_FLAG(0, "unit", type, field.print,                                          \
		"print a unit for systemd that runs this as a service of yours"),       \
		OPT_FLAG(0, "install-unit", type, field.install,                        \
			"install that unit, and start it now and whenever you log in"), \
		OPT_FLAG(0, "remove-unit", type, field.remove,                          \
			"stop that service and remove its unit")

struct unit {
	const char *name; /* "faden-watch" */
	const char *description;
	struct strv words; /* the command and its options */
	const char *more; /* further lines of [Service]; NULL: none */
	bool runs_programs; /* by their names: it gets the PATH of whoever installs it */
};

/* One of them was asked for. */
bool unit_wanted(const struct unit_opts *opts);
int unit_run(struct app *app, const struct unit_opts *opts, const struct unit *u,
	struct err *reterr) MUST_USE;
