/*
 * How full a session's context is, and what would help.
 */
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "view/advice.h"

enum { WINDOW_MOST = 1000000000 };

struct advise_options {
	long long window;
	bool restart;
	bool json;
};

static const struct opt advise_options[] = {
	OPT_INT('w', "window", struct advise_options, window, "TOKENS", 1, WINDOW_MOST,
		"the model's window, where the session does not tell it"),
	OPT_FLAG(0, "restart", struct advise_options, restart, "a fresh start is wanted"),
	OPT_FLAG(0, "json", struct advise_options, json, "one object for programs"),
	OPT_END,
};

static void print(
	struct app *app, bool json, const struct advise_subject *subject, const struct advice *a)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	struct term t;

	if (json) {
		view_json_advice(&w, subject, a);
		print_doc(app, &out);
		return;
	}
	print_begin(app, &t);
	view_advice(&t, subject, a);
	print_end(&t);
}

static int run_advise(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct advise_options *o = options;
	AUTO_RESOLVED of = RESOLVED_INIT;
	const struct session_row *row = &of.row;
	AUTO_ADVICE advice = ADVICE_INIT;
	int r = sessions_open(app, reterr);

	if (r >= 0)
		r = sessions_find(
			app, argc > 0 ? argv[0] : NULL, RESOLVE_HERE | RESOLVE_FILE, &of, reterr);
	if (r < 0)
		return r;
	const struct advise_opts opts = {
		.path = row->info.path,
		.format = row->info.format,
		.window = o->window,
		.restart = o->restart,
		.clock = &app->clock,
	};
	r = advise_session(&opts, &advice, reterr);
	if (r < 0)
		return r;
	if (advice.base)
		say_note(app->err,
			"warning: this session is a fork: its history up to the fork stands in the "
			"file of its parent and was not looked at");
	sessions_warn_passed(app, &advice.passed, "is not counted");
	const struct damage damage = sessions_damage(app, row);
	const struct advise_subject subject = { row->info.id, row->info.path, row->agent, &damage };
	print(app, o->json, &subject, &advice);
	return 0;
}

const struct cmd cmd_advise = {
	.name = "advise",
	.group = CMD_GROUP_CONTEXT,
	.summary = "how full the context is, what fills it, and what would help",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.words = CMD_WORDS_SESSION,
	.opts = advise_options,
	.opts_size = sizeof(struct advise_options),
	.run = run_advise,
};
