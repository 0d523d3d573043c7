/*
 * A session without the texts that an agent finds no longer needed; their summaries stand for them.
 */
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/archive-of.h"
#include "cli/cmd.h"
#include "cli/find.h"
#include "cli/front.h"
#include "cli/go-on.h"
#include "cli/new-session.h"
#include "cli/sessions.h"
#include "os/path.h"
#include "strategy/known.h"
#include "strategy/smart.h"
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
	OPT_STRING(0, "agent", struct smart_options, agent, "NAME",
		"who chooses; else the configured agent, or the session's own"),
	OPT_STRING('i', "instructions", struct smart_options, instructions, "TEXT",
		"what the agent should know for its choice"),
	OPT_INT(0, "keep-recent", struct smart_options, keep_recent, "N", 0, MANY,
		"the last N texts stay (10)"),
	OPT_INT('l', "min-length", struct smart_options, min_length, "CHARS", 1, LENGTH_MOST,
		"shorter texts stay (200)"),
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
	struct session_row row;
	struct archive archive;
	char *archive_dir;
	const char *agent; /* who chose; NULL: nobody yet */
	struct smart_digest digest;
	struct smart_answer answer;
	struct smart_report report;
	char *out; /* the folder of --out, absolute */
	bool out_missing;
};

static void smarting_release(struct smarting *s)
{
	session_row_release(&s->row);
	free(s->archive_dir);
	free(s->out);
	smart_digest_release(&s->digest);
	smart_answer_release(&s->answer);
	smart_report_release(&s->report);
}

/* ---- the work ---- */

static struct smart_opts opts_of(const struct smarting *s)
{
	return (struct smart_opts){
		.path = s->row.info.path,
		.format = s->row.info.format,
		.keep_recent = s->opts->keep_recent,
		.min_chars = s->opts->min_length,
		.prompts = s->opts->prompts,
		.instructions = s->opts->instructions,
		.agent = s->agent,
		.out_dir = s->out,
		.dry = s->opts->dry_run,
	};
}

static int choose(struct smarting *s, struct err *reterr)
{
	AUTO_STR prompt = STR_INIT;
	AUTO_STR text = STR_INIT;
	const struct smart_opts opts = opts_of(s);
	smart_prompt(&s->digest, &opts, &prompt);
	int rc = front_question(s->app, s->opts->agent, &s->row, smart_schema, str_sv(&prompt),
		&text, &s->agent, reterr);
	return rc < 0 ? rc : smart_read_answer(&s->digest, str_sv(&text), &s->answer, reterr);
}

/* So that the new session can be named at once; the next look at the sessions would do it too. */
static void take_in(struct smarting *s)
{
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	struct err err = ERR_INIT;
	for (size_t i = 0; i < s->app->n_homes && !s->opts->out; i++)
		if (strcmp(s->app->homes[i].agent, s->row.agent) == 0 &&
			catalogue_take(s->app->store, &s->app->homes[i], s->report.file.path, &row,
				&err) < 0)
			log_write(&s->app->log, LOG_WARN, "smart-trim: %s", err.msg);
}

static int trim(struct smarting *s, struct err *reterr)
{
	if (s->digest.free == 0)
		return err_set(reterr, ERR_NOTFOUND,
			"nothing to trim: no text that may go is %lld characters or longer",
			s->opts->min_length);
	int rc = choose(s, reterr);
	if (rc < 0)
		return rc;
	if (s->answer.choices.n == 0)
		return err_set(reterr, ERR_NOTFOUND, "%s named nothing that can go%s", s->agent,
			s->answer.refused ? " (see what was refused)" : "");
	const struct smart_opts opts = opts_of(s);
	rc = smart_apply(&opts, &s->digest, &s->answer, &s->archive, &s->report, reterr);
	if (rc < 0)
		out_hint(s->app, s->opts->out, false, reterr);
	if (s->out_missing && !s->opts->dry_run)
		out_folder_made(s->app, s->out, rc >= 0);
	if (rc >= 0 && !s->opts->dry_run)
		take_in(s);
	return rc;
}

