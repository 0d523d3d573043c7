/*
 * One segment of several: their terms side by side, documents numbered anew, dead ones left out.
 */
#include "base/mem.h"
#include "search/segment-file.h"

enum { COOL_BYTES = 16 * 1024 * 1024 };
static const uint32_t GONE = UINT32_MAX; /* no enumerator: those are of type int */

struct input {
	const struct segment *seg;
	uint32_t *now; /* the new number of each document, or GONE */
	struct term_walk walk;
	bool has; /* a term */
};

struct merge {
	struct segment_writer w;
	struct input *inputs;
	size_t n;
	VEC(struct segment_run) runs;
	uint32_t docs;
	uint64_t words;
	uint64_t cool_at; /* bytes written, when what was read is given back */
};

static void merge_release(struct merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->inputs[i].now);
	free(m->inputs);
	vec_release(&m->runs);
	segment_writer_release(&m->w);
}

/* What a source had in several segments becomes one run where nothing else came between. */
static bool goes_on(const struct segment_run *a, const struct segment_run *b)
{
	return a->source == b->source && a->generation == b->generation && a->flags == b->flags &&
		!a->flags;
}

static void add_run(struct merge *m, const struct segment_run *run)
{
	struct segment_run *before = m->runs.n ? &m->runs.v[m->runs.n - 1] : NULL;

	if (before && goes_on(before, run)) {
		before->n_docs += run->n_docs;
		before->length += run->length;
		if (run->first_s && (!before->first_s || run->first_s < before->first_s))
			before->first_s = run->first_s;
		if (run->last_s > before->last_s)
			before->last_s = run->last_s;
	} else {
		vec_push(&m->runs, *run);
		m->runs.v[m->runs.n - 1].first_doc = m->docs;
	}
	m->docs += run->n_docs;
	m->words += run->length;
}

static void number_docs(struct merge *m, struct input *in)
{
	uint32_t runs = segment_runs(in->seg);

	in->now = xmalloc(((size_t)segment_docs(in->seg) + 1) * sizeof(*in->now));
	for (uint32_t i = 0; i < runs; i++) {
		const struct segment_run *run = segment_run_at(in->seg, i);
		bool dead = segment_dead(in->seg, i);
		for (uint32_t d = 0; d < run->n_docs; d++)
			in->now[run->first_doc + d] = dead ? GONE : m->docs + d;
		if (!dead)
			add_run(m, run);
	}
}

/* ---- terms ---- */

static int advance(struct input *in, struct err *reterr)
{
	int r = term_walk_next(&in->walk, reterr);

	in->has = r > 0;
	return r;
}

static int copy_list(struct merge *m, struct input *in, struct err *reterr)
{
	struct postings p;
	struct sv positions;
	int r;

	postings_begin(&p, in->seg, &in->walk.term);
	while ((r = postings_next(&p, reterr)) > 0) {
		for (unsigned i = 0; r >= 0 && i < p.n; i++) {
			uint32_t doc = in->now[p.doc[i]];
			if (doc == GONE)
				continue;
			r = postings_raw_positions(&p, i, &positions, reterr);
			if (r >= 0)
				r = writer_posting(&m->w, doc, p.count[i], positions, reterr);
		}
		if (r < 0)
			break;
	}
	postings_release(&p);
	return r;
}

/* The lowest of the terms, from all that have it. */
static int copy_term(struct merge *m, struct err *reterr)
{
	struct sv lowest = { NULL, 0 };
	int r = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct input *in = &m->inputs[i];
		struct sv text = sv_make(in->walk.text, in->walk.n);
		if (in->has && (!lowest.p || sv_cmp(text, lowest) < 0))
			lowest = text;
	}
	if (!lowest.p)
		return 0;
	writer_term(&m->w, lowest);
	lowest.p = m->w.text; /* the inputs go on */
	for (size_t i = 0; r >= 0 && i < m->n; i++) {
		struct input *in = &m->inputs[i];
		if (!in->has || !sv_eq(sv_make(in->walk.text, in->walk.n), lowest))
			continue;
		r = copy_list(m, in, reterr);
		if (r >= 0)
			r = advance(in, reterr);
	}
	if (r >= 0)
		r = writer_term_end(&m->w, reterr);
	if (m->w.at + m->w.positions.n > m->cool_at) {
		m->cool_at = m->w.at + m->w.positions.n + COOL_BYTES;
		for (size_t i = 0; i < m->n; i++)
			segment_cool(m->inputs[i].seg);
	}
	return r < 0 ? r : 1;
}

static int merge_terms(struct merge *m, struct err *reterr)
{
	int r = writer_section(&m->w, SECTION_POSTINGS, reterr);

	for (size_t i = 0; r >= 0 && i < m->n; i++) {
		term_walk_begin(&m->inputs[i].walk, m->inputs[i].seg, 0);
		r = advance(&m->inputs[i], reterr);
	}
	while (r >= 0 && (r = copy_term(m, reterr)) > 0)
		;
	return r < 0 ? r : writer_terms_end(&m->w, reterr);
}

/* ---- documents ---- */

static int merge_docs(struct merge *m, struct err *reterr)
{
	int r = writer_section(&m->w, SECTION_RUNS, reterr);

	if (r >= 0)
		r = writer_bytes(&m->w, m->runs.v, m->runs.n * sizeof(*m->runs.v), reterr);
	for (enum section s = SECTION_TIME; r >= 0 && s < SECTIONS; s++) {
		r = writer_section(&m->w, s, reterr);
		for (size_t i = 0; r >= 0 && i < m->n; i++) {
			const struct segment *seg = m->inputs[i].seg;
			for (uint32_t run = 0; r >= 0 && run < segment_runs(seg); run++) {
				struct sv bytes = { NULL, 0 };
				if (!segment_dead(seg, run))
					r = segment_column(
						seg, s, segment_run_at(seg, run), &bytes, reterr);
				if (r >= 0)
					r = writer_bytes(&m->w, bytes.p, bytes.n, reterr);
			}
		}
	}
	m->w.foot.docs = m->docs;
	m->w.foot.runs = (uint32_t)m->runs.n;
	m->w.foot.words = m->words;
	return r;
}

int segment_merge(struct segment *const *segs, size_t n, const char *path, uint32_t *ret_docs,
	struct err *reterr)
{
	CLEANUP(merge_release)
	struct merge m = { .n = n, .inputs = xcalloc(n + 1, sizeof(*m.inputs)) };
	int r = segment_writer_open(&m.w, path, reterr);

	for (size_t i = 0; i < n; i++) {
		m.inputs[i].seg = segs[i];
		number_docs(&m, &m.inputs[i]);
	}
	if (r >= 0 && m.docs > 0)
		r = merge_terms(&m, reterr);
	if (r >= 0 && m.docs > 0)
		r = merge_docs(&m, reterr);
	if (r >= 0 && m.docs > 0)
		r = segment_writer_commit(&m.w, reterr);
	if (r >= 0)
		*ret_docs = m.docs;
	return r;
}
