/*
 * At a terminal: a line editor, the answer as it comes, a status line while the agent works.
 * Ctrl-C cancels the running turn and keeps the conversation; twice, or Ctrl-D, leaves.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "assist/tell.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/env.h"
#include "cli/front.h"
#include "cli/permit.h"
#include "cli/sessions.h"
#include "cli/talk.h"
#include "config/settings.h"
#include "os/path.h"
#include "ui/choice.h"
#include "ui/editor.h"
#include "ui/markdown.h"
#include "ui/status.h"
#include "ui/term.h"
#include "ui/wrap.h"

enum {
	TICK_MS = 250,
	PAUSE_MS = 100, /* silence after which an unfinished word is shown */
};

struct talk {
	struct app *app;
	struct front front;
	struct term term;
	struct term_mode mode;
	struct markdown markdown;
	struct status status;
	struct str place; /* what was last said of where one is */
	struct permit permit;
	struct editor *editor;
	struct strv waiting; /* lines that were typed ahead: the history has them */
	struct loop_source *tick, *stop; /* while a turn runs */
	struct loop_source *pause;
	int64_t began_ms;
	int64_t retry_ms; /* age clock: the agent tries again then; 0: it does not wait */
	bool utf8;
	bool bypass; /* the agent acts without asking */
	bool running; /* a turn */
	int interrupts; /* Ctrl-C since the last turn or input */
	bool leave;
	int signo; /* that ends the program */
};

/* A terminal that takes nothing more is gone. */
static void flush(struct talk *t)
{
	if (term_flush(&t->term, NULL) < 0)
		t->leave = true;
}

static void say_line(struct talk *t, unsigned style, const char *text)
{
	status_hide(&t->status);
	if (!t->running && t->editor)
		editor_hide(t->editor);
	term_fresh_line(&t->term);
	if (style == STYLE_ERROR)
		wrap_error(&t->term, sv_of(text));
	else
		wrap_line(&t->term, style, sv_of(text));
	if (t->running)
		status_show(&t->status);
	else if (t->editor)
		editor_show(t->editor);
	flush(t);
}

static void on_notice(void *data, const char *line)
{
	say_line(data, STYLE_NOTICE, line);
}

static void on_begin(void *data, const struct conv *c)
{
	struct talk *t = data;
	AUTO_STR hint = STR_INIT;

	if (front_begin(&t->front, c, &hint))
		say_line(t, STYLE_NOTICE, hint.buf);
	status_set_names(&t->status, sv_of(c->agent), sv_of(c->turns ? conv_label(c) : ""));
	status_set_state(&t->status, STATUS_THINKING, SV(""));
	status_show(&t->status);
	flush(t);
}

static void show_tool(struct talk *t, const struct agent_event *ev)
{
	status_hide(&t->status);
	markdown_end(&t->markdown);
	term_fresh_line(&t->term);
	term_styled(&t->term, STYLE_TOOL, ev->tool);
	term_puts(&t->term, " ");
	term_styled(&t->term, STYLE_DIM, sv_head(ev->text, 200));
	term_newline(&t->term);
	status_set_state(&t->status, STATUS_TOOL, ev->tool);
}

static void on_pause(void *data)
{
	struct talk *t = data;

	t->pause = NULL;
	status_hide(&t->status);
	markdown_pause(&t->markdown);
	status_show(&t->status);
	flush(t);
}

static void expect_pause(struct talk *t, bool expected)
{
	if (t->pause)
		loop_remove(t->front.loop, t->pause);
	t->pause = expected ? loop_add_timer(t->front.loop, PAUSE_MS, on_pause, t) : NULL;
}

/* ---- questions for permission ---- */

static void on_permit_enter(void *data, bool asks)
{
	struct talk *t = data;

	(void)asks;
	status_hide(&t->status);
	markdown_end(&t->markdown);
	term_fresh_line(&t->term);
}

