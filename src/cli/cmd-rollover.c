/*
 * A fresh session that knows where the old one stood.
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
#include "config/settings.h"
#include "os/path.h"
#include "strategy/rollover.h"
#include "transcript/tokens.h"
#include "ui/size.h"
#include "view/session.h"
#include "json/write.h"

struct rollover_options {
	const char *agent;
	const char *prompt;
	bool with_summary;
	bool here;
	bool dry_run;
	bool json;
};

static const struct opt rollover_options[] = {
	OPT_STRING('p', "prompt", struct rollover_options, prompt, "TEXT",
		"what is to be done in the new session"),
	OPT_STRING(0, "agent", struct rollover_options, agent, "NAME",
		"who goes on: claude, codex or rehearsal; else the session's own agent"),
	OPT_FLAG(0, "with-summary", struct rollover_options, with_summary,
		"add a summary by an agent: --agent, else the configured one, else the session's "
		"own"),
	OPT_FLAG(0, "here", struct rollover_options, here,
		"in this folder, when the session's own was moved or removed"),
	OPT_FLAG('n', "dry-run", struct rollover_options, dry_run,
		"show what the new session would begin with, and make nothing"),
	OPT_FLAG(0, "json", struct rollover_options, json, "one object for programs"),
	OPT_END,
};

struct rolling {
	struct app *app;
	const struct rollover_options *opts;
	struct session_row row;
	const struct transcript_home *target;
	char *dir;
	struct archive archive;
	char *archive_dir;
	struct str summary; /* "": none */
	struct rollover plan;
	struct conv conv;
	bool current; /* the parent's conversation went on in its folder, now the new one does */
};

static void rolling_release(struct rolling *r)
{
	session_row_release(&r->row);
	rollover_release(&r->plan);
	conv_release(&r->conv);
	str_release(&r->summary);
	free(r->archive_dir);
	free(r->dir);
}

/* ---- what and where ---- */

static int find_target(struct rolling *r, struct err *reterr)
{
	const char *name = r->opts->agent ? r->opts->agent : r->row.agent;
	for (size_t i = 0; i < r->app->n_homes; i++)
		if (strcmp(r->app->homes[i].agent, name) == 0)
			r->target = &r->app->homes[i];
	if (!r->target)
		return err_set(reterr, ERR_USAGE,
			"--agent %s: sessions can be made for claude, codex and rehearsal", name);
	return 0;
}

static int find_dir(struct rolling *r, struct err *reterr)
{
	const char *cwd = r->row.info.cwd;
	if (r->opts->here || !cwd[0])
		return kit_dir(r->app->settings, r->app->cwd, &r->dir, reterr);
	if (!path_exists(cwd))
		return err_set(reterr, ERR_INPUT,
			"the session's folder %s is gone; go to where it is now and use --here",
			cwd);
	return path_real(cwd, &r->dir, reterr);
}

static struct rollover_opts opts_of(const struct rolling *r)
{
	return (struct rollover_opts){
		.store = r->app->store,
		.homes = r->app->homes,
		.n_homes = r->app->n_homes,
		.parent = &r->row,
		.target = r->target,
		.dir = r->dir,
		.archive = &r->archive,
		.prompt = r->opts->prompt,
		.summary = r->summary.len ? r->summary.buf : NULL,
		.clock = &r->app->clock,
	};
}

/* ---- a conversation of ours ---- */

/* The new session takes the old one's place where that went on. */
static int adopt(struct rolling *r, struct err *reterr)
{
	struct app *app = r->app;
	AUTO_CONV old = CONV_INIT;
	AUTO_CONV current = CONV_INIT;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_FREE char *project = path_git_root(r->dir);
	const struct conv_new what = {
		.dir = r->dir, .project = project, .agent = r->target->agent
	};
	int rc = catalogue_take(app->store, r->target, r->plan.path, &row, reterr);
	if (rc >= 0)
		rc = conv_adopt(app->store, &what, r->plan.id, &app->clock, &r->conv, reterr);
	if (rc < 0)
		return rc;
	if (conv_by_session(app->store, r->row.agent, r->row.info.id, &app->clock, &old, NULL) < 0)
		return 0;
	r->current = conv_current(app->store, old.dir, &app->clock, &current, NULL) >= 0 &&
		strcmp(current.id, old.id) == 0;
	if (!r->current)
		return 0;
	return conv_set_current(app->store, old.dir, r->conv.id, &app->clock, reterr);
}

