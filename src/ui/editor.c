#include "ui/editor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/editor-impl.h"

/* Between two of these, libedit takes the characters of a prompt to have no width. */
#define ESCAPE_MARK 1

static const char paste_on[] = "\033[?2004h";
static const char paste_off[] = "\033[?2004l";

/* ---- keys ---- */

static void on_key(void *data, short revents UNUSED)
{
	struct editor *e = data;

	e->ready = true;
}

/* Waits for a key while the loop goes on. False when the line is to end. */
static bool wait_for_key(struct editor *e)
{
	e->ready = false;
	while (!e->ready && e->reading) {
		if (!e->opts.loop) {
			struct pollfd key = { .fd = e->opts.in_fd, .events = POLLIN };
			e->ready = poll(&key, 1, -1) > 0 || errno != EINTR;
			continue;
		}
		int r = loop_step(e->opts.loop, -1, e->reterr);
		if (r < 0) {
			e->failed = r;
			e->reading = false;
		}
	}
	return e->reading;
}

static bool read_byte(struct editor *e, char *ret)
{
	if (!wait_for_key(e))
		return false;
	for (;;) {
		ssize_t n = read(e->opts.in_fd, ret, 1);
		if (n == 1)
			return true;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (!wait_for_key(e))
				return false;
			continue;
		}
		e->reading = false; /* the terminal is gone */
		return false;
	}
}

static void show_prefill(struct editor *e)
{
	AUTO_FREE wchar_t *wide = editor_widen(str_sv(&e->prefill));

	str_clear(&e->prefill);
	editor_hide(e);
	(void)el_winsertstr(e->el, wide);
	editor_show(e);
}

/* libedit's source of characters. */
static int get_char(EditLine *el, wchar_t *ret)
{
	void *data = NULL;
	char bytes[4];
	size_t n = 0;
	uint32_t cp;

	(void)el_wget(el, EL_CLIENTDATA, &data);
	struct editor *e = data;
	if (e->prefill.len)
		show_prefill(e);
	do {
		if (!read_byte(e, &bytes[n]))
			return 0;
		n++;
	} while (n < utf8_expect((unsigned char)bytes[0]));
	(void)utf8_decode(sv_make(bytes, n), &cp);
	*ret = (wchar_t)cp;
	return 1;
}

/* ---- the screen ---- */

void editor_hide(struct editor *e)
{
	struct term *t = e->opts.term;
	const LineInfoW *line;

	if (!e->reading || e->hidden)
		return;
	e->hidden = true;
	line = el_wline(e->el);
	size_t row = editor_place(e, line->buffer, line->cursor).row;
	term_control(t, "\r");
	if (row) {
		char up[32];
		(void)snprintf(up, sizeof(up), "\033[%zuA", row);
		term_control(t, up);
	}
	term_control(t, "\033[J");
	t->col = 0;
}

void editor_show(struct editor *e)
{
	if (!e->hidden)
		return;
	e->hidden = false;
	term_fresh_line(e->opts.term);
	(void)!term_flush(e->opts.term, NULL);
	if (e->reading)
		(void)el_set(e->el, EL_REFRESH);
}

void editor_resize(struct editor *e)
{
	(void)term_resize(e->opts.term);
	editor_hide(e);
	el_resize(e->el);
	editor_show(e);
}

void editor_cancel(struct editor *e)
{
	const LineInfoW *line;

	if (!e->reading)
		return;
	line = el_wline(e->el);
	str_clear(&e->prefill);
	editor_narrow(&e->prefill, line->buffer, line->lastchar);
	editor_hide(e);
	e->reason = EDITOR_CANCELLED;
	e->reading = false;
}

void editor_prefill(struct editor *e, struct sv text)
{
	str_clear(&e->prefill);
	utf8_scrub(&e->prefill, text);
}

/* ---- the prompt ---- */

static wchar_t *get_prompt(EditLine *el)
{
	void *data = NULL;

	(void)el_wget(el, EL_CLIENTDATA, &data);
	return ((struct editor *)data)->prompt;
}

static void set_prompt(struct editor *e, const char *prompt, unsigned style)
{
	struct term t;

	term_init_capture(&t, e->opts.term->cols, 1, e->opts.term->colour);
	str_addc(&t.buf, ESCAPE_MARK);
	term_style(&t, style);
	str_addc(&t.buf, ESCAPE_MARK);
	term_text_line(&t, sv_of(prompt));
	str_addc(&t.buf, ESCAPE_MARK);
	term_style(&t, STYLE_PLAIN);
	str_addc(&t.buf, ESCAPE_MARK);
	free(e->prompt);
	e->prompt = editor_widen(str_sv(&t.buf));
	e->prompt_width = utf8_width(sv_of(prompt));
	term_release(&t);
}

/* ---- reading ---- */

