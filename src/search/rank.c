#include "search/rank.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "search/match.h"
#include "search/when.h"

/*
 * Chosen by questions over dialogues, each left out in turn while the others chose; all of them lie
 * on a plateau, where half or twice as much changes little.
 */
static const float message_k = 0.8F, other_k = 1.2F, length_b = 0.75F, length_max = 4;
static const double window_weight = 1, session_weight = 0.75, date_weight = 2.5, pair_weight = 0.5,
		    recency_weight = 0.05;
static const double place_weights[RANK_MESSAGES] = { 1, 0.5, 0.25 };

enum {
	STRIDE = 3, /* documents; a window is two strides, and each begins a window */
	PAIR_MAX = 4, /* words from one to the other that count as together */
	BLOCK = 256, /* documents whose scores are cleared and looked through at once */
	COMMON_MIN = 100000, /* documents from which a word may be too common to rank by */
	COMMON_PART = 10, /* … when it is in more than one of so many */
	CANDIDATES = 64, /* sources that are looked at closely, beside those asked for */
	POSITIONS_MAX = 64, /* of a word in a document that are looked at */
	SOURCE_MAX = 1 << 24,
	LENGTHS = 256,
	SECOND_MS = 1000,
};

/* ---- scores ---- */

struct scores {
	float *message; /* a document; of a block that was not touched, anything */
	float *window; /* a window; those of a run follow one another */
	uint32_t *first_window; /* a run */
	uint8_t *touched; /* a block: some document has a score */
	float *counts; /* a document: how often it has the current word, by any spelling */
	uint8_t *counted; /* a block */
};

struct message {
	float score;
	uint32_t lane, doc, time_s;
};

struct candidate {
	struct message best[RANK_MESSAGES]; /* as many as messages says */
	float window;
	uint32_t messages;
};

/* A file, over all segments. */
struct source {
	double length;
	float count; /* of the current word */
	float score; /* of the whole */
	uint32_t first_s, last_s;
};

struct ranker {
	struct matcher m;
	const struct rank_opts *opts;
	struct scores *lanes; /* beside m.lanes */
	struct source *sources;
	struct candidate *candidates; /* a source */
	size_t n_sources, alive; /* their numbers end here; how many there are */
	VEC(uint32_t) counting; /* sources that have the current word */
	double docs, mean, source_mean; /* documents, and mean lengths */
	float lengths[LENGTHS]; /* words of a document, by its byte */
	float norms[LENGTHS];
	struct whens dates;
	double total; /* of the weights of all words that rank */
	VEC(size_t) ranking; /* the parts that rank */
	double *weights; /* a part: how much it tells, by how few documents have it */
};

static double rarity(double all, double with)
{
	return log(1 + (all - with + 0.5) / (with + 0.5));
}

/* length: as a part of the mean one. Logs and listings are a hundred times as long as what people
 * say, and a word in them is not a hundred times as idle. */
static float length_norm(float length)
{
	return 1 - length_b + length_b * (length < length_max ? length : length_max);
}

static float bm25(float count, float k, float length)
{
	return count * (k + 1) / (count + k * length_norm(length));
}

/* Scores of a block are cleared when the first of them is set: most of them never are. */
static inline void touch_block(float *values, uint8_t *touched, uint32_t doc)
{
	uint32_t block = doc / BLOCK;

	if (touched[block])
		return;
	touched[block] = 1;
	memset(values + (size_t)block * BLOCK, 0, BLOCK * sizeof(*values));
}

/* One word on its way through the documents of one lane, in rising order. */
struct walk {
	struct ranker *rk;
	const struct lane *l;
	struct scores *s;
	float weight;
	const struct segment_run *run;
	uint32_t run_index, run_end;
	bool counts; /* the run does */
	uint32_t stride; /* of the current run */
	float now, before; /* the word's count in this stride and in the one before it */
	bool windows; /* there are other words that may stand near */
};

