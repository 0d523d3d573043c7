#include <stdlib.h>

#include "assist/kit.h"
#include "cli/cmd.h"
#include "cli/front.h"
#include "cli/print.h"
#include "store/conv.h"
#include "view/json.h"

struct reset_opts {
	bool undo;
	bool json;
};

static const struct opt reset_options[] = {
	OPT_FLAG(
		0, "undo", struct reset_opts, undo, "bring the conversation before the reset back"),
	OPT_FLAG(0, "json", struct reset_opts, json, "what the next turn goes on with, as JSON"),
	OPT_END,
};

/* What the next turn in the folder goes on with: null when it starts fresh. */
static void print_next(struct app *app, const char *dir, const struct conv *c)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	jw_object(&w);
	view_put_conversation_id(&w, c, dir);
	jw_end(&w);
	print_doc(app, &out);
}

static int run_reset(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct reset_opts *opts = options;
	CLEANUP(kit_close) struct kit kit = { .dir = NULL };
	const struct kit_opts want = front_kit_opts(app);
	AUTO_CONV c = CONV_INIT;
	AUTO_STR said = STR_INIT;
	struct err err = ERR_INIT;
	int r = kit_open_deciding(&want, &kit, reterr);

	(void)argc;
	(void)argv;
	if (r < 0)
		return r;
	const struct decide_opts how = kit_decide_opts(&kit, true);
	if (opts->undo && decide_refresh(&how, SV(""), &err) < 0)
		log_write(&app->log, LOG_WARN, "sessions: %s", err.msg);
	r = opts->undo ? decide_undo(&how, &c, reterr)
		       : conv_reset(app->store, kit.dir, &app->clock, reterr);
	if (r < 0)
		return r;
	if (opts->undo)
		text_undone(&said, kit.language, &c, r > 0);
	else
		str_adds(&said, text_get(TEXT_RESET, kit.language));
	if (opts->json)
		print_next(app, kit.dir, opts->undo ? &c : NULL);
	else
		say_line(app->out, "%s", said.buf);
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
