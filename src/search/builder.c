/*
 * Documents on their way to a segment. Each term has a list in one arena, in slices that grow, of
 * what its postings will be; the words of one document are gathered first, since its counts stand
 * before its positions.
 */
#include <xxhash.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "search/segment-file.h"
#include "search/vocabulary.h"

enum {
	SLICE_FIRST =
		12, /* bytes of a term's first slice: one posting and where the next slice is */
	SLICE_LEVELS = 8, /* each has twice the room of the one before, up to some */
	LINK = 4,
	SLOTS_MIN = 1 << 16,
	COMMON_SLOTS = 1 << 10,
	AHEAD = 8, /* terms whose lists are fetched before they are written to */
	PART_MAX = 255,
	WALL_MAX = 0xFFFF, /* of the upper part of a place */
};

static const uint32_t END = UINT32_MAX; /* no enumerator: those are of type int */

/* A cache line each: looking a word up should touch no more. */
struct entry {
	char start[16]; /* of its text */
	uint32_t hash;
	uint32_t text; /* in the arena */
	uint32_t first, at, end; /* first slice; where the next byte goes, and where that ends */
	uint32_t next_doc; /* the first that may follow */
	uint32_t docs;
	uint32_t head, tail; /* in `here`: where it stands in the current document */
	uint32_t count;
	uint8_t n;
	uint8_t level;
	bool common;
};

struct place {
	uint32_t position, next;
};

struct builder {
	size_t budget;
	uint8_t *arena;
	size_t used, cap;
	VEC(struct entry) terms;
	uint32_t *slots; /* index + 1 */
	size_t slots_n;
	uint64_t seed;
	struct {
		struct sv text;
		uint32_t hash;
	} common[COMMON_SLOTS]; /* words of vocabulary_common() by their hashes; no text: none */
	/* the current document */
	VEC(struct place) here;
	VEC(uint32_t) touched; /* terms */
	bool open;
	uint32_t length;
	struct segment_doc doc;
	/* documents */
	VEC(struct segment_doc) docs;
	VEC(struct segment_run) runs;
	struct segment_run run; /* not among them while it has no document */
	uint64_t words;
};

static uint32_t hash_of(const struct builder *b, struct sv text)
{
	return (uint32_t)XXH3_64bits_withSeed(text.p, text.n, b->seed);
}

static void add_common(void *data, struct sv word)
{
	struct builder *b = data;
	uint32_t hash = hash_of(b, word);
	size_t at = hash % COMMON_SLOTS;

	while (b->common[at].text.n > 0)
		at = (at + 1) % COMMON_SLOTS;
	b->common[at].text = word;
	b->common[at].hash = hash;
}

static bool is_common(const struct builder *b, struct sv text, uint32_t hash)
{
	for (size_t at = hash % COMMON_SLOTS; b->common[at].text.n > 0;
		at = (at + 1) % COMMON_SLOTS)
		if (b->common[at].hash == hash && sv_eq(b->common[at].text, text))
			return true;
	return false;
}

struct builder *builder_new(size_t budget)
{
	struct builder *b = xcalloc(1, sizeof(*b));

	b->budget = budget;
	b->seed = hash_seed();
	b->slots_n = SLOTS_MIN;
	b->slots = xcalloc(b->slots_n, sizeof(*b->slots));
	vocabulary_each_common(add_common, b);
	return b;
}

void builder_free(struct builder *b)
{
	if (!b)
		return;
	free(b->arena);
	free(b->slots);
	vec_release(&b->terms);
	vec_release(&b->here);
	vec_release(&b->touched);
	vec_release(&b->docs);
	vec_release(&b->runs);
	free(b);
}

uint32_t builder_docs(const struct builder *b)
{
	return (uint32_t)b->docs.n + b->open;
}

bool builder_full(const struct builder *b)
{
	return b->used + b->terms.n * sizeof(*b->terms.v) + b->slots_n * sizeof(*b->slots) +
		b->docs.n * sizeof(*b->docs.v) + b->here.cap * sizeof(*b->here.v) >=
		b->budget;
}

/* ---- the lists ---- */

/* The arena moves when it grows: places in it are numbers. */
static uint32_t arena_take(struct builder *b, size_t n)
{
	if (b->cap - b->used < n) {
		b->cap = b->cap ? b->cap + b->cap / 2 : b->budget / 2 + n;
		b->arena = xrealloc(b->arena, b->cap);
	}
	b->used += n;
	return (uint32_t)(b->used - n);
}

