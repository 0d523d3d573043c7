/*
 * Standard input that is no terminal: each line is one turn, answers on standard output,
 * everything else on standard error.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "assist/tell.h"
#include "cli/front.h"
#include "cli/print.h"
#include "cli/talk.h"

enum {
	LINE_BYTES_MAX = 16 * 1024 * 1024, /* of one turn */
	READ_BYTES = 64 * 1024,
};

struct lines {
	struct app *app;
	struct front front;
	struct str buffer; /* read and not yet used */
	bool eof;
	bool line_open; /* the answer stands in the middle of a line */
	bool broke; /* a tool has ended that line */
	bool readable;
	bool leave;
	bool greeted; /* where the talk is was said */
	int status; /* of the worst turn */
	int signo;
};

static void on_notice(void *data, const char *line)
{
	struct lines *l = data;

	(void)fflush(l->app->out);
	say_note(l->app->err, "%s", line);
}

static void on_begin(void *data, const struct conv *c)
{
	struct lines *l = data;
	AUTO_STR hint = STR_INIT;

	if (front_begin(&l->front, c, &hint))
		on_notice(l, hint.buf);
}

static void on_signal(void *data, int signo)
{
	struct lines *l = data;

	l->signo = signo;
	assistant_stop(l->front.assistant, signo);
}

static void on_input(void *data, short revents)
{
	struct lines *l = data;

	(void)revents;
	l->readable = true;
}

static int read_more(struct lines *l, struct err *reterr)
{
	struct loop *loop = l->front.loop;
	int r = 0;

	if (l->buffer.len > LINE_BYTES_MAX)
		return err_set(reterr, ERR_LIMIT, "a line of more than %d bytes", LINE_BYTES_MAX);
	/* Signals arrive through the loop, so the loop is what waits for input too. */
	struct loop_source *source = loop_add_fd(loop, l->app->in, POLLIN, on_input, l);
	l->readable = false;
	while (r == 0 && !l->readable && !l->signo)
		r = loop_step(loop, -1, reterr);
	loop_remove(loop, source);
	if (r < 0 || l->signo)
		return r;
	(void)str_reserve(&l->buffer, READ_BYTES);
	ssize_t got = read(l->app->in, l->buffer.buf + l->buffer.len, READ_BYTES);
	if (got < 0)
		return errno == EINTR ? 0 : err_errno(reterr, errno, "standard input");
	l->eof = got == 0;
	l->buffer.len += (size_t)got;
	l->buffer.buf[l->buffer.len] = '\0';
	return 0;
}

/* 1 and the next line, 0 at the end or after a signal. */
static int next_line(struct lines *l, struct str *ret, struct err *reterr)
{
	int r = 0;

	for (; r == 0 && !l->signo; r = read_more(l, reterr)) {
		const char *end = memchr(l->buffer.buf, '\n', l->buffer.len);
		size_t n = end ? (size_t)(end - l->buffer.buf) : l->buffer.len;
		if (end || (l->eof && n)) {
			str_clear(ret);
			str_add(ret, sv_make(l->buffer.buf, n));
			str_drop(&l->buffer, end ? n + 1 : n);
			return 1;
		}
		if (l->eof)
			return 0;
	}
	return r;
}

static void put(struct lines *l, struct sv text)
{
	if (text.n == 0)
		return;
	say_text(l->app->out, text);
	l->line_open = text.p[text.n - 1] != '\n';
}

/* The answer as it comes; its last newline does not wait for the end to be written down. */
static void on_event(void *data, const struct agent_event *ev)
{
	struct lines *l = data;

	if (ev->type == AGENT_EV_TEXT) {
		put(l, ev->text);
		l->broke = false;
	} else if (ev->type == AGENT_EV_BREAK && (l->line_open || l->broke)) {
		put(l, l->broke ? SV("\n") : SV("\n\n"));
	} else if (ev->type == AGENT_EV_TOOL_BEGIN && l->line_open) {
		put(l, SV("\n"));
		l->broke = true;
	} else if (ev->type == AGENT_EV_DONE) {
		if (l->line_open)
			put(l, SV("\n"));
		(void)fflush(l->app->out);
		l->broke = false;
	}
}

