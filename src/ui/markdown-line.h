/*
 * What kind of line a line of Markdown is, by its beginning. A part of markdown.c.
 */
#pragma once

#include <stdbool.h>

#include "ui/markdown.h"

enum { MARKDOWN_CODE_INDENT = 4 /* columns; also what a tab in front of a line counts */ };

static inline bool markdown_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Looks at m->line, at the beginning of a line; `whole` when its end is there. Once the kind is
 * clear, takes the mark away, shows what stands for it and sets m->kind; what is complete with
 * that (a rule, a blank line, an opening fence) leaves it undecided and m->line empty.
 */
void markdown_judge_line(struct markdown *m, bool whole);
/* The table that was gathered ends here: shows it. */
void markdown_end_table(struct markdown *m);
/* Inside a code block: m->line is whole and is its closing fence. */
bool markdown_closes_fence(const struct markdown *m);
