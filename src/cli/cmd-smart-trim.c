/*
 * A session without the texts that an agent finds no longer needed; their summaries stand for them.
 */
#include <string.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/front.h"
#include "cli/make.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "strategy/known.h"
#include "view/json.h"

struct smart_options {
	const char *agent;
	const char *instructions;
	long long keep_recent;
	long long min_length;
	bool prompts;
	const char *out;
	bool digest;
	bool dry_run;
	bool json;
};

enum { MANY = 1000000, LENGTH_MOST = 16 * 1024 * 1024 };

static const struct opt smart_options[] = {
	OPT_AGENT(struct smart_options, agent, NULL,
		"who chooses: @; else the configured agent, or the session's own"),
	OPT_STRING('i', "instructions", struct smart_options, instructions, "TEXT",
		"what the agent should know for its choice"),
	OPT_INT(0, "keep-recent", struct smart_options, keep_recent, "N", 0, MANY,
		"the last N texts stay (10)"),
	OPT_INT('l', "length", struct smart_options, min_length, "LENGTH", 1, LENGTH_MOST,
		"shorter texts stay (200)"),
	OPT_INT(0, "min-length", struct smart_options, min_length, "LENGTH", 1, LENGTH_MOST,
		"the same"),
	OPT_FLAG(0, "prompts", struct smart_options, prompts, "words of the user may go too"),
	OPT_STRING('o', "out", struct smart_options, out, "DIR",
		"write the new session there, not where the agent looks for it"),
	OPT_FLAG(0, "digest", struct smart_options, digest,
		"print what the agent would be asked, and ask nobody"),
	OPT_FLAG('n', "dry-run", struct smart_options, dry_run,
		"ask the agent and show its choice, but write nothing"),
	OPT_FLAG(0, "json", struct smart_options, json, "one object for programs"),
	OPT_END,
};

static const struct smart_options smart_defaults = { .keep_recent = 10, .min_length = 200 };

struct smarting {
	struct app *app;
	const struct smart_options *opts;
	struct resolved of;
	struct archive archive;
	const char *agent; /* who chose; NULL: nobody yet */
	struct smart_digest digest;
	struct smart_answer answer;
	struct smart_report report;
	struct figure left;
	struct out_folder out;
	struct made made;
};

static void smarting_release(struct smarting *s)
{
	resolved_release(&s->of);
	out_folder_release(&s->out);
	made_release(&s->made);
	smart_digest_release(&s->digest);
	smart_answer_release(&s->answer);
	smart_report_release(&s->report);
}

/* ---- the work ---- */

static struct smart_opts opts_of(const struct smarting *s)
{
	return (struct smart_opts){
		.path = s->of.row.info.path,
		.format = s->of.row.info.format,
		.keep_recent = s->opts->keep_recent,
		.min_chars = s->opts->min_length,
		.prompts = s->opts->prompts,
		.instructions = s->opts->instructions,
		.agent = s->agent,
		.out_dir = s->out.dir,
		.dry = s->opts->dry_run,
	};
}

static int trim(struct smarting *s, struct err *reterr)
{
	struct app *app = s->app;
	AUTO_STR prompt = STR_INIT;
	AUTO_STR text = STR_INIT;
	struct smart_opts opts = opts_of(s);

	if (s->digest.free == 0)
		return err_set(reterr, ERR_NOTFOUND,
			"nothing to trim: no text that may go is %lld characters or longer",
			s->opts->min_length);
	smart_prompt(&s->digest, &opts, &prompt);
	int r = front_question(app, s->opts->agent, &s->of.row, smart_schema, str_sv(&prompt),
		&text, &s->agent, reterr);
	if (r >= 0)
		r = smart_read_answer(&s->digest, str_sv(&text), &s->answer, reterr);
	if (r < 0)
		return r;
	if (s->answer.choices.n == 0)
		return err_set(reterr, ERR_NOTFOUND, "%s named nothing that can go%s", s->agent,
			s->answer.refused ? " (see what was refused)" : "");
	opts.agent = s->agent;
	r = smart_apply(&opts, &s->digest, &s->answer, &s->archive, &s->report, reterr);
	if (s->opts->dry_run)
		return r;
	return out_folder_done(app, &s->out, false, r, reterr);
}

/* ---- what is said ---- */

