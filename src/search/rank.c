#include "search/rank.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "search/match.h"
#include "search/score.h"
#include "search/when.h"

/* As those of search/score. */
static const double window_weight = 1, session_weight = 0.75, date_weight = 2.5, pair_weight = 0.5,
		    recency_weight = 0.05;
static const double place_weights[RANK_MESSAGES] = { 1, 0.5, 0.25 };

enum {
	PAIR_MAX = 4, /* words from one to the other that count as together */
	COMMON_MIN = 50000, /* documents from which a word may be too common to rank by */
	COMMON_PART = 10, /* … when it is in more than one of so many */
	CANDIDATES = 64, /* sources that are looked at closely, beside those asked for */
	PAIR_PLACES = 64, /* of a word in a document that are looked at for pairs */
	SECOND_MS = 1000,
};

struct ranker {
	struct matcher m;
	struct scorer s;
	const struct rank_opts *opts;
	struct whens dates;
	double total; /* of the weights of all words that rank */
	VEC(struct scored_part) ranking; /* the parts that rank */
};

/* ---- what ranks ---- */

static bool is_field(const struct query_part *part)
{
	return (unsigned char)part->terms.v[0].text[0] < ' ';
}

static bool is_common(const struct ranker *rk, size_t part)
{
	return rk->m.docs[part] > COMMON_MIN && (double)rk->m.docs[part] * COMMON_PART > rk->s.docs;
}

/* There is something to rank by, whether or not any document has it. */
static bool asks_for_words(const struct query *q)
{
	vec_each (&q->parts, part)
		if (part->demand != QUERY_NOT && !is_field(part))
			return true;
	return false;
}

/* Very common words rank where there is nothing else. Those that only hold a question together rank
 * where it is made of them: what it is about may be nowhere, and then nothing is found. */
static void choose_parts(struct ranker *rk)
{
	const struct query *q = rk->m.query;
	bool about = false;

	vec_each (&q->parts, part)
		about |= part->demand != QUERY_NOT && !is_field(part) && !part->weak;
	for (int try = 0; try < 2 && rk->ranking.n == 0; try++)
		for (size_t i = 0; i < q->parts.n; i++) {
			const struct query_part *part = &q->parts.v[i];
			if (part->demand == QUERY_NOT || is_field(part) || rk->m.docs[i] == 0 ||
				(part->weak && about) || (is_common(rk, i) && try < 1))
				continue;
			double with = (double)rk->m.docs[i], all = rk->s.docs;
			double weight = rarity(all, with < all ? with : all);
			vec_push(&rk->ranking, (struct scored_part){ i, (float)weight });
			rk->total += weight;
		}
	when_find(str_sv(&q->words), rk->opts->now_ms, &rk->dates);
}

/* What a source has beyond its messages. */
static double source_score(const struct ranker *rk, uint32_t source)
{
	const struct source *s = &rk->s.sources[source];
	double total = rk->total > 1 ? rk->total : 1;
	double age_days = ((double)rk->opts->now_ms / SECOND_MS - s->last_s) / (24.0 * 60 * 60);
	double score = session_weight * (double)s->score;

	if (rk->dates.n > 0 && s->last_s)
		score += date_weight * total *
			when_meets(&rk->dates, (int64_t)s->first_s * SECOND_MS,
				(int64_t)s->last_s * SECOND_MS);
	return score + recency_weight * total * exp2(-(age_days > 0 ? age_days : 0) / 60);
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
	double least = -1, newest = recency_weight * (rk->total > 1 ? rk->total : 1);

	for (uint32_t i = 0; i < rk->s.n_sources; i++) {
		const struct source *s = &rk->s.sources[i];
		if (s->messages == 0)
			continue;
		struct ranked one = { .source = i };
		for (size_t k = 0; k < RANK_MESSAGES; k++)
			one.score += place_weights[k] * (double)s->best[k];
		one.score += window_weight * (double)s->window;
		/* Most files are out of the question whatever their dates are. */
		if (n >= max && rk->dates.n == 0 &&
			one.score + session_weight * (double)s->score + newest <= least)
			continue;
		one.score += source_score(rk, i);
		if (n >= max && one.score <= least)
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
	double pairs, window;
	VEC(uint32_t) * positions; /* a ranking part; NULL: of none */
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
		for (uint32_t i = 0; i < p.count[at]; i++)
			vec_push(&c->positions[part], positions[i]);
		r = 1;
	}
	postings_release(&p);
	return r < 0 ? r : 0;
}

