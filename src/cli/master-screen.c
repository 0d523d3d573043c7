#include "cli/master-screen.h"

#include <signal.h>
#include <unistd.h>

#include "assist/tell.h"
#include "base/utf8.h"
#include "cli/env.h"
#include "cli/print.h"
#include "config/settings.h"
#include "master/next.h"
#include "ui/wrap.h"
#include "view/master.h"

enum {
	TICK_MS = 250,
	PAUSE_MS = 100, /* silence after which an unfinished word is shown */
	ABOUT_MAX = 200, /* bytes of what a tool is about */
};

/* A terminal that takes nothing more is gone: the run is left as with Ctrl-C. */
static void flush(struct master_screen *s)
{
	struct err err = ERR_INIT;

	if (term_flush(&s->term, &err) < 0 && s->lost.code == 0) {
		s->lost = err;
		pair_leave(s->pair);
	}
}

static void show_status(struct master_screen *s)
{
	if (s->keys && s->tick)
		status_show(&s->status);
	flush(s);
}

static void name_status(struct master_screen *s)
{
	const struct master_state *st = master_state(s->run);
	AUTO_STR who = STR_INIT;
	AUTO_STR figures = STR_INIT;
	AUTO_STR spent = STR_INIT;
	const char *dot = s->term.ascii ? " - " : " · ";

	str_addf(&who, "%s", master_role_name(s->role));
	str_addf(&figures, "round %lld%s", (long long)st->round, dot);
	view_rounds_left(&figures, st->remaining);
	view_master_spent(&spent, st);
	if (spent.len)
		str_addf(&figures, "%s%s", dot, spent.buf);
	status_set_names(&s->status, str_sv(&who), str_sv(&figures));
}

/* ---- text ---- */

static void begin_line(struct master_screen *s)
{
	status_hide(&s->status);
	markdown_end(&s->markdown);
	term_fresh_line(&s->term);
}

void master_screen_say(struct master_screen *s, const char *line)
{
	begin_line(s);
	if (s->keys) {
		wrap_line(&s->term, STYLE_NOTICE, sv_of(line));
	} else {
		flush(s);
		say_note(s->app->err, "%s", line);
	}
	show_status(s);
}

/* "── worker · round 2 ──": whose words follow. */
static void heading(struct master_screen *s, const char *who, const char *what)
{
	const char *rule = s->term.ascii ? "--" : "──";
	AUTO_STR line = STR_INIT;

	begin_line(s);
	if (s->begun)
		term_newline(&s->term);
	s->begun = true;
	str_addf(&line, "%s %s%s%s %s", rule, who, what[0] ? (s->term.ascii ? " - " : " · ") : "",
		what, rule);
	term_styled(&s->term, STYLE_AGENT, str_sv(&line));
	term_newline(&s->term);
	s->spoke = false;
}

static void text_block(struct master_screen *s, struct sv text)
{
	begin_line(s);
	markdown_feed(&s->markdown, text);
	markdown_end(&s->markdown);
	term_fresh_line(&s->term);
}

static void on_pause(void *data)
{
	struct master_screen *s = data;

	s->pause = NULL;
	status_hide(&s->status);
	markdown_pause(&s->markdown);
	show_status(s);
}

static void expect_pause(struct master_screen *s, bool expected)
{
	loop_remove(s->loop, s->pause);
	s->pause = expected ? loop_add_timer(s->loop, PAUSE_MS, on_pause, s) : NULL;
}

static void agent_event(struct master_screen *s, const struct agent_event *ev)
{
	AUTO_STR line = STR_INIT;

	expect_pause(s, ev->type == AGENT_EV_TEXT && s->keys);
	permit_event(&s->permit, ev);
	switch (ev->type) {
	case AGENT_EV_TEXT:
		status_hide(&s->status);
		status_set_state(&s->status, STATUS_ANSWERING, SV(""));
		markdown_feed(&s->markdown, ev->text);
		s->spoke = true;
		break;
	case AGENT_EV_BREAK:
		begin_line(s);
		if (!s->keys && s->spoke)
			term_newline(&s->term);
		break;
	case AGENT_EV_TOOL_BEGIN:
		begin_line(s);
		term_styled(&s->term, STYLE_TOOL, ev->tool);
		term_puts(&s->term, " ");
		term_styled(&s->term, STYLE_DIM, sv_head(ev->text, ABOUT_MAX));
		term_newline(&s->term);
		status_set_state(&s->status, STATUS_TOOL, ev->tool);
		break;
	case AGENT_EV_TOOL_END:
	case AGENT_EV_THINKING:
		status_set_state(&s->status, STATUS_THINKING, SV(""));
		break;
	case AGENT_EV_RETRY:
		tell_retry(ev, &line);
		master_screen_say(s, line.buf);
		break;
	case AGENT_EV_NOTICE:
		str_add(&line, ev->text);
		master_screen_say(s, line.buf);
		break;
	case AGENT_EV_SESSION:
	case AGENT_EV_ASK:
	case AGENT_EV_ASK_OVER:
	case AGENT_EV_DONE:
		break;
	}
	if (s->permit.shown)
		status_set_state(&s->status, STATUS_ASKING, SV(""));
	show_status(s);
}

