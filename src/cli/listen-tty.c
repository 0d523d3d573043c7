/*
 * `faden listen` at a terminal: what is said and answered stands above one line with the state, and
 * any key opens the line editor, whatever goes on. Escape or Ctrl-C stops what runs and what is
 * said, and what is being recorded is not sent; Ctrl-C twice, or Ctrl-D, leaves.
 */
#include <signal.h>
#include <stdlib.h>

#include "assist/tell.h"
#include "base/utf8.h"
#include "cli/env.h"
#include "cli/listen.h"
#include "cli/permit.h"
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
	LAST_MS = 10000, /* of a recording: they are counted */
	PAUSE_MS = 100, /* silence after which an unfinished word is shown */
};

struct screen {
	struct listening listening;
	struct term term;
	struct term_mode mode;
	struct markdown markdown;
	struct status status;
	struct permit permit;
	struct editor *editor;
	struct loop_source *tick, *pause;
	enum listener_state state;
	int64_t since_ms; /* that state */
	bool utf8;
	bool ready; /* the loop runs: there is a status line */
	bool typing, wants_editor;
	bool answered; /* its name stands above the answer */
	struct str held; /* of the answer, while somebody types */
	int interrupts;
};

static void flush(struct screen *t)
{
	if (term_flush(&t->term, NULL) < 0)
		listening_leave(&t->listening);
}

/* ---- making room, and giving it back ---- */

static void clear_line(struct screen *t)
{
	status_hide(&t->status);
	if (t->typing)
		editor_hide(t->editor);
	markdown_end(&t->markdown);
	term_fresh_line(&t->term);
}

static void back(struct screen *t)
{
	if (t->typing)
		editor_show(t->editor);
	else if (t->ready)
		status_show(&t->status);
	flush(t);
}

static void put_line(struct screen *t, unsigned style, const char *text)
{
	clear_line(t);
	if (style == STYLE_ERROR)
		wrap_error(&t->term, sv_of(text));
	else
		wrap_line(&t->term, style, sv_of(text));
	back(t);
}

static void on_notice(void *data, const char *line)
{
	put_line(data, STYLE_NOTICE, line);
}

static void on_failed(void *data, const char *line)
{
	put_line(data, STYLE_ERROR, line);
}

/* "[12:00:01] You: what is said", the name in its style. */
static void put_turn(struct screen *t, unsigned style, const char *who, struct sv text)
{
	AUTO_STR time = STR_INIT;
	AUTO_STR clean = STR_INIT;
	struct wrap w;

	clear_line(t);
	listening_time(&t->listening, &time);
	utf8_scrub_line(&clean, text);
	wrap_init(&w, &t->term);
	wrap_begin(&w, SV(""), SV(""), STYLE_PLAIN);
	wrap_add(&w, str_sv(&time), STYLE_DIM);
	wrap_add(&w, sv_of(who), style);
	wrap_add(&w, clean.len ? SV(": ") : SV(":"), STYLE_PLAIN);
	wrap_add(&w, str_sv(&clean), STYLE_PLAIN);
	wrap_end(&w);
	wrap_release(&w);
	back(t);
}

static const char *name_of(const struct screen *t)
{
	const char *name = t->listening.app->settings->assistant_name;

	return name[0] ? name : "faden";
}

/* ---- the state ---- */

static void hint_of(const struct screen *t, struct str *out)
{
	const struct listening *l = &t->listening;
	int64_t left = listening_left_ms(l);

	switch (t->state) {
	case LISTENER_LISTENING:
		if (!l->hears)
			str_adds(out, "it cannot hear; press any key to type");
		else if (l->deaf)
			str_adds(out, "no microphone; press any key to type");
		else if (l->opts->push_to_talk)
			str_adds(out, "press Space to speak, any other key to type");
		else if (l->opts->no_wake)
			str_adds(out, "speak, or press any key to type");
		else
			str_addf(out, "say \"Hey %s\", or press any key to type", name_of(t));
		break;
	case LISTENER_RECORDING:
		if (left >= 0 && left <= LAST_MS)
			str_addf(out, "%lld s left, ", (long long)(left + 999) / 1000);
		str_addf(out, "%sa pause ends it, Esc discards it",
			l->opts->push_to_talk ? "Space or " : "");
		break;
	case LISTENER_PROCESSING:
	case LISTENER_SPEAKING:
		if (l->calls)
			str_addf(out, "\"Hey %s\" or Esc stops it", name_of(t));
		else
			str_adds(out, "Esc stops it");
		break;
	case LISTENER_ASKING:
		if (l->calls)
			str_addf(out, "a key answers, or \"Hey %s\" and yes or no", name_of(t));
		else if (l->opts->push_to_talk)
			str_adds(out, "a key answers, or Space and yes or no");
		else
			str_adds(out, "a key answers");
		break;
	case LISTENER_ERROR:
	case LISTENER_TYPING:
		break;
	}
}

