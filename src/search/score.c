#include "search/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "os/pool.h"
#include "search/score-room.h"

enum {
	STRIDE = 3, /* documents; a window is two strides, and each begins a window */
	CURSORS_MAX = 8, /* spellings of a part that are gone through side by side */
	SPARSE = 4, /* a part that fewer than one of so many documents has is sparse */
	WORD = 64, /* bits */
};

double rarity(double all, double with)
{
	return log(1 + (all - with + 0.5) / (with + 0.5));
}

/* length: as a part of the mean one. Logs and listings are a hundred times as long as what people
 * say, and a word in them is not a hundred times as idle. */
static float length_norm(float length)
{
	return 1 - length_b + length_b * (length < length_max ? length : length_max);
}

/* ---- the files ---- */

void scorer_init(struct scorer *s, const struct matcher *m)
{
	double words = 0;

	*s = (struct scorer){ .m = m };
	for (size_t lane = 0; lane < m->n_lanes; lane++) {
		size_t sources = segment_sources(m->lanes[lane].seg);
		s->docs += m->lanes[lane].docs;
		s->n_sources = sources > s->n_sources ? sources : s->n_sources;
	}
	s->sources = zeros_take(&s->zeros, s->n_sources + 1, sizeof(*s->sources));
	for (size_t lane = 0; lane < m->n_lanes; lane++)
		for (uint32_t i = 0; i < m->lanes[lane].runs; i++) {
			const struct segment_run *run = &m->lanes[lane].run[i];
			struct source *source = &s->sources[run->source];
			if (segment_dead(m->lanes[lane].seg, i))
				continue;
			s->alive += source->length == 0 && run->length > 0;
			source->length += (double)run->length;
			if (run->first_s && (!source->first_s || run->first_s < source->first_s))
				source->first_s = run->first_s;
			source->last_s =
				run->last_s > source->last_s ? run->last_s : source->last_s;
			words += (double)run->length;
		}
	s->mean = words > 0 ? words / s->docs : 1;
	s->source_mean = words > 0 ? words / (double)s->alive : 1;
}

void scorer_release(struct scorer *s)
{
	zeros_release(&s->zeros);
}

/* ---- a run ---- */

static void stretch_add(struct stretch *s, uint32_t from, uint32_t to)
{
	s->from = from < s->from ? from : s->from;
	s->to = to > s->to ? to : s->to;
}

/* Room for the run that has most documents. */
static void make_room(struct adding *a)
{
	const struct matcher *m = a->s->m;
	uint32_t most = 0;

	for (size_t lane = 0; lane < m->n_lanes; lane++)
		for (uint32_t i = 0; i < m->lanes[lane].runs; i++) {
			uint32_t n = m->lanes[lane].run[i].n_docs;
			most = n > most ? n : most;
		}
	size_t room = ((size_t)most / LANES + 3) * LANES; /* whole strides, too */
	a->counts = xcalloc(room * 6, sizeof(*a->counts));
	a->message = a->counts + room;
	a->allow = a->counts + 2 * room;
	a->norm = a->counts + 3 * room;
	a->window = a->counts + 4 * room;
	a->window_norm = a->counts + 5 * room;
	a->has = xcalloc(2 * (room / WORD + 1), sizeof(*a->has));
	a->any = a->has + room / WORD + 1;
}

/* The windows that what was touched is in. */
static size_t first_window(const struct adding *a)
{
	size_t stride = a->touched.from / STRIDE;

	return stride > 0 ? stride - 1 : 0;
}

static size_t last_window(const struct adding *a)
{
	return (a->touched.to - 1) / STRIDE;
}

static void run_begin(
	struct adding *a, const struct segment_run *run, const struct doc_columns *columns)
{
	const struct matcher *m = a->s->m;
	const uint64_t *only = m->lanes[a->lane].only;
	uint32_t n = run->n_docs;

