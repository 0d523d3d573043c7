/*
 * A session without its long texts, which can be had back.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/archive-of.h"
#include "cli/cmd.h"
#include "cli/find.h"
#include "cli/go-on.h"
#include "cli/in-place.h"
#include "cli/new-session.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "os/path.h"
#include "strategy/trim.h"
#include "ui/size.h"
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
	OPT_INT('l', "threshold", struct trim_options, threshold, "CHARS", 1, CHARS_MOST,
		"texts of so many characters or more are trimmed (500)"),
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
		"drop Claude Code's second copies of results, which only its screen shows"),
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
	struct session_row row;
	struct strv tools;
	char *out; /* folder, absolute; NULL: where the agent looks */
	bool out_missing;
	struct trim_report report;
	struct damage damage;
};

static void trimming_release(struct trimming *t)
{
	session_row_release(&t->row);
	strv_release(&t->tools);
	free(t->out);
	trim_report_release(&t->report);
}

/* ---- what and whether ---- */

static int find(struct trimming *t, int argc, char **argv, struct err *reterr)
{
	AUTO_FREE char *spec = NULL;
	int r = sessions_given(t->app, argc, argv, &spec, reterr);
	if (r < 0)
		return r;
	return find_file(t->app, spec, &t->row, reterr);
}

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
		.path = t->row.info.path,
		.format = t->row.info.format,
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
		.out_dir = t->out,
	};
}

static int trim(struct trimming *t, int argc, char **argv, struct err *reterr)
{
	int r = sessions_open_to(t->app, t->opts->dry_run, reterr);

	if (r == 0)
		r = split_tools(t, reterr);
	if (r == 0 && t->opts->out)
		r = out_folder(t->opts->out, &t->out, &t->out_missing, reterr);
	if (r == 0)
		r = find(t, argc, argv, reterr);
	if (r == 0 && t->opts->in_place)
		r = in_place_check(
			t->app, &t->row, "trim to a new session (without --in-place)", reterr);
	if (r < 0)
		return r;
	t->damage = sessions_damage(t->app, &t->row);
	struct archive archive;
	AUTO_FREE char *dir = archive_of(t->app, &archive);
	const struct trim_opts opts = opts_of(t);
	r = trim_session(&opts, &archive, &t->report, reterr);
	if (r < 0)
		out_hint(t->app, t->opts->out, t->opts->in_place, reterr);
	if (t->out_missing && !t->opts->dry_run)
		out_folder_made(t->app, t->out, r == 0);
	return r;
}

/* ---- what is said ---- */

static void put_count(struct jw *w, const char *key, const struct trim_count *c)
{
	jw_key(w, key);
	jw_object(w);
	jw_put_i64(w, "count", c->n);
	jw_put_i64(w, "chars", c->chars);
	jw_put_i64(w, "bytes", (int64_t)c->bytes);
	jw_end(w);
}

static void put_tokens(struct jw *w, const struct trim_report *r)
{
	jw_key(w, "tokens");
	jw_object(w);
	jw_put_i64(w, "saved", r->saved.tokens);
	jw_put_cstr(w, "saved_sure", sure_name(r->saved.sure));
	jw_put_i64(w, "before", r->before.tokens);
	jw_put_cstr(w, "before_sure", sure_name(r->before.sure));
	jw_put_i64(w, "left", r->left.tokens);
	jw_put_cstr(w, "left_sure", sure_name(r->left.sure));
	jw_end(w);
}

static void put_unknown(struct jw *w, const struct trim_report *r)
{
	jw_key(w, "unknown_tools");
	jw_array(w);
	for (size_t i = 0; i < r->unknown.n; i++)
		jw_string(w, sv_of(r->unknown.v[i]));
	jw_end(w);
}

static void put_trimmed(struct jw *w, const struct trim_report *r)
{
	put_tokens(w, r);
	put_count(w, "results", &r->results);
	put_count(w, "inputs", &r->inputs);
	put_count(w, "answers", &r->answers);
	put_count(w, "images", &r->images);
	put_count(w, "copies", &r->copies);
	jw_put_i64(w, "live_images", r->live_images);
	jw_put_i64(w, "images_left", r->images_left);
	put_unknown(w, r);
}

static void put_file(struct jw *w, const struct trim_report *r)
{
	jw_put_i64(w, "bytes_before", (int64_t)r->file.bytes_in);
	jw_put_i64(w, "bytes_after", (int64_t)r->file.bytes_out);
	jw_put_i64(w, "lines", (int64_t)r->file.lines);
	jw_put_i64(w, "lines_copied", (int64_t)r->file.copied);
	jw_put_cstr(w, "backup", r->backup[0] ? r->backup : NULL);
}

static void print_object(const struct trimming *t, int result, const struct err *err)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	const struct trim_report *r = &t->report;
	bool written = result == 0 && !t->opts->dry_run;

	jw_object(&w);
	if (result < 0) {
		view_put_error(&w, err, NULL);
		jw_put_cstr(&w, "session_id", NULL);
		jw_put_cstr(&w, "path", NULL);
		t->app->told = true;
	} else {
		jw_put_cstr(&w, "session_id", written ? r->file.id : NULL);
		jw_put_cstr(&w, "path", written ? r->file.path : NULL);
	}
	jw_put_cstr(&w, "parent_id", t->row.info.id);
	jw_put_cstr(&w, "parent_path", t->row.info.path);
	jw_put_bool(&w, "dry_run", t->opts->dry_run);
	jw_put_bool(&w, "in_place", t->opts->in_place);
	jw_put_bool(&w, "nothing_to_trim", result == ERR_NOTFOUND);
	view_put_damage(&w, &t->damage);
	put_trimmed(&w, r);
	if (result == 0)
		put_file(&w, r);
	jw_end(&w);
	(void)fprintf(t->app->out, "%s\n", out.buf);
}