static void on_permit_leave(void *data, bool asks)
{
	struct talk *t = data;

	if (t->status.state != STATUS_CANCELLING)
		status_set_state(&t->status, asks ? STATUS_ASKING : STATUS_THINKING, SV(""));
	status_show(&t->status);
	flush(t);
}

static void stop_turn(struct talk *t, int signo)
{
	status_set_state(&t->status, STATUS_CANCELLING, SV(""));
	permit_drop(&t->permit);
	assistant_stop(t->front.assistant, signo);
}

static void cancel_turn(struct talk *t)
{
	stop_turn(t, SIGINT);
}

static void on_permit_cancel(void *data)
{
	cancel_turn(data);
}

static const struct permit_ops permit_ops = {
	.span = "talk",
	.enter = on_permit_enter,
	.leave = on_permit_leave,
	.cancel = on_permit_cancel,
};

static void on_event(void *data, const struct agent_event *ev)
{
	struct talk *t = data;

	t->retry_ms = 0;
	expect_pause(t, ev->type == AGENT_EV_TEXT);
	permit_event(&t->permit, ev);
	switch (ev->type) {
	case AGENT_EV_TEXT:
		status_hide(&t->status);
		status_set_state(&t->status, STATUS_ANSWERING, SV(""));
		markdown_feed(&t->markdown, ev->text);
		break;
	case AGENT_EV_BREAK:
		status_hide(&t->status);
		markdown_end(&t->markdown);
		break;
	case AGENT_EV_TOOL_BEGIN:
		show_tool(t, ev);
		break;
	case AGENT_EV_TOOL_END:
	case AGENT_EV_THINKING:
		status_set_state(&t->status, STATUS_THINKING, SV(""));
		break;
	case AGENT_EV_RETRY:
		t->retry_ms = ev->delay_ms > 0 ? clock_age_ms(NULL) + ev->delay_ms : 0;
		break;
	case AGENT_EV_DONE:
		status_hide(&t->status);
		markdown_end(&t->markdown);
		flush(t);
		return;
	case AGENT_EV_NOTICE:
	case AGENT_EV_SESSION:
	case AGENT_EV_ASK:
	case AGENT_EV_ASK_OVER:
		break;
	}
	/* Whatever else goes on. */
	if (t->permit.shown)
		status_set_state(&t->status, STATUS_ASKING, SV(""));
	status_show(&t->status);
	flush(t);
}

static void show_wait(struct talk *t, const char *what, int64_t seconds_left)
{
	AUTO_STR text = STR_INIT;

	str_addf(&text, "%s, %lld s left", what, (long long)seconds_left);
	status_set_state(&t->status, STATUS_TOOL, str_sv(&text));
}

static void on_waiting(void *data, int64_t seconds_left)
{
	struct talk *t = data;

	show_wait(t, "limit", seconds_left);
	status_show(&t->status);
	flush(t);
}

static void on_waits_for(void *data, const char *agent, const char *pid)
{
	struct talk *t = data;
	AUTO_STR text = STR_INIT;

	str_addf(&text, "waiting for %s (%s)", agent, pid);
	status_set_state(&t->status, STATUS_TOOL, str_sv(&text));
}

static void on_tick(void *data)
{
	struct talk *t = data;

	int64_t left = t->retry_ms - clock_age_ms(NULL);

	t->tick = loop_add_timer(t->front.loop, TICK_MS, on_tick, t);
	if (t->retry_ms && left > 0)
		show_wait(t, "waiting to try again", (left + 999) / 1000);
	status_tick(&t->status, clock_age_ms(NULL) - t->began_ms);
	flush(t);
}

/* Ctrl-C cancels the turn, twice it leaves; anything else ends the program. */
static void on_signal(void *data, int signo)
{
	struct talk *t = data;

	if (signo != SIGINT) {
		t->signo = signo;
		t->leave = true;
		if (t->editor)
			editor_cancel(t->editor);
	} else if (t->running) {
		t->leave = ++t->interrupts > 1;
	}
	if (t->running)
		stop_turn(t, signo);
}