	a->touched = (struct stretch){ n, 0 };
	a->dense = false;
	a->by_kind = a->n > 0 && !only && !m->after_s && !m->before_s;
	if (a->by_kind)
		return;
	for (uint32_t i = 0; i < n; i++)
		a->allow[i] = a->counts_so[sorts(a, columns)[i]];
	for (uint32_t i = 0; only && i < n; i++)
		if (!(only[(run->first_doc + i) / 64] >> ((run->first_doc + i) % 64) & 1))
			a->allow[i] = 0;
	for (uint32_t i = 0; (m->after_s || m->before_s) && i < n; i++)
		if (columns->time_s[i] < m->after_s ||
			(m->before_s && columns->time_s[i] >= m->before_s))
			a->allow[i] = 0;
}

/* For parts that many documents have, all norms at once. */
static void make_norms(
	struct adding *a, const struct segment_run *run, const struct doc_columns *columns)
{
	uint32_t n = run->n_docs;

	a->dense = true;
	for (uint32_t i = 0; i < n; i++)
		a->norm[i] = a->norms[columns->length[i]];
	/* Behind the last one there is nothing to divide. */
	for (uint32_t i = n; i % LANES; i++)
		a->norm[i] = 1;
}

/* Adds what a cursor has in the documents from `first` to before `end`, which it has some of, and
 * goes behind them. */
static inline __attribute__((always_inline)) int count_docs(struct adding *a, struct cursor *c,
	uint32_t first, uint32_t end, const uint8_t *sort, const bool sparse,
	struct stretch *touched, struct err *reterr)
{
	uint32_t from = c->doc - first, last = 0;
	float *counts = a->counts;
	const float *allow = a->by_kind ? NULL : a->allow;
	int r = 1;

	if (c->match) {
		for (; c->match < c->matches_end && c->match->doc < end; c->match++) {
			last = c->match->doc - first;
			counts[last] +=
				c->match->count * (allow ? allow[last] : a->counts_so[sort[last]]);
			if (sparse)
				a->has[last / WORD] |= UINT64_C(1) << last % WORD;
		}
		c->doc = c->match < c->matches_end ? c->match->doc : NO_DOC;
	}
	while (!c->match && r > 0) {
		unsigned at = c->at;
		for (; at < c->p.n && c->p.doc[at] < end; at++) {
			last = c->p.doc[at] - first;
			counts[last] += (float)c->p.count[at] * c->weight *
				(allow ? allow[last] : a->counts_so[sort[last]]);
			if (sparse)
				a->has[last / WORD] |= UINT64_C(1) << last % WORD;
		}
		c->at = at;
		c->doc = at < c->p.n ? c->p.doc[at] : NO_DOC;
		if (at < c->p.n)
			break;
		r = postings_next(&c->p, reterr);
		c->at = 0;
	}
	stretch_add(touched, from, last + 1);
	return r < 0 ? r : 0;
}

static float window_norm(
	const struct adding *a, const struct doc_columns *columns, size_t from, size_t end)
{
	float length = 0;

	for (size_t i = from; i < from + (size_t)2 * STRIDE && i < end; i++)
		length += a->lengths[columns->length[i]];
	return other_k * length_norm(length / (float)(a->s->mean * 2 * STRIDE));
}

static float stride_count(const struct adding *a, size_t stride)
{
	const float *counts = a->counts + stride * STRIDE;

	return counts[0] + counts[1] + counts[2];
}

static void add_window(struct adding *a, const struct segment_run *run,
	const struct doc_columns *columns, float factor, size_t window, float count)
{
	float *norm = &a->window_norm[window];

	if (*norm == 0)
		*norm = window_norm(a, columns, window * STRIDE, run->n_docs);
	a->window[window] += factor * count / (count + *norm);
}