/* ---- for programs ---- */

/* Without a result there are no figures; a 0 would be one. */
static void put_count(struct jw *w, const char *key, int64_t count, bool known)
{
	jw_key(w, key);
	if (known)
		jw_i64(w, count);
	else
		jw_null(w);
}

static void put_tokens(struct jw *w, const struct smart_report *r, bool known)
{
	jw_key(w, "tokens");
	jw_object(w);
	put_count(w, "saved", r->saved.tokens, known);
	jw_put_cstr(w, "saved_sure", known ? sure_name(r->saved.sure) : NULL);
	put_count(w, "before", r->before.tokens, known);
	jw_put_cstr(w, "before_sure", known ? sure_name(r->before.sure) : NULL);
	const struct figure left = known_left(r->before, r->saved);
	put_count(w, "left", left.tokens, known);
	jw_put_cstr(w, "left_sure", known ? sure_name(left.sure) : NULL);
	jw_end(w);
}

static void put_choices(struct jw *w, const struct smarting *s)
{
	jw_key(w, "chosen");
	jw_array(w);
	vec_each (&s->answer.choices, c) {
		const struct smart_entry *e = &s->digest.entries.v[c->entry];
		char ref[RECALL_REF];
		recall_ref_text(e->hash, ref);
		jw_object(w);
		jw_put_i64(w, "number", (int64_t)c->entry + 1);
		jw_put_cstr(w, "kind", item_kind_name(e->kind));
		jw_put_i64(w, "line", (int64_t)e->place.line);
		jw_put_i64(w, "chars", (int64_t)e->chars);
		jw_put_cstr(w, "ref", ref);
		jw_put_cstr(w, "reason", c->reason);
		jw_put_cstr(w, "summary", c->summary);
		jw_end(w);
	}
	jw_end(w);
}

static void put_refusals(struct jw *w, const struct smart_answer *a)
{
	jw_key(w, "refused");
	jw_array(w);
	vec_each (&a->refusals, r) {
		jw_object(w);
		jw_put_cstr(w, "what", r->what);
		jw_put_cstr(w, "why", r->why);
		jw_end(w);
	}
	jw_end(w);
	jw_put_i64(w, "refused_count", (int64_t)a->refused);
}

static void print_object(const struct smarting *s, int result, const struct err *err)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	bool written = result == 0 && !s->opts->dry_run;
	jw_object(&w);
	if (result < 0) {
		view_put_error(&w, err, NULL);
		jw_put_cstr(&w, "session_id", NULL);
		jw_put_cstr(&w, "path", NULL);
		s->app->told = true;
	} else {
		jw_put_cstr(&w, "session_id", written ? s->report.file.id : NULL);
		jw_put_cstr(&w, "path", written ? s->report.file.path : NULL);
	}
	jw_put_cstr(&w, "parent_id", s->row.info.id);
	jw_put_cstr(&w, "parent_path", s->row.info.path);
	jw_put_cstr(&w, "agent", s->agent);
	jw_put_bool(&w, "dry_run", s->opts->dry_run);
	put_count(&w, "replaced", (int64_t)s->report.replaced, result == 0);
	put_tokens(&w, &s->report, result == 0);
	put_choices(&w, s);
	put_refusals(&w, &s->answer);
	jw_end(&w);
	(void)fprintf(s->app->out, "%s\n", out.buf);
}

/* ---- for people ---- */

static void print_line(FILE *out, const char *text)
{
	AUTO_STR clean = STR_INIT;
	utf8_scrub_line(&clean, sv_of(text));
	(void)fputs(clean.buf, out);
}

