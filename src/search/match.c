#include "search/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "os/pool.h"
#include "search/vocabulary.h"

enum { PHRASE_SPELLINGS_MAX = 256, SECOND_MS = 1000 };

/* Another form of a word counts for less than the word as it was typed, and for less still where
 * only the stems of German are the same: most of what is said to an agent is English. */
static const float other_form = 0.8F, german_form = 0.4F;

/* ---- spellings of a part ---- */

struct speller {
	struct matcher *m;
	size_t part;
	struct found *found;
	float weight;
	size_t max; /* 0: no limit */
};

/* Into the parts' list, unless it is there. */
static int add_spelling(void *data, struct sv text, const struct segment_term *term)
{
	struct speller *s = data;

	/* A field's term is no word of the text. */
	if ((unsigned char)text.p[0] < ' ' && s->m->query->parts.v[s->part].prefix)
		return 0;
	if (s->max && s->found->spellings.n >= s->max)
		return 1;
	if (s->weight < 1)
		vec_each (&s->found->spellings, known)
			if (known->term.ordinal == term->ordinal)
				return 0;
	vec_push(&s->found->spellings, (struct spelling){ .term = *term, .weight = s->weight });
	if (!s->m->query->parts.v[s->part].prefix)
		(void)map_put(&s->m->marks, text, s->part);
	return 0;
}

static int spell_word(
	struct speller *s, const struct segment *seg, struct sv word, struct err *reterr)
{
	struct segment_term term;
	int r = segment_find(seg, word, &term, reterr);

	return r > 0 ? add_spelling(s, word, &term) : r;
}

static int spell_form(struct speller *s, const struct segment *seg, struct word_forms *forms,
	enum word_form form, struct sv word, struct err *reterr)
{
	struct sv key = word_form(forms, form, word);
	char copy[WORD_MAX];

	if (key.n == 0)
		return 0;
	/* The forms' buffer is used by what follows. */
	memcpy(copy, key.p, key.n);
	key.p = copy;
	int r = spell_word(s, seg, key, reterr);
	return r < 0 ? r : segment_forms(seg, forms, form, key, add_spelling, s, reterr);
}

/* A word that ranks: as typed, then with its other forms. */
static int spell_all(struct speller *s, const struct segment *seg, struct word_forms *forms,
	struct sv word, struct err *reterr)
{
	AUTO_STRV words = STRV_INIT;
	int r = spell_word(s, seg, word, reterr);

	s->weight = other_form;
	strv_addsv(&words, word);
	vocabulary_forms(word, &words);
	for (size_t i = 0; r >= 0 && i < words.n; i++) {
		struct sv form = sv_of(words.v[i]);
		if (i > 0)
			r = spell_word(s, seg, form, reterr);
		if (r >= 0)
			r = spell_form(s, seg, forms, FORM_ENGLISH, form, reterr);
	}
	s->weight = german_form;
	for (size_t i = 0; r >= 0 && i < words.n; i++)
		r = spell_form(s, seg, forms, FORM_GERMAN, sv_of(words.v[i]), reterr);
	return r;
}

static int spell_part(
	struct matcher *m, size_t i, size_t lane, struct word_forms *forms, struct err *reterr)
{
	const struct query_part *part = &m->query->parts.v[i];
	const struct segment *seg = m->lanes[lane].seg;
	struct speller s = { .m = m, .part = i, .found = matcher_found(m, i, lane), .weight = 1 };
	struct sv word = sv_of(part->terms.v[0].text);
	int r;

	if (part->prefix)
		r = segment_prefix(seg, word, add_spelling, &s, reterr);
	else if (part->exact || part->weak)
		r = spell_word(&s, seg, word, reterr);
	else
		r = spell_all(&s, seg, forms, word, reterr);
	s.weight = other_form;
	if (r >= 0 && m->opts.unmarked && !part->prefix)
		r = spell_form(&s, seg, forms, FORM_UNMARKED, word, reterr);
	return r < 0 ? r : 0;
}

/* ---- phrases ---- */

/* A list of documents that is gone through in step with others. */
struct follower {
	struct postings p;
	unsigned at; /* in the current block */
	uint32_t offset;
};

