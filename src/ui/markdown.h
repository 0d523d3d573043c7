/*
 * Markdown as it streams in, shown plainly on a terminal.
 *
 * Pieces may be cut anywhere, also inside a character or a "**"; what is shown does not depend on
 * the cuts. Words appear when they are complete, code when the line is, tables when they are.
 *
 *	heading		bold (without colour its "#" stays)
 *	list item	bullet or number, continued lines aligned with its text
 *	code block	four columns in, dim, not wrapped; the fences are not shown
 *	**a** *a* `a`	bold, italic, coloured (without colour the marks stay)
 *	[text](url)	text (url)
 *	> quote		a bar in front of every line
 *	table		columns aligned, long cells wrapped; as it is where that does not fit
 *	---		a rule
 *
 * Line breaks are kept, several blank lines become one. Where no end of an emphasis, code span or
 * link comes within the line (and MARKDOWN_SPAN_MAX bytes), its mark is shown as it stands.
 *
 * Everything is scrubbed: nothing in the text can move the cursor or set the title. Without
 * colour not one escape byte is written. When the output is not a terminal, or Markdown is to
 * stay as it is written, the bytes pass through.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "ui/term.h"
#include "ui/wrap.h"

enum {
	MARKDOWN_SPAN_MAX = 2048, /* look-ahead for the end of a span */
	MARKDOWN_MARK_MAX = 256, /* look-ahead for what kind of line it is */
	MARKDOWN_RAW_MAX = 4096, /* code and table lines longer than this come in parts */
	MARKDOWN_HOLD_MAX = 4096, /* a line with an escape sequence is held back up to this */
	MARKDOWN_DEPTH_MAX = 8, /* spans within spans */
};

enum markdown_line {
	MARKDOWN_UNDECIDED, /* at the beginning of a line */
	MARKDOWN_TEXT,
	MARKDOWN_TABLE, /* a line of a table: kept until all of it is there */
	MARKDOWN_RAW, /* a line of a code block, or one of a table that is shown as it is */
};

struct markdown {
	struct term *term;
	bool shapes; /* else the bytes pass through */
	struct wrap wrap;
	struct str hold; /* bytes that cannot be judged yet */
	struct str line; /* clean text of the current line that is not shown yet */
	enum markdown_line kind;
	unsigned line_style;
	uint32_t before; /* the character in front of `line`, for what may open a span */
	struct strv table; /* the lines of the current table */
	struct str prefix; /* marks of the block quote that the current line is in */
	char fence; /* '`' or '~' inside a code block, else 0 */
	size_t fence_len, fence_indent;
	bool raw_begun; /* a part of the raw line is shown */
	bool shown; /* something of this text is shown */
	bool blank; /* a blank line is due before the next text */
};

void markdown_init(struct markdown *m, struct term *term);
void markdown_release(struct markdown *m);
/* Renders into the term's buffer; the caller flushes. */
void markdown_feed(struct markdown *m, struct sv piece);
/* The text pauses: shows the word that it stopped in, if it surely is text. */
void markdown_pause(struct markdown *m);
/* The text ends: shows what is left, ends the line, and is ready for the next text. */
void markdown_end(struct markdown *m);
/* Whole text at once. */
void markdown_print(struct term *term, struct sv text);
