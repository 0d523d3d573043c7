/*
 * One question with numbered answers, for a terminal in its normal mode:
 *
 *	Which agent should answer?
 *	  1) claude   Claude Code 2.1
 *	  2) codex    Codex 0.40
 *	Number [1]:
 *
 * The number or the label chooses; an empty line takes the default; anything else is asked again.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "ui/term.h"

enum { CHOICE_NONE = -1, CHOICE_TRIES = 5, CHOICE_LINE_MAX = 256 };

struct choice_item {
	const char *label;
	const char *hint; /* may be NULL */
};

/* *ret_item becomes the index of the answer; CHOICE_NONE on end of input, after CHOICE_TRIES wrong
 * answers, and on an empty line when default_item is CHOICE_NONE. The answer is read from in_fd up
 * to its newline and no further. Only reading and writing can fail. */
int choice_ask(struct term *term, int in_fd, const char *question, const struct choice_item *items,
	size_t n, int default_item, int *ret_item, struct err *reterr) MUST_USE;