static void window_add(const struct walk *w, uint32_t window, float count)
{
	uint32_t from = w->run->first_doc + window * STRIDE, to = from + 2 * STRIDE;
	uint32_t end = w->run->first_doc + w->run->n_docs;
	float length = 0;

	for (uint32_t doc = from; doc < to && doc < end; doc++)
		length += w->rk->lengths[w->l->columns.length[doc]];
	w->s->window[w->s->first_window[w->run_index] + window] +=
		w->weight * bm25(count, other_k, length / (float)(w->rk->mean * 2 * STRIDE));
}

/* The current stride is over, and `next` begins. */
static void stride_end(struct walk *w, uint32_t next)
{
	if (w->now > 0 && w->stride > 0)
		window_add(w, w->stride - 1, w->before + w->now);
	if (w->now > 0 && next != w->stride + 1)
		window_add(w, w->stride, w->now);
	w->before = next == w->stride + 1 ? w->now : 0;
	w->now = 0;
	w->stride = next;
}

static void enter_run(struct walk *w, uint32_t doc)
{
	if (w->run && w->windows)
		stride_end(w, UINT32_MAX);
	/* Common words are in every run, rare ones are not. */
	if (w->run && w->run_index + 1 < w->l->runs &&
		doc < w->run_end + segment_run_at(w->l->seg, w->run_index + 1)->n_docs)
		w->run_index++;
	else
		w->run_index = segment_run_of(w->l->seg, doc);
	w->run = segment_run_at(w->l->seg, w->run_index);
	w->run_end = w->run->first_doc + w->run->n_docs;
	w->counts = w->l->run_counts[w->run_index];
	w->stride = 0;
	w->before = 0;
}

static inline void walk_add(struct walk *w, uint32_t doc, float count)
{
	if (doc >= w->run_end)
		enter_run(w, doc);
	if (!w->counts || !lane_counts(&w->rk->m, w->l, doc))
		return;
	float norm = w->rk->norms[w->l->columns.length[doc]];
	touch_block(w->s->message, w->s->touched, doc);
	w->s->message[doc] += w->weight * count * (message_k + 1) / (count + norm);
	if (w->windows) {
		uint32_t stride = (doc - w->run->first_doc) / STRIDE;
		if (stride != w->stride)
			stride_end(w, stride);
		w->now += count;
	}
	struct source *source = &w->rk->sources[w->run->source];
	if (source->count == 0)
		vec_push(&w->rk->counting, w->run->source);
	source->count += count;
}

static int walk_term(struct walk *w, const struct spelling *spelling, struct err *reterr)
{
	struct postings p;
	int r;

	postings_begin(&p, w->l->seg, &spelling->term);
	while ((r = postings_next(&p, reterr)) > 0)
		for (unsigned i = 0; i < p.n; i++)
			walk_add(w, p.doc[i], (float)p.count[i] * spelling->weight);
	postings_release(&p);
	return r;
}

/* Several spellings of one word: added up first, since more of the same word tells less and less.
 */
static int walk_spellings(struct walk *w, const struct found *f, struct err *reterr)
{
	struct scores *s = w->s;
	uint32_t docs = w->l->docs;

	if (!s->counts) {
		s->counts = xmalloc(((size_t)docs / BLOCK + 1) * BLOCK * sizeof(*s->counts));
		s->counted = xcalloc(docs / BLOCK + 1, 1);
	}
	vec_each (&f->spellings, spelling) {
		struct postings p;
		int r;
		postings_begin(&p, w->l->seg, &spelling->term);
		while ((r = postings_next(&p, reterr)) > 0)
			for (unsigned i = 0; i < p.n; i++) {
				touch_block(s->counts, s->counted, p.doc[i]);
				s->counts[p.doc[i]] += (float)p.count[i] * spelling->weight;
			}
		postings_release(&p);
		if (r < 0)
			return r;
	}
	for (uint32_t block = 0; block <= docs / BLOCK; block++) {
		if (!s->counted[block])
			continue;
		s->counted[block] = 0;
		uint32_t from = block * BLOCK, to = from + BLOCK < docs ? from + BLOCK : docs;
		for (uint32_t doc = from; doc < to; doc++)
			if (s->counts[doc] > 0)
				walk_add(w, doc, s->counts[doc]);
	}
	return 0;
}