/* Something turns beside it. */
static bool works(const struct screen *t)
{
	return t->state != LISTENER_LISTENING && t->state != LISTENER_TYPING &&
		t->state != LISTENER_ASKING;
}

static void set_words(struct screen *t)
{
	AUTO_STR line = STR_INIT;
	AUTO_STR hint = STR_INIT;

	for (const char *p = listener_state_name(t->state); *p; p++)
		str_addc(&line, (char)(*p - 'a' + 'A'));
	hint_of(t, &hint);
	if (hint.len)
		str_addf(&line, "  %s", hint.buf);
	status_set_state(&t->status, works(t) ? STATUS_TOOL : STATUS_WORDS, str_sv(&line));
}

static void on_tick(void *data)
{
	struct screen *t = data;

	t->tick = loop_add_timer(t->listening.front.loop, TICK_MS, on_tick, t);
	set_words(t);
	status_tick(&t->status, clock_age_ms(NULL) - t->since_ms);
	flush(t);
}

static void show_state(struct screen *t)
{
	status_hide(&t->status);
	set_words(t);
	t->status.elapsed_ms = 0;
	t->since_ms = clock_age_ms(NULL);
	loop_remove(t->listening.front.loop, TAKE_PTR(t->tick));
	if (works(t) && t->ready)
		t->tick = loop_add_timer(t->listening.front.loop, TICK_MS, on_tick, t);
	if (!t->typing && t->ready)
		status_show(&t->status);
	flush(t);
}

static void on_state(void *data, enum listener_state state)
{
	struct screen *t = data;

	t->state = state;
	if (t->listening.app->settings->ui_status_line)
		show_state(t);
}

/* ---- what is said and answered ---- */

static void on_said(void *data, enum listener_source source, struct sv text)
{
	struct screen *t = data;

	t->interrupts = 0;
	put_turn(t, STYLE_USER, source == LISTENER_KEYBOARD ? "You [keyboard]" : "You", text);
}

/* It is the beginning of what is typed next, or, where that has one, in the history. */
static void on_unsent(void *data, struct sv text)
{
	struct screen *t = data;
	struct err err = ERR_INIT;

	put_turn(t, STYLE_USER, "You [not sent]", text);
	if (!editor_offer(t->editor, text) && editor_remember(t->editor, text, &err) < 0)
		log_write(&t->listening.app->log, LOG_WARN, "history: %s", err.msg);
}

static void on_reply(void *data, const char *text)
{
	struct screen *t = data;

	put_turn(t, STYLE_AGENT, name_of(t), sv_of(text));
}

static void on_begin(void *data, const struct conv *c)
{
	struct screen *t = data;

	t->answered = false;
	status_set_names(&t->status, sv_of(c->agent), sv_of(c->turns ? conv_label(c) : ""));
}

/* Which conversation comes next is known when it begins. */
static void forget_names(struct screen *t)
{
	status_set_names(&t->status, SV(""), SV(""));
}

static void on_pause(void *data)
{
	struct screen *t = data;

	t->pause = NULL;
	status_hide(&t->status);
	markdown_pause(&t->markdown);
	back(t);
}

static void expect_pause(struct screen *t, bool expected)
{
	loop_remove(t->listening.front.loop, TAKE_PTR(t->pause));
	if (expected)
		t->pause = loop_add_timer(t->listening.front.loop, PAUSE_MS, on_pause, t);
}

