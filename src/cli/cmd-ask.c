#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "assist/tell.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/front.h"
#include "cli/permit.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "ui/markdown.h"
#include "ui/status.h"
#include "view/json.h"

enum {
	PAUSE_MS = 100, /* silence after which an unfinished word is shown */
	TICK_MS = 250,
};

struct ask_opts {
	bool fresh;
	const char *in;
	bool again;
	const char *agent;
	const char *model;
	const char *permission;
	bool json;
};

static const struct opt ask_options[] = {
	OPT_FLAG(0, "new", struct ask_opts, fresh, "in a fresh conversation"),
	OPT_FLAG(0, "new-session", struct ask_opts, fresh, "the same"),
	OPT_STRING(0, "in", struct ask_opts, in, "SESSION", "in this conversation"),
	OPT_FLAG(0, "again", struct ask_opts, again,
		"instead of a text: send the one that a crash or a kill kept from the agent"),
	OPT_AGENT(struct ask_opts, agent, NULL, "who answers: @"),
	OPT_STRING(0, "model", struct ask_opts, model, "NAME", "the agent's model"),
	OPT_PERMISSION(struct ask_opts, permission),
	OPT_FLAG(0, "json", struct ask_opts, json, "answer and figures as one JSON object"),
	OPT_END,
};

struct ask {
	struct app *app;
	const struct ask_opts *opts;
	struct front front;
	struct term term;
	struct markdown markdown;
	struct loop_source *pause;
	int tty; /* where questions for permission are asked; negative: nowhere */
	struct term tty_term;
	struct term_mode tty_mode;
	struct permit permit;
	struct term err_term;
	struct status status; /* on it, while nothing of the answer is */
	struct loop_source *tick; /* NULL: no turn runs */
	int64_t began_ms;
	int64_t until_ms; /* age clock: the agent tries again then; 0: it does not wait */
	bool spoke; /* something of the answer is on standard output */
	bool open; /* in the middle of a line of it */
	bool broke; /* a tool has ended that line */
	struct err broken; /* why standard output no longer takes it; the turn goes on */
	int signo;
};

/* ---- that it works, on standard error where that is a terminal ---- */

/* Off the screen, before anything else is written to it. */
static void hide_status(struct ask *a)
{
	status_hide(&a->status);
	(void)!term_flush(&a->err_term, NULL);
}

/* While nothing of the answer stands on the line that it would be drawn on. */
static void show_status(struct ask *a)
{
	if (!a->tick || (a->term.tty && (a->open || a->term.col > 0)))
		return;
	status_show(&a->status);
	(void)!term_flush(&a->err_term, NULL);
}

static void show_wait(struct ask *a, const char *what, int64_t left_ms)
{
	AUTO_STR text = STR_INIT;

	str_addf(&text, "%s, %lld s left", what, (long long)((left_ms + 999) / 1000));
	status_set_state(&a->status, STATUS_TOOL, str_sv(&text));
}

static void on_tick(void *data)
{
	struct ask *a = data;
	int64_t now = clock_age_ms(NULL), left = a->until_ms - now;

	a->tick = loop_add_timer(a->front.loop, TICK_MS, on_tick, a);
	if (left > 0)
		show_wait(a, "waiting to try again", left);
	status_tick(&a->status, now - a->began_ms);
	show_status(a);
	(void)!term_flush(&a->err_term, NULL);
}

static void end_status(struct ask *a)
{
	hide_status(a);
	if (a->tick)
		loop_remove(a->front.loop, a->tick);
	a->tick = NULL;
}

static void follow(struct ask *a, const struct agent_event *ev)
{
	a->until_ms = ev->type == AGENT_EV_RETRY ? clock_age_ms(NULL) + ev->delay_ms : 0;
	if (ev->type == AGENT_EV_RETRY)
		show_wait(a, "waiting to try again", ev->delay_ms);
	else if (ev->type == AGENT_EV_TOOL_BEGIN)
		status_set_state(&a->status, STATUS_TOOL, ev->tool);
	else if (ev->type == AGENT_EV_TEXT)
		status_set_state(&a->status, STATUS_ANSWERING, SV(""));
	else
		status_set_state(&a->status, STATUS_THINKING, SV(""));
	if (a->permit.shown)
		status_set_state(&a->status, STATUS_ASKING, SV(""));
	if (ev->type == AGENT_EV_DONE)
		end_status(a);
	else
		show_status(a);
}

