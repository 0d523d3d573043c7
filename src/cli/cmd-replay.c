/*
 * The user's words of a session, said again.
 */
#include <signal.h>
#include <stdlib.h>

#include "assist/kit.h"
#include "base/mem.h"
#include "branch/replay.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/front.h"
#include "cli/make.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/sessions.h"
#include "ui/markdown.h"
#include "ui/status.h"
#include "view/branch.h"
#include "view/json.h"

struct replay_options {
	const char *model;
	const char *agent;
	const char *permission;
	const char *name;
	long long from;
	bool act;
	bool here;
	bool dry_run;
	bool json;
};

enum { TURNS_MOST = 1000000000, TICK_MS = 250 };

static const struct opt replay_options[] = {
	OPT_STRING(0, "model", struct replay_options, model, "NAME", "the model that answers"),
	OPT_AGENT(struct replay_options, agent, agent_keeps_sessions,
		"who answers: @; else the session's own agent"),
	OPT_INT(0, "from", struct replay_options, from, "TURN", 1, TURNS_MOST,
		"the first turn that is said again; those before stay as they were"),
	OPT_FLAG(0, "act", struct replay_options, act,
		"tools may be used, with the rights that are configured; else nothing is changed"),
	OPT_PERMISSION(struct replay_options, permission),
	OPT_STRING(
		0, "name", struct replay_options, name, "NAME", "what the new session is called"),
	OPT_FLAG(0, "here", struct replay_options, here,
		"in this folder, when the session's own was moved or removed"),
	OPT_FLAG('n', "dry-run", struct replay_options, dry_run,
		"say how much would be said again, and say nothing"),
	OPT_FLAG(0, "json", struct replay_options, json, "one object for programs"),
	OPT_END,
};

static const struct replay_options replay_defaults = { .from = 1 };

struct replaying {
	struct app *app;
	const struct replay_options *opts;
	struct resolved of;
	struct turn_views turns;
	const char *agent; /* who answers */
	const struct transcript_home *home;
	char *dir;
	struct kit kit;
	struct loop *loop;
	struct replay *run;
	const struct replay_report *report; /* once it is done */
	struct err err;
	bool done, failed;
	int signo;
	/* what is seen of it */
	struct term out, err_term;
	struct markdown markdown;
	struct status status;
	struct loop_source *tick;
	int64_t began_ms;
	struct made made;
};

static void replaying_release(struct replaying *p)
{
	resolved_release(&p->of);
	turn_views_release(&p->turns);
	kit_close(&p->kit);
	made_release(&p->made);
	free(p->dir);
}

/* ---- what is seen while it runs ---- */

static void hide_status(struct replaying *p)
{
	status_hide(&p->status);
	(void)!term_flush(&p->err_term, NULL);
}

static void show_status(struct replaying *p)
{
	if (!p->tick || (p->out.tty && p->out.col > 0))
		return;
	status_show(&p->status);
	(void)!term_flush(&p->err_term, NULL);
}

static void on_tick(void *data)
{
	struct replaying *p = data;

	p->tick = loop_add_timer(p->loop, TICK_MS, on_tick, p);
	status_tick(&p->status, clock_age_ms(NULL) - p->began_ms);
	show_status(p);
	(void)!term_flush(&p->err_term, NULL);
}

static void on_turn(void *data, const struct turn_view *turn, uint64_t nth, uint64_t of)
{
	struct replaying *p = data;

	hide_status(p);
	status_set_state(&p->status, STATUS_THINKING, SV(""));
	if (!p->opts->json) {
		AUTO_FREE char *where =
			xasprintf("Turn %llu, %llu of %llu", (unsigned long long)turn->number,
				(unsigned long long)nth, (unsigned long long)of);
		term_fresh_line(&p->out);
		if (nth > 1)
			term_newline(&p->out);
		term_styled(&p->out, STYLE_BOLD, sv_of(where));
		term_puts(&p->out, "\n> ");
		term_text_line(&p->out, sv_of(turn->head));
		term_newline(&p->out);
		(void)!term_flush(&p->out, NULL);
	}
	show_status(p);
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct replaying *p = data;

	hide_status(p);
	if (ev->type == AGENT_EV_TOOL_BEGIN)
		status_set_state(&p->status, STATUS_TOOL, ev->tool);
	else if (ev->type == AGENT_EV_TEXT)
		status_set_state(&p->status, STATUS_ANSWERING, SV(""));
	if (!p->opts->json) {
		if (ev->type == AGENT_EV_TEXT)
			markdown_feed(&p->markdown, ev->text);
		else if (ev->type == AGENT_EV_BREAK)
			markdown_feed(&p->markdown, SV("\n\n"));
		else if (ev->type == AGENT_EV_DONE)
			markdown_end(&p->markdown);
		if (ev->type == AGENT_EV_DONE)
			term_fresh_line(&p->out);
		(void)!term_flush(&p->out, NULL);
	}
	show_status(p);
}

