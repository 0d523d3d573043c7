/*
 * What commands print with: text for people and JSON for programs, both made by view/, and
 * sentences of ours on a stream that may be a terminal. Nothing else in this room writes to a
 * stream (tools/check-layers): so nothing that a session, a folder or an agent says reaches one
 * raw.
 */
#pragma once

#include <stdio.h>

#include "base/attr.h"
#include "base/str.h"
#include "cli/app.h"
#include "store/catalogue.h"
#include "ui/term.h"
#include "json/write.h"

/* One line, with what it is given scrubbed; a note begins with "faden: ". */
void say_line(FILE *to, const char *fmt, ...) PRINTF(2, 3);
void say_note(FILE *to, const char *fmt, ...) PRINTF(2, 3);
/* That another process has what is needed: whom we wait for, as file_lock() says it. */
void say_waiting(FILE *to, const char *whom);
/* Several lines, scrubbed. */
void say_text(FILE *to, struct sv text);
/* A document or a piece of one: what must not reach a terminal is escaped. */
void say_json(FILE *to, struct sv json);
/* As it is: what the manual promises byte for byte, and control sequences of ours. */
void say_bytes(FILE *to, struct sv bytes);

/* A terminal as wide as the one app->out leads to (also through the pager), or a pipe. What is
 * written goes to app->out when it is flushed, or released by print_end(). */
void print_begin(struct app *app, struct term *t);
void print_flush(struct term *t);
void print_end(struct term *t);
/* One line of JSON on app->out. */
void print_doc(struct app *app, const struct str *json);
/* A result, for programs as view_json_NAME() makes it, for people as view_NAME() does. */
#define PRINT_RESULT(app, json, name, what)            \
	do {                                           \
		if (json) {                            \
			AUTO_STR doc_ = STR_INIT;      \
			struct jw w_ = JW_INIT(&doc_); \
			view_json_##name(&w_, what);   \
			print_doc(app, &doc_);         \
		} else {                               \
			struct term t_;                \
			print_begin(app, &t_);         \
			view_##name(&t_, what);        \
			print_end(&t_);                \
		}                                      \
	} while (0)
/* For --json: {"error": …} on the stream; the sessions that would fit may be NULL. */
void print_failure(FILE *to, const struct err *err, const struct catalogue_matches *candidates);

enum { PROSE_LEAST = 40 /* columns: narrower terminals break lines themselves */ };

/* Columns of the terminal that the stream leads to, PROSE_LEAST or more; 0 when it is none. */
size_t prose_width(FILE *out);
/* Words of text that begin at `column`, broken before `width` and continued at `indent`; a word is
 * never broken. Ends the line. */
void prose_wrap(FILE *out, size_t width, struct sv text, size_t column, size_t indent);
/* One line: on a terminal broken between words and continued at `indent`, else as it is. Leading
 * blanks stay. A command at its end is not broken but gets a line of its own. */
void prose_put(FILE *out, size_t indent, const char *text);
