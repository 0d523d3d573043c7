#include "search/segment.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "base/mem.h"
#include "search/segment-file.h"

int segment_damaged(const struct segment *seg, struct err *reterr, const char *what)
{
	return err_set(reterr, SEGMENT_DAMAGED, "index %s: damaged (%s)", seg->path, what);
}

/* ---- bytes ---- */

/* Page i of n bytes. */
static bool page_fits(const void *p, uint64_t n, uint64_t i, uint64_t check)
{
	uint64_t at = i * SEGMENT_PAGE;

	return XXH3_64bits((const uint8_t *)p + at,
		       (size_t)(n - at < SEGMENT_PAGE ? n - at : SEGMENT_PAGE)) == check;
}

int segment_check_page(const struct segment *seg, uint64_t page, struct err *reterr)
{
	uint64_t of_checks = page * sizeof(*seg->checks) / SEGMENT_PAGE;
	uint8_t *guarded = &seg->seen[seg->pages + of_checks];

	if (!__atomic_load_n(guarded, __ATOMIC_RELAXED)) {
		if (!page_fits(seg->checks, seg->pages * sizeof(*seg->checks), of_checks,
			    seg->guards[of_checks]))
			return segment_damaged(
				seg, reterr, "its check sums are not what was written");
		__atomic_store_n(guarded, 1, __ATOMIC_RELAXED);
	}
	if (!page_fits(seg->map, seg->body, page, seg->checks[page]))
		return segment_damaged(seg, reterr, "a page is not what was written");
	__atomic_store_n(&seg->seen[page], 1, __ATOMIC_RELAXED);
	return 0;
}

static const uint8_t *section(const struct segment *seg, enum section which)
{
	return seg->map + seg->foot->sections[which].at;
}

static uint64_t pages_of(uint64_t bytes)
{
	return (bytes + SEGMENT_PAGE - 1) / SEGMENT_PAGE;
}

/* All of a section. */
static int touch_section(const struct segment *seg, enum section which, struct err *reterr)
{
	return segment_touch(
		seg, seg->foot->sections[which].at, seg->foot->sections[which].n, reterr);
}

/* ---- opening ---- */

uint32_t segment_docs(const struct segment *seg)
{
	return seg->foot->docs;
}

uint32_t segment_runs(const struct segment *seg)
{
	return seg->foot->runs;
}

uint32_t segment_sources(const struct segment *seg)
{
	return seg->sources;
}

uint32_t segment_terms(const struct segment *seg)
{
	return seg->foot->terms;
}

uint64_t segment_size(const struct segment *seg)
{
	return seg->size;
}

uint64_t segment_words(const struct segment *seg)
{
	return seg->foot->words;
}

const struct segment_run *segment_run_at(const struct segment *seg, uint32_t i)
{
	return (const struct segment_run *)(const void *)section(seg, SECTION_RUNS) + i;
}

/* The sections follow each other, have the sizes that their numbers say, and end before the
 * checks. */
static bool foot_fits(const struct segment_foot *f, uint64_t size, uint64_t *ret_body)
{
	const uint64_t sizes[SECTION_TIME] = {
		[SECTION_BLOCKS] = ((uint64_t)f->terms + TERMS_BLOCK - 1) / TERMS_BLOCK *
			sizeof(struct block_key),
		[SECTION_FORMS] = (uint64_t)f->forms * sizeof(uint64_t),
		[SECTION_RUNS] = (uint64_t)f->runs * sizeof(struct segment_run),
	};
	uint64_t at = 0;

	for (int i = 0; i < SECTIONS; i++) {
		uint64_t want =
			i < SECTION_TIME ? sizes[i] : f->docs * column_size((enum section)i);
		at = (at + SECTION_ALIGN - 1) / SECTION_ALIGN * SECTION_ALIGN;
		if (f->sections[i].at != at || f->sections[i].n > size - at ||
			(i >= SECTION_BLOCKS && f->sections[i].n != want))
			return false;
		at += f->sections[i].n;
	}
	*ret_body = (at + SECTION_ALIGN - 1) / SECTION_ALIGN * SECTION_ALIGN;
	return true;
}

static bool runs_fit(struct segment *seg)
{
	enum { SOURCES_MAX = 1 << 24 };
	uint64_t doc = 0;

	for (uint32_t i = 0; i < segment_runs(seg); i++) {
		const struct segment_run *run = segment_run_at(seg, i);
		if (run->first_doc != doc || run->n_docs == 0 || run->source >= SOURCES_MAX)
			return false;
		doc += run->n_docs;
		if (run->source >= seg->sources)
			seg->sources = run->source + 1;
	}
	return doc == segment_docs(seg);
}

