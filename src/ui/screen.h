/*
 * The whole terminal as lines that are drawn anew: its other screen, keys one by one without
 * signals or echo, and only what has changed is written, in one piece.
 *
 * The terminal is as it was after screen_leave(), and also when the program is killed or crashes in
 * between: a child does nothing but wait for that. While a terminal takes no output, a signal that
 * ends programs ends this one, whether or not the caller has blocked it: nobody else would see it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"
#include "ui/term.h"

struct screen {
	struct term *term;
	int in_fd;
	int out_fd; /* the terminal once more, where a write does not wait; -1: not to be had */
	struct term_mode mode; /* as it was */
	pid_t guard; /* the child that waits for our death */
	int life; /* what it waits for: that nobody has this open any more */
	VEC(struct str) lines; /* as they are to be seen */
	struct str out; /* what changes them into those that are wanted */
	size_t cursor_row, cursor_col;
	bool on;
};

/* The term is a terminal with cursor movement, in_fd the same terminal; both are borrowed. */
void screen_init(struct screen *s, struct term *term, int in_fd);
void screen_release(struct screen *s); /* leaves it first */

/* An error when the terminal is not ours: faden runs in the background. */
int screen_enter(struct screen *s, struct err *reterr) MUST_USE;
/* Harmless when it is left already. */
void screen_leave(struct screen *s);

/* After something else wrote to it, or its size changed: all is drawn again. */
void screen_forget(struct screen *s);
/* A line from 0 on, as a struct term wrote it: scrubbed, at most as wide as the terminal. */
void screen_line(struct screen *s, size_t row, struct sv line);
/* Asks the terminal to put the text on its clipboard (OSC 52), with the next screen_show(); whether
 * it does, it does not say. */
void screen_clip(struct screen *s, struct sv text);
/* Writes what changed, if anything did. */
int screen_show(
	struct screen *s, size_t cursor_row, size_t cursor_col, struct err *reterr) MUST_USE;