/* A window is two strides, and is over when its second one is. */
static void add_windows(struct adding *a, const struct segment_run *run,
	const struct doc_columns *columns, float weight, const struct stretch *here)
{
	float factor = weight * (other_k + 1), before = 0;
	size_t last = (here->to - 1) / STRIDE + 1;

	for (size_t stride = here->from / STRIDE; stride <= last; stride++) {
		float now = stride_count(a, stride), count = before + now;
		before = now;
		if (count > 0 && stride > 0)
			add_window(a, run, columns, factor, stride - 1, count);
	}
}

/* How often documents have a part becomes scores. */
static void add_counts(struct adding *a, const struct segment_run *run,
	const struct doc_columns *columns, size_t part, const struct stretch *here)
{
	float weight = a->parts[part].weight, factor = weight * (message_k + 1);
	floats sum = { 0 };

	if (!a->dense)
		make_norms(a, run, columns);
	for (uint32_t i = here->from - here->from % LANES; i < here->to; i += LANES) {
		floats counts = *(const floats *)(const void *)(a->counts + i);
		floats norm = *(const floats *)(const void *)(a->norm + i);
		*(floats *)(void *)(a->message + i) += counts * factor / (counts + norm);
		sum += counts;
	}
	add_to_source(a, run, part, sum);
	if (a->n > 1)
		add_windows(a, run, columns, weight, here);
	memset(a->counts + here->from, 0, (here->to - here->from) * sizeof(*a->counts));
	stretch_add(&a->touched, here->from, here->to);
}

/* The same where few documents have it: these alone are looked at. Sums come out the same to the
 * last bit. */
static void add_sparse(struct adding *a, const struct segment_run *run,
	const struct doc_columns *columns, size_t part, const struct stretch *here)
{
	float weight = a->parts[part].weight, factor = weight * (message_k + 1);
	float window_factor = weight * (other_k + 1);
	size_t window = 0; /* the next one */
	floats sum = { 0 };

	for (uint32_t w = here->from / WORD; w <= (here->to - 1) / WORD; w++)
		for (uint64_t left = a->has[w]; left; left &= left - 1) {
			uint32_t i = w * WORD + (uint32_t)__builtin_ctzll(left);
			size_t stride = i / STRIDE;
			float count = a->counts[i];
			a->message[i] += count * factor / (count + a->norms[columns->length[i]]);
			sum[i % LANES] += count;
			/* The windows that the stride ends and begins. */
			window = stride > window + 1 ? stride - 1 : window;
			for (; a->n > 1 && window <= stride; window++) {
				count = stride_count(a, window) + stride_count(a, window + 1);
				if (count > 0)
					add_window(a, run, columns, window_factor, window, count);
			}
		}
	add_to_source(a, run, part, sum);
	for (uint32_t w = here->from / WORD; w <= (here->to - 1) / WORD; w++) {
		for (uint64_t left = a->has[w]; left; left &= left - 1)
			a->counts[w * WORD + (uint32_t)__builtin_ctzll(left)] = 0;
		a->any[w] |= a->has[w];
		a->has[w] = 0;
	}
	stretch_add(&a->touched, here->from, here->to);
}

/* What the run is worth goes to its file. Four messages at a time, each place with best ones of its
 * own. */
static void judge_run(const struct adding *a, const struct segment_run *run)
{
	struct worth *worth = &a->worth[run->source];
	floats best[RANK_MESSAGES] = { { 0 } };
	ints found = { 0 };

	for (uint32_t from = a->touched.from - a->touched.from % LANES; from < a->touched.to;
		from += LANES) {
		floats some = *(const floats *)(const void *)(a->message + from);
		found -= some > 0;
		put_highest(best, some);
	}
	worth->messages += (uint32_t)(found[0] + found[1] + found[2] + found[3]);
	join_places(best);
	for (size_t i = 0; i < RANK_MESSAGES; i++)
		keep_highest(worth->best, best[i][0]);
	for (size_t w = first_window(a); a->n > 1 && w <= last_window(a); w++)
		worth->window = a->window[w] > worth->window ? a->window[w] : worth->window;
}

