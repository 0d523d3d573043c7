/*
 * Sessions are deleted: the archive keeps them, unless they are to be forgotten.
 */
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/keep.h"
#include "cli/print.h"
#include "cli/sessions.h"

struct delete_opts {
	bool forget;
	bool dry;
	bool yes;
	bool json;
};

static const struct opt delete_options[] = {
	OPT_FLAG(0, "forget", struct delete_opts, forget,
		"from everywhere: archive, index and store too; there is no way back"),
	OPT_FLAG('n', "dry-run", struct delete_opts, dry, "only say what would go"),
	OPT_FLAG('y', "yes", struct delete_opts, yes, "do not ask"),
	OPT_FLAG(0, "json", struct delete_opts, json, "a JSON object for programs"),
	OPT_END,
};

static int run_delete(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct delete_opts *opts = options;
	CLEANUP(doomed_release) struct doomed doomed = DOOMED_INIT;
	int r = opts->forget && !opts->dry ? delete_finish(app, reterr) : 0;

	doomed.forget = opts->forget;
	for (int i = 0; i < argc && r >= 0; i++) {
		AUTO_RESOLVED of = RESOLVED_INIT;
		r = sessions_find(app, argv[i], opts->forget ? RESOLVE_GONE : 0, &of, reterr);
		if (r >= 0)
			r = delete_add(app, &doomed, &of.row, argv[i], reterr);
	}
	const struct delete_flags flags = { opts->dry, opts->yes, opts->json };
	return r < 0 ? r : delete_all(app, &doomed, &flags, reterr);
}

const struct cmd cmd_delete = {
	.name = "delete",
	.alias = "rm",
	.group = CMD_GROUP_SESSIONS,
	.summary = "delete sessions; the archive keeps a copy",
	.synopsis = "SESSION…",
	.min_args = 1,
	.picks = true,
	.max_args = CMD_ANY,
	.needs = CMD_STORE,
	.words = CMD_WORDS_SESSION,
	.opts = delete_options,
	.opts_size = sizeof(struct delete_opts),
	.run = run_delete,
};
