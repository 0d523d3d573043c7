/*
 * Word wrap at the terminal's width, fed in pieces. A word is shown when it is complete, so what
 * is shown depends only on the text and never on how it was cut into pieces.
 *
 * A word wider than a line is not broken: it starts on its own line and the terminal wraps it, so
 * that addresses can still be copied. East Asian text may break between characters.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"
#include "ui/term.h"

enum { WRAP_WORD_MAX = 4096 /* bytes kept back for one word; a longer one comes in parts */ };

struct wrap_run {
	size_t at; /* byte of the word where the style begins */
	unsigned style;
};

struct wrap {
	struct term *term;
	struct str word;
	VEC(struct wrap_run) runs;
	bool torn; /* the word goes on behind a part that is shown already */
	size_t blanks; /* between what is shown and the word */
	unsigned blank_style;
	struct str hang; /* what each continued line begins with */
	unsigned hang_style;
};

void wrap_init(struct wrap *w, struct term *term);
void wrap_release(struct wrap *w);
/* Begins a line with `first`; continued lines begin with `hang`. Both are our own text. */
void wrap_begin(struct wrap *w, struct sv first, struct sv hang, unsigned style);
/* Whole characters, scrubbed, without newlines. */
void wrap_add(struct wrap *w, struct sv text, unsigned style);
/* Shows the word as far as it came; what comes of it later is put right behind. */
void wrap_pause(struct wrap *w);
/* Shows the last word and ends the line. */
void wrap_end(struct wrap *w);

/* One line of foreign text and a newline, wrapped when the output is a terminal. */
void wrap_line(struct term *term, unsigned style, struct sv text);

/* The same for an error message, which is a sentence here: its first word begins with a capital
 * letter, unless it is no plain word but a name or a path. */
void wrap_error(struct term *term, struct sv text);

/* Bytes of the style that text as a struct term wrote it begins with; 0: it begins with none. */
size_t wrap_style(struct sv text);
/* Such text in lines of at most `cols` columns, a longer one broken anywhere. Each has all of its
 * own style and ends plain. Returns the line in which the byte `at` of text is; the last when it is
 * beyond. */
size_t wrap_fold(struct sv text, size_t cols, size_t at, struct strv *lines);
