/*
 * What was found on another branch, brought home.
 */
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/make.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/sessions.h"
#include "view/branch.h"
#include "view/json.h"

struct merge_options {
	const char *name;
	bool current;
	bool unrelated;
	bool dry_run;
	bool json;
};

static const struct opt merge_options[] = {
	OPT_STRING(0, "name", struct merge_options, name, "NAME", "what the new session is called"),
	OPT_FLAG(0, "current", struct merge_options, current,
		"its folder goes on with it from now on; not for runs of the pair"),
	OPT_FLAG(0, "unrelated", struct merge_options, unrelated,
		"also when the two have nothing in common"),
	OPT_FLAG('n', "dry-run", struct merge_options, dry_run,
		"say what would be brought home, and make nothing"),
	OPT_FLAG(0, "json", struct merge_options, json, "one object for programs"),
	OPT_END,
};

struct merge_run {
	struct app *app;
	const struct merge_options *opts;
	struct resolved of[DIFF_SIDES];
	struct session_diff diff;
	struct lineage chain;
	const struct lineage_node *ancestor;
	struct merge_report report;
	struct made made;
};

static void merge_run_release(struct merge_run *m)
{
	resolved_release(&m->of[DIFF_A]);
	resolved_release(&m->of[DIFF_B]);
	session_diff_release(&m->diff);
	lineage_release(&m->chain);
	merge_report_release(&m->report);
	made_release(&m->made);
}

static int read_both(struct merge_run *m, char **argv, struct err *reterr)
{
	int r = 0;

	for (size_t s = 0; r >= 0 && s < DIFF_SIDES; s++)
		r = sessions_find(m->app, argv[s], 0, &m->of[s], reterr);
	if (r < 0)
		return r;
	const struct diff_input inputs[DIFF_SIDES] = {
		{ &m->of[0].row.info, app_home(m->app, m->of[0].row.agent) },
		{ &m->of[1].row.info, app_home(m->app, m->of[1].row.agent) },
	};
	r = session_diff_read(inputs, &m->diff, reterr);
	return r < 0 ? r
		     : session_ancestor(m->app->store, m->app->homes, m->app->n_homes,
			       &m->of[0].row, &m->of[1].row, &m->chain, &m->ancestor, reterr);
}

static int make_merge(struct merge_run *m, struct err *reterr)
{
	const struct merge_opts how = {
		.home = &m->of[DIFF_A].row,
		.other = &m->of[DIFF_B].row,
		.diff = &m->diff,
		.ancestor = m->ancestor,
		.unrelated = m->opts->unrelated,
		.dry = m->opts->dry_run,
		.clock = &m->app->clock,
	};
	int r = merge_sessions(&how, &m->report, reterr);

	if (r < 0)
		return r;
	sessions_warn_passed(m->app, &m->report.file.passed, "stays as it is");
	m->made.parent = how.home;
	m->made.relation = SESSION_MERGED;
	m->made.agent = how.home->agent;
	m->made.dry = m->opts->dry_run;
	m->made.id = m->opts->dry_run ? NULL : m->report.file.id;
	m->made.path = m->report.file.path;
	made_find_next(m->app, how.home->info.format, &m->made);
	return made_place(m->app, m->opts->name, m->opts->current, &m->made, reterr);
}

static void print(const struct merge_run *m)
{
	const struct merge_view view = {
		.report = &m->report,
		.diff = &m->diff,
		.ancestor = m->ancestor,
		.rows = { &m->of[DIFF_A].row, &m->of[DIFF_B].row },
	};
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	struct term t;

	if (m->opts->json) {
		jw_object(&w);
		view_put_made(&w, &m->made, NULL);
		view_put_merged(&w, &view);
		jw_end(&w);
		print_doc(m->app, &json);
		return;
	}
	print_begin(m->app, &t);
	if (m->opts->dry_run)
		term_puts(&t, "A merge would have\n");
	else
		view_made(&t, &m->made, m->app->paths.home, "It");
	view_merged(&t, &view);
	if (!m->opts->dry_run)
		view_next(&t, &m->made, m->app->cwd);
	print_end(&t);
}

static int merge_runs(struct app *app, const struct merge_options *opts, const struct strv *paths,
	struct err *reterr)
{
	const char *words[6] = { "--merge", paths->v[0], paths->v[1] };
	size_t n = 3;

	if (opts->current)
		return err_set(reterr, ERR_USAGE,
			"--current is for sessions; of runs the one that was made last goes on");
	if (opts->unrelated)
		words[n++] = "--unrelated";
	if (opts->dry_run)
		words[n++] = "--dry-run";
	return run_master_words(app, paths->v[0], words, opts->name, opts->json, reterr);
}

static int run_merge(
	struct app *app, const void *options, int argc UNUSED, char **argv, struct err *reterr)
{
	const struct merge_options *opts = options;
	CLEANUP(merge_run_release)
	struct merge_run m = {
		.app = app,
		.opts = opts,
		.of = { RESOLVED_INIT, RESOLVED_INIT },
		.diff = SESSION_DIFF_INIT,
		.chain = LINEAGE_INIT,
		.report = MERGE_REPORT_INIT,
	};
	int r = opts->name ? sessions_check_name(opts->name, reterr) : 0;

	if (r >= 0)
		r = sessions_open_to(app, opts->dry_run, reterr);
	if (r >= 0)
		r = read_both(&m, argv, reterr);
	AUTO_STRV paths = STRV_INIT;
	int runs = run_find_two(app, r, argv, &paths, reterr);
	if (runs < 0)
		return runs;
	if (runs > 0)
		return merge_runs(app, opts, &paths, reterr);
	if (r >= 0)
		r = make_merge(&m, reterr);
	if (r >= 0)
		print(&m);
	return r < 0 ? r : 0;
}

const struct cmd cmd_merge = {
	.name = "merge",
	.group = CMD_GROUP_BRANCH,
	.summary = "bring home what another branch has found",
	.synopsis = "SESSION OTHER",
	.min_args = 2,
	.picks = true,
	.max_args = 2,
	.words = CMD_WORDS_SESSION,
	.opts = merge_options,
	.opts_size = sizeof(struct merge_options),
	.run = run_merge,
};