static int look_at(struct segment *seg, struct err *reterr)
{
	const struct segment_foot *foot;

	if (seg->size < sizeof(*foot) || seg->size % SECTION_ALIGN != 0)
		return segment_damaged(seg, reterr, "it is cut off");
	foot = (const void *)(seg->map + seg->size - sizeof(*foot));
	if (foot->magic != SEGMENT_MAGIC ||
		foot->hash != XXH3_64bits(foot, offsetof(struct segment_foot, hash)))
		return segment_damaged(seg, reterr, "its end is not what was written");
	uint64_t room = seg->size - sizeof(*foot);
	if (!foot_fits(foot, room, &seg->body))
		return segment_damaged(seg, reterr, "its parts do not fit together");
	seg->pages = pages_of(seg->body);
	uint64_t guards = pages_of(seg->pages * sizeof(*seg->checks));
	if (room - seg->body != (seg->pages + guards) * sizeof(*seg->checks))
		return segment_damaged(seg, reterr, "its parts do not fit together");
	seg->foot = foot;
	seg->checks = (const void *)(seg->map + seg->body);
	seg->guards = seg->checks + seg->pages;
	if (XXH3_64bits(seg->guards, guards * sizeof(*seg->guards)) != foot->guards_hash)
		return segment_damaged(seg, reterr, "its check sums are not what was written");
	seg->seen = xcalloc(seg->pages + guards + 1, 1);
	int r = touch_section(seg, SECTION_RUNS, reterr);
	if (r >= 0 && !runs_fit(seg))
		r = segment_damaged(seg, reterr, "its runs do not fit its documents");
	return r;
}

