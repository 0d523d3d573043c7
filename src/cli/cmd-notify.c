/*
 * Shows a desktop notice. Started by faden itself, in a process that nobody waits for: a service
 * that hangs must not hold up a turn.
 */
#include "cli/cmd.h"
#include "ui/notify.h"

static int run_notify(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	(void)app;
	(void)options;
	return notify_show(argv[0], argc > 1 ? argv[1] : "", reterr);
}

const struct cmd cmd_notify = {
	.name = "notify",
	.group = CMD_GROUP_SETUP,
	.summary = "show a desktop notice",
	.synopsis = "TITLE [TEXT]",
	.min_args = 1,
	.max_args = 2,
	.needs = CMD_NO_SETTINGS | CMD_HIDDEN,
	.run = run_notify,
};
