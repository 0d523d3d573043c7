/*
 * At a terminal: a line editor, the answer as it comes, a status line while the agent works.
 * Ctrl-C cancels the running turn and keeps the conversation; twice, or Ctrl-D, leaves.
 */
#include <signal.h>
#include <stdlib.h>

#include "assist/tell.h"
#include "base/utf8.h"
#include "cli/env.h"
#include "cli/front.h"
#include "cli/notice.h"
#include "cli/talk.h"
#include "config/settings.h"
#include "os/path.h"
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
	struct kit kit;
	struct loop *loop;
	struct assistant *assistant;
	struct term term;
	struct term_mode mode;
	struct markdown markdown;
	struct status status;
	struct editor *editor;
	struct loop_source *tick;
	struct loop_source *pause;
	int64_t began_ms;
	int64_t retry_ms; /* age clock: the agent tries again then; 0: it does not wait */
	bool utf8;
	bool bypass; /* the agent acts without asking */
	bool running; /* a turn */
	int interrupts; /* Ctrl-C since the last turn or input */
	bool leave;
	bool restart;
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

	notice_begin(t->app, c);
	if (tell_rehearsal(&t->kit, c, &hint))
		say_line(t, STYLE_NOTICE, hint.buf);
	status_set_names(&t->status, sv_of(c->agent), sv_of(c->turns ? conv_label(c) : ""));
	status_set_state(&t->status, STATUS_THINKING, SV(""));
	status_show(&t->status);
	flush(t);
}

static void show_retry(struct talk *t, const struct agent_event *ev)
{
	AUTO_STR line = STR_INIT;

	tell_retry(ev, &line);
	t->retry_ms = ev->delay_ms > 0 ? clock_age_ms(NULL) + ev->delay_ms : 0;
	say_line(t, STYLE_WARNING, line.buf);
}

static void show_notice(struct talk *t, const struct agent_event *ev)
{
	AUTO_STR line = STR_INIT;

	str_add(&line, ev->text);
	on_notice(t, line.buf);
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
		loop_remove(t->loop, t->pause);
	t->pause = expected ? loop_add_timer(t->loop, PAUSE_MS, on_pause, t) : NULL;
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct talk *t = data;

	t->retry_ms = 0;
	expect_pause(t, ev->type == AGENT_EV_TEXT);
	switch (ev->type) {
	case AGENT_EV_TEXT:
		status_hide(&t->status);
		status_set_state(&t->status, STATUS_SPEAKING, SV(""));
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
		show_retry(t, ev);
		break;
	case AGENT_EV_NOTICE:
		show_notice(t, ev);
		break;
	case AGENT_EV_DONE:
		status_hide(&t->status);
		markdown_end(&t->markdown);
		flush(t);
		return;
	case AGENT_EV_SESSION:
		break;
	}
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

static void on_tick(void *data)
{
	struct talk *t = data;

	int64_t left = t->retry_ms - clock_age_ms(NULL);

	t->tick = loop_add_timer(t->loop, TICK_MS, on_tick, t);
	if (t->retry_ms && left > 0)
		show_wait(t, "waiting to try again", (left + 999) / 1000);
	status_tick(&t->status, clock_age_ms(NULL) - t->began_ms);
	flush(t);
}

static void on_interrupt(void *data, int signo)
{
	struct talk *t = data;

	(void)signo;
	if (!t->running)
		return;
	t->leave = ++t->interrupts > 1;
	status_set_state(&t->status, STATUS_CANCELLING, SV(""));
	assistant_cancel(t->assistant);
}

static void on_end(void *data, int signo)
{
	struct talk *t = data;

	t->signo = signo;
	t->leave = true;
	if (t->running)
		assistant_cancel(t->assistant);
	if (t->editor)
		editor_cancel(t->editor);
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
		term_styled(&t->term, STYLE_AGENT, sv_of(out->reply));
		term_newline(&t->term);
	}
	if (out->turn->fail != AGENT_OK) {
		AUTO_STR why = STR_INIT;
		bool cancelled = out->turn->fail == AGENT_CANCELLED;
		if (cancelled)
			tell_cancelled(out->turn, t->kit.language, &why);
		else
			str_adds(&why, out->turn->message);
		wrap_line(&t->term, cancelled ? STYLE_WARNING : STYLE_ERROR, str_sv(&why));
	}
	flush(t);
}

