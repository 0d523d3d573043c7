/*
 * What the words of a query are worth in every message, in the messages around it and in its
 * session; private to the room.
 *
 * Documents of a file stand together in a segment, as a run. Words are added up run by run, all of
 * them in the few arrays of one run, which stay where the processor has them. Of each file only
 * what it is worth is kept; which messages that were is asked of the best files alone.
 */
#pragma once

#include "search/match.h"
#include "search/rank.h"
#include "search/zeros.h"

/* A file, over all segments. */
struct source {
	double length;
	float score; /* of the whole, by BM25 */
	float best[RANK_MESSAGES]; /* what its best messages are worth; 0: it has not as many */
	float window; /* its best one */
	uint32_t messages; /* that have one of the words */
	uint32_t first_s, last_s;
};

struct message {
	float score;
	float window; /* the better of the two windows it is in */
	uint32_t lane, doc, time_s;
	uint8_t kind, length; /* as in the columns */
};
struct messages {
	struct message v[RANK_MESSAGES]; /* the best first */
	uint32_t n; /* also those that are not among them */
};

struct scorer {
	const struct matcher *m;
	struct zeros zeros; /* of what there is for every file */
	struct source *sources;
	size_t n_sources, alive; /* their numbers end here; how many there are */
	double docs, mean, source_mean; /* documents, and mean lengths */
};

/* How much it tells that something has a word, when `with` of `all` have it. */
double rarity(double all, double with);

/* Knows the files of all lanes; the matcher must outlive it. */
void scorer_init(struct scorer *s, const struct matcher *m);
void scorer_release(struct scorer *s); /* also when it is half made or zeroed */

struct scored_part {
	size_t part; /* of the query */
	float weight;
};
/* Adds up these parts for every file; with none of them every document that counts is worth the
 * same. Once. */
int scorer_add(
	struct scorer *s, const struct scored_part *parts, size_t n, struct err *reterr) MUST_USE;
/* The best messages of some files, by what was just added up: a second look, at these alone. */
int scorer_messages(struct scorer *s, const struct scored_part *parts, size_t n,
	const uint32_t *sources, size_t n_sources, struct messages *ret,
	struct err *reterr) MUST_USE;
