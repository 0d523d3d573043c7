/*
 * What commands print with: text for people and JSON for programs, both made by view/, and
 * sentences of ours on a stream that may be a terminal.
 */
#pragma once

#include <stdio.h>

#include "base/str.h"
#include "cli/app.h"
#include "store/catalogue.h"
#include "ui/term.h"

/* A terminal as wide as the one app->out leads to (also through the pager), or a pipe. What is
 * written goes to app->out when it is flushed, or released by print_end(). */
void print_begin(struct app *app, struct term *t);
void print_flush(struct term *t);
void print_end(struct term *t);
/* One line of JSON on app->out. */
void print_doc(struct app *app, const struct str *json);
/* For --json: {"error": …} on the stream; the sessions that would fit may be NULL. */
void print_failure(FILE *to, const struct err *err, const struct catalogue_matches *candidates);

enum { PROSE_LEAST = 40 /* columns: narrower terminals break lines themselves */ };

/* Columns of the terminal that the stream leads to, PROSE_LEAST or more; 0 when it is none. */
size_t prose_width(FILE *out);
/* Words of text that begin at `column`, broken before `width` and continued at `indent`; a word is
 * never broken. Ends the line. */
void prose_wrap(FILE *out, size_t width, struct sv text, size_t column, size_t indent);
/* One line: on a terminal broken between words and continued at `indent`, else as it is. Leading
 * blanks stay. */
void prose_put(FILE *out, size_t indent, const char *text);
