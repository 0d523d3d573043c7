/*
 * A session without its long texts, which can be had back.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/make.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "view/json.h"

struct trim_options {
	const char *tools;
	long long threshold;
	long long assistant;
	long long min_savings;
	long long keep_head;
	int style;
	const char *out;
	bool duplicates;
	bool images;
	enum opt_tri inputs;
	bool tool_use_result;
	bool in_place;
	bool dry_run;
	bool json;
};

static const char *const styles[] = { "seed", "head", NULL };
enum { CHARS_MOST = 16 * 1024 * 1024, MANY = 1000000000 };

static const struct opt trim_options[] = {
	OPT_STRING('t', "tools", struct trim_options, tools, "NAME,…",
		"only these tools, their results and inputs alike; in any case of letters"),
	OPT_INT('l', "length", struct trim_options, threshold, "LENGTH", 1, CHARS_MOST,
		"texts of so many characters or more are trimmed (500)"),
	OPT_INT(0, "threshold", struct trim_options, threshold, "LENGTH", 1, CHARS_MOST,
		"the same"),
	OPT_INT('a', "assistant", struct trim_options, assistant, "N", -MANY, MANY,
		"also the first N long answers; with -N all but the last N"),
	OPT_INT(0, "min-savings", struct trim_options, min_savings, "TOKENS", 0, MANY,
		"make no new session for less (300)"),
	OPT_INT(0, "keep-head", struct trim_options, keep_head, "CHARS", 0, CHARS_MOST,
		"keep so much of the beginning of each text"),
	OPT_CHOICE(0, "style", struct trim_options, style, "STYLE", styles,
		"the placeholder alone (seed), or after the beginning of the text (head)"),
	OPT_STRING('o', "out", struct trim_options, out, "DIR",
		"write the new session there, not where the agent looks for it"),
	OPT_FLAG(0, "duplicates", struct trim_options, duplicates,
		"also shorter results that repeat an earlier one word for word"),
	OPT_FLAG(0, "images", struct trim_options, images, "pictures and documents too"),
	OPT_NEGATABLE(0, "inputs", struct trim_options, inputs,
		"long inputs of tools, such as the text of a file to be written (default)"),
	OPT_FLAG(0, "tool-use-result", struct trim_options, tool_use_result,
		"drop second copies of results, which only the agent's screen shows"),
	OPT_FLAG(0, "in-place", struct trim_options, in_place,
		"change the session itself; a copy goes to the archive first"),
	OPT_FLAG('n', "dry-run", struct trim_options, dry_run, "show the plan, write nothing"),
	OPT_FLAG(0, "json", struct trim_options, json, "one object for programs"),
	OPT_END,
};

static const struct trim_options trim_defaults = { .threshold = 500, .min_savings = 300 };

struct trimming {
	struct app *app;
	const struct trim_options *opts;
	struct resolved of;
	struct strv tools;
	struct out_folder out;
	struct trim_report report;
	struct damage damage;
	struct made made;
	bool by_place; /* no session was named */
};

static void trimming_release(struct trimming *t)
{
	resolved_release(&t->of);
	strv_release(&t->tools);
	out_folder_release(&t->out);
	trim_report_release(&t->report);
	made_release(&t->made);
}

/* ---- what and whether ---- */

static int split_tools(struct trimming *t, struct err *reterr)
{
	struct sv rest = sv_of(t->opts->tools), name;

	while (sv_split(&rest, ',', &name))
		if (sv_trim(name).n > 0)
			strv_addsv(&t->tools, sv_trim(name));
	if (t->opts->tools && t->tools.n == 0)
		return err_set(reterr, ERR_USAGE, "--tools names no tool");
	return 0;
}

static struct trim_opts opts_of(const struct trimming *t)
{
	const struct trim_options *o = t->opts;

	return (struct trim_opts){
		.path = t->of.row.info.path,
		.format = t->of.row.info.format,
		.tools = &t->tools,
		.threshold = o->threshold,
		.assistant = o->assistant,
		.min_savings = o->min_savings,
		.keep_head = o->keep_head,
		.style = o->style == 1 ? TRIM_HEAD : TRIM_SEED,
		.keep_inputs = o->inputs == OPT_NO,
		.duplicates = o->duplicates,
		.images = o->images,
		.display = o->tool_use_result,
		.in_place = o->in_place,
		.dry = o->dry_run,
		.out_dir = t->out.dir,
	};
}