/* 1 when the line was for faden itself. */
static int obey(struct lines *l, struct sv text, bool *fresh, struct err *reterr)
{
	AUTO_STRV args = STRV_INIT;
	AUTO_STR said = STR_INIT;
	enum talk_word word = talk_word_of(text, &args);
	int r = 0;

	if (word == TALK_AGENT)
		return 0;
	/* What was just brought back or made here is what goes on. */
	if (word == TALK_UNDO || word == TALK_RUN || word == TALK_ENTER)
		*fresh = false;
	if (word == TALK_LEAVE)
		l->leave = true;
	for (size_t i = 0; word == TALK_HELP && talk_help[i]; i++)
		say_line(l->app->out, "%s", talk_help[i]);
	/* Nobody is at a terminal to hand over. */
	if (word == TALK_RUN && strcmp(args.v[0], "resume") == 0)
		strv_add(&args, "--print");
	if (word == TALK_RUN) {
		r = assistant_lead(l->front.assistant, reterr);
		if (r == 0)
			r = talk_run(l->app, &args, reterr);
		assistant_follow(l->front.assistant);
	} else {
		r = talk_answer(&l->front, word, &args, &said, reterr);
		l->greeted |= word == TALK_ENTER && args.n > 0;
	}
	if (said.len > 0 && word == TALK_UNKNOWN)
		on_notice(l, said.buf);
	else if (said.len > 0)
		say_line(l->app->out, "%s", said.buf);
	(void)fflush(l->app->out);
	return r < 0 ? r : word != TALK_UNKNOWN;
}

static int turn(struct lines *l, struct sv text, bool fresh, struct err *reterr)
{
	const struct request req = { .text = text, .mode = fresh ? REQUEST_NEW : REQUEST_GO_ON };
	const struct assistant_outcome *out;
	int r = front_say(&l->front, &req, &out, reterr);

	if (r < 0)
		return r;
	/* As /clear says it. */
	bool reset = out->kind == UTTERANCE_RESET && out->reply[0];
	if (out->reply[0])
		say_line(l->app->out, "%s%s%s", out->reply, reset ? " " : "",
			reset ? text_get(TEXT_RESET_BACK, out->language) : "");
	if (out->turn->fail != AGENT_OK)
		front_failure(l->app->err, out->turn);
	(void)fflush(l->app->out);
	int status = front_status(out);
	if (status)
		l->status = status;
	if (out->kind == UTTERANCE_RESTART)
		on_notice(l, "restart: only at a terminal; going on");
	return 0;
}

/* A new conversation alone is not worth a line: who pipes into one knows. */
static void greet(struct lines *l, bool fresh)
{
	AUTO_CONV c = CONV_INIT;
	AUTO_STR line = STR_INIT;

	bool worth_it = tell_greeting(&l->front.kit, fresh, &c, &line);
	assistant_stay(l->front.assistant, &c);
	if (worth_it)
		on_notice(l, line.buf);
}

static int run_lines(struct lines *l, bool fresh, struct err *reterr)
{
	AUTO_STR line = STR_INIT;
	int r = 0;

	while (!l->signo && !l->leave && (r = next_line(l, &line, reterr)) > 0) {
		front_replace_bytes(l->app, &line);
		struct sv text = sv_trim(str_sv(&line));
		if (text.n == 0)
			continue;
		r = obey(l, text, &fresh, reterr);
		if (r < 0)
			break;
		if (r > 0)
			continue;
		if (!l->greeted)
			greet(l, fresh);
		l->greeted = true;
		r = turn(l, text, fresh, reterr);
		if (r < 0)
			break;
		fresh = false;
	}
	return r < 0 ? r : 0;
}

int talk_by_lines(struct app *app, const struct talk_opts *opts, struct err *reterr)
{
	struct lines l = { .app = app, .buffer = STR_INIT };
	const struct front_opts want = {
		.agent = opts->agent,
		.model = opts->model,
		.permission = opts->permission,
		.resends = true,
		.waits = true,
		.ui = { .data = &l, .begin = on_begin, .event = on_event, .notice = on_notice },
		.signal = on_signal,
	};
	AUTO_CONV c = CONV_INIT;
	AUTO_STR line = STR_INIT;
	int r = front_open(&l.front, app, &want, reterr);

	if (r == 0 && opts->in)
		r = talk_enter(&l.front, opts->in, opts->agent, &c, &line, reterr);
	if (r == 0 && opts->in)
		on_notice(&l, line.buf);
	l.greeted = opts->in != NULL;
	if (r == 0)
		r = front_recover(&l.front, TURN_RUNNING_ONCE, SV(""), reterr);
	/* A signal cancelled it, which ends the lines too. */
	if (r == 0 || r == ERR_CANCELLED)
		r = run_lines(&l, opts->new_session, reterr);
	front_close(&l.front);
	str_release(&l.buffer);
	return r < 0 ? r : l.signo ? 128 + l.signo : l.status;
}