static int add_part(struct ranker *rk, size_t part, struct err *reterr)
{
	int r = 0;

	for (size_t lane = 0; r >= 0 && lane < rk->m.n_lanes; lane++) {
		const struct found *f = matcher_found(&rk->m, part, lane);
		struct walk w = { .rk = rk,
			.l = &rk->m.lanes[lane],
			.s = &rk->lanes[lane],
			.weight = (float)rk->weights[part],
			.windows = rk->ranking.n > 1 };
		if (f->spellings.n == 1)
			r = walk_term(&w, f->spellings.v, reterr);
		else if (f->spellings.n > 1)
			r = walk_spellings(&w, f, reterr);
		vec_each (&f->matches, match)
			walk_add(&w, match->doc, match->count);
		if (w.run && w.windows)
			stride_end(&w, UINT32_MAX);
	}
	double weight = rarity((double)rk->alive, (double)rk->counting.n);
	vec_each (&rk->counting, at) {
		struct source *s = &rk->sources[*at];
		s->score += (float)weight *
			bm25(s->count, other_k, (float)(s->length / rk->source_mean));
		s->count = 0;
	}
	rk->counting.n = 0;
	return r;
}

/* ---- what ranks ---- */

static bool is_field(const struct query_part *part)
{
	return (unsigned char)part->terms.v[0].text[0] < ' ';
}

static bool is_common(const struct ranker *rk, size_t part)
{
	return rk->m.docs[part] > COMMON_MIN && (double)rk->m.docs[part] * COMMON_PART > rk->docs;
}

/* There is something to rank by, whether or not any document has it. */
static bool asks_for_words(const struct query *q)
{
	vec_each (&q->parts, part)
		if (part->demand != QUERY_NOT && !is_field(part))
			return true;
	return false;
}

/* Words that only hold a question together, and very common ones, rank where there is nothing
 * else. */
static void choose_parts(struct ranker *rk)
{
	const struct query *q = rk->m.query;

	for (int try = 0; try < 3 && rk->ranking.n == 0; try++)
		for (size_t i = 0; i < q->parts.n; i++) {
			const struct query_part *part = &q->parts.v[i];
			if (part->demand == QUERY_NOT || is_field(part) || rk->m.docs[i] == 0 ||
				(part->weak && try < 2) || (is_common(rk, i) && try < 1))
				continue;
			vec_push(&rk->ranking, i);
		}
	vec_each (&rk->ranking, i) {
		double with = (double)rk->m.docs[*i];
		rk->weights[*i] = rarity(rk->docs, with < rk->docs ? with : rk->docs);
		rk->total += rk->weights[*i];
	}
	when_find(str_sv(&q->words), rk->opts->now_ms, &rk->dates);
}

/* ---- gathering ---- */

/* What a source has beyond its messages. */
static double source_score(const struct ranker *rk, uint32_t source)
{
	const struct source *s = &rk->sources[source];
	double total = rk->total > 1 ? rk->total : 1;
	double age_days = ((double)rk->opts->now_ms / SECOND_MS - s->last_s) / (24.0 * 60 * 60);
	double score = session_weight * (double)s->score;

	if (rk->dates.n > 0 && s->last_s)
		score += date_weight * total *
			when_meets(&rk->dates, (int64_t)s->first_s * SECOND_MS,
				(int64_t)s->last_s * SECOND_MS);
	return score + recency_weight * total * exp2(-(age_days > 0 ? age_days : 0) / 60);
}

/* Of equals the later one. */
static void candidate_add(struct candidate *c, struct message one)
{
	size_t n = c->messages < RANK_MESSAGES ? c->messages : RANK_MESSAGES, at = n;

	c->messages++;
	while (at > 0 &&
		(one.score > c->best[at - 1].score ||
			(one.score == c->best[at - 1].score &&
				one.time_s >= c->best[at - 1].time_s)))
		at--;
	if (at == RANK_MESSAGES)
		return;
	n = n < RANK_MESSAGES ? n : RANK_MESSAGES - 1;
	memmove(&c->best[at + 1], &c->best[at], (n - at) * sizeof(c->best[0]));
	c->best[at] = one;
}

