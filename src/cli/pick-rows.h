/*
 * Sessions as the rows of a picker: found by the words that are typed, in what the catalogue knows
 * of them and, as far as there is an index, in all that was said; shown with their last words, or
 * with the place that was found.
 */
#pragma once

#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"
#include "cli/app.h"
#include "store/catalogue.h"
#include "ui/picker.h"

struct index_view; /* search/index.h */

struct candidate {
	struct session_row row; /* what is shown of it; the rest is empty */
	char *dir; /* as it is shown */
	char *text; /* all that words are looked for in, folded; the title first */
	size_t text_n, title_n; /* bytes of it, and those that are the title */
};

/* A candidate that has all words that are looked for. */
struct candidate_fit {
	size_t at; /* in all */
	bool title; /* all of them are in its title */
};

struct pick_rows {
	const struct app *app;
	VEC(struct candidate) all; /* newest first; not changed while a picker runs */
	const char *const *dirs; /* only those begun in one of them or below; n_dirs 0: any */
	size_t n_dirs;
	const char *agent; /* only those of one agent; NULL: any */
	struct map by_id; /* agent, blank, id → its place in all */
	int64_t now_ms;
	const char *index_dir;
	struct index_view *view; /* of the thread that searches; NULL: not yet, or there is none */
	bool no_view;
	/* Of that thread: what fits the words that it looked for last. */
	VEC(struct candidate_fit) fits;
	struct str fits_words; /* these, folded */
	bool fits_known;
};

void pick_rows_init(struct pick_rows *p, const struct app *app);
void pick_rows_release(struct pick_rows *p);
/* Unless dirs or agent are against it. */
void pick_rows_add(struct pick_rows *p, const struct session_row *row);

/* For struct picker_opts; source_data is a struct pick_rows. */
extern const struct picker_source pick_rows_source;
extern const struct picker_column pick_rows_columns[];
extern const size_t pick_rows_columns_n;
const struct candidate *pick_rows_at(const struct picker_found *found, size_t row);
/* A message in which the words were found. */
struct pick_place {
	const char *path; /* of its file; NULL: it is nowhere in particular */
	const struct transcript_format *format;
	uint64_t offset;
	uint32_t part;
	bool subagent; /* the file is that of a sub-agent */
	bool hidden; /* it is read in full only with all that tools did */
};
struct pick_place pick_rows_place(const struct picker_found *found, size_t row);
