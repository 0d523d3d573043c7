/*
 * One output that may be a terminal: its size, whether it takes colour, and a buffer in front of
 * its descriptor, so that an erase and a redraw arrive together and tests can look at what would
 * have been written.
 *
 * Nothing here reads the environment: cli/ passes TERM, NO_COLOR and the like in struct term_opts,
 * and is also the one that calls setlocale().
 *
 * All text is scrubbed, whoever wrote it and wherever it goes: a pipe may end at a terminal. Only
 * term_control() and term_style() write escape sequences.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

/* A style is a set of attributes and at most one colour; a role is a name for such a set. */
enum {
	STYLE_PLAIN = 0,
	STYLE_BOLD = 1,
	STYLE_DIM = 2,
	STYLE_ITALIC = 4,
	STYLE_UNDERLINE = 8,
	STYLE_REVERSE = 16,
	STYLE_RED = 0x100,
	STYLE_GREEN = 0x200,
	STYLE_YELLOW = 0x300,
	STYLE_BLUE = 0x400,
	STYLE_MAGENTA = 0x500,
	STYLE_CYAN = 0x600,

	STYLE_USER = STYLE_BOLD | STYLE_GREEN,
	STYLE_AGENT = STYLE_BOLD | STYLE_BLUE,
	STYLE_NOTICE = STYLE_DIM,
	STYLE_WARNING = STYLE_YELLOW,
	STYLE_ERROR = STYLE_BOLD | STYLE_RED,
	STYLE_TOOL = STYLE_MAGENTA,
	STYLE_CODE = STYLE_CYAN,
};

enum term_colour { TERM_COLOUR_AUTO, TERM_COLOUR_ALWAYS, TERM_COLOUR_NEVER };

struct term_opts {
	int fd;
	enum term_colour colour;
	const char *term_name; /* the value of TERM; NULL, "" and "dumb": no escape sequences */
	bool no_color; /* NO_COLOR is set and not empty; ALWAYS outranks it */
	bool ascii; /* the locale is not UTF-8: our own decoration stays ASCII */
	bool as_written; /* Markdown stays as it is */
};

enum { TERM_DEFAULT_COLS = 80, TERM_DEFAULT_ROWS = 24, TERM_MIN_COLS = 8, TERM_MAX_COLS = 4096 };
enum { TERM_PIPE_COLS = 160 }; /* of a line for people where there is no screen */

/* Takes what is written where that is no descriptor: a stream, the pager, an answer to a browser.
 */
struct term_sink {
	int (*write)(void *data, struct sv bytes, struct err *reterr); /* NULL: none */
	void *data;
};

struct term {
	int fd; /* not owned; negative: for the sink, and without one it stays in buf */
	struct term_sink sink;
	struct str buf;
	size_t cols, rows; /* always at least 1 */
	size_t col; /* columns written since the last newline; cols: the line is full */
	unsigned style; /* in force at the end of buf */
	bool tty; /* a terminal that people look at: wrap, shorten */
	bool cursor; /* cursor movement works: status line, editor, progress */
	bool colour;
	bool ascii;
	bool as_written;
	bool broken; /* the reader is gone (EPIPE): everything further is dropped */
};

/* Whether a terminal of that name (the value of TERM, or NULL) knows escape sequences. */
bool term_able(const char *name);
void term_init(struct term *t, const struct term_opts *opts);
/* For tests and for building text: captures, as a terminal of that size (cols 0: as a pipe). With a
 * sink set, term_flush() gives it what was captured. */
void term_init_capture(struct term *t, size_t cols, size_t rows, bool colour);
/* Frees the buffer without writing it. */
void term_release(struct term *t);

/* Asks the terminal for its size again (after SIGWINCH); true when it changed. */
bool term_resize(struct term *t);

/* May hold newlines and tabs; characters are whole. */
void term_put(struct term *t, struct sv text);
void term_puts(struct term *t, const char *text);
void term_putf(struct term *t, const char *fmt, ...) PRINTF(2, 3);
void term_newline(struct term *t);
/* Ends the current line unless the cursor is at its beginning. */
void term_fresh_line(struct term *t);
/* As one line: newlines and tabs become blanks. */
void term_text_line(struct term *t, struct sv text);
/* Bytes that take no room: escape sequences of ours. Only call it when t->cursor or t->colour. */
void term_control(struct term *t, const char *sequence);
/* Whether the terminal marks what is pasted (bracketed paste); without cursor movement nothing
 * happens. Off again before anybody else has the terminal. */
void term_paste(struct term *t, bool on);
#define TERM_PASTE_BEGIN "\033[200~"
#define TERM_PASTE_END "\033[201~"
/* The style of what follows; without colour nothing happens. */
void term_style(struct term *t, unsigned style);
/* term_style, foreign text as one line, plain again. */
void term_styled(struct term *t, unsigned style, struct sv text);

/* Writes the buffer out. A reader that went away is no error: see `broken`. */
int term_flush(struct term *t, struct err *reterr) MUST_USE;

/*
 * Modes of the terminal's input side. Save once, change, restore on every way out; before exec
 * and before stopping (SIGTSTP) too, since the kernel keeps the mode for whoever comes next.
 * Restoring is async-signal-safe and may be repeated.
 */
struct term_mode {
	int fd;
	bool saved;
	struct termios original;
};
#define TERM_MODE_INIT   \
	{                \
		.fd = -1 \
	}

/* Remembers the mode of fd; false (and everything below does nothing) when it is no terminal. */
bool term_mode_save(struct term_mode *m, int fd);
/* While an answer streams: typed characters are not echoed but kept for the next read; Ctrl-C
 * still is SIGINT. */
void term_mode_quiet(const struct term_mode *m);
/* Every key as it is typed, also those that are signals else; output stays as it was. */
void term_mode_raw(const struct term_mode *m);
/* What that mode is, for whoever looks whether it still is the terminal's. */
void term_mode_make_raw(const struct term_mode *m, struct termios *ret);
void term_mode_restore(const struct term_mode *m);

/* Stops this program (SIGTSTP) where pastes are marked and the mode is the quiet one: whoever has
 * the terminal meanwhile gets it as it was. Back again it is as it was here, and as large as it is
 * now. What was written is out before. */
void term_stop(struct term *t, const struct term_mode *m);
