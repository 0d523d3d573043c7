/*
 * A fresh session that knows where the old one stood.
 */
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/front.h"
#include "cli/make.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "config/settings.h"
#include "os/path.h"
#include "ui/format.h"
#include "view/json.h"
#include "view/session.h"

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
	OPT_AGENT(struct rollover_options, agent, agent_keeps_sessions,
		"who goes on: @; else the session's own agent"),
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
	struct resolved of;
	const struct transcript_home *target;
	char *dir;
	struct str summary; /* "": none */
	struct rollover plan;
	struct made made;
};

static void rolling_release(struct rolling *s)
{
	resolved_release(&s->of);
	rollover_release(&s->plan);
	made_release(&s->made);
	str_release(&s->summary);
	free(s->dir);
}

/* ---- the work ---- */

/* Which session, for whom, in which folder. */
static int find(struct rolling *s, const char *spec, struct err *reterr)
{
	int r = sessions_find(s->app, spec, RESOLVE_HERE | RESOLVE_PLACE, &s->of, reterr);
	AUTO_STR agents = STR_INIT;

	if (r < 0)
		return r;
	const char *name = s->opts->agent ? s->opts->agent : s->of.row.agent;
	s->target = app_home(s->app, name);
	if (!s->target) {
		agents_list(&agents, agent_keeps_sessions, " and ");
		return err_set(reterr, ERR_USAGE, "--agent %s: sessions can be made for %s", name,
			agents.buf);
	}
	return sessions_dir(s->app, &s->of.row, "rollover", s->opts->here, &s->dir, reterr);
}

static int summarise(struct rolling *s, struct err *reterr)
{
	AUTO_STR prompt = STR_INIT;
	int r = rollover_question(&s->of.row, s->opts->prompt, &prompt, reterr);

	if (r >= 0)
		r = front_question(s->app, s->opts->agent, &s->of.row, NULL, str_sv(&prompt),
			&s->summary, NULL, reterr);
	if (r >= 0 && sv_trim(str_sv(&s->summary)).n == 0)
		return err_set(reterr, ERR_AGENT, "the agent's summary is empty");
	return r;
}

static int roll(struct rolling *s, struct err *reterr)
{
	const struct archive archive = app_archive(s->app);
	const struct rollover_opts opts = {
		.store = s->app->store,
		.homes = s->app->homes,
		.n_homes = s->app->n_homes,
		.parent = &s->of.row,
		.target = s->target,
		.dir = s->dir,
		.archive = &archive,
		.prompt = s->opts->prompt,
		.summary = s->summary.len ? s->summary.buf : NULL,
		.clock = &s->app->clock,
	};
	int r = rollover_plan(&opts, &s->plan, reterr);

	if (r >= 0)
		sessions_warn_passed(s->app, &s->plan.brief.passed, "is not among the facts");
	if (r < 0 || s->opts->dry_run)
		return r;
	return rollover_apply(&opts, &s->plan, reterr);
}

/* ---- what is said ---- */

static void fill_made(struct rolling *s)
{
	const struct rollover *plan = &s->plan;
	bool dry = s->opts->dry_run;

	s->made.parent = &s->of.row;
	s->made.relation = SESSION_CONTINUED;
	s->made.agent = s->target->agent;
	s->made.dir = xstrdup(s->dir);
	s->made.id = dry ? NULL : plan->id;
	s->made.path = dry ? NULL : plan->path;
	s->made.before = plan->before.tokens > 0 ? &plan->before : NULL;
	s->made.saved = plan->counted ? &plan->saved : NULL;
	s->made.left = plan->counted ? &plan->left : NULL;
	s->made.dry = dry;
	made_find_next(s->app, s->target->format, &s->made);
	(void)made_take_over(s->app, &s->of, &s->made);
}

static void print_object(const struct rolling *s)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	jw_object(&w);
	view_put_made(&w, &s->made, NULL);
	jw_put_i64(&w, "message_bytes", (int64_t)s->plan.message.len);
	view_put_brief(&w, &s->plan.brief);
	if (s->opts->dry_run)
		jw_put_string(&w, "message", str_sv(&s->plan.message));
	jw_end(&w);
	print_doc(s->app, &out);
}

static void print_text(const struct rolling *s)
{
	const struct rollover *plan = &s->plan;
	char was[SIZE_TEXT_MAX], texts[SIZE_TEXT_MAX];
	AUTO_STR message = STR_INIT;
	struct term t;

	print_begin(s->app, &t);
	utf8_scrub(&message, str_sv(&plan->message));
	if (s->opts->dry_run)
		term_putf(&t, "A new session of %s would begin with:\n\n%s\n", s->target->agent,
			message.buf);
	view_made(&t, &s->made, s->app->paths.home, "It");
	/* Where another agent goes on, what its own prompt takes is not known. */
	size_format_count(plan->before.tokens, was);
	size_format_count(plan->texts.tokens, texts);
	if (!plan->counted)
		term_putf(&t, "  message  %s tokens (%s), and what %s itself adds; was %s\n", texts,
			sure_name(plan->texts.sure), s->target->agent,
			plan->before.tokens > 0 ? was : "not known");
	if (!s->opts->dry_run)
		view_next(&t, &s->made, s->app->cwd);
	print_end(&t);
}

/* ---- the command ---- */

static int run_rollover(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(rolling_release)
	struct rolling s = { .app = app,
		.opts = options,
		.of = RESOLVED_INIT,
		.summary = STR_INIT,
		.plan = ROLLOVER_INIT };
	int r = sessions_open_to(app, s.opts->dry_run, reterr);

	if (r >= 0)
		r = find(&s, argc > 0 ? argv[0] : NULL, reterr);
	if (r >= 0 && s.opts->with_summary)
		r = summarise(&s, reterr);
	if (r >= 0)
		r = roll(&s, reterr);
	if (r < 0)
		return r;
	fill_made(&s);
	(s.opts->json ? print_object : print_text)(&s);
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