/* Goes to the first document from `doc` on: 1, 0 at the end, or negative. */
static int follow(struct follower *f, uint32_t doc, struct err *reterr)
{
	for (;;) {
		for (; f->at < f->p.n; f->at++)
			if (f->p.doc[f->at] >= doc)
				return 1;
		int r = postings_skip(&f->p, doc, reterr);
		if (r <= 0)
			return r;
		f->at = 0;
	}
}

/* Where words stand in a document, a byte a place. */
enum {
	PLACES = 64 * 1024, /* a document with more is compared otherwise */
	REACH = 64, /* words from the first of a phrase to another that may be looked up */
};

/* Gives back those of n places where the other word stands as far behind as it should; how many.
 * There are no branches in it that depend on the words: they would be guessed wrong every other
 * time. marks: PLACES and twice REACH of zeros, and again afterwards. */
static uint32_t keep_followed(const uint32_t *places, uint32_t n, const uint32_t *other,
	uint32_t n_other, int64_t distance, uint8_t *marks, uint32_t *ret)
{
	uint32_t kept = 0;

	if (n > 0 && n_other > 0 && places[n - 1] < PLACES && other[n_other - 1] < PLACES &&
		distance >= -REACH && distance < REACH) {
		uint8_t *at = marks + REACH;
		const uint8_t *wanted = at + distance;
		for (uint32_t k = 0; k < n_other; k++)
			at[other[k]] = 1;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t place = places[i];
			ret[kept] = place;
			kept += wanted[place];
		}
		for (uint32_t k = 0; k < n_other; k++)
			at[other[k]] = 0;
		return kept;
	}
	for (uint32_t i = 0, k = 0; i < n && k < n_other;) {
		int64_t want = places[i] + distance, is = other[k];
		ret[kept] = places[i];
		kept += want == is;
		i += want <= is;
		k += is <= want;
	}
	return kept;
}

/* How often the words stand one after the other in the document that all followers are at. */
typedef VEC(uint32_t) positions;

static int count_phrase(struct follower *fs, size_t n, positions *starts, uint8_t *marks,
	uint32_t *ret, struct err *reterr)
{
	const uint32_t *first, *other;
	int r = postings_positions(&fs[0].p, fs[0].at, &first, reterr);
	uint32_t left = fs[0].p.count[fs[0].at];

	*ret = 0;
	if (r < 0)
		return r;
	if (starts->cap < left) {
		starts->cap = left;
		starts->v = xreallocarray(starts->v, left, sizeof(*starts->v));
	}
	for (size_t i = 1; i < n && left > 0; i++) {
		r = postings_positions(&fs[i].p, fs[i].at, &other, reterr);
		if (r < 0)
			return r;
		/* The first may stand behind the other in the phrase. */
		left = keep_followed(first, left, other, fs[i].p.count[fs[i].at],
			(int64_t)fs[i].offset - fs[0].offset, marks, starts->v);
		first = starts->v;
	}
	*ret = left;
	return 0;
}

/* A phrase in one segment, and pieces of its documents. */
struct phrase_term {
	struct segment_term term;
	uint32_t offset; /* from the first word */
};
struct phrase {
	const struct segment *seg;
	const struct phrase_term *terms;
	size_t n, rarest;
	size_t pieces;
	struct found *found; /* a piece */
};

/* The documents of a piece with these terms one after the other. The rarest leads. */
static int find_phrase(void *data, size_t piece, unsigned worker UNUSED, struct err *reterr)
{
	const struct phrase *ph = data;
	size_t n = ph->n;
	struct follower *fs = xcalloc(n, sizeof(*fs));
	AUTO_FREE uint8_t *marks = xcalloc(PLACES + 2 * REACH, 1);
	positions starts = VEC_INIT;
	uint64_t docs = segment_docs(ph->seg);
	uint32_t doc = (uint32_t)(docs * piece / ph->pieces), count;
	uint32_t end = (uint32_t)(docs * (piece + 1) / ph->pieces);
	int r = 1;

	for (size_t i = 0; i < n; i++) {
		size_t which = i == 0 ? ph->rarest : i == ph->rarest ? 0 : i;
		fs[i].offset = ph->terms[which].offset;
		postings_begin(&fs[i].p, ph->seg, &ph->terms[which].term);
	}
	while (r > 0) {
		r = follow(&fs[0], doc, reterr);
		if (r <= 0)
			break;
		doc = fs[0].p.doc[fs[0].at];
		if (doc >= end)
			break;
		bool all = true;
		for (size_t i = 1; r > 0 && all && i < n; i++) {
			r = follow(&fs[i], doc, reterr);
			if (r > 0 && fs[i].p.doc[fs[i].at] != doc) {
				/* Nothing before that one can have all of them. */
				doc = fs[i].p.doc[fs[i].at];
				all = false;
			}
		}
		if (r <= 0 || !all)
			continue;
		r = count_phrase(fs, n, &starts, marks, &count, reterr);
		if (r < 0)
			break;
		if (count > 0)
			vec_push(
				&ph->found[piece].matches, (struct doc_match){ doc, (float)count });
		r = 1;
		doc++;
	}
	for (size_t i = 0; i < n; i++)
		postings_release(&fs[i].p);
	vec_release(&starts);
	free(fs);
	return r < 0 ? r : 0;
}

