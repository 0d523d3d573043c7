/*
 * Networks that faden can use: what there is, getting it, taking it away.
 */
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/models.h"
#include "cli/print.h"
#include "meaning/meaning.h"
#include "model/install.h"

struct model_opts {
	bool json;
};

static const struct opt model_options[] = {
	OPT_FLAG(0, "json", struct model_opts, json, "one JSON array for programs"),
	OPT_END,
};

/* What German means is told by a dictionary that the user has: no part of faden, nor of npm. */
static int make_german(struct app *app, const struct model_def *const *defs, size_t n, bool wanted,
	struct err *reterr)
{
	const struct model_def *def = model_find(SV("meaning"));
	bool named = false;

	for (size_t i = 0; i < n; i++)
		named |= defs[i] == def;
	if (!named)
		return 0;
	struct meaning *m = meaning_new(app->paths.models_dir);
	int r = 0;
	if (!wanted) {
		meaning_drop_german(m);
	} else {
		bool had = meaning_has_german(m);
		r = meaning_make_german(m, MEANING_DICTIONARY, reterr);
		if (r == ERR_NOTFOUND && !had)
			meaning_drop_german(m);
		if (r == ERR_NOTFOUND && !had)
			say_line(app->err,
				"German: there is no dictionary, so only English is understood; "
				"%s, and "
				"this command once more, adds it",
				MEANING_GET_DICTIONARY);
		else if (r > 0)
			say_line(app->err, "German: %d words from %s (GPL), for this machine alone",
				r, MEANING_DICTIONARY);
		r = r == ERR_NOTFOUND ? 0 : r;
	}
	meaning_free(m);
	return r < 0 ? r : 0;
}

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
		bool install = sv_is(verb, "install");
		if (r >= 0 && install)
			r = models_get(app, m, defs, n, reterr);
		if (r >= 0)
			r = make_german(app, defs, n, install, reterr);
		for (size_t i = 0; r >= 0 && !install && i < n; i++)
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
	.synopsis = "[list|install|remove] [NAME…]",
	.min_args = 0,
	.max_args = CMD_ANY,
	.verbs = model_verbs,
	.opts = model_options,
	.opts_size = sizeof(struct model_opts),
	.run = run_model,
};
