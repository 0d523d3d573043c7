#include "cli/cmd.h"
#include "cli/listen.h"
#include "cli/unit.h"

static const struct opt listen_options[] = {
	OPT_FLAG(0, "new-session", struct listen_opts, new_session,
		"start a fresh conversation instead of going on with the last one here"),
	OPT_FLAG(0, "new", struct listen_opts, new_session, "the same"),
	OPT_STRING(0, "in", struct listen_opts, in, "SESSION", "in this conversation"),
	OPT_FLAG(0, "push-to-talk", struct listen_opts, push_to_talk,
		"the space bar in place of the wake word"),
	OPT_FLAG(0, "no-wake", struct listen_opts, no_wake,
		"whoever speaks is meant: no wake word is needed"),
	OPT_FLAG(
		0, "mute", struct listen_opts, mute, "nothing is heard of it: no voice, no sounds"),
	OPT_STRING(0, "lang", struct listen_opts, language, "LANGUAGE",
		"the language spoken: de, en, or auto"),
	OPT_STRING(0, "device", struct listen_opts, device, "NAME", "this microphone"),
	OPT_STRING(0, "input", struct listen_opts, input, "FILE",
		"hear this WAV file instead of a microphone; -: samples on standard input, 16 bit "
		"at 16 kHz"),
	OPT_STRING(0, "output", struct listen_opts, output, "FILE",
		"speak into this WAV file instead of a loudspeaker; -: samples on standard output, "
		"16 "
		"bit at 24 kHz"),
	OPT_FLAG(0, "no-tty", struct listen_opts, no_tty,
		"plain lines, and nothing is typed: for a service"),
	OPT_FLAG(0, "unit", struct listen_opts, unit,
		"print a unit for systemd that runs this as a service of yours"),
	OPT_AGENT(struct listen_opts, agent, NULL, "who answers: @"),
	OPT_STRING(0, "model", struct listen_opts, model, "NAME", "the agent's model"),
	OPT_PERMISSION(struct listen_opts, permission),
	OPT_END,
};

static int run_listen(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct listen_opts *opts = options;

	(void)argc;
	(void)argv;
	if (opts->unit)
		return unit_print(app, "Voice assistant", "listen --no-tty", NULL, reterr);
	if (opts->new_session && opts->in)
		return err_set(reterr, ERR_USAGE, "--new and --in exclude each other");
	if (opts->push_to_talk && opts->no_wake)
		return err_set(
			reterr, ERR_USAGE, "--push-to-talk and --no-wake exclude each other");
	if (opts->push_to_talk && (opts->no_tty || !app->in_tty))
		return err_set(reterr, ERR_USAGE, "--push-to-talk needs a terminal");
	if (opts->language && !sv_among(sv_of(opts->language), "de|en|auto"))
		return err_set(reterr, ERR_USAGE, "--lang %s: de, en or auto", opts->language);
	int r = app_state(app, reterr);
	if (r < 0)
		return r;
	if (app->in_tty && app->out_tty && !opts->no_tty)
		return listen_at_terminal(app, opts, reterr);
	return listen_by_lines(app, opts, reterr);
}

const struct cmd cmd_listen = {
	.name = "listen",
	.group = CMD_GROUP_TALK,
	.summary = "talk to your agent by voice: \"Hey Jarvis\"",
	.synopsis = "",
	.max_args = 0,
	.needs = CMD_STORE,
	.opts = listen_options,
	.opts_size = sizeof(struct listen_opts),
	.run = run_listen,
};