static int take_turn(struct talk *t, struct sv text, bool fresh, struct err *reterr)
{
	const struct request req = { .text = text, .mode = fresh ? REQUEST_NEW : REQUEST_GO_ON };
	const struct assistant_outcome *out;

	t->running = true;
	t->interrupts = 0;
	t->began_ms = clock_age_ms(NULL);
	t->tick = loop_add_timer(t->loop, TICK_MS, on_tick, t);
	term_mode_quiet(&t->mode);
	int r = front_say(t->loop, t->assistant, &req, &out, reterr);
	if (r == 0)
		notice_end(t->app, out);
	term_mode_restore(&t->mode);
	loop_remove(t->loop, t->tick);
	expect_pause(t, false);
	t->running = false;
	if (r == 0) {
		show_outcome(t, out);
		t->restart = out->kind == UTTERANCE_RESTART;
	}
	status_hide(&t->status);
	return r;
}

static void greet(struct talk *t, bool fresh)
{
	AUTO_STR line = STR_INIT;
	bool goes_on = tell_greeting(&t->kit, fresh, &line);

	say_line(t, STYLE_NOTICE, line.buf);
	if (!goes_on)
		say_line(t, STYLE_NOTICE, "Ctrl-C cancels a turn, Ctrl-D leaves.");
	if (t->bypass)
		say_line(t, STYLE_WARNING,
			"Permissions are off (ai.permission_mode): the agent acts without asking.");
}

/* True when the user has had enough. */
static bool interrupted_at_prompt(struct talk *t)
{
	if (++t->interrupts > 1)
		return true;
	say_line(t, STYLE_NOTICE, "Ctrl-C again, or Ctrl-D, leaves.");
	return false;
}

/* A failure of ours ends this sentence, not the conversation: the next may go well. */
static void try_turn(struct talk *t, struct sv text, bool *fresh)
{
	struct err err = ERR_INIT;

	if (take_turn(t, text, *fresh, &err) < 0)
		say_line(t, STYLE_ERROR, err.msg);
	else
		*fresh = false;
	if (!t->restart)
		return;
	t->restart = false;
	editor_free(TAKE_PTR(t->editor));
	if (talk_restart(t->app, &err) < 0)
		say_line(t, STYLE_ERROR, err.msg);
}

static int open_editor(struct talk *t, struct err *reterr)
{
	AUTO_FREE char *history = path_join(t->app->paths.state_dir, "history");
	struct editor_opts opts = {
		.in_fd = t->app->in,
		.term = &t->term,
		.loop = t->loop,
		.term_name = env_get("TERM"),
		.history_path = history,
	};

	return t->editor ? 0 : editor_new(&opts, &t->editor, reterr);
}

static void remember(struct talk *t, struct sv said)
{
	struct err err = ERR_INIT;

	if (editor_remember(t->editor, said, &err) < 0)
		log_write(&t->app->log, LOG_WARN, "history: %s", err.msg);
}

/* Between turns the status line stands above the prompt, where it scrolls away with it. */
static void show_listening(struct talk *t)
{
	AUTO_CONV c = CONV_INIT;
	AUTO_STR line = STR_INIT;
	const struct app *app = t->app;

	if (!app->settings->ui_status_line)
		return;
	const char *dot = t->utf8 ? "·" : "-";
	const char *state = status_state_name(STATUS_LISTENING);
	if (t->bypass)
		str_addf(&line, "permissions off %s ", dot);
	if (conv_current(app->store, t->kit.dir, &app->clock, &c, NULL) == 0) {
		AUTO_STR label = STR_INIT;
		size_t taken = utf8_width(str_sv(&line)) + strlen(c.agent) + strlen(state) + 7;
		size_t room = t->term.cols > taken ? t->term.cols - taken : 1;
		utf8_fit(&label, sv_of(conv_label(&c)), room);
		str_addf(&line, "%s %s %s %s ", c.agent, dot, label.buf, dot);
	}
	str_adds(&line, state);
	say_line(t, t->bypass ? STYLE_WARNING : STYLE_NOTICE, line.buf);
}