/* Only while a turn runs: the editor stops by itself. */
static void on_stop(void *data, int signo)
{
	struct talk *t = data;

	(void)signo;
	status_hide(&t->status);
	term_stop(&t->term, &t->mode);
	permit_again(&t->permit);
	status_show(&t->status);
	flush(t);
}

static void on_resize(void *data, int signo)
{
	struct talk *t = data;

	(void)signo;
	(void)term_resize(&t->term);
	if (t->running)
		status_resize(&t->status);
	else if (t->editor)
		editor_resize(t->editor);
	flush(t);
}

static void show_outcome(struct talk *t, const struct assistant_outcome *out)
{
	status_hide(&t->status);
	markdown_end(&t->markdown);
	term_fresh_line(&t->term);
	if (out->reply[0]) {
		AUTO_STR reply = STR_INIT;
		str_adds(&reply, out->reply);
		/* As /clear says it. */
		if (out->kind == UTTERANCE_RESET)
			str_addf(&reply, " %s", text_get(TEXT_RESET_BACK, out->language));
		wrap_line(&t->term, STYLE_AGENT, str_sv(&reply));
	}
	if (out->turn->fail != AGENT_OK) {
		AUTO_STR why = STR_INIT;
		if (out->turn->fail == AGENT_CANCELLED) {
			tell_cancelled(out->turn, out->language, &why);
			wrap_line(&t->term, STYLE_WARNING, str_sv(&why));
		} else {
			wrap_error(&t->term, sv_of(out->turn->message));
		}
	}
	flush(t);
}

/* What the agent has deleted and the archive has: it can be had back before anything is said. */
static void offer_restore(struct talk *t, const struct conv *c)
{
	static const struct choice_item items[] = { { "yes", NULL }, { "no", NULL } };
	AUTO_STRV args = STRV_INIT;
	struct err err = ERR_INIT;
	const char *back = NULL;
	int chosen = 1;

	if (!resolve_lost(&t->front.kit.where, c, &back) || !back)
		return;
	int r = choice_ask(&t->term, t->app->in, "Get it back now?", items, ARRAY_LEN(items),
		CHOICE_NONE, &chosen, &err);
	if (r >= 0 && chosen == 0) {
		struct sv words = sv_of(back), word;
		(void)sv_split(&words, ' ', &word); /* our own name */
		while (sv_split(&words, ' ', &word))
			strv_addsv(&args, word);
		strv_add(&args, c->session);
		r = talk_run(t->app, &args, &err);
	}
	if (r < 0)
		say_line(t, STYLE_ERROR, err.msg);
}

static int greet(struct talk *t, const struct talk_opts *opts, struct err *reterr)
{
	AUTO_STR line = STR_INIT;
	AUTO_CONV c = CONV_INIT;

	if (opts->in) {
		int r = talk_enter(&t->front, opts->in, opts->agent, &c, &line, reterr);
		if (r < 0)
			return r;
	} else {
		(void)tell_greeting(&t->front.kit, opts->new_session, &c, &line);
		assistant_stay(t->front.assistant, &c);
	}
	say_line(t, STYLE_NOTICE, line.buf);
	offer_restore(t, &c);
	if (!c.agent)
		say_line(t, STYLE_NOTICE,
			"? shows what can be typed; Ctrl-C cancels a turn, Ctrl-D leaves.");
	bool away = !opts->in && c.dir && strcmp(c.dir, t->front.kit.dir) != 0;
	if (t->bypass && !away)
		say_line(t, STYLE_WARNING, "Permissions are off: the agent acts without asking.");
	return 0;
}

static void remember(struct talk *t, struct sv said)
{
	struct err err = ERR_INIT;

	if (t->editor && editor_remember(t->editor, said, &err) < 0)
		log_write(&t->app->log, LOG_WARN, "history: %s", err.msg);
}

