/*
 * Which documents have what a query asks for; private to the room. Segments are searched one by
 * one, each in a lane of its own.
 */
#pragma once

#include "base/map.h"
#include "search/query.h"
#include "search/segment.h"

struct lane {
	const struct segment *seg;
	uint32_t docs, runs;
	const struct segment_run *run; /* all of them */
	uint8_t *run_counts; /* a run: it is alive and its source is one of those asked for */
	uint64_t *only; /* a bit a document: one of those that have what must be there; NULL: all */
};

/* One way to spell a part in one segment. */
struct spelling {
	struct segment_term term;
	float weight;
};

struct doc_match {
	uint32_t doc;
	float count;
};

/* A part of the query in one lane: by terms, or for phrases by the documents themselves. */
struct found {
	VEC(struct spelling) spellings;
	VEC(struct doc_match) matches;
	bool listed; /* matches it is */
};

struct matcher_opts {
	bool unmarked; /* é is e */
	const uint64_t *sources; /* a bit each: those that count; NULL: all */
	size_t n_sources;
	unsigned kinds; /* 1 << enum doc_kind: those that count */
	bool whole; /* a source that has what must not be there does not count at all */
};

struct matcher {
	const struct query *query;
	struct matcher_opts opts;
	struct lane *lanes;
	size_t n_lanes;
	struct found *found; /* part * n_lanes + lane */
	uint64_t *docs; /* a part: how many documents have it, dead ones included */
	struct map marks; /* every word that counts as a hit; value: its part */
	uint32_t after_s, before_s; /* 0: no limit */
};

/* Finds the terms of every part, and the documents of phrases and of what must be there. The
 * segments and the query must outlive it. */
int matcher_init(struct matcher *m, const struct segment *const *segs, size_t n,
	const struct query *query, const struct matcher_opts *opts, struct err *reterr) MUST_USE;
void matcher_release(struct matcher *m); /* also when it is half made or zeroed */

static inline struct found *matcher_found(const struct matcher *m, size_t part, size_t lane)
{
	return &m->found[part * m->n_lanes + lane];
}