static void print_choices(const struct smarting *s)
{
	FILE *out = s->app->out;
	vec_each (&s->answer.choices, c) {
		const struct smart_entry *e = &s->digest.entries.v[c->entry];
		(void)fprintf(out,
			"  line %llu, %s of %zu characters: ", (unsigned long long)e->place.line,
			item_kind_name(e->kind), e->chars);
		print_line(out, c->reason);
		(void)fputs("\n    ", out);
		print_line(out, c->summary);
		(void)fputs("\n", out);
	}
}

static void print_refusals(const struct smarting *s)
{
	vec_each (&s->answer.refusals, r) {
		(void)fputs("faden: refused: ", s->app->err);
		print_line(s->app->err, r->what);
		(void)fprintf(s->app->err, ": %s\n", r->why);
	}
	if (s->answer.refused > s->answer.refusals.n)
		(void)fprintf(s->app->err, "faden: and %zu more were refused\n",
			s->answer.refused - s->answer.refusals.n);
}

static void print_made(const struct smarting *s)
{
	const struct smart_report *r = &s->report;
	AUTO_FREE char *path = path_show(r->file.path, s->app->paths.home);

	(void)fprintf(s->app->out, "New session %s\n  from     %s\n  file     %s\n", r->file.id,
		s->row.info.id, path);
}

static void print_done(const struct smarting *s)
{
	FILE *out = s->app->out;
	const struct smart_report *r = &s->report;

	if (!s->opts->dry_run)
		print_made(s);
	(void)fprintf(out, "%s %s %zu text%s:\n", s->agent,
		s->opts->dry_run ? "would replace" : "replaced", r->replaced,
		r->replaced == 1 ? "" : "s");
	print_choices(s);
	print_saved_tokens(out, s->opts->dry_run, &r->saved, &r->before);
	if (!s->opts->dry_run && !s->opts->out)
		go_on_print(s->app, &s->row, r->file.id, r->file.path);
}

static void print_digest(const struct smarting *s)
{
	AUTO_STR prompt = STR_INIT;
	const struct smart_opts opts = opts_of(s);
	smart_prompt(&s->digest, &opts, &prompt);
	(void)fwrite(prompt.buf, 1, prompt.len, s->app->out);
}

/* ---- the command ---- */

static int prepare(struct smarting *s, int argc, char **argv, struct err *reterr)
{
	if (s->opts->instructions && strlen(s->opts->instructions) > SMART_INSTRUCTIONS_MAX)
		return err_set(reterr, ERR_LIMIT, "--instructions: longer than %d bytes",
			SMART_INSTRUCTIONS_MAX);
	int rc = sessions_open_to(s->app, s->opts->digest || s->opts->dry_run, reterr);
	if (rc >= 0)
		rc = find_given(s->app, argc, argv, &s->row, reterr);
	if (rc >= 0 && s->opts->out)
		rc = out_folder(s->opts->out, &s->out, &s->out_missing, reterr);
	if (rc < 0)
		return rc;
	s->archive_dir = archive_of(s->app, &s->archive);
	const struct smart_opts opts = opts_of(s);
	return smart_digest(&opts, &s->digest, reterr);
}

static int run_smart(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(smarting_release)
	struct smarting s = { .app = app,
		.opts = options,
		.row = SESSION_ROW_INIT,
		.digest = SMART_DIGEST_INIT,
		.answer = SMART_ANSWER_INIT,
		.report = SMART_REPORT_INIT };
	struct err err = ERR_INIT;
	int rc = prepare(&s, argc, argv, &err);
	if (rc >= 0 && s.opts->digest) {
		print_digest(&s);
		return 0;
	}
	if (rc >= 0)
		rc = trim(&s, &err);
	if (!s.opts->json)
		print_refusals(&s);
	if (s.opts->json && s.row.info.path)
		print_object(&s, rc, &err);
	else if (rc == 0)
		print_done(&s);
	if (rc < 0 && reterr)
		*reterr = err;
	return rc;
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