static float window_at(
	const struct scores *s, const struct segment_run *run, uint32_t index, uint32_t doc)
{
	uint32_t stride = (doc - run->first_doc) / STRIDE;
	const float *window = s->window + s->first_window[index] + stride;

	return stride > 0 && window[-1] > window[0] ? window[-1] : window[0];
}

/* Every document that counts is as good as any other: where there is nothing to rank by. */
static void score_alike(struct ranker *rk, size_t lane)
{
	const struct lane *l = &rk->m.lanes[lane];
	struct scores *s = &rk->lanes[lane];

	for (uint32_t i = 0; i < l->runs; i++) {
		const struct segment_run *run = segment_run_at(l->seg, i);
		for (uint32_t doc = run->first_doc;
			l->run_counts[i] && doc < run->first_doc + run->n_docs; doc++)
			if (lane_counts(&rk->m, l, doc)) {
				touch_block(s->message, s->touched, doc);
				s->message[doc] = 1;
			}
	}
}

static void gather(struct ranker *rk, size_t lane)
{
	const struct lane *l = &rk->m.lanes[lane];
	const struct scores *s = &rk->lanes[lane];
	const struct segment_run *run = NULL;
	uint32_t index = 0, end = 0;

	for (uint32_t block = 0; block <= l->docs / BLOCK; block++) {
		uint32_t to = (block + 1) * BLOCK < l->docs ? (block + 1) * BLOCK : l->docs;
		for (uint32_t doc = block * BLOCK; s->touched[block] && doc < to; doc++) {
			if (s->message[doc] <= 0)
				continue;
			if (doc >= end) {
				index = segment_run_of(l->seg, doc);
				run = segment_run_at(l->seg, index);
				end = run->first_doc + run->n_docs;
			}
			struct candidate *c = &rk->candidates[run->source];
			candidate_add(c,
				(struct message){ s->message[doc], (uint32_t)lane, doc,
					l->columns.time_s[doc] });
			float window = window_at(s, run, index, doc);
			c->window = window > c->window ? window : c->window;
		}
	}
}

/* ---- the best of them ---- */

struct ranked {
	double score;
	uint32_t source;
};

static int by_score(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return (x->source > y->source) - (x->source < y->source);
}

/* The best sources, at most max; returns how many. */
static size_t best_sources(const struct ranker *rk, size_t max, struct ranked *ret)
{
	size_t n = 0;
	double least = 0;

	for (uint32_t i = 0; i < rk->n_sources; i++) {
		const struct candidate *c = &rk->candidates[i];
		if (c->messages == 0)
			continue;
		struct ranked one = { .source = i };
		for (size_t k = 0; k < RANK_MESSAGES; k++)
			one.score += place_weights[k] * (double)c->best[k].score;
		one.score += window_weight * (double)c->window + source_score(rk, i);
		if (n >= 2 * max && one.score <= least)
			continue;
		ret[n++] = one;
		if (n < 4 * max)
			continue;
		qsort(ret, n, sizeof(*ret), by_score);
		n = max;
		least = ret[max - 1].score;
	}
	if (n > 1)
		qsort(ret, n, sizeof(*ret), by_score);
	return n < max ? n : max;
}

/* A message that is looked at closely. */
struct close {
	struct hit hit;
	size_t rank; /* of its source */
	double pairs;
	struct {
		uint32_t v[POSITIONS_MAX];
		size_t n;
	} * positions; /* a ranking part */
};
typedef VEC(struct close) closes;

static int by_place(const void *a, const void *b)
{
	const struct hit *x = &((const struct close *)a)->hit, *y = &((const struct close *)b)->hit;

	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	return (x->doc > y->doc) - (x->doc < y->doc);
}

/* Where the words of one spelling stand in those messages, which are in order of their places. */
static int read_positions(const struct segment *seg, const struct segment_term *term,
	struct close *from, const struct close *to, size_t part, struct err *reterr)
{
	struct postings p;
	unsigned at = 0;
	int r = 1;