/* The least distance of two words in a message; more than PAIR_MAX when they are not together. */
static uint32_t distance(const struct close *c, size_t a, size_t b)
{
	uint32_t least = PAIR_MAX + 1;

	for (size_t i = 0; i < c->positions[a].n && i < PAIR_PLACES; i++)
		for (size_t k = 0; k < c->positions[b].n && k < PAIR_PLACES; k++) {
			uint32_t x = c->positions[a].v[i], y = c->positions[b].v[k];
			uint32_t d = x > y ? x - y : y - x;
			least = d < least ? d : least;
		}
	return least;
}

/* A part that ranks is a word, and no phrase or beginning of words: where it stands is known. */
static bool is_word(const struct ranker *rk, size_t i)
{
	const struct query_part *part = &rk->m.query->parts.v[rk->ranking.v[i].part];

	return part->terms.n == 1 && !part->prefix;
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
			vec_each (
				&matcher_found(&rk->m, rk->ranking.v[i].part, lane)->spellings, sp)
				if (r >= 0 && is_word(rk, i))
					r = read_positions(rk->m.lanes[lane].seg, &sp->term,
						all->v + from, all->v + to, i, reterr);
	}
	vec_each (all, c)
		for (size_t i = 0; i < parts; i++)
			if (c->positions[i].n == 0 && is_word(rk, i))
				c->hit.lacks |= UINT64_C(1) << rk->ranking.v[i].part;
	vec_each (all, c)
		for (size_t i = 0; i + 1 < parts; i++) {
			double a = (double)rk->ranking.v[i].weight,
			       b = (double)rk->ranking.v[i + 1].weight;
			uint32_t d = distance(c, i, i + 1);
			if (d > 0 && d <= PAIR_MAX)
				c->pairs += pair_weight * (a < b ? a : b) / sqrt(d);
		}
	return r;
}

struct word_place {
	uint32_t position, part;
};

