/*
 * A Markdown table for people: columns aligned, long cells wrapped within their column. A part of
 * markdown.c.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "ui/term.h"

enum {
	MARKDOWN_TABLE_COLUMNS = 32,
	MARKDOWN_TABLE_ROWS = 512,
	MARKDOWN_TABLE_NARROW = 6, /* columns below which a cell is not wrapped */
};

/*
 * Shows the lines, which all begin with '|' after blanks and hold clean text. False, and nothing is
 * shown, when they are no table (the second is no "|---|---|") or one that does not fit the width.
 */
bool markdown_table_print(struct term *term, const struct strv *lines);