/* Every second while a limit of the agent is waited out. */
static void on_waiting(void *data, int64_t seconds_left)
{
	struct ask *a = data;

	show_wait(a, "limit", seconds_left * 1000);
	show_status(a);
}

static void on_notice(void *data, const char *line)
{
	struct ask *a = data;

	hide_status(a);
	say_note(a->app->err, "%s", line);
	show_status(a);
}

static void on_begin(void *data, const struct conv *c)
{
	struct ask *a = data;
	AUTO_STR hint = STR_INIT;

	if (front_begin(&a->front, c, &hint))
		on_notice(a, hint.buf);
	status_set_names(&a->status, sv_of(c->agent), sv_of(c->turns ? conv_label(c) : ""));
	status_set_state(&a->status, STATUS_THINKING, SV(""));
	if (!a->tick)
		on_tick(a);
}

static void flush(struct ask *a)
{
	struct err err = ERR_INIT;

	if (term_flush(&a->term, &err) < 0 && a->broken.code == 0)
		a->broken = err;
}

static void on_pause(void *data)
{
	struct ask *a = data;

	a->pause = NULL;
	markdown_pause(&a->markdown);
	flush(a);
}

static void expect_pause(struct ask *a, bool expected)
{
	if (a->pause)
		loop_remove(a->front.loop, a->pause);
	a->pause = expected ? loop_add_timer(a->front.loop, PAUSE_MS, on_pause, a) : NULL;
}

/* ---- questions for permission, on the terminal whatever the streams are ---- */

static void on_permit_enter(void *data, bool asks)
{
	struct ask *a = data;

	hide_status(a);
	if (asks)
		term_mode_quiet(&a->tty_mode);
}

static void on_permit_leave(void *data, bool asks)
{
	struct ask *a = data;

	if (!asks)
		term_mode_restore(&a->tty_mode);
	(void)!term_flush(&a->tty_term, NULL);
	if (a->status.state != STATUS_CANCELLING)
		status_set_state(&a->status, asks ? STATUS_ASKING : STATUS_THINKING, SV(""));
	show_status(a);
}

static void on_permit_cancel(void *data)
{
	struct ask *a = data;

	permit_drop(&a->permit);
	assistant_cancel(a->front.assistant);
}

/* Whoever has the terminal meanwhile gets it as it was. */
static void on_stop(void *data, int signo)
{
	struct ask *a = data;

	(void)signo;
	hide_status(a);
	term_mode_restore(&a->tty_mode);
	(void)raise(SIGSTOP);
	permit_again(&a->permit);
	show_status(a);
}

static const struct permit_ops permit_ops = {
	.span = "turn",
	.enter = on_permit_enter,
	.leave = on_permit_leave,
	.cancel = on_permit_cancel,
};

/* Only where somebody sees what is asked and can answer: standard error is a terminal, and ours is
 * there and not another program's just now. */
static void open_tty(struct ask *a)
{
	const struct app *app = a->app;

	a->tty = app->err_tty ? open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;
	if (a->tty >= 0 && tcgetpgrp(a->tty) != getpgrp()) {
		(void)close(a->tty);
		a->tty = -1;
	}
	struct term_opts screen = app_screen(app, a->tty);
	screen.ascii = !env_use_locale();
	term_init(&a->tty_term, &screen);
	(void)term_mode_save(&a->tty_mode, a->tty);
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct ask *a = data;

	hide_status(a);
	if (a->opts->json) {
		permit_event(&a->permit, ev);
		follow(a, ev);
		return;
	}
	expect_pause(a, ev->type == AGENT_EV_TEXT && a->term.tty);
	if (ev->type == AGENT_EV_TEXT) {
		a->spoke = true;
		a->broke = false;
		a->open = !sv_ends(ev->text, SV("\n"));
		markdown_feed(&a->markdown, ev->text);
	} else if (ev->type == AGENT_EV_BREAK && a->spoke) {
		markdown_feed(&a->markdown, a->broke ? SV("\n") : SV("\n\n"));
		a->open = false;
	} else if ((ev->type == AGENT_EV_TOOL_BEGIN || ev->type == AGENT_EV_ASK) && a->open) {
		markdown_feed(&a->markdown, SV("\n"));
		a->open = false;
		a->broke = true;
	} else if (ev->type == AGENT_EV_DONE && a->spoke) {
		markdown_end(&a->markdown);
		term_fresh_line(&a->term);
	}
	flush(a);
	permit_event(&a->permit, ev);
	follow(a, ev);
}