	postings_begin(&p, seg, term);
	for (struct close *c = from; r > 0 && c < to; c++) {
		while (at < p.n && p.doc[at] < c->hit.doc)
			at++;
		if (at == p.n) {
			r = postings_skip(&p, c->hit.doc, reterr);
			for (at = 0; at < p.n && p.doc[at] < c->hit.doc;)
				at++;
		}
		if (r <= 0 || at == p.n || p.doc[at] != c->hit.doc)
			continue;
		const uint32_t *positions;
		r = postings_positions(&p, at, &positions, reterr);
		if (r < 0)
			break;
		for (uint32_t i = 0; i < p.count[at] && c->positions[part].n < POSITIONS_MAX; i++)
			c->positions[part].v[c->positions[part].n++] = positions[i];
		r = 1;
	}
	postings_release(&p);
	return r < 0 ? r : 0;
}

/* The least distance of two words in a message; more than PAIR_MAX when they are not together. */
static uint32_t distance(const struct close *c, size_t a, size_t b)
{
	uint32_t least = PAIR_MAX + 1;

	for (size_t i = 0; i < c->positions[a].n; i++)
		for (size_t k = 0; k < c->positions[b].n; k++) {
			uint32_t x = c->positions[a].v[i], y = c->positions[b].v[k];
			uint32_t d = x > y ? x - y : y - x;
			least = d < least ? d : least;
		}
	return least;
}

/* Words that follow one another in the query and stand together in a message count once more. */
static int add_pairs(struct ranker *rk, closes *all, struct err *reterr)
{
	size_t parts = rk->ranking.n;
	int r = 0;

	if (parts < 2 || all->n == 0)
		return 0;
	qsort(all->v, all->n, sizeof(*all->v), by_place);
	vec_each (all, c)
		c->positions = xcalloc(parts, sizeof(*c->positions));
	for (size_t from = 0, to; r >= 0 && from < all->n; from = to) {
		size_t lane = all->v[from].hit.segment;
		for (to = from; to < all->n && all->v[to].hit.segment == lane;)
			to++;
		for (size_t i = 0; i < parts; i++)
			vec_each (&matcher_found(&rk->m, rk->ranking.v[i], lane)->spellings, sp)
				if (r >= 0 && !rk->m.query->parts.v[rk->ranking.v[i]].prefix)
					r = read_positions(rk->m.lanes[lane].seg, &sp->term,
						all->v + from, all->v + to, i, reterr);
	}
	vec_each (all, c)
		for (size_t i = 0; i + 1 < parts; i++) {
			double a = rk->weights[rk->ranking.v[i]],
			       b = rk->weights[rk->ranking.v[i + 1]];
			uint32_t d = distance(c, i, i + 1);
			if (d > 0 && d <= PAIR_MAX)
				c->pairs += pair_weight * (a < b ? a : b) / sqrt(d);
		}
	return r;
}

static int by_hit(const void *a, const void *b)
{
	const struct hit *x = &((const struct close *)a)->hit, *y = &((const struct close *)b)->hit;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	if (x->at.time_s != y->at.time_s)
		return x->at.time_s < y->at.time_s ? 1 : -1;
	return (x->source > y->source) - (x->source < y->source);
}

/* The same message in a copy of its session: the text is not looked at, but its time, its length
 * and its words are the same. */
static bool is_copy(const struct hit *a, const struct hit *b)
{
	return a->session != b->session && a->at.time_s && a->at.time_s == b->at.time_s &&
		a->at.kind == b->at.kind && a->at.length == b->at.length && a->own == b->own &&
		a->at.kind != DOC_SESSION;
}

/* In order; copies, and what is too much of one session, are left out. */
static void keep_best(const struct rank_opts *opts, closes *all, struct ranking *ret)
{
	size_t most = opts->sessions ? 1 : RANK_MESSAGES;

	vec_sort(all, by_hit);
	vec_each (all, c) {
		size_t same = 0;
		struct hit *original = NULL;
		vec_each (&ret->hits, other) {
			same += other->session == c->hit.session;
			original = is_copy(&c->hit, other) ? other : original;
		}
		if (original)
			original->copies++;
		else if (same < most && ret->hits.n < opts->n)
			vec_push(&ret->hits, c->hit);
	}
}

