/*
 * Sentences of ours on a stream that may be a terminal.
 */
#pragma once

#include <stdio.h>

#include "base/str.h"

enum { PROSE_LEAST = 40 /* columns: narrower terminals break lines themselves */ };

/* Columns of the terminal that the stream leads to, PROSE_LEAST or more; 0 when it is none. */
size_t prose_width(FILE *out);
/* Words of text that begin at `column`, broken before `width` and continued at `indent`; a word is
 * never broken. Ends the line. */
void prose_wrap(FILE *out, size_t width, struct sv text, size_t column, size_t indent);
/* One line: on a terminal broken between words and continued at `indent`, else as it is. Leading
 * blanks stay. */
void prose_put(FILE *out, size_t indent, const char *text);