/* Documents with these terms one after the other, added to `matches`. Positions of common words are
 * what takes longest of all searches: they are read on several threads. */
static int find_phrases(const struct segment *seg, const struct phrase_term *terms, size_t n,
	struct found *ret, struct err *reterr)
{
	enum { PIECE = 16 * 1024, PIECES_MAX = 8 }; /* documents of the rarest */
	struct phrase ph = { .seg = seg, .terms = terms, .n = n };

	for (size_t i = 0; i < n; i++)
		ph.rarest = terms[i].term.docs < terms[ph.rarest].term.docs ? i : ph.rarest;
	ph.pieces = terms[ph.rarest].term.docs / PIECE + 1;
	ph.pieces = ph.pieces < PIECES_MAX ? ph.pieces : PIECES_MAX;
	ph.found = xcalloc(ph.pieces, sizeof(*ph.found));
	int r = ph.pieces > 1 ? pool_each(0, ph.pieces, find_phrase, &ph, reterr)
			      : find_phrase(&ph, 0, 0, reterr);
	for (size_t i = 0; i < ph.pieces; i++) {
		vec_each (&ph.found[i].matches, match)
			vec_push(&ret->matches, *match);
		vec_release(&ph.found[i].matches);
	}
	free(ph.found);
	return r;
}

static int by_doc(const void *a, const void *b)
{
	const struct doc_match *x = a, *y = b;

	return (x->doc > y->doc) - (x->doc < y->doc);
}

/* Several spellings of the last word may be in one document. */
static void join_matches(struct found *f)
{
	size_t n = 0;

	vec_sort(&f->matches, by_doc);
	for (size_t i = 0; i < f->matches.n; i++)
		if (n > 0 && f->matches.v[n - 1].doc == f->matches.v[i].doc)
			f->matches.v[n - 1].count += f->matches.v[i].count;
		else
			f->matches.v[n++] = f->matches.v[i];
	f->matches.n = n;
}

/* Whether word k of a phrase and the next one are a term. */
static bool is_pair(const struct query_part *part, size_t k)
{
	return k + 1 + part->prefix < part->terms.n &&
		part->terms.v[k + 1].offset == part->terms.v[k].offset + 1 &&
		vocabulary_common(sv_of(part->terms.v[k].text)) &&
		vocabulary_common(sv_of(part->terms.v[k + 1].text));
}

/* The terms of a phrase but for a last one that is only begun: with pairs for the words that have
 * them. 1, 0 when the segment lacks one of them, or negative. */
static int find_terms(const struct segment *seg, const struct query_part *part,
	struct phrase_term *ret, size_t *ret_n, struct err *reterr)
{
	size_t n = part->terms.n - part->prefix, found = 0;
	char buf[PAIR_TERM_MAX];
	int r = 1;

	for (size_t k = 0; r > 0 && k < n;) {
		/* The last of an odd number of common words has one with the word before it. */
		bool with_next = is_pair(part, k),
		     with_last = !with_next && k > 0 && is_pair(part, k - 1);
		size_t first = with_last ? k - 1 : k;
		struct sv word = sv_of(part->terms.v[first].text);
		if (with_next || with_last)
			word = term_of_pair(word, sv_of(part->terms.v[first + 1].text), buf);
		ret[found].offset = part->terms.v[first].offset;
		r = segment_find(seg, word, &ret[found++].term, reterr);
		k += with_next ? 2 : 1;
	}
	*ret_n = found;
	return r;
}

