/*
 * A session that goes its own way from a turn of another on.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/make.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/sessions.h"
#include "view/branch.h"
#include "view/json.h"

struct fork_options {
	long long at;
	const char *name;
	const char *out;
	bool current;
	bool dry_run;
	bool json;
};

enum { TURNS_MOST = 1000000000 };

static const struct opt fork_options[] = {
	OPT_INT(0, "at", struct fork_options, at, "TURN", 1, TURNS_MOST,
		"the last turn that it has, as 'faden show' numbers them; else all there is"),
	OPT_STRING(0, "name", struct fork_options, name, "NAME", "what it is called"),
	OPT_FLAG(0, "current", struct fork_options, current,
		"its folder goes on with it from now on; not for runs of the pair"),
	OPT_STRING('o', "out", struct fork_options, out, "DIR",
		"write the new session there, not where the agent looks for it; not for runs"),
	OPT_FLAG('n', "dry-run", struct fork_options, dry_run, "show the plan, write nothing"),
	OPT_FLAG(0, "json", struct fork_options, json, "one object for programs"),
	OPT_END,
};

struct forking {
	struct app *app;
	const struct fork_options *opts;
	struct resolved of;
	struct out_folder out;
	struct fork_report report;
	struct made made;
};

static void forking_release(struct forking *f)
{
	resolved_release(&f->of);
	out_folder_release(&f->out);
	fork_report_release(&f->report);
	made_release(&f->made);
}

static int make_fork(struct forking *f, struct err *reterr)
{
	const struct session_row *row = &f->of.row;
	const struct fork_opts how = {
		.parent = &row->info,
		.home = app_home(f->app, row->agent),
		.at = (uint64_t)f->opts->at,
		.relation = SESSION_FORKED,
		.out_dir = f->out.dir,
		.dry = f->opts->dry_run,
		.clock = &f->app->clock,
	};
	int r = fork_session(&how, &f->report, reterr);

	if (!f->opts->dry_run)
		r = out_folder_done(f->app, &f->out, false, r, reterr);
	if (r < 0)
		return r;
	sessions_warn_passed(f->app, &f->report.file.passed, "stays as it is");
	f->made.parent = row;
	f->made.relation = SESSION_FORKED;
	f->made.agent = row->agent;
	f->made.dry = f->opts->dry_run;
	f->made.id = f->opts->dry_run ? NULL : f->report.file.id;
	f->made.path = f->report.file.path;
	if (f->opts->out)
		return 0;
	made_find_next(f->app, row->info.format, &f->made);
	return made_place(f->app, f->opts->name, f->opts->current, &f->made, reterr);
}

static void print(const struct forking *f)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	struct term t;

	if (f->opts->json) {
		jw_object(&w);
		view_put_made(&w, &f->made, NULL);
		view_put_forked(&w, &f->report);
		jw_end(&w);
		print_doc(f->app, &json);
		return;
	}
	print_begin(f->app, &t);
	if (f->opts->dry_run) {
		term_puts(&t, "A fork of ");
		term_text_line(&t, sv_of(f->of.row.info.id));
		term_puts(&t, " would go\n");
	} else {
		view_made(&t, &f->made, f->app->paths.home, "It");
	}
	view_forked(&t, &f->report, f->made.agent);
	if (!f->opts->dry_run && !f->opts->out)
		view_next(&t, &f->made, f->app->cwd);
	print_end(&t);
}

/* Rounds are what a run has for turns. */
static int fork_run(struct app *app, const struct fork_options *opts, const struct run_named *run,
	struct err *reterr)
{
	const struct master_state *s = &run->row->state;
	AUTO_FREE char *at = xasprintf("%lld", opts->at ? opts->at : (long long)s->round);
	const char *words[] = { "--session-file", run->row->path, "--fork-at-round", at,
		opts->dry_run ? "--dry-run" : NULL, NULL };

	if (opts->out || opts->current)
		return err_set(reterr, ERR_USAGE,
			"--%s is for sessions; '%.8s' is a run of the pair, and of runs the one "
			"that was made last goes on",
			opts->out ? "out" : "current", s->id);
	return run_master_words(app, run->row->path, words, opts->name, opts->json, reterr);
}

static int run_fork(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct fork_options *opts = options;
	CLEANUP(forking_release)
	struct forking f = {
		.app = app, .opts = opts, .of = RESOLVED_INIT, .report = FORK_REPORT_INIT
	};

	if (opts->out && (opts->name || opts->current))
		return err_set(reterr, ERR_USAGE,
			"--out puts it where the agent does not look: it has no %s there",
			opts->name ? "--name" : "--current");
	int r = opts->name ? sessions_check_name(opts->name, reterr) : 0;
	if (r >= 0)
		r = sessions_open_to(app, opts->dry_run, reterr);
	if (r >= 0)
		r = out_folder_find(opts->out, &f.out, reterr);
	if (r >= 0)
		r = sessions_find(
			app, argc > 0 ? argv[0] : NULL, RESOLVE_HERE | RESOLVE_FILE, &f.of, reterr);
	AUTO_RUN_NAMED run = RUN_NAMED_INIT;
	if (run_find(app, r, argc > 0 ? argv[0] : NULL, &run))
		return fork_run(app, opts, &run, reterr);
	if (r >= 0)
		r = make_fork(&f, reterr);
	if (r >= 0)
		print(&f);
	return r < 0 ? r : 0;
}

const struct cmd cmd_fork = {
	.name = "fork",
	.group = CMD_GROUP_BRANCH,
	.summary = "go another way from a turn of a session on",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.words = CMD_WORDS_SESSION,
	.opts = fork_options,
	.opts_size = sizeof(struct fork_options),
	.run = run_fork,
};