/* Whole paragraphs while somebody types: the editor has the line that the answer would stand in. */
static void release_held(struct screen *t)
{
	if (t->held.len == 0)
		return;
	clear_line(t);
	markdown_feed(&t->markdown, str_sv(&t->held));
	str_clear(&t->held);
	if (t->typing)
		markdown_end(&t->markdown);
	back(t);
}

static void on_text(struct screen *t, struct sv text)
{
	if (!t->answered)
		put_turn(t, STYLE_AGENT, name_of(t), SV(""));
	t->answered = true;
	if (t->typing) {
		str_add(&t->held, text);
		return;
	}
	status_hide(&t->status);
	markdown_feed(&t->markdown, text);
	back(t);
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct screen *t = data;

	expect_pause(t, ev->type == AGENT_EV_TEXT && !t->typing);
	if (ev->type != AGENT_EV_TEXT)
		release_held(t);
	/* A key is to answer it, not a line. */
	if (ev->type == AGENT_EV_ASK && t->typing)
		editor_cancel(t->editor);
	if (ev->type == AGENT_EV_TEXT) {
		on_text(t, ev->text);
	} else if (ev->type == AGENT_EV_BREAK || ev->type == AGENT_EV_DONE) {
		clear_line(t);
		back(t);
	} else if (ev->type == AGENT_EV_TOOL_BEGIN) {
		clear_line(t);
		term_styled(&t->term, STYLE_TOOL, ev->tool);
		term_puts(&t->term, " ");
		term_styled(&t->term, STYLE_DIM, sv_head(ev->text, 200));
		term_newline(&t->term);
		back(t);
	}
	permit_event(&t->permit, ev);
}

static void on_done(void *data, const struct assistant_outcome *out)
{
	struct screen *t = data;
	AUTO_STR why = STR_INIT;
	bool cancelled = out->turn->fail == AGENT_CANCELLED;

	release_held(t);
	clear_line(t);
	if (out->err.code == 0 && (out->kind == UTTERANCE_RESET || out->kind == UTTERANCE_UNDO))
		forget_names(t);
	back(t);
	if (out->err.code < 0)
		str_adds(&why, out->err.msg);
	else if (cancelled)
		tell_cancelled(out->turn, out->language, &why);
	else if (out->turn->fail != AGENT_OK)
		str_adds(&why, out->turn->message);
	if (why.len)
		put_line(t, cancelled ? STYLE_WARNING : STYLE_ERROR, why.buf);
}

/* ---- questions for permission, by key ---- */

static void on_permit_enter(void *data, bool asks)
{
	(void)asks;
	clear_line(data);
}

static void on_permit_leave(void *data, bool asks)
{
	(void)asks;
	back(data);
}

static void on_permit_cancel(void *data)
{
	struct screen *t = data;

	permit_drop(&t->permit);
	(void)listener_stop(t->listening.listener);
}

static void on_permit_answer(void *data, const char *id, enum agent_answer answer)
{
	struct screen *t = data;

	/* Told first: the answer may be the end of the turn. */
	AUTO_FREE char *own = xstrdup(id);
	listener_permitted(t->listening.listener, own);
	assistant_answer(t->listening.front.assistant, own, answer);
}

static const struct permit_ops permit_ops = {
	.span = "talk",
	.enter = on_permit_enter,
	.leave = on_permit_leave,
	.cancel = on_permit_cancel,
	.answer = on_permit_answer,
};

/* ---- keys ---- */

static bool on_keys(void *data, struct sv line, bool ended)
{
	struct screen *t = data;

	if (ended && sv_is(line, KEYS_LONE_ESCAPE)) {
		permit_drop(&t->permit);
		(void)listener_stop(t->listening.listener);
		return true;
	}
	if (line.n == 0)
		return true; /* Enter alone says nothing */
	if (t->listening.opts->push_to_talk && sv_is(line, " ")) {
		str_clear(&t->permit.keys.ahead);
		listener_push(t->listening.listener);
		return true;
	}
	t->wants_editor = true;
	return false;
}