/* The same where all parts are sparse; the arrays are as they were afterwards. */
static void judge_sparse(struct adding *a, const struct segment_run *run)
{
	struct worth *worth = &a->worth[run->source];

	for (uint32_t w = a->touched.from / WORD; w <= (a->touched.to - 1) / WORD; w++) {
		for (uint64_t left = a->any[w]; left; left &= left - 1) {
			uint32_t i = w * WORD + (uint32_t)__builtin_ctzll(left);
			size_t stride = i / STRIDE;
			float score = a->message[i];
			a->message[i] = 0;
			worth->messages += score > 0;
			if (score > worth->best[RANK_MESSAGES - 1])
				keep_highest(worth->best, score);
			for (size_t k = stride > 0 ? stride - 1 : 0; a->n > 1 && k <= stride; k++) {
				float window = a->window[k];
				worth->window = window > worth->window ? window : worth->window;
				a->window[k] = a->window_norm[k] = 0;
			}
		}
		a->any[w] = 0;
	}
}

/* Of equals the later one. */
static void message_add(struct messages *all, const struct message *one)
{
	size_t n = all->n < RANK_MESSAGES ? all->n : RANK_MESSAGES, at = n;

	all->n++;
	while (at > 0 &&
		(one->score > all->v[at - 1].score ||
			(one->score == all->v[at - 1].score &&
				one->time_s >= all->v[at - 1].time_s)))
		at--;
	if (at == RANK_MESSAGES)
		return;
	n = n < RANK_MESSAGES ? n : RANK_MESSAGES - 1;
	memmove(&all->v[at + 1], &all->v[at], (n - at) * sizeof(all->v[0]));
	all->v[at] = *one;
}

/* The messages of the run go to those of its file. */
static void take_messages(
	struct adding *a, const struct segment_run *run, const struct doc_columns *columns)
{
	struct messages *all = &a->messages[a->wanted[run->source] - 1];

	for (uint32_t i = a->touched.from; i < a->touched.to; i++) {
		uint32_t stride = i / STRIDE;
		float before = stride > 0 ? a->window[stride - 1] : 0, here = a->window[stride];
		if (a->message[i] <= 0)
			continue;
		message_add(all,
			&(struct message){ .score = a->message[i],
				.window = before > here ? before : here,
				.lane = (uint32_t)a->lane,
				.doc = run->first_doc + i,
				.time_s = columns->time_s[i],
				.kind = columns->kind[i],
				.length = columns->length[i] });
	}
}

/* The run is over, and the arrays are as they were. */
static void run_end(
	struct adding *a, const struct segment_run *run, const struct doc_columns *columns)
{
	if (!a->wanted && !a->dense && a->n > 0) {
		judge_sparse(a, run);
		return;
	}
	if (a->wanted)
		take_messages(a, run, columns);
	else
		judge_run(a, run);
	for (uint32_t w = a->touched.from / WORD; w <= (a->touched.to - 1) / WORD; w++)
		a->any[w] = 0;
	size_t n = a->touched.to - a->touched.from, windows = last_window(a) - first_window(a) + 1;
	memset(a->message + a->touched.from, 0, n * sizeof(*a->message));
	if (a->n < 2)
		return;
	memset(a->window + first_window(a), 0, windows * sizeof(*a->window));
	memset(a->window_norm + first_window(a), 0, windows * sizeof(*a->window_norm));
}

/* ---- a lane ---- */

static void cursors_release(struct adding *a)
{
	for (size_t i = 0; i < a->n_cursors; i++)
		postings_release(&a->cursors[i].p);
	free(a->cursors);
	a->cursors = NULL;
	a->n_cursors = 0;
}

static void adding_release(struct adding *a)
{
	cursors_release(a);
	free(a->counts);
	free(a->has);
}

