/*
 * A search from what was typed to what is shown: the query over a view of the index, its hits with
 * the files they are in.
 */
#pragma once

#include "search/index.h"
#include "search/query.h"
#include "search/rank.h"

struct find_opts {
	size_t n; /* 0: RANK_DEFAULT */
	bool sessions, thinking, unmarked; /* as in struct rank_opts */
	int64_t now_ms;
	/* Only sessions that were begun in one of these folders or below; n_dirs 0: any. */
	const char *const *dirs;
	size_t n_dirs;
};

struct found_hit {
	struct hit hit;
	struct index_source source;
};
struct find_result {
	VEC(struct found_hit) hits; /* the best first */
	struct map marks; /* for snippet_make() */
	uint64_t parts_found; /* as in struct ranking */
};
#define FIND_RESULT_INIT           \
	{                          \
		.marks = MAP_INIT, \
	}
/* ret is released by find_result_release() unless it failed. */
int find(struct index_view *view, const struct query *query, const struct find_opts *opts,
	struct find_result *ret, struct err *reterr) MUST_USE;
void find_result_release(struct find_result *f);

/* For the words of a query that are nowhere: those in the index that are nearest to them and begin
 * like them, "one instead of other, …". False when there are none. */
bool find_near(const struct index_view *view, const struct query *query,
	const struct find_result *found, struct str *out);