static uint32_t slice_size(unsigned level)
{
	return LINK + ((uint32_t)(SLICE_FIRST - LINK) << level);
}

static void put_byte(struct builder *b, struct entry *t, uint8_t byte)
{
	if (t->at + LINK == t->end) {
		if (t->level + 1 < SLICE_LEVELS)
			t->level++;
		uint32_t n = slice_size(t->level);
		uint32_t at = arena_take(b, n);
		memcpy(b->arena + t->at, &at, LINK);
		t->at = at;
		t->end = at + n;
	}
	b->arena[t->at++] = byte;
}

static void put_number(struct builder *b, struct entry *t, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(b, t, (uint8_t)(value | 0x80));
	put_byte(b, t, (uint8_t)value);
}

/* Reads a list back. */
struct reader {
	const struct builder *b;
	uint32_t at, end;
	unsigned level;
};

static uint8_t get_byte(struct reader *r)
{
	if (r->at + LINK == r->end) {
		if (r->level + 1 < SLICE_LEVELS)
			r->level++;
		memcpy(&r->at, r->b->arena + r->at, LINK);
		r->end = r->at + slice_size(r->level);
	}
	return r->b->arena[r->at++];
}

static uint32_t get_number(struct reader *r)
{
	uint32_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = get_byte(r);
		value |= (uint32_t)(byte & 0x7F) << shift;
		if (byte < 0x80)
			return value;
	}
}

/* ---- terms ---- */

static void grow_slots(struct builder *b)
{
	size_t n = b->slots_n * 2;

	free(b->slots);
	b->slots = xcalloc(n, sizeof(*b->slots));
	b->slots_n = n;
	for (size_t i = 0; i < b->terms.n; i++) {
		size_t at = b->terms.v[i].hash & (n - 1);
		while (b->slots[at])
			at = (at + 1) & (n - 1);
		b->slots[at] = (uint32_t)i + 1;
	}
}

static bool same_text(const struct builder *b, const struct entry *t, struct sv text)
{
	return text.n <= sizeof(t->start) ? memcmp(t->start, text.p, text.n) == 0
					  : memcmp(b->arena + t->text, text.p, text.n) == 0;
}

static uint32_t find_term(struct builder *b, struct sv text, uint32_t hash)
{
	size_t at = hash & (b->slots_n - 1);

	for (; b->slots[at]; at = (at + 1) & (b->slots_n - 1)) {
		const struct entry *t = &b->terms.v[b->slots[at] - 1];
		if (t->hash == hash && t->n == text.n && same_text(b, t, text))
			return b->slots[at] - 1;
	}
	uint32_t place = arena_take(b, text.n + SLICE_FIRST);
	memcpy(b->arena + place, text.p, text.n);
	uint32_t first = place + (uint32_t)text.n;
	b->slots[at] = (uint32_t)b->terms.n + 1;
	vec_push(&b->terms,
		(struct entry){
			.hash = hash,
			.text = place,
			.first = first,
			.at = first,
			.end = first + SLICE_FIRST,
			.head = END,
			.tail = END,
			.n = (uint8_t)text.n,
			.common = is_common(b, text, hash),
		});
	memcpy(b->terms.v[b->terms.n - 1].start, text.p,
		text.n < sizeof(b->terms.v->start) ? text.n : sizeof(b->terms.v->start));
	if (b->terms.n * 2 > b->slots_n)
		grow_slots(b);
	return (uint32_t)b->terms.n - 1;
}

static uint32_t add_hashed(struct builder *b, struct sv term, uint32_t hash, uint32_t position)
{
	uint32_t i = find_term(b, term, hash), at = (uint32_t)b->here.n;
	struct entry *t = &b->terms.v[i];

	if (t->head == END) {
		t->head = at;
		vec_push(&b->touched, i);
	} else {
		b->here.v[t->tail].next = at;
	}
	t->tail = at;
	t->count++;
	vec_push(&b->here, (struct place){ position, END });
	return i;
}

void builder_add(struct builder *b, struct sv term, uint32_t position)
{
	term = sv_head(term, TERM_MAX);
	(void)add_hashed(b, term, hash_of(b, term), position);
}

/* Common words that were added last. An identifier's whole has the position of its first part: at
 * two positions there are at most four words. */
struct latest {
	struct {
		uint32_t term, position;
	} v[4];
	unsigned n; /* all that have been there */
};

