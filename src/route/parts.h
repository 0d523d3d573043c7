/*
 * The parts of identifiers and hyphenated words: csv_export, CsvExport, CSV-Export.
 */
#pragma once

#include "base/str.h"

enum { PARTS_MAX = 8 };

struct parts {
	struct sv part[PARTS_MAX]; /* folded */
	size_t n;
	struct str text, joined;
};

/* raw as it is written; *p is empty (two STR_INIT) before. */
void parts_read(struct parts *p, struct sv raw);
void parts_release(struct parts *p);
/* The words that programs wrap around a name: test_x, x_spec. */
bool part_is_wrapper(struct sv part);
