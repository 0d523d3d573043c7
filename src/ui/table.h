/*
 * A table of text. On a terminal: a header, columns as wide as their widest cell, two blanks
 * between them; when that is too wide, columns that can be spared are left out and shrinkable ones
 * cut with "…" until it fits. On anything else: tab-separated values, no header, nothing cut or
 * padded, so that cut, sort and wc do what one expects. Cells are foreign text: each is scrubbed to
 * one line in both cases.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"
#include "ui/term.h"

enum { TABLE_SHRINK_MIN = 6 /* columns below which a cell is not cut */ };

struct table_column {
	const char *title;
	bool right; /* numbers */
	bool shrink; /* may be cut when the table is too wide; if no column may, the widest is */
	size_t room; /* shrink: not below this while another has more than its own; then the one
			with the least gives first */
	bool tail; /* is cut at its beginning: the end tells one from another, as of a path */
	unsigned
		spare; /* left out, the highest first, before one is cut below its room; 0: never */
};

struct table_cell {
	char *text; /* clean, one line */
	size_t width;
	unsigned style;
};

struct table {
	const struct table_column *columns; /* not owned */
	size_t n;
	uint64_t hidden; /* bits: columns that a terminal does not show */
	VEC(struct table_cell) cells; /* row by row */
};

/* `columns` must outlive the table; 0 < n <= 64. */
void table_init(struct table *t, const struct table_column *columns, size_t n);
void table_release(struct table *t);
/* The next cell, from left to right; a row begins by itself after the last column. */
void table_add(struct table *t, struct sv text);
void table_add_styled(struct table *t, struct sv text, unsigned style);
void table_addf(struct table *t, const char *fmt, ...) PRINTF(2, 3);
/* A terminal does not show this column; what goes elsewhere has them all, for who counts them. */
void table_hide(struct table *t, size_t column);
/* Writes all rows; without a row not even the header. */
void table_print(const struct table *t, struct term *term);