/* ---- events ---- */

static void begins(struct master_screen *s, const struct pair_event *ev)
{
	const struct master_state *st = master_state(s->run);
	const char *name = master_role_name(ev->role);
	AUTO_STR line = STR_INIT;

	s->role = ev->role;
	s->began_ms = clock_age_ms(NULL);
	name_status(s);
	status_set_state(&s->status, STATUS_THINKING, SV(""));
	if (ev->go_on) {
		str_addf(&line, "the %s goes on with what was interrupted", name);
		master_screen_say(s, line.buf);
		heading(s, name, st->side[ev->role].agent);
		show_status(s);
		return;
	}
	if (ev->role == MASTER_INSTRUCTOR) {
		heading(s, name, st->side[ev->role].agent);
		show_status(s);
		return;
	}
	str_addf(&line, "round %lld", (long long)ev->round);
	heading(s, "instruction", line.buf);
	text_block(s, ev->text);
	heading(s, name, st->side[ev->role].agent);
	show_status(s);
}

static void ends(struct master_screen *s, const struct pair_event *ev)
{
	AUTO_STR line = STR_INIT;

	begin_line(s);
	permit_drop(&s->permit);
	expect_pause(s, false);
	if (ev->found) {
		const char *name = master_role_name(ev->role);
		str_addf(&line, "the %s had answered already:", name);
		master_screen_say(s, line.buf);
		heading(s, name, master_state(s->run)->side[ev->role].agent);
		text_block(s, ev->said);
	} else if (ev->fail == AGENT_TIMED_OUT) {
		master_screen_say(s,
			"the worker took longer than it may and was stopped; the instructor is "
			"told");
	} else if (ev->fail != AGENT_OK && !(ev->fail == AGENT_CANCELLED && s->interrupts)) {
		str_addf(&line, "the %s was stopped: %.*s", master_role_name(ev->role),
			SV_ARG(ev->text));
		master_screen_say(s, line.buf);
	}
	if (ev->denied && ev->denied->list.n > 0) {
		str_clear(&line);
		str_addf(&line, "the %s was ", master_role_name(ev->role));
		tell_denied(ev->denied, &line);
		str_adds(&line,
			ev->role == MASTER_INSTRUCTOR ? "; it only reads"
				: s->keys	      ? "; the instructor is told"
					  : "; the instructor is told (nobody can be asked "
					    "here; --permission-mode accept-edits or bypass "
					    "allows more)");
		master_screen_say(s, line.buf);
	}
	name_status(s);
	show_status(s);
}

static void news(struct master_screen *s, const struct pair_event *ev)
{
	const char *who = master_role_name(ev->role);
	const char *const *w = ev->words;
	AUTO_STR line = STR_INIT;

	switch (ev->news) {
	case NEWS_BUSY:
		str_addf(&line, "waiting for the %s: %s", who, w[0]);
		break;
	case NEWS_NO_COSTS:
		str_addf(&line, "%s does not tell its costs: a budget has no effect on it", w[0]);
		break;
	case NEWS_GONE:
		str_addf(&line, "%s has no session %s any more: the %s starts afresh", w[0], w[1],
			who);
		break;
	case NEWS_NOT_KEPT:
		str_addf(&line, "nothing is kept any more: %s", w[0]);
		break;
	case NEWS_CALLS_FAILED:
		str_addf(&line, "a call of the %s failed or was not allowed meanwhile: %s", who,
			w[0]);
		break;
	case NEWS_STILL_AT_IT:
	case NEWS_WAITS_FOR_IT:
		str_addf(&line, "the %s's agent (process %s) is still at it: waiting for it", who,
			w[1]);
		break;
	case NEWS_ENDS_IT:
		str_addf(&line, "the %s's agent (process %s) hangs: it is ended", who, w[1]);
		break;
	case NEWS_LIMIT:
	case NEWS_ANSWERED:
	case NEWS_UNANSWERED:
	case NEWS_NOT_SENT:
	case NEWS_NOT_BEGUN:
	case NEWS_UNKNOWN_SESSION:
	case NEWS_UNKNOWN_NO_RECORD:
	case NEWS_UNKNOWN_GONE:
	case NEWS_UNKNOWN_IN_HAND:
	case NEWS_UNKNOWN_WORDS:
	case NEWS_UNKNOWN_COMMAND:
	case NEWS_COUNT:
		return;
	}
	master_screen_say(s, line.buf);
}

