#include <stdlib.h>

#include "cli/assistant.h"
#include "cli/cmd.h"
#include "store/conv.h"

struct reset_opts {
	bool undo;
};

static const struct opt reset_options[] = {
	OPT_FLAG(
		0, "undo", struct reset_opts, undo, "bring the conversation before the reset back"),
	OPT_END,
};

static int run_reset(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct reset_opts *opts = options;
	AUTO_FREE char *dir = NULL;
	int r = assistant_dir(app, &dir, reterr);

	(void)argc;
	(void)argv;
	if (r == 0)
		r = opts->undo ? conv_reset_undo(app->store, dir, &app->clock, reterr)
			       : conv_reset(app->store, dir, &app->clock, reterr);
	if (r < 0)
		return r;
	(void)fprintf(app->out, "%s\n",
		text_get(opts->undo ? TEXT_UNDONE : TEXT_RESET, assistant_language(app)));
	return 0;
}

const struct cmd cmd_reset = {
	.name = "reset",
	.group = CMD_GROUP_TALK,
	.summary = "the next turn here starts fresh, now and after any restart",
	.synopsis = "",
	.max_args = 0,
	.needs = CMD_STORE,
	.opts = reset_options,
	.opts_size = sizeof(struct reset_opts),
	.run = run_reset,
};