static int list_phrase(struct matcher *m, size_t i, size_t lane, struct err *reterr)
{
	const struct query_part *part = &m->query->parts.v[i];
	const struct segment *seg = m->lanes[lane].seg;
	struct found *f = matcher_found(m, i, lane), last = { .listed = false };
	struct speller s = {
		.m = m, .part = i, .found = &last, .weight = 1, .max = PHRASE_SPELLINGS_MAX
	};
	AUTO_FREE struct phrase_term *terms = xcalloc(part->terms.n, sizeof(*terms));
	const struct query_term *end = &part->terms.v[part->terms.n - 1];
	size_t n;

	for (size_t k = 0; k + part->prefix < part->terms.n; k++)
		(void)map_put(&m->marks, sv_of(part->terms.v[k].text), i);
	int r = find_terms(seg, part, terms, &n, reterr);
	f->listed = part->prefix || n > 1;
	if (r > 0 && !f->listed)
		vec_push(&f->spellings, (struct spelling){ .term = terms[0].term, .weight = 1 });
	else if (r > 0 && !part->prefix)
		r = find_phrases(seg, terms, n, f, reterr);
	else if (r > 0)
		r = segment_prefix(seg, sv_of(end->text), add_spelling, &s, reterr);
	vec_each (&last.spellings, spelling) {
		terms[n] = (struct phrase_term){ spelling->term, end->offset };
		if (r >= 0)
			r = find_phrases(seg, terms, n + 1, f, reterr);
	}
	if (part->prefix)
		join_matches(f);
	vec_release(&last.spellings);
	return r < 0 ? r : 0;
}

/* ---- what must be there ---- */

static void set_bit(uint64_t *bits, uint32_t doc)
{
	bits[doc / 64] |= UINT64_C(1) << (doc % 64);
}

