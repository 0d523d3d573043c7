/*
 * Networks that faden can use: what there is, getting it, taking it away.
 */
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/models.h"
#include "cli/print.h"
#include "model/install.h"

struct model_opts {
	bool json;
};

static const struct opt model_options[] = {
	OPT_FLAG(0, "json", struct model_opts, json, "one JSON array for programs"),
	OPT_END,
};

static const char *const model_verbs[] = { "list", "install", "remove", NULL };

static int run_model(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct model_opts *opts = options;
	struct sv verb = sv_of(argc > 0 ? argv[0] : "list");
	const struct model_def *defs[MODEL_PLAN_MAX];
	struct models *m = models_new(app->paths.models_dir);
	size_t n = 0;
	int r = 0;

	if (sv_is(verb, "list") && argc <= 1) {
		const struct model_def *all = model_table(&n);
		for (size_t i = 0; i < n; i++)
			defs[i] = &all[i];
	} else if (sv_is(verb, "install") || sv_is(verb, "remove")) {
		r = models_named(argc - 1, argv + 1, defs, ARRAY_LEN(defs), &n, reterr);
		if (r >= 0 && sv_is(verb, "install"))
			r = models_get(app, m, defs, n, reterr);
		else
			for (size_t i = 0; r >= 0 && i < n; i++)
				r = model_remove(m, defs[i], reterr);
	} else {
		r = err_set(reterr, ERR_USAGE, "give 'list', 'install NAME…' or 'remove NAME…'");
	}
	if (r >= 0)
		models_print(app, m, defs, n, opts->json);
	models_free(m);
	return r < 0 ? r : 0;
}

const struct cmd cmd_model = {
	.name = "model",
	.group = CMD_GROUP_SETUP,
	.summary = "networks for voice and routing: list, install, remove",
	.synopsis = "[list | install NAME… | remove NAME…]",
	.min_args = 0,
	.max_args = CMD_ANY,
	.verbs = model_verbs,
	.opts = model_options,
	.opts_size = sizeof(struct model_opts),
	.run = run_model,
};
