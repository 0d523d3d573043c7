/*
 * Two sessions, turn by turn.
 */
#include "cli/cmd.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/sessions.h"
#include "view/diff.h"
#include "view/json.h"

struct diff_options {
	bool stat;
	bool json;
};

static const struct opt diff_options[] = {
	OPT_FLAG(0, "stat", struct diff_options, stat, "only how much differs, not what"),
	OPT_FLAG(0, "json", struct diff_options, json, "one object for programs"),
	OPT_END,
};

enum { DIFFERS = 1 }; /* exit status */

static int print(struct app *app, const struct diff_options *opts, const struct diff_view *view,
	struct err *reterr)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	struct term t;
	int r;

	if (opts->json) {
		r = view_json_diff(&w, view, reterr);
		if (r >= 0)
			print_doc(app, &json);
		return r;
	}
	app_pager_begin(app);
	print_begin(app, &t);
	r = view_diff(&t, view, reterr);
	print_end(&t);
	return r;
}

static int run_diff(
	struct app *app, const void *options, int argc UNUSED, char **argv, struct err *reterr)
{
	const struct diff_options *opts = options;
	AUTO_RESOLVED a = RESOLVED_INIT;
	AUTO_RESOLVED b = RESOLVED_INIT;
	AUTO_SESSION_DIFF diff = SESSION_DIFF_INIT;
	AUTO_LINEAGE chain = LINEAGE_INIT;
	struct diff_view view = { .diff = &diff, .rows = { &a.row, &b.row }, .stat = opts->stat };
	int r = sessions_open(app, reterr);

	if (r >= 0)
		r = sessions_find(app, argv[0], 0, &a, reterr);
	if (r >= 0)
		r = sessions_find(app, argv[1], 0, &b, reterr);
	AUTO_STRV paths = STRV_INIT;
	int runs = run_find_two(app, r, argv, &paths, reterr);
	if (runs < 0)
		return runs;
	if (runs > 0)
		return run_master_words(app, paths.v[0],
			(const char *const[]){ "--diff", paths.v[0], paths.v[1],
				opts->stat ? "--stat" : NULL, NULL },
			NULL, opts->json, reterr);
	if (r < 0)
		return r;
	const struct diff_input inputs[DIFF_SIDES] = {
		{ &a.row.info, app_home(app, a.row.agent) },
		{ &b.row.info, app_home(app, b.row.agent) },
	};
	r = session_diff_read(inputs, &diff, reterr);
	if (r >= 0)
		r = session_ancestor(app->store, app->homes, app->n_homes, &a.row, &b.row, &chain,
			&view.ancestor, reterr);
	if (r >= 0)
		r = print(app, opts, &view, reterr);
	if (r < 0)
		return r;
	sessions_warn_passed(app, &diff.of[DIFF_A].passed, "is passed over");
	sessions_warn_passed(app, &diff.of[DIFF_B].passed, "is passed over");
	return diff.equal ? 0 : DIFFERS;
}

const struct cmd cmd_diff = {
	.name = "diff",
	.group = CMD_GROUP_BRANCH,
	.summary = "compare two sessions turn by turn",
	.synopsis = "SESSION SESSION",
	.min_args = 2,
	.picks = true,
	.max_args = 2,
	.words = CMD_WORDS_SESSION,
	.opts = diff_options,
	.opts_size = sizeof(struct diff_options),
	.run = run_diff,
};