int segment_open(const char *path, struct segment **ret, struct err *reterr)
{
	struct stat st;
	AUTO_CLOSE int fd = file_open(path, &st, reterr);

	if (fd < 0)
		return fd;
	struct segment *seg = xcalloc(1, sizeof(*seg));
	seg->path = xstrdup(path);
	seg->size = (size_t)st.st_size;
	int r = 0;
	void *map = seg->size ? mmap(NULL, seg->size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (map != MAP_FAILED)
		seg->map = map;
	else if (seg->size)
		r = err_errno(reterr, errno, "map %s", path);
	if (r >= 0)
		r = look_at(seg, reterr);
	if (r < 0) {
		segment_close(seg);
		return r;
	}
	*ret = seg;
	return 0;
}

void segment_close(struct segment *seg)
{
	if (!seg)
		return;
	if (seg->map)
		(void)munmap(seg->map, seg->size);
	free(seg->seen);
	free(seg->dead);
	free(seg->path);
	free(seg);
}

void segment_cool(const struct segment *seg)
{
	(void)madvise(seg->map, seg->size, MADV_DONTNEED);
}

void segment_set_dead(struct segment *seg, struct sv bits)
{
	size_t n = ((size_t)segment_runs(seg) + 7) / 8;

	free(seg->dead);
	seg->dead = xcalloc(n + 1, 1);
	if (bits.n)
		memcpy(seg->dead, bits.p, bits.n < n ? bits.n : n);
}

bool segment_dead(const struct segment *seg, uint32_t run)
{
	return seg->dead && (seg->dead[run / 8] >> run % 8 & 1);
}

/* ---- documents ---- */

uint32_t segment_run_of(const struct segment *seg, uint32_t doc)
{
	uint32_t low = 0, high = segment_runs(seg);

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (segment_run_at(seg, middle)->first_doc <= doc)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Three bits behind the first of the number, and how often that is doubled. */
uint8_t doc_length_byte(uint32_t words)
{
	unsigned shift = 0;

	if (words < 16)
		return (uint8_t)words;
	words = words < DOC_LENGTH_MAX ? words : DOC_LENGTH_MAX;
	while (words >> shift >= 16)
		shift++;
	return (uint8_t)(16 + (shift - 1) * 8 + ((words >> shift) - 8));
}

uint32_t doc_length(uint8_t byte)
{
	byte &= (uint8_t)~DOC_ASIDE;
	if (byte < 16)
		return byte;
	return (8 + (byte - 16u) % 8) << ((byte - 16u) / 8 + 1);
}

int segment_doc(
	const struct segment *seg, uint32_t doc, struct segment_doc *ret, struct err *reterr)
{
	uint32_t values[SECTIONS] = { 0 };

	if (doc >= segment_docs(seg))
		return segment_damaged(seg, reterr, "there is no such document");
	for (enum section s = SECTION_TIME; s < SECTIONS; s++) {
		uint64_t at = seg->foot->sections[s].at + (uint64_t)doc * column_size(s);
		int r = segment_touch(seg, at, column_size(s), reterr);
		if (r < 0)
			return r;
		memcpy(&values[s], seg->map + at, column_size(s));
	}
	if (values[SECTION_KIND] >= DOC_KINDS)
		return segment_damaged(seg, reterr, "a document of no kind");
	*ret = (struct segment_doc){
		.time_s = values[SECTION_TIME],
		.offset = values[SECTION_PLACE] | (uint64_t)values[SECTION_PLACE_HIGH] << 32,
		.kind = (enum doc_kind)values[SECTION_KIND],
		.part = values[SECTION_PART],
		.length = doc_length((uint8_t)values[SECTION_LENGTH]),
	};
	return 0;
}

int segment_column(const struct segment *seg, enum section which, const struct segment_run *run,
	struct sv *ret, struct err *reterr)
{
	uint64_t at = seg->foot->sections[which].at + run->first_doc * column_size(which);
	uint64_t n = run->n_docs * column_size(which);
	int r = segment_touch(seg, at, n, reterr);

	if (r < 0)
		return r;
	*ret = sv_make((const char *)seg->map + at, (size_t)n);
	return 0;
}

int segment_columns(const struct segment *seg, const struct segment_run *run, bool kinds,
	bool times, struct doc_columns *ret, struct err *reterr)
{
	struct sv length, kind = { NULL, 0 }, time = { NULL, 0 };
	int r = segment_column(seg, SECTION_LENGTH, run, &length, reterr);

	if (r >= 0 && kinds)
		r = segment_column(seg, SECTION_KIND, run, &kind, reterr);
	if (r >= 0 && times)
		r = segment_column(seg, SECTION_TIME, run, &time, reterr);
	if (r < 0)
		return r;
	*ret = (struct doc_columns){
		.length = (const uint8_t *)length.p,
		.kind = (const uint8_t *)kind.p,
		.time_s = (const void *)time.p,
	};
	return 0;
}

/* ---- terms ---- */

uint64_t term_prefix(struct sv text)
{
	uint64_t prefix = 0;

	for (size_t i = 0; i < sizeof(prefix); i++)
		prefix = prefix << 8 | (i < text.n ? (unsigned char)text.p[i] : 0);
	return prefix;
}

uint32_t form_hash(enum word_form form, struct sv text)
{
	return (uint32_t)XXH3_64bits_withSeed(text.p, text.n, (uint64_t)form + 1);
}

static const struct block_key *block_keys(const struct segment *seg)
{
	return (const void *)section(seg, SECTION_BLOCKS);
}

static uint32_t blocks_of(const struct segment *seg)
{
	return (segment_terms(seg) + TERMS_BLOCK - 1) / TERMS_BLOCK;
}

/* One key, checked. */
static int key_at(const struct segment *seg, uint32_t i, struct block_key *ret, struct err *reterr)
{
	uint64_t at = seg->foot->sections[SECTION_BLOCKS].at + (uint64_t)i * sizeof(*ret);
	int r = segment_touch(seg, at, sizeof(*ret), reterr);

	if (r < 0)
		return r;
	*ret = block_keys(seg)[i];
	return ret->at <= seg->foot->sections[SECTION_TERMS].n
		? 0
		: segment_damaged(seg, reterr, "a block of terms leads beyond its end");
}

static int open_block(struct term_walk *w, struct err *reterr)
{
	const struct segment *seg = w->seg;
	uint32_t block = w->next / TERMS_BLOCK;
	struct block_key key, after = { .at = seg->foot->sections[SECTION_TERMS].n };
	int r = key_at(seg, block, &key, reterr);

	if (r >= 0 && block + 1 < blocks_of(seg))
		r = key_at(seg, block + 1, &after, reterr);
	if (r >= 0 && after.at < key.at)
		r = segment_damaged(seg, reterr, "blocks of terms are out of order");
	if (r >= 0)
		r = segment_touch(seg, seg->foot->sections[SECTION_TERMS].at + key.at,
			after.at - key.at, reterr);
	if (r < 0)
		return r;
	w->p = section(seg, SECTION_TERMS) + key.at;
	w->end = section(seg, SECTION_TERMS) + after.at;
	w->n = 0;
	if (!varint_get(&w->p, w->end, &w->term.postings) ||
		!varint_get(&w->p, w->end, &w->term.positions))
		return segment_damaged(seg, reterr, "a block of terms is cut off");
	w->term.postings_n = w->term.positions_n = 0;
	return 0;
}

void term_walk_begin(struct term_walk *w, const struct segment *seg, uint32_t block)
{
	w->seg = seg;
	w->next = block * TERMS_BLOCK;
	w->n = 0;
	w->p = w->end = NULL;
	w->term = (struct segment_term){ .docs = 0 };
}

int term_walk_next(struct term_walk *w, struct err *reterr)
{
	const struct segment *seg = w->seg;
	uint64_t shared, more, docs;

	if (w->next >= segment_terms(seg))
		return 0;
	if (w->next % TERMS_BLOCK == 0) {
		int r = open_block(w, reterr);
		if (r < 0)
			return r;
	}
	/* Where this one's lists begin is where those before it end. */
	w->term.postings += w->term.postings_n;
	w->term.positions += w->term.positions_n;
	if (!varint_get(&w->p, w->end, &shared) || !varint_get(&w->p, w->end, &more) ||
		shared > w->n || more > TERM_MAX - shared || more > (uint64_t)(w->end - w->p))
		return segment_damaged(seg, reterr, "a term does not follow from the one before");
	memcpy(w->text + shared, w->p, more);
	w->n = (size_t)(shared + more);
	w->p += more;
	if (!varint_get(&w->p, w->end, &docs) || !varint_get(&w->p, w->end, &w->term.postings_n) ||
		!varint_get(&w->p, w->end, &w->term.positions_n))
		return segment_damaged(seg, reterr, "a term is cut off");
	const struct segment_foot *f = seg->foot;
	if (docs == 0 || docs > f->docs || w->n == 0 ||
		w->term.postings > f->sections[SECTION_POSTINGS].n ||
		w->term.postings_n > f->sections[SECTION_POSTINGS].n - w->term.postings ||
		w->term.positions > f->sections[SECTION_POSITIONS].n ||
		w->term.positions_n > f->sections[SECTION_POSITIONS].n - w->term.positions)
		return segment_damaged(seg, reterr, "a term leads nowhere");
	w->term.docs = (uint32_t)docs;
	w->term.ordinal = w->next++;
	return 1;
}

/* The first term of a block, compared with text. */
static int compare_block(struct term_walk *w, const struct segment *seg, uint32_t block,
	struct sv text, int *ret, struct err *reterr)
{
	term_walk_begin(w, seg, block);
	int r = term_walk_next(w, reterr);
	if (r < 0)
		return r;
	*ret = sv_cmp(sv_make(w->text, w->n), text);
	return 0;
}

/* The last block that can hold text: the one before the first that begins behind it. */
static int find_block(const struct segment *seg, struct sv text, uint32_t *ret, struct err *reterr)
{
	uint64_t prefix = term_prefix(text);
	uint32_t low = 0, high = blocks_of(seg);
	struct term_walk w;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct block_key key;
		int r = key_at(seg, middle, &key, reterr);
		if (r < 0)
			return r;
		int order = key.prefix > prefix ? 1 : -1;
		if (key.prefix == prefix)
			r = compare_block(&w, seg, middle, text, &order, reterr);
		if (r < 0)
			return r;
		if (order > 0)
			high = middle;
		else
			low = middle + 1;
	}
	*ret = low > 0 ? low - 1 : 0;
	return 0;
}

int segment_find(
	const struct segment *seg, struct sv text, struct segment_term *ret, struct err *reterr)
{
	struct term_walk w;
	uint32_t block;

	if (segment_terms(seg) == 0)
		return 0;
	int r = find_block(seg, text, &block, reterr);
	if (r < 0)
		return r;
	term_walk_begin(&w, seg, block);
	while ((r = term_walk_next(&w, reterr)) > 0) {
		int order = sv_cmp(sv_make(w.text, w.n), text);
		if (order == 0)
			*ret = w.term;
		if (order >= 0)
			return order == 0;
	}
	return r;
}

int segment_prefix(
	const struct segment *seg, struct sv prefix, term_fn fn, void *data, struct err *reterr)
{
	struct term_walk w;
	uint32_t block;

	if (segment_terms(seg) == 0)
		return 0;
	int r = find_block(seg, prefix, &block, reterr);
	if (r < 0)
		return r;
	term_walk_begin(&w, seg, block);
	while ((r = term_walk_next(&w, reterr)) > 0) {
		struct sv text = sv_make(w.text, w.n);
		if (sv_starts(text, prefix)) {
			r = fn(data, text, &w.term);
			if (r != 0)
				return r;
		} else if (sv_cmp(text, prefix) > 0) {
			return 0;
		}
	}
	return r;
}

/* The first of the forms with this hash or a higher one. Hashes are spread evenly, so that where
 * one must be about is known before anything is read: a page or two are looked at instead of a
 * dozen. */
static int find_form(const struct segment *seg, uint32_t hash, uint32_t *ret, struct err *reterr)
{
	enum { GUESSES = 8 }; /* then halves, whatever the hashes are like */
	uint32_t low = 0, high = seg->foot->forms, from = 0, to = UINT32_MAX;
	uint64_t at = seg->foot->sections[SECTION_FORMS].at, entry;

	for (int step = 0; low < high; step++) {
		uint64_t n = high - low, part = n / 2;
		if (step < GUESSES)
			part = (uint64_t)(hash - from) * n / ((uint64_t)(to - from) + 1);
		uint32_t middle = low + (uint32_t)part;
		uint64_t place = at + (uint64_t)middle * sizeof(entry);
		int r = segment_touch(seg, place, sizeof(entry), reterr);
		if (r < 0)
			return r;
		memcpy(&entry, seg->map + place, sizeof(entry));
		uint32_t here = (uint32_t)(entry >> 32);
		/* What is out of order leads to another term, which is compared. */
		if (here < hash) {
			low = middle + 1;
			from = here > from ? here : from;
		} else {
			high = middle;
			to = here < to ? here : to;
		}
	}
	*ret = low;
	return 0;
}

int segment_forms(const struct segment *seg, struct word_forms *forms, enum word_form form,
	struct sv text, term_fn fn, void *data, struct err *reterr)
{
	uint32_t hash = form_hash(form, text), i = 0;
	struct term_walk w;
	int r = find_form(seg, hash, &i, reterr);

	for (; r >= 0 && i < seg->foot->forms; i++) {
		uint64_t place = seg->foot->sections[SECTION_FORMS].at + (uint64_t)i * 8, entry;
		r = segment_touch(seg, place, sizeof(entry), reterr);
		if (r < 0)
			return r;
		memcpy(&entry, seg->map + place, sizeof(entry));
		uint32_t ordinal = (uint32_t)entry;
		if (entry >> 32 != hash)
			break;
		if (ordinal >= segment_terms(seg))
			return segment_damaged(seg, reterr, "a form leads to no term");
		term_walk_begin(&w, seg, ordinal / TERMS_BLOCK);
		while ((r = term_walk_next(&w, reterr)) > 0 && w.term.ordinal < ordinal)
			;
		/* Others may have the same hash. */
		struct sv word = sv_make(w.text, w.n);
		if (r > 0)
			r = sv_eq(word_form(forms, form, word), text) ? fn(data, word, &w.term) : 0;
		if (r != 0)
			return r;
	}
	return r < 0 ? r : 0;
}

/* ---- all of it ---- */

static int verify_term(const struct term_walk *w, struct postings *p, struct err *reterr)
{
	const uint32_t *positions;
	uint64_t docs = 0;
	int r;

	postings_begin(p, w->seg, &w->term);
	while ((r = postings_next(p, reterr)) > 0) {
		docs += p->n;
		for (unsigned i = 0; i < p->n; i++) {
			r = postings_positions(p, i, &positions, reterr);
			if (r < 0)
				break;
		}
	}
	if (r >= 0 && (docs != w->term.docs || p->at != p->end))
		r = segment_damaged(
			w->seg, reterr, "a list of documents has not as many as it should");
	postings_release(p);
	return r;
}

int segment_verify(const struct segment *seg, struct err *reterr)
{
	enum { COOL_EVERY = 8192 /* terms */, COOL_BYTES = 2048 * SEGMENT_PAGE };
	char before[TERM_MAX];
	size_t before_n = 0;
	struct term_walk w;
	struct postings p;
	struct segment_doc doc;
	int r = 0;

	for (uint64_t at = 0; r >= 0 && at < seg->body; at += COOL_BYTES) {
		uint64_t n = seg->body - at;
		r = segment_touch(seg, at, n < COOL_BYTES ? n : COOL_BYTES, reterr);
		segment_cool(seg);
	}
	if (r < 0)
		return r;
	term_walk_begin(&w, seg, 0);
	while ((r = term_walk_next(&w, reterr)) > 0) {
		if (sv_cmp(sv_make(before, before_n), sv_make(w.text, w.n)) >= 0)
			return segment_damaged(seg, reterr, "terms are out of order");
		memcpy(before, w.text, w.n);
		before_n = w.n;
		if (w.term.ordinal % COOL_EVERY == 0)
			segment_cool(seg);
		r = verify_term(&w, &p, reterr);
		if (r < 0)
			return r;
	}
	for (uint32_t i = 0; r >= 0 && i < segment_docs(seg); i++)
		r = segment_doc(seg, i, &doc, reterr);
	return r;
}
