/*
 * Numbers for people, and output by the user's own format: the -F option of the listing commands.
 *
 *	{name}		a field
 *	{name:20}	padded to 20 columns; {name:>20} to the right; {name:.20} cut to 20;
 *			{name:20.20} both
 *	{last:iso}	a time as "2026-01-31T12:00:00.000Z"; "local" (default), "ago", "unix"
 *	{size:human}	a size as "1.2 MB", a number as "1,234"; "raw" (default)
 *	{last:ago:>12}	style and width together, in either order
 *	{{ }}		braces; \t \n \\ as usual
 *
 * Padded numbers and sizes stand to the right unless told otherwise: {turns:<5}.
 * Text fields are scrubbed to one line. A newline ends each row by itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

enum {
	FORMAT_MAX = 4096, /* bytes of a format string */
	FORMAT_WIDTH_MAX = 1000, /* columns of one field */
};

enum { SIZE_TEXT_MAX = 32 };

/* Powers of 1000: "0 B", "999 B", "1.2 kB", "15 MB", "3.4 GB". */
void size_format(uint64_t bytes, char out[static SIZE_TEXT_MAX]);
/* "1,234,567" */
void size_format_count(int64_t n, char out[static SIZE_TEXT_MAX]);

enum format_kind {
	FORMAT_TEXT,
	FORMAT_NUMBER,
	FORMAT_SIZE, /* bytes */
	FORMAT_TIME, /* wall time in milliseconds; 0: none, shown empty */
};

struct format_field {
	const char *name;
	enum format_kind kind;
	const char *help; /* for the man page; may be NULL */
};

union format_value {
	struct sv text;
	int64_t number; /* all kinds but text */
};

enum format_style { FORMAT_PLAIN, FORMAT_ISO, FORMAT_LOCAL, FORMAT_AGO, FORMAT_UNIX, FORMAT_HUMAN };

struct format_part {
	char *literal; /* not NULL: text, and the rest does not count */
	size_t field;
	enum format_style style;
	bool right;
	size_t width; /* at least this many columns */
	size_t most; /* at most; 0: any */
};

struct format {
	const struct format_field *fields; /* not owned */
	size_t n;
	VEC(struct format_part) parts;
};

/* Unknown field or style: ERR_USAGE, and the message names the known ones. On failure nothing is
 * left to release. */
int format_parse(struct format *f, struct sv text, const struct format_field *fields, size_t n,
	struct err *reterr) MUST_USE;
void format_release(struct format *f);
/* One row, with a newline. values[i] belongs to fields[i]; now_ms is wall time, for "ago". */
void format_row(
	const struct format *f, const union format_value *values, int64_t now_ms, struct str *out);