static void begin(struct editor *e, struct err *reterr)
{
	e->reading = true;
	e->hidden = false;
	e->reason = EDITOR_EOF;
	e->failed = 0;
	e->reterr = reterr;
	(void)term_mode_save(&e->mode, e->opts.in_fd);
	term_fresh_line(e->opts.term);
	term_control(e->opts.term, paste_on);
	(void)!term_flush(e->opts.term, NULL);
}

static void end(struct editor *e, bool line_typed)
{
	if (line_typed)
		e->opts.term->col = 0;
	else if (!e->hidden)
		editor_leave_line(e, "");
	e->reading = e->hidden = false;
	e->reterr = NULL;
	term_control(e->opts.term, paste_off);
	(void)!term_flush(e->opts.term, NULL);
	term_mode_restore(&e->mode);
}

static void take_line(struct editor *e, const wchar_t *line, size_t n, struct str *ret_text)
{
	AUTO_STR text = STR_INIT;

	while (n > 0 && line[n - 1] == L'\n')
		n--;
	editor_narrow(&text, line, line + n);
	editor_expand_pastes(e, str_sv(&text), ret_text);
}

int editor_read(struct editor *e, const char *prompt, unsigned style, struct str *ret_text,
	struct err *reterr)
{
	struct loop_source *keys = NULL;
	int n = 0;

	str_clear(ret_text);
	editor_drop_pastes(e);
	set_prompt(e, prompt, style);
	begin(e, reterr);
	if (e->opts.loop)
		keys = loop_add_fd(e->opts.loop, e->opts.in_fd, POLLIN, on_key, e);
	const wchar_t *line = el_wgets(e->el, &n);
	loop_remove(e->opts.loop, keys);
	bool typed = line && n > 0;
	if (typed)
		take_line(e, line, (size_t)n, ret_text);
	end(e, typed);
	if (e->failed < 0)
		return e->failed;
	return typed ? EDITOR_LINE : (int)e->reason;
}

/* ---- life ---- */

static FILE *open_stream(int fd, const char *mode)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *stream = copy >= 0 ? fdopen(copy, mode) : NULL;

	if (!stream && copy >= 0)
		(void)close(copy);
	return stream;
}

static int open_libedit(struct editor *e, struct err *reterr)
{
	HistEventW event;

	e->in = open_stream(e->opts.in_fd, "r");
	e->out = open_stream(e->opts.term->fd, "w");
	e->err = fopen("/dev/null", "we");
	if (!e->in || !e->out || !e->err)
		return err_errno(reterr, errno, "open the terminal");
	e->el = el_init("faden", e->in, e->out, e->err);
	e->history = history_winit();
	if (!e->el || !e->history)
		return err_set(reterr, ERR_BUG, "the line editor does not start");
	(void)history_w(e->history, &event, H_SETSIZE, (int)e->opts.history_max);
	(void)el_set(e->el, EL_CLIENTDATA, e);
	(void)el_set(e->el, EL_TERMINAL, e->opts.term_name);
	(void)el_set(e->el, EL_SIGNAL, 0);
	(void)el_set(e->el, EL_EDITOR, "emacs");
	(void)el_set(e->el, EL_GETCFN, get_char);
	(void)el_wset(e->el, EL_PROMPT_ESC, get_prompt, (wchar_t)ESCAPE_MARK);
	(void)el_wset(e->el, EL_HIST, history_w, e->history);
	(void)el_set(e->el, EL_SETTY, "-d", "-isig", "-icrnl", "-inlcr", (char *)NULL);
	if (e->opts.editrc)
		(void)el_source(e->el, e->opts.editrc);
	editor_bind_keys(e);
	return 0;
}

int editor_new(const struct editor_opts *opts, struct editor **ret, struct err *reterr)
{
	if (!opts->term->cursor || !isatty(opts->in_fd))
		return err_set(reterr, ERR_USAGE, "the line editor needs a terminal");
	struct editor *e = xcalloc(1, sizeof(*e));
	e->opts = *opts;
	e->last = (struct str)STR_INIT;
	e->prefill = (struct str)STR_INIT;
	e->mode = (struct term_mode)TERM_MODE_INIT;
	if (!e->opts.history_max)
		e->opts.history_max = EDITOR_HISTORY_DEFAULT;
	if (opts->history_path)
		e->history_path = xstrdup(opts->history_path);
	int r = open_libedit(e, reterr);
	if (r < 0) {
		editor_free(e);
		return r;
	}
	editor_history_load(e);
	*ret = e;
	return 0;
}

static void close_stream(FILE *stream)
{
	if (stream)
		(void)fclose(stream);
}

void editor_free(struct editor *e)
{
	if (!e)
		return;
	if (e->el)
		el_end(e->el);
	if (e->history)
		history_wend(e->history);
	close_stream(e->in);
	close_stream(e->out);
	close_stream(e->err);
	editor_drop_pastes(e);
	str_release(&e->last);
	str_release(&e->prefill);
	free(e->prompt);
	free(e->history_path);
	free(e);
}
