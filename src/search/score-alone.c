#include <math.h>
#include <string.h>

#include "search/score-room.h"

/* A part that is all there is, in one run. */
struct alone {
	const struct adding *a;
	/* Columns of the lane, from document 0 on; kind NULL: the length tells it. */
	const uint8_t *length, *kind;
	float factor;
	/* at each of four places, one for every fourth document */
	floats sum, best[RANK_MESSAGES];
	ints messages;
};

/* The norm of a document, without end for one that does not count: that makes its score 0. */
static inline float norm_of(const struct alone *one, uint32_t doc)
{
	float norm = one->a->norms_so[one->length[doc]];

	return !one->kind || one->a->counts_so[one->kind[doc]] > 0 ? norm : INFINITY;
}

static inline void take_four(struct alone *one, floats counts, floats norms)
{
	ints counting = norms < INFINITY;
	floats scores = counts * one->factor / (counts + norms);

	one->sum += (floats)((ints)counts & counting);
	one->messages -= counting;
	put_highest(one->best, scores);
}

static inline void take_one(struct alone *one, uint32_t doc, float count)
{
	floats norms = { norm_of(one, doc), INFINITY, INFINITY, INFINITY };

	take_four(one, (floats){ count }, norms);
}

/* What the first cursor has before `end`. */
static int take_first(struct alone *one, struct cursor *c, uint32_t end, struct err *reterr)
{
	int r = 1;

	for (; c->match && c->match < c->matches_end && c->match->doc < end; c->match++)
		take_one(one, c->match->doc, c->match->count);
	if (c->match) {
		c->doc = c->match < c->matches_end ? c->match->doc : NO_DOC;
		return 0;
	}
	while (r > 0) {
		const uint32_t *doc = c->p.doc, *count = c->p.count;
		unsigned at = c->at;
		for (; at + LANES <= c->p.n && doc[at + LANES - 1] < end; at += LANES) {
			ints counts;
			memcpy(&counts, count + at, sizeof(counts));
			const floats norms = { norm_of(one, doc[at]), norm_of(one, doc[at + 1]),
				norm_of(one, doc[at + 2]), norm_of(one, doc[at + 3]) };
			take_four(one, __builtin_convertvector(counts, floats) * c->weight, norms);
		}
		for (; at < c->p.n && doc[at] < end; at++)
			take_one(one, doc[at], (float)count[at] * c->weight);
		c->at = at;
		if (c->at < c->p.n)
			break;
		r = postings_next(&c->p, reterr);
		c->at = 0;
	}
	c->doc = r > 0 ? c->p.doc[c->at] : NO_DOC;
	return r < 0 ? r : 0;
}

/* The first cursor has most documents; those of the others, which are other forms of the word, come
 * between them or are the same. */
int add_alone(struct adding *a, const struct segment_run *run, const struct doc_columns *columns,
	struct err *reterr)
{
	struct alone one = { .a = a,
		.length = columns->length - run->first_doc,
		.kind = a->by_length ? NULL : columns->kind - run->first_doc,
		.factor = a->parts[0].weight * (message_k + 1) };
	struct worth *worth = &a->worth[run->source];
	uint32_t end = run->first_doc + run->n_docs;
	int r = 0;

	while (r >= 0) {
		uint32_t next = end;
		for (size_t k = 1; k < a->n_cursors; k++)
			next = a->cursors[k].doc < next ? a->cursors[k].doc : next;
		if (a->cursors[0].doc < next) {
			r = take_first(&one, &a->cursors[0], next, reterr);
			continue;
		}
		if (next == end)
			break;
		float count = 0;
		for (size_t k = 0; r >= 0 && k < a->n_cursors; k++) {
			struct cursor *c = &a->cursors[k];
			if (c->doc != next)
				continue;
			count += c->match ? c->match->count : (float)c->p.count[c->at] * c->weight;
			r = cursor_step(c, reterr);
		}
		take_one(&one, next, count);
	}
	worth->messages +=
		(uint32_t)(one.messages[0] + one.messages[1] + one.messages[2] + one.messages[3]);
	join_places(one.best);
	for (size_t k = 0; k < RANK_MESSAGES; k++)
		keep_highest(worth->best, one.best[k][0]);
	add_to_source(a, run, 0, one.sum);
	return r;
}