static void stopped(struct master_screen *s, const struct pair_event *ev)
{
	const struct master_state *st = master_state(s->run);
	AUTO_STR line = STR_INIT, command = STR_INIT;

	begin_line(s);
	if (!ev->err) {
		view_master_stop(
			&line, &command, st, s->again ? s->again : "faden master --resume");
		size_t width = utf8_width(str_sv(&line)) + 1 + utf8_width(str_sv(&command));
		/* A command that is to be pasted stands on one line. */
		bool apart = command.len > 0 && s->term.tty && width >= s->term.cols;
		if (command.len > 0 && !apart)
			str_addf(&line, " %s", command.buf);
		if (s->begun)
			term_newline(&s->term);
		wrap_line(&s->term,
			ev->stop == MASTER_STOP_DONE ? STYLE_BOLD | STYLE_GREEN : STYLE_WARNING,
			str_sv(&line));
		if (apart)
			term_putf(&s->term, "  %s\n", command.buf);
	}
	loop_remove(s->loop, s->tick);
	s->tick = NULL;
	flush(s);
}

/* Its failure does not go to the instructor any more. */
static bool check_is_last(const struct master_state *st)
{
	return st->check.failed > st->config.check_max;
}

void master_screen_event(struct master_screen *s, const struct pair_event *ev)
{
	AUTO_STR line = STR_INIT;

	switch (ev->type) {
	case PAIR_BEGINS:
		begins(s, ev);
		break;
	case PAIR_AGENT:
		agent_event(s, ev->event);
		break;
	case PAIR_ENDS:
		ends(s, ev);
		break;
	case PAIR_DECIDED:
		if (ev->act == MASTER_ACT_CORRECT) {
			str_addf(&line, "%s: %.*s",
				master_state(s->run)->corrections > NEXT_CORRECTIONS
					? "the instructor's answer cannot be followed"
					: "the instructor is corrected",
				SV_ARG(ev->text));
			master_screen_say(s, line.buf);
		}
		break;
	case PAIR_NEWS:
		news(s, ev);
		break;
	case PAIR_NOTE:
		str_add(&line, ev->text);
		master_screen_say(s, line.buf);
		name_status(s);
		break;
	case PAIR_WAITING:
		str_addf(&line, "%.*s, %lld s left", SV_ARG(ev->text), (long long)ev->seconds);
		status_hide(&s->status);
		status_set_state(&s->status, STATUS_TOOL, str_sv(&line));
		show_status(s);
		break;
	case PAIR_CHECKS:
		str_addf(&line, "checking the result: %.*s", SV_ARG(ev->text));
		master_screen_say(s, line.buf);
		break;
	case PAIR_CHECKED:
		if (ev->status == 0)
			str_adds(&line, "the check is content");
		else
			str_addf(&line, "the check failed with status %d%s", ev->status,
				check_is_last(master_state(s->run)) ? ""
								    : "; the instructor is told");
		master_screen_say(s, line.buf);
		break;
	case PAIR_PAUSED:
		s->paused = true;
		s->interrupts = false;
		master_screen_say(s,
			"interrupted. What should the instructor know? Enter goes on, Ctrl-C saves "
			"and leaves.");
		status_hide(&s->status);
		status_set_state(&s->status, STATUS_TOOL, SV("paused"));
		show_status(s);
		break;
	case PAIR_STOPPED:
		stopped(s, ev);
		break;
	}
}

/* ---- keys ---- */

static void interrupt(struct master_screen *s)
{
	status_set_state(&s->status, STATUS_CANCELLING, SV(""));
	permit_drop(&s->permit);
	s->interrupts = true;
	pair_interrupt(s->pair);
}

