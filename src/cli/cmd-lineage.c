/*
 * Where a session comes from and what came of it.
 */
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/sessions.h"
#include "lineage/lineage.h"
#include "master/family.h"
#include "os/path.h"
#include "os/proc.h"
#include "view/lineage.h"

enum {
	DOT_TIMEOUT_MS = 60000,
	SVG_MAX = 64 * 1024 * 1024,
};

struct lineage_opts {
	bool json;
	bool dot;
	bool svg;
	bool chain;
};

static const struct opt lineage_options[] = {
	OPT_FLAG(0, "chain", struct lineage_opts, chain,
		"only the way from the first ancestor to this session"),
	OPT_FLAG(0, "json", struct lineage_opts, json, "one object for programs"),
	OPT_FLAG(0, "dot", struct lineage_opts, dot, "a graph in Graphviz's language"),
	OPT_FLAG(0, "svg", struct lineage_opts, svg, "the graph as a picture, drawn by Graphviz"),
	OPT_END,
};

/* The graph as a picture, drawn by Graphviz. */
static int print_svg(struct app *app, struct sv graph, struct err *reterr)
{
	AUTO_STR svg = STR_INIT;
	AUTO_STR said = STR_INIT;
	AUTO_FREE char *dot = path_find_program("dot", app->paths.search);
	const char *const argv[] = { dot, "-Tsvg", NULL };
	int status = 0;

	if (!dot)
		return err_set(reterr, ERR_NOTFOUND,
			"dot of Graphviz, which draws the picture, is not installed; --dot prints "
			"the graph without it");
	int r = proc_run(&(struct proc_opts){ .argv = argv, .envp = env_all() }, graph,
		DOT_TIMEOUT_MS, SVG_MAX, &svg, &said, &status, reterr);
	if (r < 0)
		return r;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(reterr, ERR_INPUT, "dot: %.*s", SV_ARG(sv_trim(str_sv(&said))));
	say_text(app->out, str_sv(&svg));
	return 0;
}

static void print_tree(struct app *app, const struct lineage *l, const char *kept)
{
	struct term t;

	print_begin(app, &t);
	view_lineage(&t, l);
	if (kept)
		term_putf(&t, "The archive has this session: faden archive restore %s\n", kept);
	print_end(&t);
}

static int run_lineage(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct lineage_opts *opts = options;
	AUTO_RESOLVED of = RESOLVED_INIT;
	AUTO_LINEAGE l = LINEAGE_INIT;
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	if (opts->json + opts->dot + opts->svg > 1)
		return err_set(reterr, ERR_USAGE, "--json, --dot and --svg exclude each other");
	int r = sessions_open(app, reterr);
	if (r >= 0)
		r = sessions_refresh(app, reterr);
	/* Of one that is gone, parents and children are known all the same. */
	if (r >= 0)
		r = sessions_find(
			app, argc > 0 ? argv[0] : NULL, RESOLVE_HERE | RESOLVE_GONE, &of, reterr);
	AUTO_RUN_NAMED run = RUN_NAMED_INIT;
	bool is_run = run_find(app, r, argc > 0 ? argv[0] : NULL, &run);
	if (is_run) {
		master_family(app->store, &run.list, run.row, opts->chain, &l);
		r = 0;
	}
	if (r >= 0 && !is_run)
		r = (opts->chain ? lineage_chain : lineage_trace)(
			app->store, app->homes, app->n_homes, &of.row, &l, reterr);
	if (r < 0)
		return r;
	if (opts->json) {
		view_json_lineage(&w, &l, of.kept);
		print_doc(app, &out);
	} else if (opts->dot || opts->svg) {
		lineage_dot(&l, &out);
		if (opts->svg)
			return print_svg(app, str_sv(&out), reterr);
		say_text(app->out, str_sv(&out));
	} else {
		print_tree(app, &l, of.kept);
	}
	return 0;
}

const struct cmd cmd_lineage = {
	.name = "lineage",
	.group = CMD_GROUP_CONTEXT,
	.summary = "where a session comes from and what came of it",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.words = CMD_WORDS_SESSION,
	.opts = lineage_options,
	.opts_size = sizeof(struct lineage_opts),
	.run = run_lineage,
};