static int mark_docs(
	const struct lane *l, const struct found *f, uint64_t *bits, struct err *reterr)
{
	vec_each (&f->matches, match)
		set_bit(bits, match->doc);
	vec_each (&f->spellings, spelling) {
		struct postings p;
		int r;
		postings_begin(&p, l->seg, &spelling->term);
		while ((r = postings_next(&p, reterr)) > 0)
			for (unsigned i = 0; i < p.n; i++)
				set_bit(bits, p.doc[i]);
		postings_release(&p);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The documents of one demand: of a part, or of all parts that an OR joins to it. */
static int mark_demand(
	const struct matcher *m, size_t part, size_t lane, uint64_t *bits, struct err *reterr)
{
	const struct query_part *parts = m->query->parts.v;
	int r = 0;

	for (size_t i = part; r >= 0 && i < m->query->parts.n; i++)
		if (i == part || (parts[part].group && parts[i].group == parts[part].group))
			r = mark_docs(&m->lanes[lane], matcher_found(m, i, lane), bits, reterr);
	return r;
}

/* Whether an earlier part has had its group's turn. */
static bool is_later(const struct query *q, size_t part)
{
	for (size_t i = 0; i < part; i++)
		if (q->parts.v[part].group && q->parts.v[i].group == q->parts.v[part].group)
			return true;
	return false;
}

static int make_only(struct matcher *m, size_t lane, struct err *reterr)
{
	struct lane *l = &m->lanes[lane];
	size_t n = (size_t)l->docs / 64 + 1;
	AUTO_FREE uint64_t *bits = NULL;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->query->parts.n; i++) {
		enum query_demand demand = m->query->parts.v[i].demand;
		if (demand == QUERY_RANKS || is_later(m->query, i))
			continue;
		if (!l->only) {
			l->only = xmalloc(n * sizeof(*l->only));
			memset(l->only, 0xFF, n * sizeof(*l->only));
			bits = xmalloc(n * sizeof(*bits));
		}
		memset(bits, 0, n * sizeof(*bits));
		r = mark_demand(m, i, lane, bits, reterr);
		for (size_t k = 0; k < n; k++)
			l->only[k] &= demand == QUERY_NOT ? ~bits[k] : bits[k];
	}
	return r;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Where sessions are asked for, one that has a message with what must not be there is none of them.
 */
static int leave_out(struct matcher *m, struct err *reterr)
{
	VEC(uint32_t) out = VEC_INIT;
	int r = 0;

	for (size_t lane = 0; r >= 0 && lane < m->n_lanes; lane++) {
		const struct lane *l = &m->lanes[lane];
		AUTO_FREE uint64_t *bits = xcalloc((size_t)l->docs / 64 + 1, sizeof(*bits));
		for (size_t i = 0; r >= 0 && i < m->query->parts.n; i++)
			if (m->query->parts.v[i].demand == QUERY_NOT)
				r = mark_demand(m, i, lane, bits, reterr);
		for (uint32_t run = 0; r >= 0 && run < l->runs; run++) {
			uint32_t doc = l->run[run].first_doc, end = doc + l->run[run].n_docs;
			while (l->run_counts[run] && doc < end && !(bits[doc / 64] >> doc % 64 & 1))
				doc++;
			if (l->run_counts[run] && doc < end)
				vec_push(&out, l->run[run].source);
		}
	}
	vec_sort(&out, by_number);
	for (size_t lane = 0; out.n > 0 && lane < m->n_lanes; lane++)
		for (uint32_t run = 0; run < m->lanes[lane].runs; run++)
			if (bsearch(&m->lanes[lane].run[run].source, out.v, out.n, sizeof(*out.v),
				    by_number))
				m->lanes[lane].run_counts[run] = 0;
	vec_release(&out);
	return r;
}

/* ---- all of it ---- */

static void lane_init(const struct matcher *m, struct lane *l, const struct segment *seg)
{
	l->seg = seg;
	l->docs = segment_docs(seg);
	l->runs = segment_runs(seg);
	l->run = segment_run_at(seg, 0);
	l->run_counts = xcalloc(l->runs + 1, 1);
	for (uint32_t i = 0; i < l->runs; i++) {
		uint32_t source = l->run[i].source;
		bool asked = !m->opts.sources ||
			(source < m->opts.n_sources &&
				(m->opts.sources[source / 64] >> (source % 64) & 1));
		l->run_counts[i] = asked && !segment_dead(seg, i);
	}
}

static uint32_t seconds(int64_t ms)
{
	int64_t s = ms / SECOND_MS;

	return s < 0 ? 0 : s > UINT32_MAX ? UINT32_MAX : (uint32_t)s;
}

int matcher_init(struct matcher *m, const struct segment *const *segs, size_t n,
	const struct query *query, const struct matcher_opts *opts, struct err *reterr)
{
	CLEANUP(word_forms_release) struct word_forms forms = WORD_FORMS_INIT;
	size_t parts = query->parts.n;
	int r = 0;

	*m = (struct matcher){ .query = query, .opts = *opts, .n_lanes = n };
	m->after_s = seconds(query->after_ms);
	m->before_s = seconds(query->before_ms);
	m->lanes = xcalloc(n + 1, sizeof(*m->lanes));
	m->found = xcalloc(n * parts + 1, sizeof(*m->found));
	m->docs = xcalloc(parts + 1, sizeof(*m->docs));
	for (size_t lane = 0; r >= 0 && lane < n; lane++) {
		lane_init(m, &m->lanes[lane], segs[lane]);
		for (size_t i = 0; r >= 0 && i < parts; i++) {
			const struct found *f = matcher_found(m, i, lane);
			r = query->parts.v[i].terms.n > 1 ? list_phrase(m, i, lane, reterr)
							  : spell_part(m, i, lane, &forms, reterr);
			m->docs[i] += f->matches.n;
			vec_each (&f->spellings, spelling)
				m->docs[i] += spelling->term.docs;
		}
		if (r >= 0)
			r = make_only(m, lane, reterr);
	}
	for (size_t i = 0; r >= 0 && opts->whole && i < parts; i++)
		if (query->parts.v[i].demand == QUERY_NOT)
			return leave_out(m, reterr);
	return r;
}

void matcher_release(struct matcher *m)
{
	for (size_t i = 0; m->found && i < m->n_lanes * m->query->parts.n; i++) {
		vec_release(&m->found[i].spellings);
		vec_release(&m->found[i].matches);
	}
	for (size_t i = 0; m->lanes && i < m->n_lanes; i++) {
		free(m->lanes[i].run_counts);
		free(m->lanes[i].only);
	}
	free(m->lanes);
	free(m->found);
	free(m->docs);
	map_release(&m->marks);
}
