/*
 * What listening and speaking need: got.
 */
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/models.h"
#include "cli/print.h"
#include "model/install.h"

struct voice_opts {
	const char *model;
	bool json;
};

static const char *const model_choices[] = { "base", "small", "moonshine", NULL };

static const struct opt voice_options[] = {
	OPT_WORD(0, "model", struct voice_opts, model, "NAME", model_choices,
		"speech to text by this one: base (the default), small or moonshine"),
	OPT_FLAG(0, "json", struct voice_opts, json, "JSON for programs"),
	OPT_END,
};

static const char *const voice_verbs[] = { "install", NULL };

static int install(struct app *app, const struct voice_opts *opts, struct err *reterr)
{
	const char *model = opts->model ? opts->model : "base";
	AUTO_FREE char *name =
		xasprintf("%s%s", strcmp(model, "moonshine") == 0 ? "" : "whisper-", model);
	const struct model_def *defs[] = { model_find(SV("voice")), model_find(sv_of(name)) };
	const struct model_def *all[MODEL_PLAN_MAX];
	struct models *m = models_new(app->paths.models_dir);
	int r = models_get(app, m, defs, ARRAY_LEN(defs), reterr);

	if (r >= 0)
		models_print(
			app, m, all, model_plan(m, defs, ARRAY_LEN(defs), true, all), opts->json);
	models_free(m);
	return r < 0 ? r : 0;
}

static int run_voice(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct voice_opts *opts = options;
	struct sv verb = sv_of(argv[0]);

	if (sv_is(verb, "install") && argc == 1)
		return install(app, opts, reterr);
	return err_set(reterr, ERR_USAGE, "give 'install'");
}

const struct cmd cmd_voice = {
	.name = "voice",
	.group = CMD_GROUP_SETUP,
	.summary = "what listening needs: install it",
	.synopsis = "install",
	.min_args = 1,
	.max_args = CMD_ANY,
	.words = CMD_WORDS_FILE,
	.verbs = voice_verbs,
	.opts = voice_options,
	.opts_size = sizeof(struct voice_opts),
	.run = run_voice,
};