/* Without a result there are no figures. */
static void fill_made(struct smarting *s, int result)
{
	const struct smart_report *r = &s->report;
	bool written = result == 0 && !s->opts->dry_run;

	s->left = known_left(r->before, r->saved);
	s->made.parent = &s->of.row;
	s->made.relation = SESSION_SMART_TRIMMED;
	s->made.agent = s->of.row.agent;
	s->made.id = written ? r->file.id : NULL;
	s->made.path = written ? r->file.path : NULL;
	s->made.before = result == 0 ? &r->before : NULL;
	s->made.saved = result == 0 ? &r->saved : NULL;
	s->made.left = result == 0 ? &s->left : NULL;
	s->made.dry = s->opts->dry_run;
	if (s->opts->out)
		return;
	made_find_next(s->app, s->of.row.info.format, &s->made);
	(void)made_take_over(s->app, &s->of, &s->made);
}

static void print_refusals(const struct smarting *s)
{
	vec_each (&s->answer.refusals, r)
		say_note(s->app->err, "refused: %s: %s", r->what, r->why);
	if (s->answer.refused > s->answer.refusals.n)
		say_note(s->app->err, "and %zu more were refused",
			s->answer.refused - s->answer.refusals.n);
}

static void print(const struct smarting *s, int result, const struct err *err)
{
	struct app *app = s->app;
	bool dry = s->opts->dry_run;
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	struct term t;

	if (s->opts->json) {
		jw_object(&w);
		view_put_made(&w, &s->made, result < 0 ? err : NULL);
		jw_put_cstr(&w, "chosen_by", s->agent);
		view_put_count(&w, "replaced", (int64_t)s->report.replaced, result == 0);
		view_put_chosen(&w, &s->digest, &s->answer);
		jw_end(&w);
		print_doc(app, &json);
		app->told = true;
		return;
	}
	print_begin(app, &t);
	if (!dry)
		view_made(&t, &s->made, app->paths.home, "It");
	term_putf(&t, "%s %s %zu text%s:\n", s->agent, dry ? "would replace" : "replaced",
		s->report.replaced, s->report.replaced == 1 ? "" : "s");
	view_chosen(&t, &s->digest, &s->answer);
	if (dry)
		view_made(&t, &s->made, app->paths.home, "It");
	else if (!s->opts->out)
		view_next(&t, &s->made, app->cwd);
	print_end(&t);
}

/* ---- the command ---- */

static int prepare(struct smarting *s, const char *spec, struct err *reterr)
{
	if (s->opts->instructions && strlen(s->opts->instructions) > SMART_INSTRUCTIONS_MAX)
		return err_set(reterr, ERR_LIMIT, "--instructions: longer than %d bytes",
			SMART_INSTRUCTIONS_MAX);
	if (s->opts->digest && s->opts->json)
		return err_set(reterr, ERR_USAGE,
			"--digest is what an agent would read, not JSON: give one of the two");
	int r = sessions_open_to(s->app, s->opts->digest || s->opts->dry_run, reterr);
	if (r >= 0)
		r = sessions_find(s->app, spec, RESOLVE_HERE | RESOLVE_PLACE, &s->of, reterr);
	if (r >= 0)
		r = out_folder_find(s->opts->out, &s->out, reterr);
	if (r < 0)
		return r;
	s->archive = app_archive(s->app);
	const struct smart_opts opts = opts_of(s);
	r = smart_digest(&opts, &s->digest, reterr);
	if (r >= 0)
		sessions_warn_passed(s->app, &s->digest.passed, "stays as it is");
	return r;
}

static int run_smart(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(smarting_release)
	struct smarting s = { .app = app,
		.opts = options,
		.of = RESOLVED_INIT,
		.digest = SMART_DIGEST_INIT,
		.answer = SMART_ANSWER_INIT,
		.report = SMART_REPORT_INIT };
	struct err err = ERR_INIT;
	int r = prepare(&s, argc > 0 ? argv[0] : NULL, &err);

	if (r >= 0 && s.opts->digest) {
		AUTO_STR prompt = STR_INIT;
		const struct smart_opts opts = opts_of(&s);
		smart_prompt(&s.digest, &opts, &prompt);
		say_text(app->out, str_sv(&prompt));
		return 0;
	}
	if (r >= 0)
		r = trim(&s, &err);
	if (!s.opts->json)
		print_refusals(&s);
	if (s.of.row.info.path) {
		fill_made(&s, r);
		if (r == 0 || s.opts->json)
			print(&s, r, &err);
	}
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}

const struct cmd cmd_smart_trim = {
	.name = "smart-trim",
	.group = CMD_GROUP_CONTEXT,
	.summary = "let an agent choose what a session no longer needs",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.words = CMD_WORDS_SESSION,
	.opts = smart_options,
	.opts_size = sizeof(struct smart_options),
	.defaults = &smart_defaults,
	.run = run_smart,
};