static void print_count(FILE *out, const char *what, const struct trim_count *c)
{
	char size[SIZE_TEXT_MAX], count[SIZE_TEXT_MAX];

	if (c->n == 0)
		return;
	size_format(c->bytes, size);
	size_format_count(c->n, count);
	(void)fprintf(out, "  %-8s %s, %s less\n", what, count, size);
}

static void print_plan(const struct trimming *t)
{
	const struct trim_report *r = &t->report;
	FILE *out = t->app->out;
	char before[SIZE_TEXT_MAX], after[SIZE_TEXT_MAX], left[SIZE_TEXT_MAX];

	size_format(r->file.bytes_in, before);
	size_format(r->file.bytes_out, after);
	size_format_count(r->images_left, left);
	print_count(out, "results", &r->results);
	print_count(out, "inputs", &r->inputs);
	print_count(out, "answers", &r->answers);
	print_count(out, "images", &r->images);
	print_count(out, "copies", &r->copies);
	if (r->images_left > 0)
		(void)fprintf(out, "  images   %s stay (--images)\n", left);
	(void)fprintf(out, "  size     %s, was %s\n", after, before);
}

static void print_dry(const struct trimming *t)
{
	const struct trim_report *r = &t->report;
	AUTO_STR line = STR_INIT;

	str_addf(&line, "Trimming %s%s would save ", t->row.info.id,
		t->opts->in_place ? " itself" : "");
	saved_words(&r->saved, &r->before, &line);
	prose_put(t->app->out, 0, line.buf);
	print_plan(t);
	if (t->opts->in_place)
		prose_put(t->app->out, 0,
			"The session itself would change; a copy goes to the archive first.");
}

static void print_backup(const struct trimming *t)
{
	const struct trim_report *r = &t->report;
	struct archive archive;
	AUTO_FREE char *dir = archive_of(t->app, &archive);
	AUTO_FREE char *copy = archive_path(&archive, r->backup);
	AUTO_FREE char *shown = path_show(copy, t->app->paths.home);
	AUTO_STR undo = STR_INIT;

	shell_cp(&undo, copy, r->file.path);
	(void)fprintf(t->app->out, "Trimmed session %s\n  backup   %s\n  undo     %s\n", r->file.id,
		shown, undo.buf);
}

static void print_done(const struct trimming *t)
{
	const struct trim_report *r = &t->report;
	FILE *out = t->app->out;

	if (t->opts->dry_run) {
		print_dry(t);
		return;
	}
	AUTO_FREE char *path = path_show(r->file.path, t->app->paths.home);
	if (t->opts->in_place)
		print_backup(t);
	else
		(void)fprintf(out, "New session %s\n  from     %s\n", r->file.id, t->row.info.id);
	(void)fprintf(out, "  file     %s\n", path);
	print_saved_tokens(out, false, &r->saved, &r->before);
	print_plan(t);
	if (!t->opts->out)
		go_on_print(t->app, &t->row, r->file.id, r->file.path);
}

static void warn_unknown(const struct trimming *t)
{
	const struct strv *unknown = &t->report.unknown;

	if (unknown->n == 0)
		return;
	(void)fputs("faden: warning: no tool of this name was used in the session: ", t->app->err);
	for (size_t i = 0; i < unknown->n; i++)
		(void)fprintf(t->app->err, "%s%s", i ? ", " : "", unknown->v[i]);
	(void)fputs("\n", t->app->err);
}

static void warn_base(const struct trimming *t)
{
	if (t->report.base)
		(void)fputs("faden: warning: this Codex session is a fork: its history up to the "
			    "fork stands in the file of its parent and was not trimmed\n",
			t->app->err);
}

/* ---- the command ---- */

static int check_options(const struct trim_options *opts, int argc, struct err *reterr)
{
	if (opts->in_place && opts->out)
		return err_set(reterr, ERR_USAGE, "--in-place and --out exclude each other");
	if (opts->in_place && argc == 0)
		return err_set(reterr, ERR_USAGE, "--in-place needs the name of the session");
	return 0;
}

static int run_trim(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(trimming_release)
	struct trimming t = {
		.app = app,
		.opts = options,
		.row = SESSION_ROW_INIT,
		.tools = STRV_INIT,
		.report = TRIM_REPORT_INIT,
	};
	struct err err = ERR_INIT;

	int r = check_options(t.opts, argc, reterr);
	if (r < 0)
		return r;
	r = trim(&t, argc, argv, &err);
	if (r == 0) {
		warn_base(&t);
		warn_unknown(&t);
	}
	if (t.row.info.path)
		sessions_warn_damage(app, &t.damage, t.row.info.id);
	if (t.opts->json && t.row.info.path)
		print_object(&t, r, &err);
	else if (r == 0)
		print_done(&t);
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