static int by_position(const void *a, const void *b)
{
	const struct word_place *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

/* How many parts stand within some words of each other; 0 when it is not known of all of them. */
static uint32_t count_together(const struct ranker *rk, const struct close *c)
{
	enum { NEAR = 16 }; /* words: about a line */
	size_t parts = rk->ranking.n, now = 0, most = 0, from = 0;
	unsigned counts[QUERY_PARTS_MAX] = { 0 };
	VEC(struct word_place) all = VEC_INIT;

	for (size_t i = 0; i < parts; i++)
		if (!is_word(rk, i))
			return 0;
	for (size_t i = 0; c->positions && i < parts; i++)
		for (size_t k = 0; k < c->positions[i].n; k++)
			vec_push(&all, (struct word_place){ c->positions[i].v[k], (uint32_t)i });
	vec_sort(&all, by_position);
	vec_each (&all, place) {
		now += counts[place->part]++ == 0;
		for (; place->position - all.v[from].position > NEAR; from++)
			now -= --counts[all.v[from].part] == 0;
		most = now > most ? now : most;
	}
	vec_release(&all);
	return (uint32_t)most;
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

/* The same message in a copy of its session: the text is looked at where its time, its length and
 * its words are the same. Of titles, that both are called so and began at the same time. */
static bool is_copy(const struct ranker *rk, const struct hit *a, const struct hit *b)
{
	const struct rank_opts *o = rk->opts;
	uint32_t began = rk->s.sources[a->source].first_s;

	if (a->at.kind != b->at.kind || a->source == b->source)
		return false;
	if (a->at.kind == DOC_SESSION)
		return began && began == rk->s.sources[b->source].first_s && o->same_title &&
			o->same_title(o->data, a->source, b->source);
	if (!a->at.time_s || a->at.time_s != b->at.time_s || a->at.length != b->at.length ||
		a->own != b->own)
		return false;
	/* Where they stand is asked for only now. */
	struct hit x = *a, y = *b;
	return !o->same_text ||
		(segment_doc(rk->m.lanes[x.segment].seg, x.doc, &x.at, NULL) >= 0 &&
			segment_doc(rk->m.lanes[y.segment].seg, y.doc, &y.at, NULL) >= 0 &&
			o->same_text(o->data, &x, &y));
}

/* With what its snippet needs. */
static struct hit describe(const struct ranker *rk, const struct close *c)
{
	struct hit hit = c->hit;

	hit.together = count_together(rk, c);
	vec_each (&rk->ranking, ranks)
		hit.ranked |= UINT64_C(1) << ranks->part;
	return hit;
}

/* In order; copies, and what is too much of one session, are left out. */
static void keep_best(const struct ranker *rk, closes *all, struct ranking *ret)
{
	const struct rank_opts *o = rk->opts;
	size_t most = o->sessions ? 1 : RANK_MESSAGES;
	VEC(uint64_t) copies = VEC_INIT;

	vec_sort(all, by_hit);
	vec_each (all, c) {
		size_t same = 0;
		struct hit *original = NULL;
		vec_each (&ret->hits, other)
			original = is_copy(rk, &c->hit, other) ? other : original;
		if (!original && ret->hits.n >= o->n)
			continue;
		/* That is a question to the database: only where it matters. */
		c->hit.session =
			o->session_of ? o->session_of(o->data, c->hit.source) : c->hit.source;
		if (original && original->session != c->hit.session) {
			c->hit.copies = original->copies + 1;
			c->hit.score = original->score;
			bool better =
				o->prefers && o->prefers(o->data, original->source, c->hit.source);
			/* Where sessions are asked for, a copy is none more by its other messages.
			 */
			if (o->sessions)
				vec_push(&copies, better ? original->session : c->hit.session);
			original->copies++;
			if (better)
				*original = describe(rk, c);
			continue;
		}
		vec_each (&ret->hits, other)
			same += other->session == c->hit.session;
		vec_each (&copies, session)
			same += *session == c->hit.session ? most : 0;
		if (same >= most || ret->hits.n >= o->n)
			continue;
		vec_push(&ret->hits, describe(rk, c));
	}
	vec_release(&copies);
}

/* The messages of the best sources, each with its own score or with that of its source. */
static int look_closely(
	struct ranker *rk, const struct ranked *ranked, size_t n, closes *all, struct err *reterr)
{
	AUTO_FREE uint32_t *sources = xcalloc(n + 1, sizeof(*sources));
	AUTO_FREE struct messages *messages = xcalloc(n + 1, sizeof(*messages));

	for (size_t i = 0; i < n; i++)
		sources[i] = ranked[i].source;
	int r = scorer_messages(&rk->s, rk->ranking.v, rk->ranking.n, sources, n, messages, reterr);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		for (uint32_t k = 0; k < messages[i].n && k < RANK_MESSAGES; k++) {
			const struct message *m = &messages[i].v[k];
			vec_push(all,
				(struct close){ .hit = { .source = sources[i],
							.segment = m->lane,
							.doc = m->doc,
							.at = { .time_s = m->time_s,
								.kind = (enum doc_kind)m->kind,
								.length = doc_length(m->length) },
							.own = m->score,
							.messages = messages[i].n },
					.rank = i,
					.window = (double)m->window });
		}
	}
	if (r >= 0)
		r = add_pairs(rk, all, reterr);
	vec_each (all, c)
		if (rk->ranking.n > 0)
			c->hit.score = (double)c->hit.own + c->pairs + window_weight * c->window +
				source_score(rk, c->hit.source);
	return r;
}

/* The best message of a source stands for it, with the score of the source. */
static void score_sources(const struct ranker *rk, const struct ranked *ranked, closes *all)
{
	struct of_source {
		const struct close *best;
		double pairs;
	};
	AUTO_FREE struct of_source *of = xcalloc(rk->s.n_sources + 1, sizeof(*of));

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

static void ranker_release(struct ranker *rk)
{
	vec_release(&rk->ranking);
	scorer_release(&rk->s);
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
		keep_best(rk, &all, ret);
	/* Where they stand is asked for only of what is shown. */
	vec_each (&ret->hits, hit)
		if (r >= 0)
			r = segment_doc(rk->m.lanes[hit->segment].seg, hit->doc, &hit->at, reterr);
	vec_each (&all, c) {
		for (size_t i = 0; c->positions && i < rk->ranking.n; i++)
			vec_release(&c->positions[i]);
		free(c->positions);
	}
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
		.whole = opts->sessions,
		.kinds = kinds & ~query->not_roles };
	int r = matcher_init(&rk.m, segs, n, query, &matching, reterr);
	if (r < 0)
		return r;
	scorer_init(&rk.s, &rk.m);
	struct ranking found = RANKING_INIT;
	choose_parts(&rk);
	/* Words that are nowhere find nothing. */
	if (rk.ranking.n > 0 || !asks_for_words(query))
		r = scorer_add(&rk.s, rk.ranking.v, rk.ranking.n, reterr);
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
