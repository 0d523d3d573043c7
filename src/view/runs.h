/*
 * Runs of the pair: a list of them, two beside each other, and what became of one.
 */
#pragma once

#include "master/compare.h"
#include "master/list.h"
#include "ui/term.h"
#include "json/write.h"

/* A table of them. */
void view_runs(struct term *t, const struct master_list *list, int64_t now_ms);
void view_json_runs(struct jw *w, const struct master_list *list);

/* Runs that were deleted, or would be. */
struct runs_cleaned {
	bool dry;
	size_t runs, in_use;
	uint64_t bytes;
};
void view_runs_cleaned(struct term *t, const struct runs_cleaned *c);
void view_json_runs_cleaned(struct jw *w, const struct runs_cleaned *c);

/* A run that was made from another one or from a file. */
struct run_made {
	const struct master_state *state;
	const char *path;
	const char *how; /* "forked", "merged", "imported" */
	const char *again; /* the command that goes on with it; NULL: it would only be made, of
			      `state`, up to `round` */
	int64_t round;
	unsigned found; /* enum master_found */
	unsigned written; /* roles (1 << role) whose session had to be written anew */
	/* merged: the other one, what each has changed, and files that both have; else NULL */
	const struct master_state *other;
	const struct master_changes *changes;
	const struct strv *conflicts;
};
void view_run_made(struct term *t, const struct run_made *made);
void view_json_run_made(struct jw *w, const struct run_made *made);
/* What was found in a run, one line each. */
void view_run_found(unsigned found, struct strv *lines);

struct runs_diff {
	const struct master_state *state[2];
	const struct master_rounds *rounds[2];
	const struct master_changes *changes; /* of both */
	const struct strv *conflicts; /* files that both have changed */
	size_t common;
	bool stat; /* only how much differs */
};
void view_runs_diff(struct term *t, const struct runs_diff *d);
void view_json_runs_diff(struct jw *w, const struct runs_diff *d);
