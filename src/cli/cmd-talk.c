#include "cli/cmd.h"
#include "cli/front.h"
#include "cli/talk.h"

static const struct opt talk_options[] = {
	OPT_FLAG(0, "new-session", struct talk_opts, new_session,
		"start a fresh conversation instead of going on with the last one here"),
	OPT_FLAG(0, "new", struct talk_opts, new_session, "the same"),
	OPT_STRING(0, "in", struct talk_opts, in, "SESSION", "in this conversation"),
	OPT_AGENT(struct talk_opts, agent, NULL, "who answers: @"),
	OPT_STRING(0, "model", struct talk_opts, model, "NAME", "the agent's model"),
	OPT_PERMISSION(struct talk_opts, permission),
	OPT_END,
};

static int run_talk(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct talk_opts *opts = options;

	(void)argc;
	(void)argv;
	if (opts->new_session && opts->in)
		return err_set(reterr, ERR_USAGE, "--new and --in exclude each other");
	if (app->in_tty && app->out_tty)
		return talk_at_terminal(app, options, reterr);
	return talk_by_lines(app, options, reterr);
}

const struct cmd cmd_talk = {
	.name = "talk",
	.group = CMD_GROUP_TALK,
	.summary = "talk to your agent; the last conversation goes on (the default)",
	.synopsis = "",
	.max_args = 0,
	.needs = CMD_STORE,
	.opts = talk_options,
	.opts_size = sizeof(struct talk_opts),
	.run = run_talk,
};
