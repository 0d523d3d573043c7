/*
 * What adding up words works with; private to search/score and search/score-alone.
 */
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "search/cursor.h"
#include "search/score.h"

/*
 * Chosen by questions over dialogues, each left out in turn while the others chose; all of them lie
 * on a plateau, where half or twice as much changes little.
 */
static const float message_k = 0.8F, other_k = 1.2F, length_b = 0.75F, length_max = 4;

/* Scores are added up four at a time. */
typedef float floats __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));
enum { LANES = 4 };

#if defined(__SSE2__)
static inline floats highest(floats a, floats b)
{
	return _mm_max_ps(a, b);
}
static inline floats lowest(floats a, floats b)
{
	return _mm_min_ps(a, b);
}
#else
static inline floats highest(floats a, floats b)
{
	ints higher = a > b;

	return (floats)((higher & (ints)a) | (~higher & (ints)b));
}
static inline floats lowest(floats a, floats b)
{
	return highest(-a, -b) * -1;
}
#endif

enum { LENGTHS = 256 };

/* A stretch of a run: its documents from..to, of which the first is 0. */
struct stretch {
	uint32_t from, to;
};

/* What is found of a file. */
struct worth {
	float best[RANK_MESSAGES], window;
	uint32_t messages;
};

/* Of a piece of all documents; several are added up at once. */
struct adding {
	const struct scorer *s;
	uint64_t from,
		to; /* documents of all lanes, numbered on: runs that begin there are its own */
	const struct scored_part *parts;
	size_t n;
	float lengths[LENGTHS]; /* words of a document, by its byte */
	float norms[LENGTHS]; /* of it, for BM25 */
	/* 1 for a document that counts, by its kind, or by its length where that tells */
	float counts_so[LENGTHS];
	bool by_length;
	float norms_so[LENGTHS]; /* norms, without end where the length tells that it does not count
				  */
	/* either what files are worth, or the messages of some */
	float *of_sources; /* part * n_sources + source: how often the source has it */
	struct worth *worth; /* a source */
	const uint32_t *wanted; /* a source: number + 1 in messages; 0: none of them */
	struct messages *messages;
	/* of the current lane */
	size_t lane;
	struct cursor *cursors; /* by part */
	size_t n_cursors;
	/* of the current run, a document or a window each */
	float *counts, *message; /* zero between two runs */
	float *allow; /* 1, and 0 where the document does not count; see `by_kind` */
	float *norm; /* once there is a part that is not sparse */
	float *window, *window_norm; /* zero between two runs; a norm of 0 is not known yet */
	/* A bit a document, zero between two parts and two runs: those of the current part, and of
	 * all parts, that are sparse. */
	uint64_t *has, *any;
	bool by_kind; /* whether a document counts depends on its kind alone */
	bool dense; /* a part is not sparse */
	struct stretch touched;
};

/* What tells whether a document counts, with counts_so. */
static inline const uint8_t *sorts(const struct adding *a, const struct doc_columns *columns)
{
	return a->by_length ? columns->length : columns->kind;
}

static inline void add_to_source(
	const struct adding *a, const struct segment_run *run, size_t part, floats sum)
{
	if (a->of_sources)
		a->of_sources[part * a->s->n_sources + run->source] +=
			sum[0] + sum[1] + sum[2] + sum[3];
}

static inline void keep_highest(float *best, float value)
{
	for (size_t i = 0; i < RANK_MESSAGES; i++)
		if (value > best[i]) {
			float lower = best[i];
			best[i] = value;
			value = lower;
		}
}

/* The same at each of four places; without a branch for each message that may be among the best,
 * which would be guessed wrong too often. */
static inline void put_highest(floats *best, floats values)
{
	for (size_t i = 0; i < RANK_MESSAGES; i++) {
		floats lower = lowest(best[i], values);
		best[i] = highest(best[i], values);
		values = lower;
	}
}

/* The best of all places come to the first: the first is joined with the third and the second with
 * the fourth, then these. */
static inline void join_places(floats *best)
{
	for (int step = LANES / 2; step > 0; step /= 2) {
		floats other[RANK_MESSAGES];
		for (size_t i = 0; i < RANK_MESSAGES; i++)
			other[i] = (floats){ best[i][step], best[i][step + 1] };
		for (size_t i = 0; i < RANK_MESSAGES; i++)
			put_highest(best, other[i]);
	}
}

/*
 * Adds up a run when there is one part alone: without windows, what a document is worth depends on
 * no other one, and nothing is written down.
 */
int add_alone(struct adding *a, const struct segment_run *run, const struct doc_columns *columns,
	struct err *reterr) MUST_USE;