/* While a turn runs, a line is for the next prompt and is seen to wait; but "stop" is meant for
 * now, and what begins anew does not wait for an answer that nobody wants. */
static bool on_typed(void *data, struct sv line, bool ended)
{
	struct talk *t = data;
	AUTO_STRV args = STRV_INIT;
	AUTO_STR said = STR_INIT;
	AUTO_STR ahead = STR_INIT;
	struct utterance heard = { .kind = UTTERANCE_AGENT };

	if (ended && sv_is(line, KEYS_LONE_ESCAPE)) {
		cancel_turn(t);
	} else if (ended) {
		keys_plain(&said, line);
		utterance_judge(t->front.kit.rules, str_sv(&said), &heard);
		if (heard.kind == UTTERANCE_CANCEL || heard.kind == UTTERANCE_RESET ||
			heard.kind == UTTERANCE_RESTART ||
			talk_word_of(sv_trim(str_sv(&said)), &args) == TALK_CLEAR)
			cancel_turn(t);
		/* Now: what waits is lost when somebody kills us. */
		remember(t, sv_trim(str_sv(&said)));
		strv_addsv(&t->waiting, sv_trim(str_sv(&said)));
	}
	status_hide(&t->status);
	keys_plain(&ahead, str_sv(&t->permit.keys.ahead));
	status_set_typed(&t->status, str_sv(&ahead));
	status_show(&t->status);
	flush(t);
	return heard.kind == UTTERANCE_CANCEL;
}

static void on_runs(void *data, bool begins)
{
	struct talk *t = data;

	t->running = begins;
	if (begins) {
		t->interrupts = 0;
		/* For its conversation, until the turn begins. */
		status_set_names(&t->status, SV(""), SV(""));
		status_set_state(&t->status, STATUS_TOOL, SV("waiting"));
		t->began_ms = clock_age_ms(NULL);
		t->tick = loop_add_timer(t->front.loop, TICK_MS, on_tick, t);
		t->stop = loop_add_signal(t->front.loop, SIGTSTP, on_stop, t, NULL);
		term_mode_quiet(&t->mode);
		term_paste(&t->term, true);
		flush(t);
		keys_listen(&t->permit.keys, on_typed, t);
		return;
	}
	term_mode_restore(&t->mode);
	loop_remove(t->front.loop, t->tick);
	loop_remove(t->front.loop, t->stop);
	expect_pause(t, false);
	keys_close(&t->permit.keys);
	keys_listen(&t->permit.keys, NULL, NULL);
	status_set_typed(&t->status, SV(""));
	status_hide(&t->status);
	term_paste(&t->term, false);
	flush(t);
}

/* Between turns the status line stands above the prompt, where it scrolls away with it: once, and
 * again when it says something else. */
static void show_place(struct talk *t, const struct conv *c)
{
	AUTO_STR line = STR_INIT;

	/* Without a conversation it would say nothing. */
	if (!t->app->settings->ui_status_line || (!t->bypass && !(c && c->id[0])))
		return;
	const char *dot = t->utf8 ? "·" : "-";
	const char *state = status_state_name(STATUS_READY);
	if (t->bypass)
		str_addf(&line, "permissions off %s ", dot);
	if (c && c->id[0]) {
		AUTO_STR label = STR_INIT;
		size_t taken = utf8_width(str_sv(&line)) + strlen(c->agent) + strlen(state) + 7;
		size_t room = t->term.cols > taken ? t->term.cols - taken : 1;
		utf8_fit(&label, sv_of(conv_label(c)), room);
		str_addf(&line, "%s %s %s %s ", c->agent, dot, label.buf, dot);
	}
	str_adds(&line, state);
	if (sv_eq(str_sv(&line), str_sv(&t->place)))
		return;
	str_clear(&t->place);
	str_add(&t->place, str_sv(&line));
	say_line(t, t->bypass ? STYLE_WARNING : STYLE_NOTICE, line.buf);
}