static void on_signal(void *data, int signo)
{
	struct screen *t = data;
	bool stopped = false;

	if (signo == SIGINT && t->listening.listener) {
		permit_drop(&t->permit);
		stopped = listener_stop(t->listening.listener);
	}
	if (signo != SIGINT)
		t->listening.signo = signo;
	if (signo != SIGINT || t->interrupts++ > 0)
		listening_leave(&t->listening);
	else if (!stopped)
		put_line(t, STYLE_NOTICE, "Ctrl-C again, or Ctrl-D, leaves.");
	if (t->typing && t->listening.over)
		editor_cancel(t->editor);
}

static void on_stop(void *data, int signo)
{
	struct screen *t = data;

	(void)signo;
	status_hide(&t->status);
	term_stop(&t->term, &t->mode);
	permit_again(&t->permit);
	back(t);
}

static void on_resize(void *data, int signo)
{
	struct screen *t = data;

	(void)signo;
	(void)term_resize(&t->term);
	if (t->typing)
		editor_resize(t->editor);
	else
		status_resize(&t->status);
	flush(t);
}

/* The last line while somebody types: the state stands there as it does otherwise. */
static const char *prompt_of(const struct screen *t)
{
	if (!t->listening.app->settings->ui_status_line)
		return t->utf8 ? "› " : "> ";
	return t->utf8 ? "TYPING › " : "TYPING > ";
}

/* Escape stops what goes on, and where nothing does it leaves the line; what was typed stays. */
static void on_leave(void *data)
{
	struct screen *t = data;

	if (!listener_stop(t->listening.listener))
		editor_cancel(t->editor);
}

/* What was typed is shown again with its time, in place of the line it was typed in. */
static void take_back_line(struct screen *t, struct sv text)
{
	size_t width = utf8_width(text) + utf8_width(sv_of(prompt_of(t)));

	if (!t->term.cursor || memchr(text.p, '\n', text.n) || t->term.cols == 0)
		return;
	for (size_t rows = width / t->term.cols + 1; rows > 0; rows--)
		term_control(&t->term, "\033[A");
	term_control(&t->term, "\r\033[J");
}

/* True when the line was for faden itself. */
static bool obey(struct screen *t, struct sv text)
{
	struct listening *l = &t->listening;
	AUTO_STRV args = STRV_INIT;
	AUTO_STR said = STR_INIT;
	struct err err = ERR_INIT;
	enum talk_word word = talk_word_of(text, &args);
	bool idle = listener_state(l->listener) == LISTENER_LISTENING;
	int r = 0;

	if (word == TALK_AGENT || word == TALK_UNKNOWN)
		return false;
	if (word == TALK_LEAVE) {
		listening_leave(l);
	} else if (word == TALK_HELP) {
		for (size_t i = 0; talk_help[i]; i++)
			wrap_line(&t->term, STYLE_PLAIN, sv_of(talk_help[i]));
	} else if (!idle && word != TALK_MISTYPED && word != TALK_COMPACT) {
		str_adds(&said, "Not while it works: Esc stops it.");
	} else if (word == TALK_RUN) {
		/* The ears stay: nobody hands the terminal over. */
		if (strcmp(args.v[0], "resume") == 0)
			strv_add(&args, "--print");
		r = assistant_lead(l->front.assistant, &err);
		flush(t);
		if (r == 0)
			r = talk_run(l->app, &args, &err);
		assistant_follow(l->front.assistant);
	} else {
		r = talk_answer(&l->front, word, &args, &said, &err);
		if (r == 0 && (word == TALK_CLEAR || word == TALK_UNDO || word == TALK_ENTER))
			forget_names(t);
	}
	if (r < 0)
		put_line(t, STYLE_ERROR, err.msg);
	else if (said.len)
		put_line(t, STYLE_NOTICE, said.buf);
	return true;
}