/* A common word with those that stand before it. Lists of their own make phrases of such words as
 * quick as a word: their positions would be most of all that are read. */
static void add_pairs(struct builder *b, struct latest *latest, uint32_t term, uint32_t position)
{
	enum { MOST = ARRAY_LEN(latest->v) };
	char buf[PAIR_TERM_MAX];

	for (unsigned k = latest->n > MOST ? latest->n - MOST : 0; k < latest->n; k++) {
		uint32_t before = latest->v[k % MOST].position;
		if (before + 1 != position)
			continue;
		const struct entry *first = &b->terms.v[latest->v[k % MOST].term];
		const struct entry *second = &b->terms.v[term];
		builder_add(b,
			term_of_pair(sv_make((const char *)b->arena + first->text, first->n),
				sv_make((const char *)b->arena + second->text, second->n), buf),
			before);
	}
	latest->v[latest->n % MOST].term = term;
	latest->v[latest->n++ % MOST].position = position;
}

/* Some words at a time: where each of them leads to is on its way while the others are hashed. */
uint32_t builder_text(struct builder *b, struct sv text, uint32_t position)
{
	enum { BATCH = 16 };
	struct {
		char text[WORD_MAX];
		uint32_t n, hash, position;
	} words[BATCH];
	struct latest latest = { .n = 0 };
	struct word_walk walk;
	struct word_at word;
	bool more = true;

	words_begin(&walk, text);
	while (more) {
		unsigned n = 0;
		while (n < BATCH && (more = words_next(&walk, &word))) {
			memcpy(words[n].text, word.text.p, word.text.n);
			words[n].n = (uint32_t)word.text.n;
			words[n].position = position + word.position;
			words[n].hash = hash_of(b, word.text);
			__builtin_prefetch(&b->slots[words[n].hash & (b->slots_n - 1)]);
			n++;
		}
		for (unsigned i = 0; i < n; i++) {
			uint32_t slot = b->slots[words[i].hash & (b->slots_n - 1)];
			if (slot)
				__builtin_prefetch(&b->terms.v[slot - 1]);
		}
		for (unsigned i = 0; i < n; i++) {
			uint32_t term = add_hashed(b, sv_make(words[i].text, words[i].n),
				words[i].hash, words[i].position);
			if (b->terms.v[term].common)
				add_pairs(b, &latest, term, words[i].position);
		}
	}
	b->length += walk.position;
	return position + walk.position;
}

/* ---- documents ---- */

static void end_doc(struct builder *b)
{
	uint32_t doc = (uint32_t)b->docs.n;

	if (!b->open)
		return;
	b->open = false;
	vec_each (&b->touched, i) {
		struct entry *t = &b->terms.v[*i];
		uint32_t before = 0;
		if (i + AHEAD < b->touched.v + b->touched.n)
			__builtin_prefetch(&b->arena[b->terms.v[i[AHEAD]].at], 1);
		put_number(b, t, doc - t->next_doc);
		put_number(b, t, t->count);
		for (uint32_t at = t->head; at != END; at = b->here.v[at].next) {
			put_number(b, t, b->here.v[at].position - before);
			before = b->here.v[at].position;
		}
		t->next_doc = doc + 1;
		t->docs++;
		t->head = t->tail = END;
		t->count = 0;
	}
	b->touched.n = b->here.n = 0;
	b->doc.length = b->length;
	b->words += b->length;
	if (b->run.n_docs == 0) {
		b->run.first_doc = doc;
		vec_push(&b->runs, b->run);
	}
	struct segment_run *run = &b->runs.v[b->runs.n - 1];
	if (b->doc.time_s && (run->first_s == 0 || b->doc.time_s < run->first_s))
		run->first_s = b->doc.time_s;
	if (b->doc.time_s > run->last_s)
		run->last_s = b->doc.time_s;
	run->length += b->length;
	run->n_docs = ++b->run.n_docs;
	vec_push(&b->docs, b->doc);
}

void builder_run(struct builder *b, uint32_t source, uint32_t generation, uint32_t flags)
{
	end_doc(b);
	b->run = (struct segment_run){
		.source = source,
		.generation = generation,
		.flags = flags,
	};
}

void builder_doc(struct builder *b, const struct segment_doc *doc)
{
	end_doc(b);
	b->doc = *doc;
	b->length = 0;
	b->open = true;
}

/* ---- writing ---- */

struct order {
	uint64_t prefix;
	const char *text; /* in the arena, which stays where it is */
	uint32_t term;
	uint32_t n;
};