/* A failure of ours ends this sentence, not the conversation: the next may go well. */
static void take_turn(struct talk *t, struct sv text, bool *fresh)
{
	const struct request req = { .text = text, .mode = *fresh ? REQUEST_NEW : REQUEST_GO_ON };
	const struct assistant_outcome *out;
	struct err err = ERR_INIT;

	int r = front_say(&t->front, &req, &out, &err);
	if (r == 0)
		show_outcome(t, out);
	if (r == 0 && out->kind == UTTERANCE_RESTART) {
		editor_free(TAKE_PTR(t->editor));
		r = assistant_lead(t->front.assistant, &err);
		if (r == 0)
			r = front_restart(t->app, NULL, NULL, &err);
	}
	if (r < 0)
		say_line(t, STYLE_ERROR, err.msg);
	else
		*fresh = false;
	/* What could not be sent need not be typed again. */
	if (r < 0 && out && !out->turn->sent && t->editor)
		editor_put(t->editor, text);
	if (!t->leave)
		show_place(t, r == 0 ? &out->turn->conv : NULL);
}

/* Which session is meant is settled while the talk is there, and once: without one nothing is
 * handed over. */
static int name_session(struct app *app, struct strv *args, struct err *reterr)
{
	AUTO_RESOLVED of = RESOLVED_INIT;

	if (args->v[1][0] == '-')
		return 0;
	int r = sessions_find(app, args->v[1], RESOLVE_HERE, &of, reterr);
	if (r < 0)
		return r;
	free(args->v[1]);
	args->v[1] = xstrdup(of.row.info.id);
	return 0;
}

/* True when the line was for faden itself. */
static bool obey(struct talk *t, struct sv text, bool *fresh)
{
	AUTO_STRV args = STRV_INIT;
	AUTO_STR said = STR_INIT;
	struct err err = ERR_INIT;
	enum talk_word word = talk_word_of(text, &args);
	bool hands_over = word == TALK_RUN && strcmp(args.v[0], "resume") == 0;
	int r = 0;

	if (word == TALK_AGENT)
		return false;
	/* What was just brought back or made here is what goes on. */
	if (word == TALK_UNDO || word == TALK_RUN || word == TALK_ENTER)
		*fresh = false;
	if (hands_over && args.n > 1)
		r = name_session(t->app, &args, &err);
	if (r == 0 && word == TALK_RUN)
		r = assistant_lead(t->front.assistant, &err);
	if (r < 0) {
		say_line(t, STYLE_ERROR, err.msg);
		return true;
	}
	t->leave = word == TALK_LEAVE;
	for (size_t i = 0; word == TALK_HELP && talk_help[i]; i++)
		wrap_line(&t->term, STYLE_PLAIN, sv_of(talk_help[i]));
	flush(t);
	if (hands_over) {
		/* The agent's process that is kept for the next turn has the session open. */
		editor_free(TAKE_PTR(t->editor));
		front_close(&t->front);
	}
	if (word == TALK_RUN)
		r = talk_run(t->app, &args, &err);
	else
		r = talk_answer(&t->front, word, &args, &said, &err);
	if (word == TALK_RUN && !hands_over)
		assistant_follow(t->front.assistant);
	if (hands_over) {
		/* Without a front there is no way on but this one. */
		t->leave = true;
		r = front_restart(t->app, args.n > 1 ? args.v[1] : NULL, NULL, &err);
	}
	if (r < 0)
		say_line(t, STYLE_ERROR, err.msg);
	else if (said.len > 0)
		say_line(t, STYLE_NOTICE, said.buf);
	return word != TALK_UNKNOWN;
}