static int type(struct screen *t, struct err *reterr)
{
	struct listening *l = &t->listening;
	AUTO_STR text = STR_INIT;
	struct err err = ERR_INIT;

	t->wants_editor = false;
	keys_close(&t->permit.keys);
	keys_listen(&t->permit.keys, NULL, NULL);
	status_hide(&t->status);
	markdown_end(&t->markdown);
	term_fresh_line(&t->term);
	term_mode_restore(&t->mode);
	editor_type(t->editor, str_sv(&t->permit.keys.ahead));
	str_clear(&t->permit.keys.ahead);
	t->typing = true;
	listener_typing(l->listener, true);
	int r = editor_read(t->editor, prompt_of(t), STYLE_USER, &text, reterr);
	t->typing = false;
	term_mode_quiet(&t->mode);
	term_paste(&t->term, true);
	keys_listen(&t->permit.keys, on_keys, t);
	release_held(t);
	listener_typing(l->listener, false);
	if (r < 0)
		return r;
	struct sv said = sv_trim(str_sv(&text));
	if (r == EDITOR_LINE)
		take_back_line(t, str_sv(&text));
	if (r == EDITOR_EOF)
		listening_leave(l);
	if (r == EDITOR_INTERRUPTED && t->interrupts++ > 0)
		listening_leave(l);
	if (r == EDITOR_LINE && said.n > 0) {
		t->interrupts = 0;
		if (editor_remember(t->editor, said, &err) < 0)
			log_write(&l->app->log, LOG_WARN, "history: %s", err.msg);
		if (!obey(t, said))
			listener_typed(l->listener, said);
	}
	back(t);
	return 0;
}

static int run(void *data, struct err *reterr)
{
	struct screen *t = data;
	struct listening *l = &t->listening;
	AUTO_FREE char *history = path_join(l->app->paths.state_dir, "history");
	const struct editor_opts opts = {
		.in_fd = l->app->in,
		.term = &t->term,
		.loop = l->front.loop,
		.term_name = env_get("TERM"),
		.history_path = history,
		.leave = on_leave,
		.leave_data = t,
	};
	int r = editor_new(&opts, &t->editor, reterr);

	if (r == 0 &&
		(!loop_add_signal(l->front.loop, SIGWINCH, on_resize, t, reterr) ||
			!loop_add_signal(l->front.loop, SIGTSTP, on_stop, t, reterr)))
		r = reterr ? reterr->code : ERR_BUG;
	if (r < 0)
		return r;
	const struct kit *kit = &l->front.kit;
	bool bypass = kit->agents[agent_index(kit->kind)].permission == AGENT_PERM_BYPASS;
	status_set_bypass(&t->status, bypass);
	if (bypass)
		put_line(t, STYLE_WARNING, "Permissions are off: the agent acts without asking.");
	permit_init(&t->permit, &l->front, &t->term, l->app->in, &permit_ops, t);
	term_mode_quiet(&t->mode);
	term_paste(&t->term, true);
	keys_listen(&t->permit.keys, on_keys, t);
	t->ready = true;
	on_state(t, LISTENER_LISTENING);
	while (r == 0 && !l->over) {
		r = loop_step(l->front.loop, -1, reterr);
		if (r == 0 && !l->over && t->wants_editor)
			r = type(t, reterr);
	}
	t->ready = false;
	status_hide(&t->status);
	markdown_end(&t->markdown);
	term_fresh_line(&t->term);
	term_paste(&t->term, false);
	flush(t);
	expect_pause(t, false);
	loop_remove(l->front.loop, TAKE_PTR(t->tick));
	permit_release(&t->permit);
	editor_free(TAKE_PTR(t->editor));
	term_mode_restore(&t->mode);
	return r;
}

static const struct listen_screen tty_screen = {
	.run = run,
	.state = on_state,
	.said = on_said,
	.unsent = on_unsent,
	.begin = on_begin,
	.event = on_event,
	.done = on_done,
	.reply = on_reply,
	.notice = on_notice,
	.failed = on_failed,
	.signal = on_signal,
};

int listen_at_terminal(struct app *app, const struct listen_opts *opts, struct err *reterr)
{
	struct screen t = {
		.listening = { .app = app, .opts = opts, .screen = &tty_screen },
		.utf8 = env_use_locale(),
		.held = STR_INIT,
	};
	struct term_opts screen = app_screen(app, fileno(app->out));

	screen.ascii = !t.utf8;
	t.listening.screen_data = &t;
	term_init(&t.term, &screen);
	(void)term_mode_save(&t.mode, app->in);
	markdown_init(&t.markdown, &t.term);
	status_init(&t.status, &t.term);
	int r = listening_run(&t.listening, reterr);
	term_mode_restore(&t.mode);
	markdown_release(&t.markdown);
	status_release(&t.status);
	term_release(&t.term);
	str_release(&t.held);
	return r;
}