static void on_answered(void *data, const struct turn_outcome *out)
{
	struct replaying *p = data;

	hide_status(p);
	if (out->err.code >= 0 && out->fail != AGENT_OK)
		front_failure(p->app->err, out);
}

static void on_done(void *data, const struct replay_report *report, const struct err *err)
{
	struct replaying *p = data;

	p->report = report;
	p->err = *err;
	p->done = true;
}

static void on_signal(void *data, int signo)
{
	struct replaying *p = data;

	p->signo = signo;
	hide_status(p);
	status_set_state(&p->status, STATUS_CANCELLING, SV(""));
	if (p->run)
		replay_cancel(p->run);
}

/* ---- the run ---- */

static int open_kit(struct replaying *p, struct err *reterr)
{
	struct kit_opts want = front_kit_opts(p->app);
	const struct agent_def *kind = agent_named(sv_of(p->agent));
	/* Models refuse a history with calls where no tools are: then they may only read. */
	bool off = !p->opts->act && kind && kind->can.no_tools &&
		!replay_has_calls(&p->turns, (uint64_t)p->opts->from);

	want.agent = p->agent;
	want.agent_by =
		p->opts->agent ? NULL : "the session's agent answers (--agent names another)";
	want.model = p->opts->model;
	want.permission = p->opts->act ? p->opts->permission : off ? "default" : "plan";
	want.keep_alive = true;
	want.cwd = p->dir;
	int r = kit_open(&want, &p->kit, reterr);
	if (r >= 0 && off)
		p->kit.agents[agent_index(kind)].no_tools = true;
	return r;
}

static int run(struct replaying *p, struct turn_host *host, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const struct replay_opts how = {
		.host = host,
		.loop = p->loop,
		.store = p->app->store,
		.clock = &p->app->clock,
		.parent = &p->of.row,
		.from_home = app_home(p->app, p->of.row.agent),
		.turns = &p->turns,
		.agent = p->agent,
		.home = p->home,
		.dir = p->dir,
		.project = p->kit.project,
		.from = (uint64_t)p->opts->from,
	};
	const struct replay_sink sink = { p, on_turn, on_event, on_answered, on_done };
	int r = 0;

	if (r == 0)
		r = loop_add_signals(p->loop, signals, ARRAY_LEN(signals), on_signal, p, reterr);
	if (r == 0)
		r = replay_begin(&how, &sink, &p->run, reterr);
	if (r < 0)
		return r;
	status_set_names(&p->status, sv_of(p->agent), SV(""));
	on_tick(p);
	r = loop_run(p->loop, &p->done, reterr);
	hide_status(p);
	if (p->tick)
		loop_remove(p->loop, p->tick);
	p->tick = NULL;
	return r;
}

/* ---- what became of it ---- */

static int settle(struct replaying *p, struct err *reterr)
{
	const struct replay_report *report = p->report;
	int r = 0;

	p->made.parent = &p->of.row;
	p->made.relation = SESSION_REPLAYED;
	p->made.agent = p->agent;
	p->made.dir = xstrdup(p->dir);
	p->made.id = report->path ? report->session : NULL;
	p->made.path = report->path;
	/* The agent has begun it: only now can it be told where it comes from. */
	if (report->path && p->opts->from <= 1)
		r = replay_note(report, &p->of.row.info, p->home->format, &p->app->clock, reterr);
	if (r < 0 || !report->path)
		return r;
	made_find_next(p->app, p->home->format, &p->made);
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	r = catalogue_take(p->app->store, p->home, report->path, &row, reterr);
	return r < 0 ? r : made_place(p->app, p->opts->name, false, &p->made, reterr);
}

static void print(struct replaying *p)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	struct term t;

	if (p->opts->json) {
		jw_object(&w);
		view_put_made(&w, &p->made, p->err.code < 0 ? &p->err : NULL);
		view_put_replayed(&w, p->report);
		jw_end(&w);
		print_doc(p->app, &json);
		p->app->told = p->err.code < 0;
		return;
	}
	print_begin(p->app, &t);
	if (p->made.path) {
		term_newline(&t);
		view_made(&t, &p->made, p->app->paths.home, "It");
	}
	view_replayed(&t, p->report, &p->made);
	print_end(&t);
}

