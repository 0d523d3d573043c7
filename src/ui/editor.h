/*
 * The line editor at the prompt: libedit with history, UTF-8, pasted blocks, and an event loop
 * that goes on while the user types.
 *
 * Characters are those of the locale: cli/ calls setlocale(LC_CTYPE, "") once, nobody else does.
 *
 * Enter ends the input, except after a backslash at the end of the line (the line goes on, the
 * backslash is not part of it) and inside a pasted block (bracketed paste), whose line breaks are
 * kept. What comes back is one text, possibly of several lines, without a newline at its end. A
 * pasted block of many lines shows as "[pasted 50 lines, 1]" and comes back in full.
 *
 * On a terminal without cursor movement (TERM=dumb), and on one that says to have more than
 * EDITOR_CELLS_MAX characters, there is no editing but the terminal's own, no history to go back
 * to, and Ctrl-C is SIGINT.
 *
 * The terminal is in edit mode only inside editor_read(), and is as before on every way out of it.
 * Keys raise no signals there: Ctrl-C, Ctrl-D and Ctrl-Z are handled by the editor. Signals from
 * outside are the caller's: take them through the loop and call editor_cancel(); a signal that
 * kills the process at once leaves the terminal as it is.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"
#include "os/loop.h"
#include "ui/term.h"

enum {
	EDITOR_CELLS_MAX = 1 << 21, /* columns times rows; no screen that there is has as many */
	EDITOR_HISTORY_DEFAULT = 1000, /* entries kept */
	EDITOR_INPUT_MAX = 1 << 20, /* bytes of one input; more is refused with a beep */
	EDITOR_HISTORY_FILE_MAX = 16 << 20, /* bytes of a history file that are read: its last */
};

struct editor;

/* Completion: `word` is the text from the last blank to the cursor. Adds whole replacements for
 * it; one is put in, several are shown. */
typedef void (*editor_complete_fn)(void *data, struct sv word, struct strv *ret_words);

struct editor_opts {
	int in_fd; /* the terminal that is read */
	struct term *term; /* the terminal that is written */
	struct loop *loop; /* runs while waiting for keys; NULL: nothing else does */
	const char *term_name; /* the value of TERM */
	const char *editrc; /* the user's libedit key bindings (~/.editrc); NULL: none */
	const char *history_path; /* NULL: none is kept. Created 0600, its folder must exist */
	size_t history_max; /* entries; 0: EDITOR_HISTORY_DEFAULT */
	editor_complete_fn complete; /* NULL: Tab does nothing */
	void *complete_data;
	/* A lone Escape, or Backspace where nothing is typed: it may call editor_cancel(). NULL:
	 * these do nothing. */
	void (*leave)(void *data);
	void *leave_data;
};

enum editor_result {
	EDITOR_LINE, /* *ret_text holds the input */
	EDITOR_EOF, /* Ctrl-D on an empty line, or the terminal is gone */
	EDITOR_INTERRUPTED, /* Ctrl-C on an empty line */
	EDITOR_DROPPED, /* … on another: what was typed is dropped */
	EDITOR_CANCELLED, /* editor_cancel() was called from the loop */
};

/* An unreadable history is no reason to fail: it starts empty. */
int editor_new(const struct editor_opts *opts, struct editor **ret, struct err *reterr) MUST_USE;
void editor_free(struct editor *e); /* NULL is fine */

/* Reads one input. `prompt` is our own text without escape sequences; `style` is how it is shown.
 * Returns an enum editor_result, or a negative error. *ret_text is cleared first. */
int editor_read(struct editor *e, const char *prompt, unsigned style, struct str *ret_text,
	struct err *reterr) MUST_USE;

/* Keys that were taken from the terminal before: the next editor_read() begins with them. */
void editor_type(struct editor *e, struct sv keys);
/* The next line begins with this text, as if it had just been typed and not ended. */
void editor_put(struct editor *e, struct sv text);
/* … if that takes no place: false while one types, or where something begins it already. */
bool editor_offer(struct editor *e, struct sv text);

/* Appends to the history and its file; an input that repeats the last one is left out, and so is
 * one that begins with a blank. */
int editor_remember(struct editor *e, struct sv text, struct err *reterr) MUST_USE;
/* Takes the inputs out of a history file that are not to stay; without a file there are none. An
 * editor that is open has them until it ends. */
int editor_forget(const char *history_path, bool (*stays)(void *data, struct sv entry), void *data,
	size_t *ret_gone, struct err *reterr) MUST_USE;

/* For callbacks of the loop while editor_read() waits: take the prompt and what is typed off the
 * screen, print (the term is at the beginning of a line), then bring them back. Without a running
 * editor_read() both do nothing. */
void editor_hide(struct editor *e);
void editor_show(struct editor *e);
/* editor_read() returns EDITOR_CANCELLED as soon as the loop's callback is done; the prompt goes
 * off the screen, and what was typed is what the next editor_read() starts with. */
void editor_cancel(struct editor *e);
/* After SIGWINCH. */
void editor_resize(struct editor *e);