/* At the first documents from `doc` on. */
static int cursors_begin(struct adding *a, uint32_t doc, struct err *reterr)
{
	const struct lane *l = &a->s->m->lanes[a->lane];
	int r = 0;

	cursors_release(a);
	a->cursors = xcalloc(a->n * CURSORS_MAX + 1, sizeof(*a->cursors));
	for (size_t k = 0; r >= 0 && k < a->n; k++) {
		const struct found *f = matcher_found(a->s->m, a->parts[k].part, a->lane);
		uint64_t docs = f->matches.n;
		for (size_t i = 0; i < f->spellings.n && !f->listed; i++)
			docs += f->spellings.v[i].term.docs;
		bool sparse = docs * SPARSE < l->docs;
		if (f->matches.n > 0)
			a->cursors[a->n_cursors++] = (struct cursor){ .part = k,
				.sparse = sparse,
				.weight = 1,
				.match = f->matches.v,
				.matches_end = f->matches.v + f->matches.n };
		for (size_t i = 0; i < f->spellings.n && !f->listed; i++) {
			struct cursor *c = &a->cursors[a->n_cursors++];
			c->part = k;
			c->sparse = sparse;
			c->weight = f->spellings.v[i].weight;
			postings_begin(&c->p, l->seg, &f->spellings.v[i].term);
		}
	}
	/* Of one part alone (see add_alone()) the one that has most comes first. */
	for (size_t i = 1; a->n == 1 && !a->wanted && i < a->n_cursors; i++)
		if (a->cursors[i].p.left > a->cursors[0].p.left) {
			struct cursor other = a->cursors[0];
			a->cursors[0] = a->cursors[i];
			a->cursors[i] = other;
		}
	for (size_t i = 0; r >= 0 && i < a->n_cursors; i++)
		r = cursor_go(&a->cursors[i], doc, reterr);
	return r;
}

/* All cursors through the run that the first of them is in. */
static int add_run(struct adding *a, const struct segment_run *run, struct err *reterr)
{
	const struct matcher *m = a->s->m;
	uint32_t first = run->first_doc, end = first + run->n_docs;
	struct doc_columns columns;
	int r = segment_columns(m->lanes[a->lane].seg, run, a->wanted || !a->by_length,
		a->wanted || m->after_s || m->before_s, &columns, reterr);

	if (r < 0)
		return r;
	run_begin(a, run, &columns);
	if (a->n == 1 && a->by_kind && !a->wanted)
		return add_alone(a, run, &columns, reterr);
	/* Without words, what counts is as good as any other. */
	for (uint32_t i = 0; a->n == 0 && i < run->n_docs; i++)
		a->message[i] = a->allow[i];
	if (a->n == 0)
		stretch_add(&a->touched, 0, run->n_docs);
	const uint8_t *sort = sorts(a, &columns);
	for (size_t i = 0, k = 0; i < a->n_cursors; k++) {
		struct stretch here = { run->n_docs, 0 };
		bool sparse = a->cursors[i].sparse;
		for (; r >= 0 && i < a->n_cursors && a->cursors[i].part == k; i++) {
			struct cursor *c = &a->cursors[i];
			if (c->doc >= end)
				continue;
			r = sparse ? count_docs(a, c, first, end, sort, true, &here, reterr)
				   : count_docs(a, c, first, end, sort, false, &here, reterr);
		}
		if (r < 0)
			return r;
		if (here.to > 0 && sparse)
			add_sparse(a, run, &columns, k, &here);
		else if (here.to > 0)
			add_counts(a, run, &columns, k, &here);
	}
	run_end(a, run, &columns);
	return 0;
}

/* To the next run that any cursor is in, from `run` on; l->runs: none. Common words are in every
 * run, rare ones are not. */
static uint32_t next_run(const struct adding *a, uint32_t run)
{
	const struct lane *l = &a->s->m->lanes[a->lane];
	uint32_t doc = cursors_first(a->cursors, a->n_cursors);

	if (a->n == 0)
		return run;
	if (doc == NO_DOC)
		return l->runs;
	for (int i = 0; i < 2 && run < l->runs; i++, run++) {
		const struct segment_run *here = &l->run[run];
		if (doc - here->first_doc < here->n_docs)
			return run;
	}
	return segment_run_of(l->seg, doc);
}

