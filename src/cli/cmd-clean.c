/*
 * Old sessions are deleted; the archive keeps them.
 */
#include <stdlib.h>

#include "assist/kit.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/keep.h"
#include "cli/print.h"
#include "cli/sessions.h"

struct clean_opts {
	int64_t older_ms;
	const char *agent;
	bool all;
	bool forget;
	bool dry;
	bool yes;
	bool json;
};

static const struct opt clean_options[] = {
	OPT_SPAN(0, "older-than", struct clean_opts, older_ms, "SPAN",
		"those without activity for so long: 90s, 15m, 2h, 7d, 3w"),
	OPT_AGENT(struct clean_opts, agent, agent_keeps_sessions, "only sessions of one agent: @"),
	OPT_FLAG('a', "all", struct clean_opts, all, "of every folder, not only this one"),
	OPT_FLAG(0, "forget", struct clean_opts, forget,
		"from everywhere, also what went before: archive, index and store too; there is "
		"no way back"),
	OPT_FLAG('n', "dry-run", struct clean_opts, dry, "only say what would go"),
	OPT_FLAG('y', "yes", struct clean_opts, yes, "do not ask"),
	OPT_FLAG(0, "json", struct clean_opts, json, "a JSON object for programs"),
	OPT_END,
};

struct cleaning {
	struct app *app;
	struct doomed *doomed;
	int64_t before_ms;
	struct err *reterr;
};

/* One that somebody has open is passed over: it is not old. */
static int add_old(void *data, const struct session_row *row)
{
	struct cleaning *c = data;

	if (row->active_ms >= c->before_ms)
		return 0;
	return delete_add(c->app, c->doomed, row, NULL, c->reterr);
}

static int run_clean(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct clean_opts *opts = options;
	CLEANUP(doomed_release) struct doomed doomed = DOOMED_INIT;
	AUTO_FREE char *here = NULL;
	struct cleaning c = { app, &doomed, clock_wall_ms(&app->clock) - opts->older_ms, reterr };
	/* What went before is still kept: to forget it is to forget that as well. */
	struct catalogue_query query = {
		.below = true, .agent = opts->agent, .empty = true, .gone = opts->forget
	};
	int r = sessions_check_agent(opts->agent, reterr);

	(void)argc;
	(void)argv;
	if (opts->older_ms == 0)
		return err_set(reterr, ERR_USAGE, "say how old: --older-than 7d");
	doomed.forget = opts->forget;
	if (r >= 0 && opts->forget && !opts->dry)
		r = delete_finish(app, reterr);
	if (r >= 0 && !opts->all)
		r = kit_dir(app->settings, app->cwd, &here, reterr);
	query.dir = here;
	if (r >= 0)
		r = sessions_refresh(app, reterr);
	if (r >= 0)
		r = catalogue_query(app->store, &query, add_old, &c, reterr);
	if (r >= 0 && doomed.rows.n == 0 && !opts->json) {
		say_note(app->err,
			opts->all ? "no session is that old"
				  : "no session in this folder is that old; --all looks at those "
				    "of others");
		return 1;
	}
	const struct delete_flags flags = { opts->dry, opts->yes, opts->json };
	return r < 0 ? r : delete_all(app, &doomed, &flags, reterr);
}

const struct cmd cmd_clean = {
	.name = "clean",
	.group = CMD_GROUP_SESSIONS,
	.summary = "delete old sessions; the archive keeps a copy",
	.synopsis = "--older-than SPAN",
	.needs = CMD_STORE,
	.opts = clean_options,
	.opts_size = sizeof(struct clean_opts),
	.run = run_clean,
};
