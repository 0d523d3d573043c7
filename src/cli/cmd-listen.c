#include "cli/cmd.h"
#include "cli/front.h"
#include "cli/listen.h"
#include "cli/print.h"
#include "cli/unit.h"
#include "config/settings.h"

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
	OPT_UNIT(struct listen_opts, unit),
	OPT_AGENT(struct listen_opts, agent, NULL, "who answers: @"),
	OPT_STRING(0, "model", struct listen_opts, model, "NAME", "the agent's model"),
	OPT_PERMISSION(struct listen_opts, permission),
	OPT_END,
};

/* Nobody looks at a service: that it would not find who answers is said when it is installed. */
static void warn_of_agent(struct app *app, const char *agent)
{
	CLEANUP(kit_close) struct kit kit = { .dir = NULL };
	struct kit_opts opts = front_kit_opts(app);
	struct err err = ERR_INIT;

	opts.agent = agent;
	int r = kit_open(&opts, &kit, &err);
	const struct agent_def *kind = kit.chosen;
	if (kind && !kit_has(&kit, kind)) {
		const char *program = settings_program(app->settings, kind);
		say_note(app->err,
			"the service could not ask %s: its program%s%s%s is not found; set %s to "
			"where it is",
			kind->name, program ? " '" : "", program ? program : "", program ? "'" : "",
			kind->setting);
	} else if (r < 0) {
		say_note(app->err, "the service could not answer: %s", err.msg);
	}
}

/* As it was asked for here; what is for one start or one terminal is refused. */
static int run_unit(struct app *app, const struct listen_opts *opts, struct err *reterr)
{
	if (opts->in || opts->input || opts->output || opts->push_to_talk)
		return err_set(reterr, ERR_USAGE,
			"a service takes no --in, --input, --output or --push-to-talk");
	AUTO_STRV words = STRV_INIT;
	const struct {
		const char *name, *value;
	} given[] = {
		{ "--lang", opts->language },
		{ "--device", opts->device },
		{ "--agent", opts->agent },
		{ "--model", opts->model },
		{ "--permission-mode", opts->permission },
	};

	strv_add(&words, "listen");
	strv_add(&words, "--no-tty");
	if (opts->new_session)
		strv_add(&words, "--new-session");
	if (opts->no_wake)
		strv_add(&words, "--no-wake");
	if (opts->mute)
		strv_add(&words, "--mute");
	for (size_t i = 0; i < ARRAY_LEN(given); i++) {
		if (!given[i].value)
			continue;
		strv_add(&words, given[i].name);
		strv_add(&words, given[i].value);
	}
	const struct unit u = { .name = "faden-listen",
		.description = "Voice assistant",
		.words = words,
		.runs_programs = true };
	if (opts->unit.install)
		warn_of_agent(app, opts->agent);
	return unit_run(app, &opts->unit, &u, reterr);
}

static int run_listen(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct listen_opts *opts = options;

	(void)argc;
	(void)argv;
	if (opts->new_session && opts->in)
		return err_set(reterr, ERR_USAGE, "--new and --in exclude each other");
	if (opts->push_to_talk && opts->no_wake)
		return err_set(
			reterr, ERR_USAGE, "--push-to-talk and --no-wake exclude each other");
	if (opts->push_to_talk && (opts->no_tty || !app->in_tty))
		return err_set(reterr, ERR_USAGE, "--push-to-talk needs a terminal");
	if (opts->language && !sv_among(sv_of(opts->language), "de|en|auto"))
		return err_set(reterr, ERR_USAGE, "--lang %s: de, en or auto", opts->language);
	if (unit_wanted(&opts->unit))
		return run_unit(app, opts, reterr);
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