static void on_signal(void *data, int signo)
{
	struct ask *a = data;

	a->signo = signo;
	hide_status(a);
	status_set_state(&a->status, STATUS_CANCELLING, SV(""));
	permit_drop(&a->permit);
	assistant_stop(a->front.assistant, signo);
}

/* ---- what is asked ---- */

static void print_object(struct ask *a, const struct assistant_outcome *out)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);

	view_json_outcome(&w, out);
	print_doc(a->app, &json);
	a->app->told = true;
}

static void show_prompt(const struct turn_record *t, struct str *out)
{
	enum { COLUMNS = 50 };
	AUTO_STR line = STR_INIT;

	utf8_scrub_line(&line, str_sv(&t->prompt));
	utf8_fit(out, str_sv(&line), COLUMNS);
}

struct at_work {
	struct ask *ask;
	const char *conversation; /* NULL: any of this folder */
	struct turn_record *ret;
};

static int take_at_work(void *data, const struct conv *c)
{
	const struct at_work *w = data;

	if (w->ret->prompt.len > 0 || (w->conversation && strcmp(w->conversation, c->id) != 0))
		return 0;
	return journal_last(w->ask->app->store, c->id, w->ret, NULL) < 0 ? 0 : 1;
}

/* Nothing is known to be lost: whether there is something of which that is not known yet. */
static int refuse_at_work(struct ask *a, const char *conversation, struct err *reterr)
{
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	struct at_work w = { a, conversation, &t };
	const char *dir = conversation ? NULL : a->front.kit.dir;
	AUTO_STR shown = STR_INIT;
	int r = conv_unfinished(a->app->store, dir, &a->app->clock, take_at_work, &w, reterr);

	if (r < 0 || t.prompt.len == 0)
		return r < 0 ? r : 0;
	show_prompt(&t, &shown);
	return err_set(reterr, ERR_BUSY,
		"nothing was sent: whether \"%s\" reached its agent is not known yet, which is "
		"still at work",
		shown.buf);
}

/* What was told last is what is meant: an older prompt is not sent in its place. */
static int find_lost(
	struct ask *a, const char *conversation, struct turn_record *lost, struct err *reterr)
{
	const char *dir = a->front.kit.dir;
	AUTO_STR shown = STR_INIT;
	struct err err = ERR_INIT;
	char ago[CLOCK_TEXT_MAX];
	int r = journal_lost(
		a->app->store, conversation, conversation ? NULL : dir, SV(""), lost, &err);

	if (r == ERR_NOTFOUND) {
		int busy = refuse_at_work(a, conversation, reterr);
		if (busy < 0)
			return busy;
	}
	if (r < 0) {
		*reterr = err;
		return r;
	}
	show_prompt(lost, &shown);
	clock_format_ago(clock_wall_ms(&a->app->clock) - lost->started_ms, ago);
	if (!conversation && journal_said_since(a->app->store, dir, lost)) {
		AUTO_STR how = STR_INIT;
		if (lost->conversation[0])
			str_addf(&how, "faden ask --again --in %s", lost->conversation);
		else
			str_adds(&how, "say it once more");
		return err_set(reterr, ERR_NOTFOUND,
			"nothing was sent: \"%s\", which was interrupted %s, was said again since; "
			"to send it all the same: %s",
			shown.buf, ago, how.buf);
	}
	if (!conversation && lost->conversation[0] &&
		journal_interrupted_since(a->app->store, dir, lost->id))
		return err_set(reterr, ERR_NOTFOUND,
			"nothing was sent: the last text that was interrupted has reached the "
			"agent, or may have. An earlier one has not, \"%s\" (%s); to send it: "
			"faden ask --again --in %s",
			shown.buf, ago, lost->conversation);
	say_note(a->app->err, "sending what was interrupted %s: \"%s\"", ago, shown.buf);
	return 0;
}