/* ---- what is said ---- */

static void put_figure(struct jw *w, const char *key, bool known, struct figure figure)
{
	AUTO_FREE char *sure = xasprintf("%s_sure", key);
	jw_key(w, key);
	if (known)
		jw_i64(w, figure.tokens);
	else
		jw_null(w);
	jw_put_cstr(w, sure, known ? sure_name(figure.sure) : NULL);
}

static void put_figures(struct jw *w, const struct rollover *plan)
{
	jw_key(w, "tokens");
	jw_object(w);
	put_figure(w, "saved", plan->counted, plan->saved);
	put_figure(w, "before", plan->before.tokens > 0, plan->before);
	put_figure(w, "left", plan->counted, plan->left);
	jw_end(w);
}

static void put_facts(struct jw *w, const struct brief *b)
{
	jw_key(w, "facts");
	jw_array(w);
	vec_each (&b->facts, fact) {
		jw_object(w);
		jw_put_cstr(w, "kind", brief_kind_name(fact->kind));
		jw_put_cstr(w, "text", fact->text);
		jw_put_bool(w, "cut", fact->cut);
		jw_put_i64(w, "times", fact->times);
		jw_put_bool(w, "from_before", fact->before);
		if (fact->kind == BRIEF_ERROR)
			jw_put_bool(w, "succeeded_since", fact->past);
		if (fact->end == BRIEF_EXIT)
			jw_put_i64(w, "exit_status", fact->status);
		jw_put_cstr(w, "ref", fact->ref[0] ? fact->ref : NULL);
		jw_put_i64(w, "line", (int64_t)fact->place.line);
		jw_end(w);
	}
	jw_end(w);
}

static void put_resume(struct jw *w, const struct rolling *r)
{
	struct sv rest = sv_of(resume_words(r->target->agent, r->target->format)), word;
	jw_key(w, "resume");
	if (rest.n == 0 || r->opts->dry_run) {
		jw_null(w);
		return;
	}
	jw_array(w);
	while (sv_split(&rest, ' ', &word))
		jw_string(w, word);
	jw_string(w, sv_of(r->plan.id));
	jw_end(w);
}

static void print_object(const struct rolling *r)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	jw_object(&w);
	jw_put_cstr(&w, "session_id", r->opts->dry_run ? NULL : r->plan.id);
	jw_put_cstr(&w, "path", r->opts->dry_run ? NULL : r->plan.path);
	jw_put_cstr(&w, "agent", r->target->agent);
	jw_put_cstr(&w, "directory", r->dir);
	jw_put_cstr(&w, "conversation_id", r->opts->dry_run ? NULL : r->conv.id);
	jw_put_cstr(&w, "parent_id", r->row.info.id);
	jw_put_cstr(&w, "parent_path", r->row.info.path);
	jw_put_bool(&w, "dry_run", r->opts->dry_run);
	put_resume(&w, r);
	put_figures(&w, &r->plan);
	jw_put_i64(&w, "message_bytes", (int64_t)r->plan.message.len);
	put_facts(&w, &r->plan.brief);
	if (r->opts->dry_run)
		jw_put_string(&w, "message", str_sv(&r->plan.message));
	jw_end(&w);
	(void)fprintf(r->app->out, "%s\n", out.buf);
}

