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
	OPT_STRING(0, "agent", struct rollover_options, agent, "NAME",
		"who goes on; else the session's own agent"),
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
	struct archive archive;
	struct str summary; /* "": none */
	struct rollover plan;
	struct conv conv;
	struct made made;
	bool current; /* the parent's conversation went on in its folder, now the new one does */
};

static void rolling_release(struct rolling *r)
{
	resolved_release(&r->of);
	rollover_release(&r->plan);
	conv_release(&r->conv);
	made_release(&r->made);
	str_release(&r->summary);
	free(r->dir);
}

/* ---- what and where ---- */

static int find_target(struct rolling *r, struct err *reterr)
{
	const char *name = r->opts->agent ? r->opts->agent : r->of.row.agent;
	AUTO_STR all = STR_INIT;

	r->target = app_home(r->app, name);
	if (r->target)
		return 0;
	agents_list(&all, agent_keeps_sessions, " and ");
	return err_set(reterr, ERR_USAGE, "--agent %s: sessions can be made for %s", name, all.buf);
}

static int find_dir(struct rolling *r, struct err *reterr)
{
	const char *cwd = r->of.row.info.cwd;
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
		.parent = &r->of.row,
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
	if (conv_by_session(
		    app->store, r->of.row.agent, r->of.row.info.id, &app->clock, &old, NULL) < 0)
		return 0;
	r->current = conv_current(app->store, old.dir, &app->clock, &current, NULL) >= 0 &&
		strcmp(current.id, old.id) == 0;
	if (!r->current)
		return 0;
	return conv_set_current(app->store, old.dir, r->conv.id, &app->clock, reterr);
}

/* ---- what is said ---- */

static void fill_made(struct rolling *r)
{
	const struct rollover *plan = &r->plan;
	bool dry = r->opts->dry_run;

	r->made.parent = &r->of.row;
	r->made.relation = SESSION_CONTINUED;
	r->made.agent = r->target->agent;
	r->made.dir = xstrdup(r->dir);
	r->made.id = dry ? NULL : plan->id;
	r->made.path = dry ? NULL : plan->path;
	r->made.conversation = dry ? NULL : r->conv.id;
	r->made.before = plan->before.tokens > 0 ? &plan->before : NULL;
	r->made.saved = plan->counted ? &plan->saved : NULL;
	r->made.left = plan->counted ? &plan->left : NULL;
	r->made.dry = dry;
	made_find_next(r->app, r->target->format, &r->made);
}

static void print_object(const struct rolling *r)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	jw_object(&w);
	view_put_made(&w, &r->made, NULL);
	jw_put_bool(&w, "current", r->current);
	jw_put_i64(&w, "message_bytes", (int64_t)r->plan.message.len);
	view_put_brief(&w, &r->plan.brief);
	if (r->opts->dry_run)
		jw_put_string(&w, "message", str_sv(&r->plan.message));
	jw_end(&w);
	print_doc(r->app, &out);
}

/* Where another agent goes on, what its own prompt takes is not known. */
static void put_uncounted(struct term *t, const struct rolling *r)
{
	const struct rollover *plan = &r->plan;
	char was[SIZE_TEXT_MAX], texts[SIZE_TEXT_MAX];

	if (plan->counted)
		return;
	size_format_count(plan->before.tokens, was);
	size_format_count(plan->texts.tokens, texts);
	term_putf(t, "  message  %s tokens (%s), and what %s itself adds; was %s\n", texts,
		sure_name(plan->texts.sure), r->target->agent,
		plan->before.tokens > 0 ? was : "not known");
}

static void print_text(const struct rolling *r)
{
	struct term t;

	print_begin(r->app, &t);
	if (r->opts->dry_run) {
		AUTO_STR clean = STR_INIT;
		utf8_scrub(&clean, str_sv(&r->plan.message));
		term_putf(&t, "A new session of %s would begin with:\n\n%s\n", r->target->agent,
			clean.buf);
	}
	view_made(&t, &r->made, r->app->paths.home, "It");
	put_uncounted(&t, r);
	if (r->current)
		term_puts(&t, "  it is now what goes on in its folder\n");
	if (!r->opts->dry_run)
		view_next(&t, &r->made, r->app->cwd);
	print_end(&t);
}

/* ---- the command ---- */

static int summarise(struct rolling *r, struct err *reterr)
{
	AUTO_STR prompt = STR_INIT;
	int rc = rollover_question(&r->of.row, r->opts->prompt, &prompt, reterr);
	if (rc >= 0)
		rc = front_question(r->app, r->opts->agent, &r->of.row, NULL, str_sv(&prompt),
			&r->summary, NULL, reterr);
	if (rc >= 0 && sv_trim(str_sv(&r->summary)).n == 0)
		return err_set(reterr, ERR_AGENT, "the agent's summary is empty");
	return rc;
}

static int roll(struct rolling *r, struct err *reterr)
{
	/* Not before the session was found: that may change the store. */
	r->archive = app_archive(r->app);
	const struct rollover_opts opts = opts_of(r);
	int rc = rollover_plan(&opts, &r->plan, reterr);
	if (rc < 0 || r->opts->dry_run)
		return rc;
	rc = rollover_apply(&opts, &r->plan, reterr);
	return rc < 0 ? rc : adopt(r, reterr);
}

static int find_and_roll(struct rolling *r, int argc, char **argv, struct err *reterr)
{
	int rc = sessions_find(r->app, argc > 0 ? argv[0] : NULL, RESOLVE_HERE, &r->of, reterr);
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
		.of = RESOLVED_INIT,
		.summary = STR_INIT,
		.plan = ROLLOVER_INIT,
		.conv = CONV_INIT };
	int rc = sessions_open_to(app, r.opts->dry_run, reterr);
	if (rc < 0)
		return rc;
	rc = find_and_roll(&r, argc, argv, reterr);
	if (rc < 0)
		return rc;
	fill_made(&r);
	if (r.opts->json)
		print_object(&r);
	else
		print_text(&r);
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