static int converse(struct talk *t, bool fresh, struct err *reterr)
{
	AUTO_FREE char *history = path_join(t->app->paths.state_dir, "history");
	const struct editor_opts opts = {
		.in_fd = t->app->in,
		.term = &t->term,
		.loop = t->front.loop,
		.term_name = env_get("TERM"),
		.history_path = history,
	};
	AUTO_STR text = STR_INIT;

	while (!t->leave) {
		/* A restart that failed has closed it. */
		int r = t->editor ? 0 : editor_new(&opts, &t->editor, reterr);
		if (r == 0) {
			editor_type(t->editor, str_sv(&t->permit.keys.ahead));
			str_clear(&t->permit.keys.ahead);
			r = editor_read(
				t->editor, t->utf8 ? "› " : "> ", STYLE_USER, &text, reterr);
		}
		if (r < 0)
			return r;
		if (r == EDITOR_EOF || r == EDITOR_CANCELLED)
			break;
		if (r == EDITOR_INTERRUPTED || r == EDITOR_DROPPED) {
			/* Whoever has typed since the first wants to stay. */
			t->leave = r == EDITOR_INTERRUPTED && t->interrupts > 0;
			t->interrupts = 1;
			if (!t->leave)
				say_line(t, STYLE_NOTICE, "Ctrl-C again, or Ctrl-D, leaves.");
			continue;
		}
		t->interrupts = 0;
		struct sv said = sv_trim(str_sv(&text));
		if (said.n == 0)
			continue;
		bool known = false;
		for (size_t i = 0; i < t->waiting.n && !known; i++)
			known = sv_is(said, t->waiting.v[i]);
		if (!known) {
			strv_release(&t->waiting);
			remember(t, said);
		}
		if (obey(t, said, &fresh))
			continue;
		take_turn(t, said, &fresh);
	}
	return 0;
}

int talk_at_terminal(struct app *app, const struct talk_opts *opts, struct err *reterr)
{
	struct talk t = {
		.app = app, .utf8 = env_use_locale(), .place = STR_INIT, .waiting = STRV_INIT
	};
	const struct front_opts want = {
		.agent = opts->agent,
		.model = opts->model,
		.permission = opts->permission,
		.answers = true,
		.may_ask = true,
		.resends = true,
		.ui = { .data = &t,
			.begin = on_begin,
			.event = on_event,
			.notice = on_notice,
			.waiting = on_waiting,
			.waits_for = on_waits_for },
		.runs = on_runs,
		.signal = on_signal,
	};
	struct term_opts screen = app_screen(app, fileno(app->out));

	screen.ascii = !t.utf8;
	term_init(&t.term, &screen);
	(void)term_mode_save(&t.mode, app->in);
	markdown_init(&t.markdown, &t.term);
	status_init(&t.status, &t.term);
	int r = front_open(&t.front, app, &want, reterr);
	permit_init(&t.permit, &t.front, &t.term, app->in, &permit_ops, &t);
	if (r == 0 && !loop_add_signal(t.front.loop, SIGWINCH, on_resize, &t, reterr))
		r = reterr ? reterr->code : ERR_BUG;
	if (r == 0) {
		const struct kit *kit = &t.front.kit;
		t.bypass = kit->agents[agent_index(kit->kind)].permission == AGENT_PERM_BYPASS;
		status_set_bypass(&t.status, t.bypass);
		r = greet(&t, opts, reterr);
	}
	if (r == 0)
		r = front_recover(&t.front, TURN_RUNNING_ONCE, SV(""), reterr);
	if (r == ERR_CANCELLED)
		say_line(&t, STYLE_WARNING, text_get(TEXT_CANCELLED, t.front.kit.language));
	if (r == 0 || r == ERR_CANCELLED)
		r = converse(&t, opts->new_session, reterr);
	editor_free(t.editor);
	permit_release(&t.permit);
	front_close(&t.front);
	markdown_release(&t.markdown);
	status_release(&t.status);
	str_release(&t.place);
	strv_release(&t.waiting);
	term_release(&t.term);
	return r < 0 ? r : t.signo ? 128 + t.signo : 0;
}
