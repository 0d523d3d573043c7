/*
 * The bytes of a segment; private to the files that write and read it.
 *
 *	postings	of each term, in order of terms: blocks of POSTINGS_BLOCK documents, then
 *			one of fewer
 *	  a block	varint last document − last of the block before; a byte each for the bits
 *			of a document's distance and of its count; varint bytes of its positions;
 *			distances − 1 and counts − 1, packed
 *	  the last	for each document varint distance × 2 + (count is 1), varint count unless
 *			it is 1
 *	positions	of each term, of each document: varint the first, then distances
 *	terms		blocks of TERMS_BLOCK: varints of where its postings and positions begin,
 *			then for each term varint bytes shared with the one before, varint bytes
 *			that follow, these, varints documents, bytes of postings, of positions
 *	blocks		for each block of terms struct block_key
 *	forms		hash << 32 | ordinal of a term, for each form that is not the term itself,
 *			sorted
 *	runs		struct segment_run
 *	documents	columns: time u32, place u32, its upper part u16, kind u8, part u8,
 *			length u8
 *	checks		XXH3 of each page of SEGMENT_PAGE bytes of all that is before
 *	guards		XXH3 of each page of the checks: who reads little need not read them all
 *	foot		struct segment_foot
 *
 * Numbers are in the order of the machine: the index is not for another one, and can be made again.
 */
#pragma once

#include <stdint.h>

#include "base/vec.h"
#include "os/file.h"
#include "search/segment.h"

enum { SEGMENT_PAGE = 8 * 1024, TERMS_BLOCK = 32, SECTION_ALIGN = 8 };

enum section {
	SECTION_POSTINGS,
	SECTION_POSITIONS,
	SECTION_TERMS,
	SECTION_BLOCKS,
	SECTION_FORMS,
	SECTION_RUNS,
	SECTION_TIME,
	SECTION_PLACE,
	SECTION_PLACE_HIGH,
	SECTION_KIND,
	SECTION_PART,
	SECTION_LENGTH,
	SECTIONS
};

/* Bytes of a document in a column. */
static inline size_t column_size(enum section section)
{
	return section == SECTION_TIME || section == SECTION_PLACE ? 4
		: section == SECTION_PLACE_HIGH			   ? 2
								   : 1;
}

#define SEGMENT_MAGIC                                                              \
	UINT64_C(0x33303067656e6466) /* "fdneg003"; another layout, another number \
				      */
struct segment_foot {
	struct {
		uint64_t at, n;
	} sections[SECTIONS]; /* one after the other, without gaps but for SECTION_ALIGN */
	uint64_t guards_hash; /* XXH3 of the guards */
	uint64_t words;
	uint32_t docs, runs, terms, forms;
	uint64_t hash; /* XXH3 of all before it */
	uint64_t magic;
};

struct block_key {
	uint64_t prefix; /* the first eight bytes of its first term, comparable as a number */
	uint64_t at; /* within the terms */
};
uint64_t term_prefix(struct sv text);
uint32_t form_hash(enum word_form form, struct sv text);

_Static_assert(sizeof(struct segment_run) == 40, "runs are mapped as they are");

/* ---- numbers ---- */