static int trim(struct trimming *t, const char *spec, struct err *reterr)
{
	int r = sessions_open_to(t->app, t->opts->dry_run, reterr);

	if (r == 0)
		r = split_tools(t, reterr);
	if (r == 0)
		r = out_folder_find(t->opts->out, &t->out, reterr);
	if (r == 0)
		r = sessions_find(
			t->app, spec, RESOLVE_HERE | RESOLVE_FILE | RESOLVE_PLACE, &t->of, reterr);
	if (r == 0 && t->opts->in_place)
		r = in_place_check(
			t->app, &t->of.row, "trim to a new session (without --in-place)", reterr);
	if (r < 0)
		return r;
	t->damage = sessions_damage(t->app, &t->of.row);
	const struct archive archive = app_archive(t->app);
	const struct trim_opts opts = opts_of(t);
	r = trim_session(&opts, &archive, &t->report, reterr);
	if (!t->opts->dry_run)
		r = out_folder_done(t->app, &t->out, t->opts->in_place, r, reterr);
	if (r == 0 && t->report.backup[0])
		t->made.backup = xstrdup(t->report.backup);
	return r;
}

/* ---- what is said ---- */

static void fill_made(struct trimming *t, int result)
{
	const struct trim_report *r = &t->report;
	bool written = result == 0 && !t->opts->dry_run;

	t->made.parent = &t->of.row;
	t->made.relation = SESSION_TRIMMED;
	t->made.agent = t->of.row.agent;
	t->made.id = written ? r->file.id : NULL;
	t->made.path = written ? r->file.path : NULL;
	t->made.before = &r->before;
	t->made.saved = &r->saved;
	t->made.left = &r->left;
	t->made.damage = &t->damage;
	t->made.dry = t->opts->dry_run;
	t->made.in_place = t->opts->in_place;
	t->made.late = r->file.late;
	if (t->opts->out)
		return;
	made_find_next(t->app, t->of.row.info.format, &t->made);
	(void)made_take_over(t->app, &t->of, &t->made);
}

static void print(const struct trimming *t, int result, const struct err *err)
{
	struct app *app = t->app;
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	struct term term;

	if (t->opts->json) {
		jw_object(&w);
		view_put_made(&w, &t->made, result < 0 ? err : NULL);
		jw_put_bool(&w, "nothing_to_trim", result == ERR_NOTFOUND);
		view_put_trimmed(&w, &t->report);
		jw_end(&w);
		print_doc(app, &json);
		app->told = true;
		return;
	}
	AUTO_FREE char *subject =
		xasprintf("Trimming %s%s", t->of.row.info.id, t->opts->in_place ? " itself" : "");
	print_begin(app, &term);
	view_made(&term, &t->made, app->paths.home, subject);
	view_trimmed(&term, &t->report);
	if (t->opts->dry_run && t->opts->in_place)
		view_sentence(&term, SV(""),
			"The session itself would change; a copy goes to the archive first.");
	if (!t->opts->dry_run && !t->opts->out)
		view_next(&term, &t->made, app->cwd);
	else if (!t->opts->dry_run && t->by_place)
		view_sentence(&term, SV(""),
			"It lies elsewhere (--out): the session goes on here as it was.");
	print_end(&term);
}

static void warn(const struct trimming *t)
{
	const struct strv *unknown = &t->report.unknown;
	AUTO_STR names = STR_INIT;

	if (t->report.base)
		say_note(t->app->err,
			"warning: this session is a fork: its history up to the fork stands in the "
			"file of its parent and was not trimmed");
	sessions_warn_passed(t->app, &t->report.file.passed, "stays as it is");
	for (size_t i = 0; i < unknown->n; i++)
		str_addf(&names, "%s%s", i ? ", " : "", unknown->v[i]);
	if (unknown->n > 0)
		say_note(t->app->err, "warning: no tool of this name was used in the session: %s",
			names.buf);
}

/* ---- the command ---- */

static int run_trim(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct trim_options *opts = options;
	CLEANUP(trimming_release)
	struct trimming t = {
		.app = app,
		.opts = opts,
		.of = RESOLVED_INIT,
		.tools = STRV_INIT,
		.report = TRIM_REPORT_INIT,
	};
	struct err err = ERR_INIT;

	if (opts->in_place && opts->out)
		return err_set(reterr, ERR_USAGE, "--in-place and --out exclude each other");
	if (opts->in_place && argc == 0)
		return err_set(reterr, ERR_USAGE, "--in-place needs the name of the session");
	t.by_place = argc == 0;
	int r = trim(&t, argc > 0 ? argv[0] : NULL, &err);
	if (r == 0 || r == ERR_NOTFOUND)
		warn(&t);
	if (t.of.row.info.path) {
		sessions_warn_damage(app, &t.damage, t.of.row.info.id);
		fill_made(&t, r);
		if (r == 0 || opts->json)
			print(&t, r, &err);
	}
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}

const struct cmd cmd_trim = {
	.name = "trim",
	.group = CMD_GROUP_CONTEXT,
	.summary = "take long tool results out of a session; they can be had back",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.words = CMD_WORDS_SESSION,
	.opts = trim_options,
	.opts_size = sizeof(struct trim_options),
	.defaults = &trim_defaults,
	.run = run_trim,
};