/* Where another agent goes on, what its own prompt takes is not known. */
static void print_figures(const struct rolling *r)
{
	const struct rollover *plan = &r->plan;
	struct figure left = plan->counted ? plan->left : plan->texts;
	char now[SIZE_TEXT_MAX], then[SIZE_TEXT_MAX];

	size_format_count(plan->before.tokens, now);
	size_format_count(left.tokens, then);
	if (plan->counted && plan->saved.tokens > 0)
		print_saved_tokens(r->app->out, r->opts->dry_run, &plan->saved, &plan->before);
	else if (plan->counted)
		(void)fprintf(r->app->out, "%s nothing: %s tokens (%s), was %s\n",
			r->opts->dry_run ? "It would save" : "  saved   ", then,
			sure_name(left.sure), now);
	else
		(void)fprintf(r->app->out,
			"  message  %s tokens (%s), and what %s itself adds; was %s\n", then,
			sure_name(left.sure), r->target->agent,
			plan->before.tokens > 0 ? now : "not known");
}

static void print_plan(const struct rolling *r)
{
	AUTO_STR clean = STR_INIT;
	utf8_scrub(&clean, str_sv(&r->plan.message));
	(void)fprintf(r->app->out, "A new session of %s would begin with:\n\n%s\n",
		r->target->agent, clean.buf);
	print_figures(r);
}

static void print_done(const struct rolling *r)
{
	FILE *out = r->app->out;
	AUTO_FREE char *path = path_show(r->plan.path, r->app->paths.home);
	(void)fprintf(out, "New session %s of %s\n", r->plan.id, r->target->agent);
	(void)fprintf(out, "  from     %s\n  file     %s\n", r->row.info.id, path);
	print_figures(r);
	if (r->current)
		(void)fputs("  it is now what goes on in its folder\n", out);
	go_on_commands(
		r->app, resume_words(r->target->agent, r->target->format), r->plan.id, r->dir);
}

/* ---- the command ---- */

static int summarise(struct rolling *r, struct err *reterr)
{
	AUTO_STR prompt = STR_INIT;
	int rc = rollover_question(&r->row, r->opts->prompt, &prompt, reterr);
	if (rc >= 0)
		rc = front_question(r->app, r->opts->agent, &r->row, NULL, str_sv(&prompt),
			&r->summary, NULL, reterr);
	if (rc >= 0 && sv_trim(str_sv(&r->summary)).n == 0)
		return err_set(reterr, ERR_AGENT, "the agent's summary is empty");
	return rc;
}

static int roll(struct rolling *r, struct err *reterr)
{
	/* Not before the session was found: that may change the store. */
	r->archive_dir = archive_of(r->app, &r->archive);
	const struct rollover_opts opts = opts_of(r);
	int rc = rollover_plan(&opts, &r->plan, reterr);
	if (rc < 0 || r->opts->dry_run)
		return rc;
	rc = rollover_apply(&opts, &r->plan, reterr);
	return rc < 0 ? rc : adopt(r, reterr);
}

static int find_and_roll(struct rolling *r, int argc, char **argv, struct err *reterr)
{
	int rc = find_given(r->app, argc, argv, &r->row, reterr);
	if (rc >= 0)
		rc = find_target(r, reterr);
	if (rc >= 0)
		rc = find_dir(r, reterr);
	if (rc >= 0 && r->opts->with_summary)
		rc = summarise(r, reterr);
	return rc < 0 ? rc : roll(r, reterr);
}

static int run_rollover(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(rolling_release)
	struct rolling r = { .app = app,
		.opts = options,
		.row = SESSION_ROW_INIT,
		.summary = STR_INIT,
		.plan = ROLLOVER_INIT,
		.conv = CONV_INIT };
	int rc = sessions_open_to(app, r.opts->dry_run, reterr);
	if (rc < 0)
		return rc;
	rc = find_and_roll(&r, argc, argv, reterr);
	if (rc < 0)
		return rc;
	if (r.opts->json)
		print_object(&r);
	else if (r.opts->dry_run)
		print_plan(&r);
	else
		print_done(&r);
	return 0;
}

const struct cmd cmd_rollover = {
	.name = "rollover",
	.group = CMD_GROUP_CONTEXT,
	.summary = "go on in a fresh session that knows where the old one stood",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.words = CMD_WORDS_SESSION,
	.opts = rollover_options,
	.opts_size = sizeof(struct rollover_options),
	.run = run_rollover,
};
