#include "ui/editor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/editor-impl.h"

/* Between two of these, libedit takes the characters of a prompt to have no width. */
#define ESCAPE_MARK 1

static const char paste_on[] = "\033[?2004h";
static const char paste_off[] = "\033[?2004l";

/* ---- the screen ---- */

static void erase(struct editor *e)
{
	struct term *t = e->opts.term;
	const LineInfoW *line = el_wline(e->el);
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

void editor_hide(struct editor *e)
{
	if (!e->reading || e->hidden)
		return;
	e->hidden = true;
	if (e->el)
		erase(e);
	else
		term_fresh_line(e->opts.term);
}

void editor_show(struct editor *e)
{
	if (!e->hidden)
		return;
	e->hidden = false;
	term_fresh_line(e->opts.term);
	if (e->reading && !e->el)
		term_puts(e->opts.term, e->plain_prompt);
	(void)!term_flush(e->opts.term, NULL);
	if (e->reading && e->el)
		(void)el_set(e->el, EL_REFRESH);
}

void editor_resize(struct editor *e)
{
	(void)term_resize(e->opts.term);
	if (!e->el)
		return;
	editor_hide(e);
	el_resize(e->el);
	editor_show(e);
}

void editor_cancel(struct editor *e)
{
	if (!e->reading)
		return;
	if (e->el) {
		const LineInfoW *line = el_wline(e->el);
		str_clear(&e->prefill);
		editor_narrow(&e->prefill, line->buffer, line->lastchar);
	}
	editor_hide(e);
	e->reason = EDITOR_CANCELLED;
	e->reading = false;
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
	if (e->el)
		term_control(e->opts.term, paste_on);
	(void)!term_flush(e->opts.term, NULL);
	editor_watch_keys(e);
}

static void end(struct editor *e)
{
	editor_unwatch_keys(e);
	e->reading = e->hidden = false;
	e->reterr = NULL;
	if (e->el)
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

static bool read_edited(struct editor *e, const char *prompt, unsigned style, struct str *ret_text)
{
	int n = 0;

	editor_drop_pastes(e);
	set_prompt(e, prompt, style);
	const wchar_t *line = el_wgets(e->el, &n);
	if (!line || n <= 0) {
		if (!e->hidden)
			editor_leave_line(e, "");
		return false;
	}
	e->opts.term->col = 0;
	take_line(e, line, (size_t)n, ret_text);
	return true;
}

/* A terminal without cursor movement edits lines by itself; we only ask. */
static bool read_plain(struct editor *e, const char *prompt, struct str *ret_text)
{
	struct term *t = e->opts.term;
	char c;

	e->plain_prompt = prompt;
	term_puts(t, prompt);
	(void)!term_flush(t, NULL);
	while (editor_read_byte(e, &c)) {
		if (c != '\n') {
			if (ret_text->len < EDITOR_INPUT_MAX)
				str_addc(ret_text, c);
			continue;
		}
		t->col = 0; /* the terminal showed it */
		if (!sv_ends(str_sv(ret_text), SV("\\")))
			return true;
		str_cut(ret_text, ret_text->len - 1);
		str_addc(ret_text, '\n');
	}
	term_fresh_line(t);
	return false;
}

int editor_read(struct editor *e, const char *prompt, unsigned style, struct str *ret_text,
	struct err *reterr)
{
	str_clear(ret_text);
	begin(e, reterr);
	bool typed =
		e->el ? read_edited(e, prompt, style, ret_text) : read_plain(e, prompt, ret_text);
	end(e);
	if (!typed)
		str_clear(ret_text);
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
	(void)el_set(e->el, EL_GETCFN, editor_get_char);
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
	if (!opts->term->tty || !isatty(opts->in_fd))
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
	int r = e->opts.term->cursor ? open_libedit(e, reterr) : 0;
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
