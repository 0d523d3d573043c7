#include "cli/help.h"
#include "cli/man-page.h"

struct help_opts {
	bool json;
};

static const struct opt help_options[] = {
	OPT_FLAG(0, "json", struct help_opts, json,
		"describe every command and option for programs"),
	OPT_END,
};

static int run_help(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct help_opts *opts = options;
	if (opts->json) {
		help_json(app->out);
		return 0;
	}
	if (argc == 0) {
		help_program(app->out);
		return 0;
	}
	const struct cmd *cmd = cmd_find(sv_of(argv[0]));
	if (!cmd) {
		const char *near = cmd_suggest(sv_of(argv[0]));
		return err_set(reterr, ERR_USAGE, "there is no command '%s'%s%s%s", argv[0],
			near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
	}
	if (app->out_tty)
		man_page_show(app, cmd->name);
	help_command(app->out, cmd);
	return 0;
}

const struct cmd cmd_help = {
	.name = "help",
	.group = CMD_GROUP_SETUP,
	.summary = "what there is, or the manual page of a command",
	.synopsis = "[COMMAND]",
	.min_args = 0,
	.max_args = 1,
	.needs = CMD_NO_SETTINGS,
	.words = CMD_WORDS_COMMAND,
	.opts = help_options,
	.opts_size = sizeof(struct help_opts),
	.run = run_help,
};