static int by_text(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return sv_cmp(sv_make(x->text, x->n), sv_make(y->text, y->n));
}

static int write_list(struct segment_writer *w, const struct builder *b, const struct entry *t,
	struct str *positions, struct err *reterr)
{
	struct reader list = { b, t->first, t->first + SLICE_FIRST, 0 };
	uint32_t doc = 0;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < t->docs; i++) {
		doc += get_number(&list);
		uint32_t count = get_number(&list);
		str_clear(positions);
		for (uint32_t left = count; left > 0; left--) {
			uint8_t byte;
			do
				str_addc(positions, (char)(byte = get_byte(&list)));
			while (byte >= 0x80);
		}
		r = writer_posting(w, doc++, count, str_sv(positions), reterr);
	}
	return r;
}

static int write_terms(struct segment_writer *w, const struct builder *b, struct err *reterr)
{
	AUTO_FREE struct order *order = xmalloc((b->terms.n + 1) * sizeof(*order));
	AUTO_STR positions = STR_INIT;
	int r = writer_section(w, SECTION_POSTINGS, reterr);

	for (size_t i = 0; i < b->terms.n; i++) {
		const struct entry *t = &b->terms.v[i];
		const char *text = (const char *)b->arena + t->text;
		order[i] = (struct order){
			.prefix = term_prefix(sv_make(text, t->n)),
			.text = text,
			.term = (uint32_t)i,
			.n = t->n,
		};
	}
	qsort(order, b->terms.n, sizeof(*order), by_text);
	for (size_t i = 0; r >= 0 && i < b->terms.n; i++) {
		writer_term(w, sv_make(order[i].text, order[i].n));
		r = write_list(w, b, &b->terms.v[order[i].term], &positions, reterr);
		if (r >= 0)
			r = writer_term_end(w, reterr);
	}
	return r < 0 ? r : writer_terms_end(w, reterr);
}

static uint32_t column_of(const struct segment_doc *doc, enum section section)
{
	switch (section) {
	case SECTION_TIME:
		return doc->time_s;
	case SECTION_PLACE:
		return (uint32_t)doc->offset;
	case SECTION_PLACE_HIGH:
		return doc->offset >> 32 > WALL_MAX ? WALL_MAX : (uint32_t)(doc->offset >> 32);
	case SECTION_KIND:
		return (uint32_t)doc->kind;
	case SECTION_PART:
		return doc->part > PART_MAX ? PART_MAX : doc->part;
	case SECTION_LENGTH:
		return doc_length_byte(doc->length) | (doc_is_aside(doc->kind) ? DOC_ASIDE : 0u);
	case SECTION_POSTINGS:
	case SECTION_POSITIONS:
	case SECTION_TERMS:
	case SECTION_BLOCKS:
	case SECTION_FORMS:
	case SECTION_RUNS:
	case SECTIONS:
		break;
	}
	return 0;
}

int builder_write(struct builder *b, const char *path, bool lazy, struct err *reterr)
{
	CLEANUP(segment_writer_release) struct segment_writer w;

	end_doc(b);
	int r = segment_writer_open(&w, path, reterr);
	w.file.lazy = lazy;
	if (r >= 0)
		r = write_terms(&w, b, reterr);
	if (r >= 0)
		r = writer_section(&w, SECTION_RUNS, reterr);
	if (r >= 0)
		r = writer_bytes(&w, b->runs.v, b->runs.n * sizeof(*b->runs.v), reterr);
	for (enum section s = SECTION_TIME; s < SECTIONS; s++) {
		if (r >= 0)
			r = writer_section(&w, s, reterr);
		for (size_t i = 0; r >= 0 && i < b->docs.n; i++) {
			uint32_t value = column_of(&b->docs.v[i], s);
			r = writer_bytes(&w, &value, column_size(s), reterr);
		}
	}
	w.foot.docs = (uint32_t)b->docs.n;
	w.foot.runs = (uint32_t)b->runs.n;
	w.foot.words = b->words;
	if (r >= 0)
		r = segment_writer_commit(&w, reterr);
	/* Also what could not be written is not held any longer: its sources are read again. */
	b->used = 0;
	b->terms.n = b->docs.n = b->runs.n = 0;
	memset(b->slots, 0, b->slots_n * sizeof(*b->slots));
	b->run.n_docs = 0;
	b->run.length = 0;
	b->run.first_s = b->run.last_s = 0;
	b->words = 0;
	return r;
}