/* The first run that begins at a document or behind it. */
static uint32_t run_from(const struct lane *l, uint64_t doc)
{
	if (l->runs == 0 || doc >= l->docs)
		return l->runs;
	uint32_t run = segment_run_of(l->seg, (uint32_t)doc);

	return l->run[run].first_doc < doc ? run + 1 : run;
}

/* `before`: documents of the lanes before it. */
static int add_lane(struct adding *a, uint64_t before, struct err *reterr)
{
	const struct lane *l = &a->s->m->lanes[a->lane];
	uint32_t from = run_from(l, a->from > before ? a->from - before : 0);
	uint32_t to = run_from(l, a->to > before ? a->to - before : 0);

	if (from >= to)
		return 0;
	int r = cursors_begin(a, l->run[from].first_doc, reterr);
	for (uint32_t i = next_run(a, from); r >= 0 && i < to; i = next_run(a, i + 1)) {
		const struct segment_run *run = &l->run[i];
		if (l->run_counts[i] && (!a->wanted || a->wanted[run->source])) {
			r = add_run(a, run, reterr);
			continue;
		}
		/* Not this one, and not those behind it either. */
		for (i++; i < to; i++) {
			run = &l->run[i];
			if (l->run_counts[i] && (!a->wanted || a->wanted[run->source]))
				break;
		}
		if (i == to)
			break;
		for (size_t k = 0; r >= 0 && k < a->n_cursors; k++)
			r = cursor_go(&a->cursors[k], run->first_doc, reterr);
		i--;
	}
	return r;
}

/* ---- all of it ---- */

static int add_piece(struct adding *a, struct err *reterr)
{
	const struct scorer *s = a->s;
	uint64_t before = 0;
	int r = 0;

	for (size_t i = 0; i < LENGTHS; i++) {
		a->lengths[i] = (float)doc_length((uint8_t)i);
		a->norms[i] = message_k * length_norm(a->lengths[i] / (float)s->mean);
	}
	/* A bit of the length tells it where all other kinds count. */
	unsigned kinds = s->m->opts.kinds, all = (1u << DOC_KINDS) - 1;
	bool aside = kinds == all;
	a->by_length = aside || kinds == (all & ~(1u << DOC_THINKING));
	for (size_t i = 0; a->by_length && i < ARRAY_LEN(a->counts_so); i++)
		a->counts_so[i] = (float)(aside || !(i & DOC_ASIDE));
	for (size_t i = 0; !a->by_length && i < DOC_KINDS; i++)
		a->counts_so[i] = (float)(kinds >> i & 1);
	for (size_t i = 0; i < LENGTHS; i++)
		a->norms_so[i] = !a->by_length || a->counts_so[i] > 0 ? a->norms[i] : INFINITY;
	make_room(a);
	for (; r >= 0 && a->lane < s->m->n_lanes; a->lane++) {
		r = add_lane(a, before, reterr);
		before += s->m->lanes[a->lane].docs;
	}
	return r;
}

static int on_piece(void *data, size_t i, unsigned worker UNUSED, struct err *reterr)
{
	return add_piece((struct adding *)data + i, reterr);
}

/* Many spellings become one list each; how many documents there are to go through. */
static int prepare(const struct scorer *s, const struct scored_part *parts, size_t n,
	uint64_t *ret_docs, struct err *reterr)
{
	int r = 0;

	*ret_docs = 0;
	for (size_t lane = 0; lane < s->m->n_lanes; lane++)
		for (size_t k = 0; r >= 0 && k < n; k++) {
			struct found *f = matcher_found(s->m, parts[k].part, lane);
			if (f->spellings.n > CURSORS_MAX && !f->listed)
				r = list_spellings(&s->m->lanes[lane], f, reterr);
			*ret_docs += f->matches.n;
			for (size_t i = 0; i < f->spellings.n && !f->listed; i++)
				*ret_docs += f->spellings.v[i].term.docs;
		}
	return r;
}

