/*
 * The best messages and sessions for a query, over the segments of an index.
 *
 * A message is judged by its words, by those of the messages around it and by those of its whole
 * session (BM25 each), by whether words that stand together in the query stand together in it, by
 * whether its session meets a date in the query, and at last by its age. A session is worth its
 * best messages. A query that has nothing to rank by gives the latest first.
 */
#pragma once

#include "base/map.h"
#include "search/query.h"
#include "search/segment.h"

enum {
	RANK_DEFAULT = 10,
	RANK_MAX = 1000,
	RANK_MESSAGES = 3, /* at most so many of one session are results */
};

struct hit {
	uint64_t session; /* as session_of() has it */
	uint32_t source;
	size_t segment;
	uint32_t doc;
	struct segment_doc at;
	double score;
	float own; /* of this, what its own words are worth */
	uint32_t messages; /* of its source that have one of the words */
	/* For its snippet, a bit for each part of the query: what it was ranked by, and what it is
	 * known not to have; and of the former, how many stand close to each other anywhere in it,
	 * 0: not known. */
	uint64_t ranked, lacks;
	uint32_t together;
	uint32_t copies; /* the same message in other sessions, which are left out */
};

struct rank_opts {
	size_t n; /* results; 0: RANK_DEFAULT */
	bool sessions; /* one result a session */
	bool thinking; /* also what was thought */
	bool unmarked; /* é is e */
	int64_t now_ms;
	const uint64_t *sources; /* a bit each: those that count; NULL: all */
	size_t n_sources; /* bits */
	/* A number for the session that a source belongs to: files of sub-agents count for the
	 * session they worked for. NULL: each source is one. */
	uint64_t (*session_of)(void *data, uint32_t source);
	/* Whether two sources are called the same. NULL: no two are. */
	bool (*same_title)(void *data, uint32_t a, uint32_t b);
	/* Whether two messages that look like copies are. NULL: they are. */
	bool (*same_text)(void *data, const struct hit *a, const struct hit *b);
	/* Of two copies, whether the second should stand for both. NULL: never. */
	bool (*prefers)(void *data, uint32_t a, uint32_t b);
	void *data;
};

struct ranking {
	VEC(struct hit) hits; /* the best first */
	struct map marks; /* words that are hits; value: number of its part in the query */
	uint64_t parts_found; /* a bit for each of the query's parts: some document has it */
};
#define RANKING_INIT               \
	{                          \
		.marks = MAP_INIT, \
	}
/* The segments must be of one view. ret is released by ranking_release() unless it failed. */
int rank_search(const struct segment *const *segs, size_t n, const struct query *query,
	const struct rank_opts *opts, struct ranking *ret, struct err *reterr) MUST_USE;
void ranking_release(struct ranking *r);
