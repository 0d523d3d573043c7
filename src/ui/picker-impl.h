/*
 * A picker and how its screen is cut; private to the picker's files.
 */
#pragma once

#include "ui/field.h"
#include "ui/picker.h"
#include "ui/screen.h"

/* What was found stays for as long as it is listed or a preview of it is made. */
struct listing {
	struct picker_found found;
	size_t refs;
};

/* Work on a thread: one question at a time, and the next one is the last that was asked. */
struct task {
	struct worker *worker;
	struct loop_source *timer; /* until it is late; NULL */
	bool busy, again, late;
};

struct picker {
	struct picker_opts opts;
	struct screen screen;
	struct term canvas; /* one line of the screen at a time */
	struct field typed;
	struct strv words; /* of it, folded: to be marked */
	struct str input; /* bytes of keys that are not whole yet */
	struct loop_source *escape; /* until they are taken for what they are */
	bool pasting;
	/* Keys that came while what was typed before them is searched for: they are about what
	 * will be listed then, and wait for it. */
	VEC(uint32_t) held;

	struct task find;
	struct str asked; /* what is searched for now */
	bool glancing; /* only at a glance */
	struct picker_found answer; /* of the thread */
	struct listing *listing; /* NULL: nothing came yet */
	size_t cursor, top;

	struct task preview;
	struct listing *viewed; /* what the thread looks at */
	size_t viewed_row;
	size_t viewed_cols;
	struct strv made; /* by the thread */
	size_t made_line, made_fixed;
	const struct listing *shown; /* of which the lines are; only compared */
	size_t shown_row, shown_cols;
	struct strv lines;
	size_t fixed; /* of them, which do not scroll */
	size_t scroll;

	struct str note;
	bool help;
	bool running, acted, ending;
	int failed; /* a negative error of drawing */
	struct err err;
};

static inline size_t rows_found(const struct picker *p)
{
	return p->listing ? p->listing->found.n : 0;
}

/* ---- the screen ---- */

struct layout {
	bool foot, question;
	size_t list_row, list_rows, list_cols;
	size_t view_row, view_rows, view_col, view_cols; /* the preview; no rows: there is none */
};
struct layout layout_of(const struct picker *p);
/* Writes what has changed; when that fails the picker ends. Nothing while it is hidden. */
void picker_draw(struct picker *p);