static int converse(struct talk *t, bool fresh, struct err *reterr)
{
	AUTO_STR text = STR_INIT;

	while (!t->leave) {
		int r = open_editor(t, reterr);
		if (r == 0)
			r = editor_read(
				t->editor, t->utf8 ? "› " : "> ", STYLE_USER, &text, reterr);
		if (r < 0)
			return r;
		if (r == EDITOR_EOF || r == EDITOR_CANCELLED)
			break;
		if (r == EDITOR_INTERRUPTED) {
			t->leave = interrupted_at_prompt(t);
			continue;
		}
		t->interrupts = 0;
		struct sv said = sv_trim(str_sv(&text));
		if (said.n == 0)
			continue;
		remember(t, said);
		try_turn(t, said, &fresh);
		if (!t->leave)
			show_listening(t);
	}
	return 0;
}

static int add_signals(struct talk *t, struct err *reterr)
{
	static const struct {
		int signo;
		loop_signal_fn fn;
	} wanted[] = { { SIGINT, on_interrupt }, { SIGTERM, on_end }, { SIGHUP, on_end },
		{ SIGWINCH, on_resize } };

	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		if (!loop_add_signal(t->loop, wanted[i].signo, wanted[i].fn, t, reterr))
			return reterr ? reterr->code : ERR_BUG;
	return 0;
}

static void set_up_screen(struct talk *t)
{
	struct term_opts opts = {
		.fd = fileno(t->app->out),
		.colour = t->app->colour ? TERM_COLOUR_ALWAYS : TERM_COLOUR_NEVER,
		.term_name = env_get("TERM"),
		.ascii = !t->utf8,
	};

	term_init(&t->term, &opts);
	(void)term_mode_save(&t->mode, t->app->in);
	markdown_init(&t->markdown, &t->term);
	status_init(&t->status, &t->term);
}

int talk_at_terminal(struct app *app, const struct talk_opts *opts, struct err *reterr)
{
	struct talk t = { .app = app };
	struct kit_opts want = front_kit_opts(app);

	want.agent = opts->agent;
	want.model = opts->model;
	want.keep_alive = true;
	t.loop = loop_new();
	t.utf8 = env_use_locale();
	set_up_screen(&t);
	int r = kit_open(&want, &t.kit, reterr);
	if (r == 0)
		r = front_pick_agent(app, &t.kit, reterr);
	if (r == 0) {
		struct assistant_opts as = kit_assistant_opts(&t.kit, false);
		as.turns.loop = t.loop;
		as.ui = (struct assistant_ui){ .data = &t,
			.begin = on_begin,
			.event = on_event,
			.notice = on_notice,
			.waiting = on_waiting };
		r = assistant_new(&as, &t.assistant, reterr);
	}
	if (r == 0)
		r = add_signals(&t, reterr);
	if (r == 0) {
		t.bypass = t.kit.agents[agent_index(t.kit.kind)].permission == AGENT_PERM_BYPASS;
		status_set_bypass(&t.status, t.bypass);
		greet(&t, opts->new_session);
		r = assistant_recover(t.assistant, reterr);
	}
	if (r == 0)
		r = converse(&t, opts->new_session, reterr);
	editor_free(t.editor);
	assistant_free(t.assistant);
	loop_free(t.loop);
	kit_close(&t.kit);
	markdown_release(&t.markdown);
	status_release(&t.status);
	term_release(&t.term);
	return r < 0 ? r : t.signo ? 128 + t.signo : 0;
}