static int ask_once(struct ask *a, struct sv text, struct err *reterr)
{
	struct request req = { .text = text, .mode = a->opts->fresh ? REQUEST_NEW : REQUEST_GO_ON };
	const struct assistant_outcome *out = NULL;
	AUTO_RESOLVED of = RESOLVED_INIT;
	AUTO_TURN_RECORD lost = TURN_RECORD_INIT;
	/* Who wants something sent again wants to know that it may still be under way. */
	enum turn_running running = a->opts->again ? TURN_RUNNING_ALWAYS : TURN_RUNNING_PASS;
	int r = front_recover(&a->front, running, text, reterr);

	if (r == 0 && a->opts->in) {
		r = sessions_find(a->app, a->opts->in, RESOLVE_CONVERSATION, &of, reterr);
		req.mode = REQUEST_IN;
		req.conversation = of.conv.id;
		req.session = &of.row;
	}
	const char *whose = of.conv.agent ? of.conv.agent : of.row.agent;
	if (r == 0 && a->opts->in && a->opts->agent && strcmp(whose, a->opts->agent) != 0)
		r = err_set(reterr, ERR_USAGE,
			"this conversation is %s's, not %s's; leave --agent out", whose,
			a->opts->agent);
	if (r == 0 && a->opts->again) {
		r = find_lost(a, req.conversation, &lost, reterr);
		req = request_again(&lost);
	}
	if (r == 0)
		r = front_say(&a->front, &req, &out, reterr);
	if (r != 0)
		return r;
	if (a->opts->json)
		print_object(a, out);
	else if (out->turn->fail != AGENT_OK)
		front_failure(a->app->err, out->turn);
	else if (out->reply[0])
		say_note(a->app->err, "%s", out->reply);
	if (a->broken.code < 0) {
		*reterr = a->broken;
		return a->broken.code;
	}
	return front_status(out);
}

static int run_ask(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	struct ask a = { .app = app, .opts = options, .began_ms = clock_age_ms(NULL) };
	const struct term_opts screen = app_screen(app, fileno(app->out));
	struct term_opts errors = app_screen(app, fileno(app->err));
	struct front_opts want = {
		.agent = a.opts->agent,
		.model = a.opts->model,
		.permission = a.opts->permission,
		.single = true,
		.see_off = app->err_tty,
		.resends = !a.opts->json && !a.opts->again,
		.ui = { .data = &a,
			.begin = on_begin,
			.event = on_event,
			.notice = on_notice,
			.waiting = on_waiting },
		.signal = on_signal,
	};
	struct str text;

	if (a.opts->fresh && a.opts->in)
		return err_set(reterr, ERR_USAGE, "--new and --in exclude each other");
	if (a.opts->again && (a.opts->fresh || argc > 0))
		return err_set(reterr, ERR_USAGE, "--again takes neither a text nor --new");
	str_init_max(&text, FRONT_TEXT_MAX);
	term_init(&a.term, &screen);
	markdown_init(&a.markdown, &a.term);
	errors.ascii = !env_use_locale();
	term_init(&a.err_term, &errors);
	status_init(&a.status, &a.err_term);
	open_tty(&a);
	want.answers = a.tty >= 0;
	int r = a.opts->again ? 0 : front_read_text(app, argc, argv, argc == 0, &text, reterr);
	if (r == 0 && !a.opts->again && sv_trim(str_sv(&text)).n == 0)
		r = err_set(reterr, ERR_USAGE, "nothing to ask: the text is empty");
	if (r == 0)
		r = front_open(&a.front, app, &want, reterr);
	permit_init(&a.permit, &a.front, &a.tty_term, a.tty, &permit_ops, &a);
	if (r == 0 && a.tty >= 0 && !loop_add_signal(a.front.loop, SIGTSTP, on_stop, &a, reterr))
		r = reterr ? reterr->code : ERR_BUG;
	if (r == 0)
		r = ask_once(&a, str_sv(&text), reterr);
	end_status(&a);
	expect_pause(&a, false);
	permit_release(&a.permit);
	front_close(&a.front);
	markdown_release(&a.markdown);
	term_release(&a.term);
	term_release(&a.tty_term);
	status_release(&a.status);
	term_release(&a.err_term);
	if (a.tty >= 0)
		(void)close(a.tty);
	str_release(&text);
	return a.signo ? 128 + a.signo : r;
}

const struct cmd cmd_ask = {
	.name = "ask",
	.group = CMD_GROUP_TALK,
	.summary = "one turn: the answer on standard output",
	.synopsis = "[TEXT…]",
	.max_args = CMD_ANY,
	.needs = CMD_STORE,
	.opts = ask_options,
	.opts_size = sizeof(struct ask_opts),
	.run = run_ask,
};