/* What the pieces found of the files becomes one. A whole session is judged like a message. */
static void judge_sources(struct scorer *s, const struct adding *pieces, size_t n_pieces, size_t n)
{
	for (size_t p = 0; p < n_pieces; p++)
		for (size_t i = 0; i < s->n_sources; i++) {
			const struct worth *worth = &pieces[p].worth[i];
			struct source *source = &s->sources[i];
			for (size_t k = 0; k < RANK_MESSAGES && worth->best[k] > 0; k++)
				keep_highest(source->best, worth->best[k]);
			source->window =
				worth->window > source->window ? worth->window : source->window;
			source->messages += worth->messages;
		}
	for (size_t k = 0; k < n; k++) {
		float *counts = pieces[0].of_sources + k * s->n_sources;
		size_t with = 0;
		for (size_t p = 1; p < n_pieces; p++)
			for (size_t i = 0; i < s->n_sources; i++)
				counts[i] += pieces[p].of_sources[k * s->n_sources + i];
		for (size_t i = 0; i < s->n_sources; i++)
			with += counts[i] > 0;
		float weight = (float)rarity((double)s->alive, (double)with);
		for (size_t i = 0; i < s->n_sources; i++) {
			struct source *source = &s->sources[i];
			float norm = counts[i] > 0
				? length_norm((float)(source->length / s->source_mean))
				: 1;
			source->score +=
				weight * counts[i] * (other_k + 1) / (counts[i] + other_k * norm);
		}
	}
}

int scorer_add(struct scorer *s, const struct scored_part *parts, size_t n, struct err *reterr)
{
	/* A thread takes as long to begin as ten thousand documents. */
	enum { PIECE = 16 * 1024, PIECES_MAX = 4 };
	struct adding pieces[PIECES_MAX] = { { .s = NULL } };
	uint64_t docs, all = (uint64_t)s->docs;
	int r = prepare(s, parts, n, &docs, reterr);

	if (r < 0)
		return r;
	size_t n_pieces = docs / PIECE + 1, cpus = pool_cpus();
	n_pieces = n_pieces < cpus ? n_pieces : cpus;
	n_pieces = n_pieces < PIECES_MAX ? n_pieces : PIECES_MAX;
	for (size_t i = 0; i < n_pieces; i++)
		pieces[i] = (struct adding){ .s = s,
			.parts = parts,
			.n = n,
			.from = all * i / n_pieces,
			.to = all * (i + 1) / n_pieces,
			.of_sources = zeros_take(&s->zeros, n * s->n_sources + 1, sizeof(float)),
			.worth = zeros_take(&s->zeros, s->n_sources + 1, sizeof(struct worth)) };
	r = pool_each((unsigned)n_pieces, n_pieces, on_piece, pieces, reterr);
	if (r >= 0)
		judge_sources(s, pieces, n_pieces, n);
	for (size_t i = 0; i < n_pieces; i++)
		adding_release(&pieces[i]);
	return r;
}

int scorer_messages(struct scorer *s, const struct scored_part *parts, size_t n,
	const uint32_t *sources, size_t n_sources, struct messages *ret, struct err *reterr)
{
	AUTO_FREE uint32_t *wanted = xcalloc(s->n_sources + 1, sizeof(*wanted));
	CLEANUP(adding_release)
	struct adding a = { .s = s,
		.to = (uint64_t)s->docs,
		.parts = parts,
		.n = n,
		.wanted = wanted,
		.messages = ret };

	for (size_t i = 0; i < n_sources; i++) {
		wanted[sources[i]] = (uint32_t)i + 1;
		ret[i].n = 0;
	}
	return add_piece(&a, reterr);
}