/* The messages of the best sources, each with its own score or with that of its source. */
static int look_closely(
	struct ranker *rk, const struct ranked *ranked, size_t n, closes *all, struct err *reterr)
{
	const struct rank_opts *o = rk->opts;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		const struct candidate *c = &rk->candidates[ranked[i].source];
		for (uint32_t k = 0; r >= 0 && k < c->messages && k < RANK_MESSAGES; k++) {
			struct close one = { .hit = { .source = ranked[i].source,
						     .segment = c->best[k].lane,
						     .doc = c->best[k].doc,
						     .own = c->best[k].score,
						     .messages = c->messages },
				.rank = i };
			one.hit.session = o->session_of ? o->session_of(o->data, one.hit.source)
							: one.hit.source;
			r = segment_doc(
				rk->m.lanes[one.hit.segment].seg, one.hit.doc, &one.hit.at, reterr);
			vec_push(all, one);
		}
	}
	if (r >= 0)
		r = add_pairs(rk, all, reterr);
	vec_each (all, c) {
		const struct segment *seg = rk->m.lanes[c->hit.segment].seg;
		uint32_t run = segment_run_of(seg, c->hit.doc);
		double window = (double)window_at(
			&rk->lanes[c->hit.segment], segment_run_at(seg, run), run, c->hit.doc);
		if (rk->ranking.n > 0)
			c->hit.score = (double)c->hit.own + c->pairs + window_weight * window +
				source_score(rk, c->hit.source);
	}
	return r;
}

/* The best message of a source stands for it, with the score of the source. */
static void score_sources(const struct ranker *rk, const struct ranked *ranked, closes *all)
{
	struct of_source {
		const struct close *best;
		double pairs;
	};
	AUTO_FREE struct of_source *of = xcalloc(rk->n_sources + 1, sizeof(*of));

	vec_each (all, c) {
		struct of_source *o = &of[c->hit.source];
		o->pairs = c->pairs > o->pairs ? c->pairs : o->pairs;
		if (!o->best || by_hit(c, o->best) < 0)
			o->best = c;
	}
	vec_each (all, c) {
		const struct of_source *o = &of[c->hit.source];
		c->hit.score = c == o->best ? ranked[c->rank].score + o->pairs : -1;
	}
}

/* ---- all of it ---- */

static int ranker_init(struct ranker *rk, struct err *reterr)
{
	double words = 0;

	for (size_t i = 0; i < LENGTHS; i++)
		rk->lengths[i] = (float)doc_length((uint8_t)i);
	rk->lanes = xcalloc(rk->m.n_lanes + 1, sizeof(*rk->lanes));
	rk->weights = xcalloc(rk->m.query->parts.n + 1, sizeof(*rk->weights));
	for (size_t lane = 0; lane < rk->m.n_lanes; lane++)
		for (uint32_t i = 0; i < rk->m.lanes[lane].runs; i++) {
			uint32_t source = segment_run_at(rk->m.lanes[lane].seg, i)->source;
			if (source >= SOURCE_MAX)
				return err_set(reterr, SEGMENT_DAMAGED,
					"the index names a file %u, which cannot be", source);
			rk->n_sources = source >= rk->n_sources ? source + 1 : rk->n_sources;
		}
	rk->sources = xcalloc(rk->n_sources + 1, sizeof(*rk->sources));
	rk->candidates = xcalloc(rk->n_sources + 1, sizeof(*rk->candidates));
	for (size_t lane = 0; lane < rk->m.n_lanes; lane++) {
		const struct lane *l = &rk->m.lanes[lane];
		struct scores *s = &rk->lanes[lane];
		uint32_t windows = 0;
		s->first_window = xcalloc(l->runs + 1, sizeof(*s->first_window));
		for (uint32_t i = 0; i < l->runs; i++) {
			const struct segment_run *run = segment_run_at(l->seg, i);
			struct source *source = &rk->sources[run->source];
			s->first_window[i] = windows;
			windows += run->n_docs / STRIDE + 1;
			if (segment_dead(l->seg, i))
				continue;
			rk->alive += source->length == 0 && run->length > 0;
			source->length += (double)run->length;
			if (run->first_s && (!source->first_s || run->first_s < source->first_s))
				source->first_s = run->first_s;
			source->last_s =
				run->last_s > source->last_s ? run->last_s : source->last_s;
			words += (double)run->length;
		}
		s->window = xcalloc(windows + 1, sizeof(*s->window));
		s->message = xmalloc(((size_t)l->docs / BLOCK + 1) * BLOCK * sizeof(*s->message));
		s->touched = xcalloc(l->docs / BLOCK + 1, 1);
		rk->docs += l->docs;
	}
	rk->mean = words > 0 ? words / rk->docs : 1;
	rk->source_mean = words > 0 ? words / (double)rk->alive : 1;
	for (size_t i = 0; i < LENGTHS; i++)
		rk->norms[i] = message_k * length_norm(rk->lengths[i] / (float)rk->mean);
	return 0;
}

