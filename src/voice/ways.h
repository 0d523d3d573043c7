/*
 * What to write next, when the likeliest word may turn out wrong by what comes behind it: some ways
 * to go on are followed side by side, each as long as it is not much less likely than the best.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WAYS_MAX = 2, WAY_PIECES_MAX = 224 };

struct way {
	int64_t pieces[WAY_PIECES_MAX];
	size_t n;
	double sum; /* of the logarithms of how likely they are */
	size_t from; /* which one it was before the last step */
};

/* A way and how it may go on. */
struct way_step {
	size_t from;
	int64_t piece;
	double sum;
};

struct ways {
	struct way of[WAYS_MAX];
	size_t n; /* 0: all have ended */
	size_t most; /* that are followed */
	size_t echo; /* so many pieces over again are no text */
	struct way_step steps[WAYS_MAX]; /* the likeliest that were offered, the best first */
	size_t n_steps, length;
	double ended; /* the likeliest sum that has */
	/* The best text that has ended, and the mean of its logarithms: how sure. */
	struct way best;
	double sure;
};

/* One way, without a piece; later up to `most`, of WAYS_MAX. A text that is only the same `echo`
 * pieces or more over again was said once. */
void ways_begin(struct ways *w, size_t most, size_t echo);
/* What may come next on way i: how likely each of the n pieces is, as logarithms up to a constant;
 * never: n_never of them, which are not written. No piece from n_never on is. */
void ways_offer(
	struct ways *w, size_t i, const float *likely, size_t n, const bool *never, size_t n_never);
/* The ways become the likeliest of all that was offered. A text ends with the piece `end`, before
 * it has more than max pieces, and where it says the same again and again. */
void ways_step(struct ways *w, int64_t end, size_t max);
