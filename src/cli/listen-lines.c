/*
 * `faden listen` without a terminal: what is said and answered is plain lines, all else goes to the
 * diagnostics. Lines that come in are typed text.
 */
#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assist/tell.h"
#include "cli/env.h"
#include "cli/listen.h"
#include "cli/print.h"
#include "cli/talk.h"

enum { READ_BYTES = 4096, TYPED_MAX = 1024 * 1024 };

struct lines {
	struct listening listening;
	struct loop_source *source;
	struct str typed;
	bool line_open; /* the answer stands in the middle of a line */
	bool broke; /* a tool has ended that line */
	bool answered; /* its name stands above the answer */
};

/* With --output - the sound goes there. */
static FILE *out_of(const struct lines *t)
{
	const struct listening *l = &t->listening;
	bool sound = l->opts->output && strcmp(l->opts->output, "-") == 0;

	return sound ? l->app->err : l->app->out;
}

static void put(struct lines *t, struct sv text)
{
	if (text.n == 0)
		return;
	say_text(out_of(t), text);
	t->line_open = text.p[text.n - 1] != '\n';
}

static void end_line(struct lines *t)
{
	if (t->line_open)
		put(t, SV("\n"));
	(void)fflush(out_of(t));
}

static void put_turn(struct lines *t, const char *who, struct sv text)
{
	AUTO_STR line = STR_INIT;

	end_line(t);
	listening_time(&t->listening, &line);
	str_addf(&line, "%s:%s%.*s\n", who, text.n ? " " : "", SV_ARG(text));
	put(t, str_sv(&line));
	end_line(t);
}

static const char *name_of(const struct lines *t)
{
	const char *name = t->listening.app->settings->assistant_name;

	return name[0] ? name : "faden";
}

static void on_state(void *data, enum listener_state state)
{
	const struct lines *t = data;

	log_write(&t->listening.app->log, LOG_DEBUG, "listen: %s", listener_state_name(state));
}

static void on_said(void *data, enum listener_source source, struct sv text)
{
	put_turn(data, source == LISTENER_KEYBOARD ? "You [keyboard]" : "You", text);
}

static void on_unsent(void *data, struct sv text)
{
	put_turn(data, "You [not sent]", text);
}

static void on_begin(void *data, const struct conv *c)
{
	(void)c;
	((struct lines *)data)->answered = false;
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct lines *t = data;

	if (ev->type == AGENT_EV_TEXT) {
		if (!t->answered)
			put_turn(t, name_of(t), SV(""));
		t->answered = true;
		put(t, ev->text);
		t->broke = false;
	} else if (ev->type == AGENT_EV_BREAK && (t->line_open || t->broke)) {
		put(t, t->broke ? SV("\n") : SV("\n\n"));
	} else if (ev->type == AGENT_EV_TOOL_BEGIN && t->line_open) {
		put(t, SV("\n"));
		t->broke = true;
	} else if (ev->type == AGENT_EV_ASK) {
		AUTO_STR line = STR_INIT;
		str_addf(&line, "May it use %.*s? %.*s (answer by voice: yes or no)",
			SV_ARG(ev->tool), SV_ARG(ev->text));
		end_line(t);
		say_note(t->listening.app->err, "%s", line.buf);
	} else if (ev->type == AGENT_EV_DONE) {
		end_line(t);
		t->broke = false;
	}
}

static void on_failed(void *data, const char *line)
{
	struct lines *t = data;

	end_line(t);
	say_note(t->listening.app->err, "%s", line);
}

static void on_done(void *data, const struct assistant_outcome *out)
{
	struct lines *t = data;
	AUTO_STR why = STR_INIT;

	end_line(t);
	if (out->err.code < 0)
		on_failed(t, out->err.msg);
	else if (out->turn->fail == AGENT_CANCELLED)
		tell_cancelled(out->turn, out->language, &why);
	else if (out->turn->fail != AGENT_OK)
		tell_failure(out->turn, &why);
	if (why.len)
		on_failed(t, why.buf);
}

static void on_reply(void *data, const char *text)
{
	struct lines *t = data;

	put_turn(t, name_of(t), sv_of(text));
}

static void on_signal(void *data, int signo)
{
	struct lines *t = data;

	t->listening.signo = signo;
	listening_leave(&t->listening);
}

/* ---- what is typed ---- */

static void on_line(struct lines *t, struct sv line)
{
	AUTO_STRV args = STRV_INIT;
	enum talk_word word = talk_word_of(sv_trim(line), &args);

	if (word == TALK_LEAVE)
		listening_leave(&t->listening);
	else
		listener_typed(t->listening.listener, line);
}

static void on_input(void *data, short revents)
{
	struct lines *t = data;
	char buf[READ_BYTES];
	ssize_t n = read(t->listening.app->in, buf, sizeof(buf));

	(void)revents;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0)
		str_add(&t->typed, sv_make(buf, (size_t)n));
	else
		loop_remove(t->listening.front.loop, TAKE_PTR(t->source));
	const char *end;
	while ((end = memchr(t->typed.buf, '\n', t->typed.len)) || (n <= 0 && t->typed.len > 0)) {
		size_t len = end ? (size_t)(end - t->typed.buf) : t->typed.len;
		on_line(t, sv_make(t->typed.buf, len));
		str_drop(&t->typed, end ? len + 1 : len);
	}
}

static int run(void *data, struct err *reterr)
{
	struct lines *t = data;
	struct listening *l = &t->listening;
	bool sound = l->opts->input && strcmp(l->opts->input, "-") == 0;

	if (!sound && !l->opts->no_tty)
		t->source = loop_add_fd(l->front.loop, l->app->in, POLLIN, on_input, t);
	int r = loop_run(l->front.loop, &l->over, reterr);
	loop_remove(l->front.loop, TAKE_PTR(t->source));
	end_line(t);
	return r;
}

static const struct listen_screen lines_screen = {
	.run = run,
	.state = on_state,
	.said = on_said,
	.unsent = on_unsent,
	.begin = on_begin,
	.event = on_event,
	.done = on_done,
	.reply = on_reply,
	.notice = on_failed,
	.failed = on_failed,
	.signal = on_signal,
};

/* systemd names the file that it gave a service for its diagnostics. */
static bool is_journal(int fd)
{
	const char *journal = env_get("JOURNAL_STREAM");
	AUTO_STR own = STR_INIT;
	struct stat st;

	if (!journal || fstat(fd, &st) < 0)
		return false;
	str_addf(&own, "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	return strcmp(journal, own.buf) == 0;
}

int listen_by_lines(struct app *app, const struct listen_opts *opts, struct err *reterr)
{
	struct lines t = {
		.listening = { .app = app, .opts = opts, .screen = &lines_screen },
	};

	t.listening.screen_data = &t;
	/* One place to look for all that a service did. */
	int journal = opts->no_tty && is_journal(STDERR_FILENO) ? dup(STDERR_FILENO) : -1;
	if (journal >= 0) {
		if (app->log.fd >= 0)
			(void)close(app->log.fd);
		app->log.fd = journal;
	}
	str_init_max(&t.typed, TYPED_MAX);
	int r = listening_run(&t.listening, reterr);
	str_release(&t.typed);
	return r;
}