static bool on_typed(void *data, struct sv line, bool ended)
{
	struct master_screen *s = data;
	struct err err = ERR_INIT;
	bool escape = ended && sv_is(line, KEYS_LONE_ESCAPE);
	AUTO_STR said = STR_INIT;

	status_hide(&s->status);
	if (escape && !s->paused)
		interrupt(s);
	else if (!escape)
		keys_plain(&said, ended ? line : str_sv(&s->permit.keys.ahead));
	bool says = sv_trim(str_sv(&said)).n > 0;
	if (ended && !escape && (s->paused || says)) {
		if (says) {
			AUTO_STR shown = STR_INIT;
			str_addf(&shown, "%s %.*s", s->term.ascii ? ">" : "›",
				SV_ARG(sv_trim(str_sv(&said))));
			begin_line(s);
			wrap_line(&s->term, STYLE_USER, str_sv(&shown));
		}
		int r = pair_say(s->pair, str_sv(&said), &err);
		s->paused = s->paused && r > 0;
		if (r < 0) {
			master_screen_say(s, err.msg);
			pair_leave(s->pair);
		}
	}
	if (!escape)
		status_set_typed(&s->status, ended ? SV("") : str_sv(&said));
	show_status(s);
	return ended;
}

static void on_permit_enter(void *data, bool asks)
{
	(void)asks;
	begin_line(data);
}

static void on_permit_leave(void *data, bool asks)
{
	struct master_screen *s = data;

	status_set_state(&s->status, asks ? STATUS_ASKING : STATUS_THINKING, SV(""));
	show_status(s);
}

static void on_permit_cancel(void *data)
{
	interrupt(data);
}

static void on_permit_answer(void *data, const char *id, enum agent_answer answer)
{
	struct master_screen *s = data;

	pair_answer(s->pair, id, answer);
}

static const struct permit_ops permit_ops = {
	.span = "run",
	.enter = on_permit_enter,
	.leave = on_permit_leave,
	.cancel = on_permit_cancel,
	.answer = on_permit_answer,
};

static void on_tick(void *data)
{
	struct master_screen *s = data;

	s->tick = loop_add_timer(s->loop, TICK_MS, on_tick, s);
	status_tick(&s->status, clock_age_ms(NULL) - s->began_ms);
	flush(s);
}

static void on_resize(void *data, int signo)
{
	struct master_screen *s = data;

	(void)signo;
	(void)term_resize(&s->term);
	status_resize(&s->status);
	flush(s);
}

static void on_stop(void *data, int signo)
{
	struct master_screen *s = data;

	(void)signo;
	status_hide(&s->status);
	term_stop(&s->term, &s->mode);
	permit_again(&s->permit);
	show_status(s);
}

void master_screen_leaves(struct master_screen *s)
{
	permit_drop(&s->permit);
	status_hide(&s->status);
	status_set_state(&s->status, STATUS_CANCELLING, SV(""));
	show_status(s);
}

int master_screen_open(struct master_screen *s, struct app *app, struct loop *loop,
	const struct master_run *run, struct err *reterr)
{
	*s = (struct master_screen){ .app = app,
		.loop = loop,
		.run = run,
		.keys = app->in_tty && app->out_tty,
		.front = { .loop = loop },
		.began_ms = clock_age_ms(NULL) };
	struct term_opts screen = app_screen(app, fileno(app->out));
	screen.ascii = !env_use_locale();
	term_init(&s->term, &screen);
	markdown_init(&s->markdown, &s->term);
	status_init(&s->status, &s->term);
	permit_init(&s->permit, &s->front, &s->term, app->in, &permit_ops, s);
	if (!s->keys)
		return 0;
	(void)term_mode_save(&s->mode, app->in);
	term_mode_quiet(&s->mode);
	term_paste(&s->term, true);
	(void)!term_flush(&s->term, NULL); /* there is no pair yet to leave */
	keys_listen(&s->permit.keys, on_typed, s);
	s->tick = loop_add_timer(loop, TICK_MS, on_tick, s);
	if (!loop_add_signal(loop, SIGWINCH, on_resize, s, reterr) ||
		!loop_add_signal(loop, SIGTSTP, on_stop, s, reterr))
		return reterr ? reterr->code : ERR_BUG;
	return 0;
}

void master_screen_close(struct master_screen *s)
{
	if (!s->app)
		return;
	begin_line(s);
	if (s->keys)
		term_paste(&s->term, false);
	(void)!term_flush(&s->term, NULL);
	loop_remove(s->loop, s->tick);
	loop_remove(s->loop, s->pause);
	if (s->keys) {
		keys_listen(&s->permit.keys, NULL, NULL);
		term_mode_restore(&s->mode);
	}
	permit_release(&s->permit);
	markdown_release(&s->markdown);
	status_release(&s->status);
	term_release(&s->term);
	s->app = NULL;
}