enum { VARINT_MAX = 10 };
static inline size_t varint_put(char *out, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		out[n++] = (char)(value | 0x80);
	out[n++] = (char)value;
	return n;
}
/* Reads at *p up to end; false when there is no whole number. */
static inline bool varint_get(const uint8_t **p, const uint8_t *end, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
		uint8_t byte = *(*p)++;
		value |= (uint64_t)(byte & 0x7F) << shift;
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/* ---- reading ---- */

struct segment {
	char *path;
	uint8_t *map;
	size_t size;
	uint64_t body; /* bytes that have check sums */
	const struct segment_foot *foot;
	uint64_t pages; /* of the body */
	const uint64_t *checks, *guards;
	uint8_t *seen; /* a page, then a page of the checks: compared and good */
	uint32_t sources; /* their numbers end here */
	uint8_t *dead; /* a run; NULL: none */
};
int segment_damaged(const struct segment *seg, struct err *reterr, const char *what);
int segment_check_page(const struct segment *seg, uint64_t page, struct err *reterr) MUST_USE;

/* Whether n bytes at `at` may be read: there, and what was written. */
static inline int segment_touch(
	const struct segment *seg, uint64_t at, uint64_t n, struct err *reterr)
{
	if (n == 0)
		return 0;
	if (at > seg->body || n > seg->body - at)
		return segment_damaged(seg, reterr, "a list leads beyond its end");
	for (uint64_t page = at / SEGMENT_PAGE; page <= (at + n - 1) / SEGMENT_PAGE; page++)
		if (!__atomic_load_n(&seg->seen[page], __ATOMIC_RELAXED)) {
			int r = segment_check_page(seg, page, reterr);
			if (r < 0)
				return r;
		}
	return 0;
}

/* Terms one by one. */
struct term_walk {
	const struct segment *seg;
	const uint8_t *p, *end; /* of the current block */
	uint32_t next; /* ordinal */
	char text[TERM_MAX];
	size_t n;
	struct segment_term term;
};
/* From the first term of a block on. */
void term_walk_begin(struct term_walk *w, const struct segment *seg, uint32_t block);
/* 1, 0 at the end, or negative. */
int term_walk_next(struct term_walk *w, struct err *reterr) MUST_USE;
/* Bytes of the positions of document i of the block. */
int postings_raw_positions(
	struct postings *p, unsigned i, struct sv *ret, struct err *reterr) MUST_USE;

/* Gives back the memory that its pages take while they are mapped; they come again when touched. */
void segment_cool(const struct segment *seg);
/* The bytes of a run's documents in a column. */
int segment_column(const struct segment *seg, enum section which, const struct segment_run *run,
	struct sv *ret, struct err *reterr) MUST_USE;

/* ---- writing ---- */

/* Bytes that are needed later than they are made: in memory at first, then in a file without a
 * name. */
struct spill {
	const char *folder;
	int fd;
	struct str buf;
	uint64_t n; /* in the file */
};

struct segment_writer {
	struct file_new file;
	char *folder;
	struct segment_foot foot;
	struct str page; /* pages that are not hashed and written yet */
	uint64_t at; /* bytes so far */
	VEC(uint64_t) checks;
	VEC(struct block_key) blocks;
	VEC(uint64_t) forms;
	struct spill positions, terms;
	struct word_forms word_forms;
	/* the current term */
	struct str block; /* entries of the current block of terms */
	char text[TERM_MAX], before[TERM_MAX];
	size_t n, before_n;
	struct segment_term term;
	uint32_t docs[POSTINGS_BLOCK], counts[POSTINGS_BLOCK];
	unsigned held; /* of them */
	uint64_t held_positions; /* bytes that belong to them */
	uint64_t next_doc;
	uint64_t postings_at, positions_at; /* within their sections */
};
/* Terms in order, with their postings in order; then the sections from SECTION_RUNS on; then
 * commit. */
int segment_writer_open(struct segment_writer *w, const char *path, struct err *reterr) MUST_USE;
void segment_writer_release(struct segment_writer *w);
void writer_term(struct segment_writer *w, struct sv text);
int writer_posting(struct segment_writer *w, uint32_t doc, uint32_t count, struct sv positions,
	struct err *reterr) MUST_USE;
/* A term without postings leaves no trace. */
int writer_term_end(struct segment_writer *w, struct err *reterr) MUST_USE;
int writer_terms_end(struct segment_writer *w, struct err *reterr) MUST_USE;
int writer_section(struct segment_writer *w, enum section section, struct err *reterr) MUST_USE;
int writer_bytes(struct segment_writer *w, const void *p, size_t n, struct err *reterr) MUST_USE;
int segment_writer_commit(struct segment_writer *w, struct err *reterr) MUST_USE;
