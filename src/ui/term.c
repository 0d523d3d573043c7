#include "ui/term.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "os/file.h"

enum { ATTRIBUTE_BITS = 5, COLOUR_SHIFT = 8 };

static void set_size(struct term *t, size_t cols, size_t rows)
{
	t->cols = cols < TERM_MIN_COLS ? TERM_MIN_COLS : cols;
	if (t->cols > TERM_MAX_COLS)
		t->cols = TERM_MAX_COLS;
	t->rows = rows ? rows : TERM_DEFAULT_ROWS;
}

bool term_resize(struct term *t)
{
	struct winsize size;
	size_t cols = TERM_DEFAULT_COLS;
	size_t rows = TERM_DEFAULT_ROWS;

	if (!t->tty || t->fd < 0)
		return false;
	if (ioctl(t->fd, TIOCGWINSZ, &size) == 0 && size.ws_col) {
		cols = size.ws_col;
		rows = size.ws_row;
	}
	size_t old_cols = t->cols;
	size_t old_rows = t->rows;
	set_size(t, cols, rows);
	return t->cols != old_cols || t->rows != old_rows;
}

bool term_able(const char *name)
{
	return name && *name && strcmp(name, "dumb") != 0;
}

void term_init(struct term *t, const struct term_opts *opts)
{
	*t = (struct term){ .fd = opts->fd,
		.buf = STR_INIT,
		.ascii = opts->ascii,
		.as_written = opts->as_written };
	t->tty = isatty(opts->fd) == 1;
	t->cursor = t->tty && term_able(opts->term_name);
	switch (opts->colour) {
	case TERM_COLOUR_AUTO:
		t->colour = t->cursor && !opts->no_color;
		break;
	case TERM_COLOUR_ALWAYS:
		t->colour = true;
		break;
	case TERM_COLOUR_NEVER:
		break;
	}
	set_size(t, TERM_DEFAULT_COLS, TERM_DEFAULT_ROWS);
	(void)term_resize(t);
}

void term_init_capture(struct term *t, size_t cols, size_t rows, bool colour)
{
	*t = (struct term){ .fd = -1, .buf = STR_INIT, .colour = colour };
	t->tty = t->cursor = cols > 0;
	set_size(t, cols ? cols : TERM_DEFAULT_COLS, rows);
}

void term_release(struct term *t)
{
	str_release(&t->buf);
}

/* Most of it is; the rest is looked at by character. */
static bool is_plain(struct sv text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		if ((c < 0x20 && c != '\n' && c != '\t') || c >= 0x7F)
			return false;
	}
	return true;
}

void term_put(struct term *t, struct sv text)
{
	AUTO_STR clean = STR_INIT;

	if (t->broken)
		return;
	if (!is_plain(text)) {
		utf8_scrub(&clean, text);
		text = str_sv(&clean);
	}
	struct sv line = text;
	for (size_t i = text.n; i > 0; i--) {
		if (text.p[i - 1] == '\n') {
			line = sv_from(text, i);
			t->col = 0;
			break;
		}
	}
	/* A terminal stays in its last column until the next character comes. */
	t->col += utf8_width(line);
	if (t->tty && t->col > t->cols)
		t->col = (t->col - 1) % t->cols + 1;
	str_add(&t->buf, text);
}

void term_puts(struct term *t, const char *text)
{
	term_put(t, sv_of(text));
}

void term_putf(struct term *t, const char *fmt, ...)
{
	AUTO_STR text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_addvf(&text, fmt, ap);
	va_end(ap);
	term_put(t, str_sv(&text));
}

void term_newline(struct term *t)
{
	term_put(t, SV("\n"));
}

void term_fresh_line(struct term *t)
{
	if (t->col)
		term_newline(t);
}

void term_text_line(struct term *t, struct sv text)
{
	AUTO_STR clean = STR_INIT;

	utf8_scrub_line(&clean, text);
	term_put(t, str_sv(&clean));
}

void term_control(struct term *t, const char *sequence)
{
	if (!t->broken)
		str_adds(&t->buf, sequence);
}

void term_paste(struct term *t, bool on)
{
	if (t->cursor)
		term_control(t, on ? "\033[?2004h" : "\033[?2004l");
}

void term_style(struct term *t, unsigned style)
{
	static const char attribute_codes[ATTRIBUTE_BITS + 1] = "12347";

	if (!t->colour || t->broken || style == t->style)
		return;
	str_adds(&t->buf, "\033[");
	/* Attributes cannot be taken away one by one everywhere; 0 clears them all first. */
	if (t->style)
		str_addc(&t->buf, '0');
	const char *sep = t->style ? ";" : "";
	for (unsigned bit = 0; bit < ATTRIBUTE_BITS; bit++) {
		if (style & (1U << bit)) {
			str_addf(&t->buf, "%s%c", sep, attribute_codes[bit]);
			sep = ";";
		}
	}
	if (style >> COLOUR_SHIFT)
		str_addf(&t->buf, "%s3%u", sep, style >> COLOUR_SHIFT);
	str_addc(&t->buf, 'm');
	t->style = style;
}

void term_styled(struct term *t, unsigned style, struct sv text)
{
	term_style(t, style);
	term_text_line(t, text);
	term_style(t, STYLE_PLAIN);
}

int term_flush(struct term *t, struct err *reterr)
{
	if (!t->buf.len || (t->fd < 0 && !t->sink.write))
		return 0;
	if (t->sink.write) {
		int taken = t->sink.write(t->sink.data, str_sv(&t->buf), reterr);
		str_clear(&t->buf);
		return taken;
	}
	int r = t->broken ? 0 : file_write_all(t->fd, str_sv(&t->buf), NULL);
	str_clear(&t->buf);
	if (r == -EPIPE) {
		t->broken = true;
		return 0;
	}
	if (r < 0)
		return err_errno(reterr, -r, "write to the terminal or pipe");
	return 0;
}

bool term_mode_save(struct term_mode *m, int fd)
{
	m->fd = fd;
	m->saved = fd >= 0 && tcgetattr(fd, &m->original) == 0;
	return m->saved;
}

/* A background process that sets the mode would be stopped by SIGTTOU; it has nothing to set. */
static void set_mode(const struct term_mode *m, const struct termios *mode)
{
	if (tcgetpgrp(m->fd) == getpgrp())
		(void)tcsetattr(m->fd, TCSADRAIN, mode);
}

void term_mode_quiet(const struct term_mode *m)
{
	if (!m->saved)
		return;
	struct termios quiet = m->original;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON);
	quiet.c_lflag |= ISIG;
	quiet.c_cc[VMIN] = 1;
	quiet.c_cc[VTIME] = 0;
	set_mode(m, &quiet);
}

void term_mode_make_raw(const struct term_mode *m, struct termios *ret)
{
	*ret = m->original;
	ret->c_iflag &= ~(tcflag_t)(BRKINT | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
	ret->c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
	ret->c_cc[VMIN] = 1;
	ret->c_cc[VTIME] = 0;
}

void term_mode_raw(const struct term_mode *m)
{
	struct termios raw;

	if (!m->saved)
		return;
	term_mode_make_raw(m, &raw);
	set_mode(m, &raw);
}

void term_mode_restore(const struct term_mode *m)
{
	if (m->saved)
		set_mode(m, &m->original);
}

void term_stop(struct term *t, const struct term_mode *m)
{
	term_paste(t, false);
	(void)!term_flush(t, NULL);
	term_mode_restore(m);
	(void)raise(SIGSTOP);
	term_mode_quiet(m);
	term_paste(t, true);
	(void)term_resize(t);
}