static void ranker_release(struct ranker *rk)
{
	for (size_t i = 0; rk->lanes && i < rk->m.n_lanes; i++) {
		free(rk->lanes[i].message);
		free(rk->lanes[i].window);
		free(rk->lanes[i].first_window);
		free(rk->lanes[i].touched);
		free(rk->lanes[i].counts);
		free(rk->lanes[i].counted);
	}
	free(rk->lanes);
	free(rk->sources);
	free(rk->candidates);
	free(rk->weights);
	vec_release(&rk->counting);
	vec_release(&rk->ranking);
	matcher_release(&rk->m);
}

static int find_best(struct ranker *rk, struct ranking *ret, struct err *reterr)
{
	size_t max = rk->opts->n + CANDIDATES;
	AUTO_FREE struct ranked *ranked = xcalloc(4 * max, sizeof(*ranked));
	closes all = VEC_INIT;
	size_t n = best_sources(rk, max, ranked);
	int r = look_closely(rk, ranked, n, &all, reterr);

	if (r >= 0 && rk->opts->sessions && rk->ranking.n > 0)
		score_sources(rk, ranked, &all);
	if (r >= 0)
		keep_best(rk->opts, &all, ret);
	vec_each (&all, c)
		free(c->positions);
	vec_release(&all);
	return r;
}

int rank_search(const struct segment *const *segs, size_t n, const struct query *query,
	const struct rank_opts *opts, struct ranking *ret, struct err *reterr)
{
	unsigned kinds = query->roles ? query->roles : (1u << DOC_KINDS) - 1;
	struct rank_opts o = *opts;
	CLEANUP(ranker_release) struct ranker rk = { .opts = &o };

	o.n = o.n == 0 ? RANK_DEFAULT : o.n > RANK_MAX ? RANK_MAX : o.n;
	if (!opts->thinking && !query->roles)
		kinds &= ~(1u << DOC_THINKING);
	const struct matcher_opts matching = { .unmarked = opts->unmarked,
		.sources = opts->sources,
		.n_sources = opts->n_sources,
		.kinds = kinds & ~query->not_roles };
	int r = matcher_init(&rk.m, segs, n, query, &matching, reterr);
	if (r >= 0)
		r = ranker_init(&rk, reterr);
	if (r < 0)
		return r;
	struct ranking found = RANKING_INIT;
	choose_parts(&rk);
	for (size_t i = 0; r >= 0 && i < rk.ranking.n; i++)
		r = add_part(&rk, rk.ranking.v[i], reterr);
	for (size_t lane = 0; r >= 0 && lane < n; lane++) {
		if (!asks_for_words(query))
			score_alike(&rk, lane);
		gather(&rk, lane);
	}
	if (r >= 0)
		r = find_best(&rk, &found, reterr);
	for (size_t i = 0; i < query->parts.n; i++)
		found.parts_found |= (uint64_t)(rk.m.docs[i] > 0) << i;
	found.marks = rk.m.marks;
	rk.m.marks = (struct map)MAP_INIT;
	if (r < 0)
		ranking_release(&found);
	else
		*ret = found;
	return r;
}

void ranking_release(struct ranking *r)
{
	vec_release(&r->hits);
	map_release(&r->marks);
}