static int go(struct replaying *p, struct err *reterr)
{
	const struct term_opts screen = app_screen(p->app, fileno(p->app->out));
	struct term_opts errors = app_screen(p->app, fileno(p->app->err));
	struct turn_host_opts turns = kit_turn_opts(&p->kit);
	struct turn_host *host = NULL;

	errors.ascii = !env_use_locale();
	term_init(&p->out, &screen);
	term_init(&p->err_term, &errors);
	markdown_init(&p->markdown, &p->out);
	status_init(&p->status, &p->err_term);
	p->began_ms = clock_age_ms(NULL);
	p->loop = turns.loop = loop_new();
	int r = turn_host_new(&turns, &host, reterr);
	if (r >= 0)
		r = run(p, host, reterr);
	/* The agent must have let go of the session before it is given its note. */
	if (r < 0)
		replay_free(TAKE_PTR(p->run));
	turn_host_free(host);
	if (r >= 0)
		r = settle(p, reterr);
	if (r >= 0)
		print(p);
	p->failed = r >= 0 && p->report->fail != AGENT_OK;
	p->report = NULL;
	replay_free(TAKE_PTR(p->run));
	status_release(&p->status);
	markdown_release(&p->markdown);
	term_release(&p->out);
	term_release(&p->err_term);
	loop_free(p->loop);
	return r;
}

static int find(struct replaying *p, const char *spec, struct err *reterr)
{
	AUTO_STR agents = STR_INIT;
	int r = sessions_find(p->app, spec, RESOLVE_HERE, &p->of, reterr);
	AUTO_RUN_NAMED run = RUN_NAMED_INIT;
	AUTO_FREE char *worker = NULL;

	/* What its instructor said to the worker. */
	if (run_find(p->app, r, spec, &run)) {
		r = run_worker_session(p->app, &run, &worker, reterr);
		if (r >= 0)
			r = sessions_find(p->app, worker, 0, &p->of, reterr);
	}
	if (r < 0)
		return r;
	const struct session_row *row = &p->of.row;
	p->agent = p->opts->agent ? p->opts->agent : row->agent;
	p->home = app_home(p->app, p->agent);
	agents_list(&agents, agent_keeps_sessions, " and ");
	if (!p->home)
		return err_set(reterr, ERR_USAGE, "--agent %s: sessions can be made for %s",
			p->agent, agents.buf);
	r = sessions_dir(p->app, row, "replay", p->opts->here, &p->dir, reterr);
	if (r >= 0)
		r = turn_views_read(row->info.path, row->info.format, app_home(p->app, row->agent),
			0, &p->turns, reterr);
	if (r < 0)
		return r;
	if (p->turns.v.n < (uint64_t)p->opts->from)
		return err_set(reterr, ERR_INPUT,
			"there is no turn %lld: the session has %zu ('faden show' numbers them)",
			p->opts->from, p->turns.v.n);
	if (replay_count(&p->turns, (uint64_t)p->opts->from) == 0)
		return err_set(reterr, ERR_NOTFOUND, "there is nothing to say again");
	return 0;
}

static int run_replay(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct replay_options *opts = options;
	CLEANUP(replaying_release)
	struct replaying p = {
		.app = app, .opts = opts, .of = RESOLVED_INIT, .turns = TURN_VIEWS_INIT
	};

	if (opts->permission && !opts->act)
		return err_set(reterr, ERR_USAGE, "--permission-mode goes with --act");
	int r = opts->name ? sessions_check_name(opts->name, reterr) : 0;
	if (r >= 0)
		r = sessions_open_to(app, opts->dry_run, reterr);
	if (r >= 0)
		r = find(&p, argc > 0 ? argv[0] : NULL, reterr);
	if (r >= 0 && opts->dry_run) {
		const struct replay_report plan = {
			.wanted = replay_count(&p.turns, (uint64_t)opts->from),
			.usage = AGENT_USAGE_NONE,
		};
		p.report = &plan;
		p.made.parent = &p.of.row;
		p.made.relation = SESSION_REPLAYED;
		p.made.agent = p.agent;
		p.made.dry = true;
		print(&p);
		p.report = NULL;
		return 0;
	}
	if (r >= 0)
		r = open_kit(&p, reterr);
	if (r >= 0)
		r = go(&p, reterr);
	if (r < 0)
		return r;
	if (p.err.code < 0) {
		*reterr = p.err;
		return p.err.code;
	}
	return p.signo ? 128 + p.signo : p.failed ? err_exit_status(ERR_AGENT) : 0;
}

const struct cmd cmd_replay = {
	.name = "replay",
	.group = CMD_GROUP_BRANCH,
	.summary = "say the same again to another model, and compare",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.words = CMD_WORDS_SESSION,
	.opts = replay_options,
	.opts_size = sizeof(struct replay_options),
	.defaults = &replay_defaults,
	.run = run_replay,
};
