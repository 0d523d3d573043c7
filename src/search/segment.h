/*
 * One segment of the index: documents of some sources, the terms in them and where they stand. It
 * is written once, under a temporary name, and never changed.
 *
 * Readers map it. Every page is compared with its check sum when it is first touched, and every
 * number is checked before it is followed: a damaged segment gives SEGMENT_DAMAGED (with a message)
 * and never a wrong answer. A segment may be read by several threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "search/word.h"

enum { SEGMENT_DAMAGED = ERR_INPUT };

enum doc_kind {
	DOC_USER,
	DOC_ASSISTANT,
	DOC_THINKING,
	DOC_CALL, /* of a tool, with its input */
	DOC_RESULT,
	DOC_SESSION, /* names, folder and branch of the session; stands nowhere in the file */
	DOC_KINDS
};

struct segment_doc {
	uint64_t offset; /* of its line in the file */
	uint32_t part; /* which item of its record; 255 and beyond are one */
	enum doc_kind kind;
	uint32_t length; /* words, by doc_length() */
	uint32_t time_s; /* since 1970; 0 not known */
};

enum {
	RUN_META = 1u << 0, /* the one document DOC_SESSION */
	RUN_TAIL = 1u << 1, /* of a last line without newline: taken again when the file grows */
};
/* Documents of one source in the order of its file. */
struct segment_run {
	uint32_t source;
	uint32_t generation; /* of the source: it is another file's content when that differs */
	uint32_t first_doc, n_docs;
	uint32_t first_s, last_s; /* times of its documents; 0 none */
	uint32_t flags; /* RUN_ */
	uint64_t length; /* words, exactly */
};

struct segment;
int segment_open(const char *path, struct segment **ret, struct err *reterr) MUST_USE;
void segment_close(struct segment *seg); /* NULL is fine */
/* Runs that do not count any more, a bit each; copied. Not while others read it. */
void segment_set_dead(struct segment *seg, struct sv bits);

uint32_t segment_docs(const struct segment *seg);
uint32_t segment_runs(const struct segment *seg);
uint32_t segment_terms(const struct segment *seg);
uint32_t segment_sources(const struct segment *seg); /* their numbers are below it */
uint64_t segment_size(const struct segment *seg); /* bytes of the file */
uint64_t segment_words(const struct segment *seg); /* lengths of all its documents */
const struct segment_run *segment_run_at(const struct segment *seg, uint32_t i);
bool segment_dead(const struct segment *seg, uint32_t run);
/* The run that a document is in. */
uint32_t segment_run_of(const struct segment *seg, uint32_t doc);
int segment_doc(const struct segment *seg, uint32_t doc, struct segment_doc *ret,
	struct err *reterr) MUST_USE;

/* Columns of the documents of a run, for adding up scores: the first one's is the first. */
struct doc_columns {
	const uint8_t *length; /* as doc_length() takes them, with DOC_ASIDE */
	/* NULL unless asked for: who adds up words looks at every byte that is mapped, once. */
	const uint8_t *kind;
	const uint32_t *time_s;
};
int segment_columns(const struct segment *seg, const struct segment_run *run, bool kinds,
	bool times, struct doc_columns *ret, struct err *reterr) MUST_USE;
enum {
	DOC_ASIDE = 1u << 7, /* of a length: a document of a kind that is asked for by name only */
	DOC_LENGTH_MAX = 15 << 14, /* words; longer ones count as long */
};
static inline bool doc_is_aside(enum doc_kind kind)
{
	return kind == DOC_THINKING;
}
/* Lengths are kept in seven bits: exact up to 16, then within an eighth. */
uint8_t doc_length_byte(uint32_t words);
uint32_t doc_length(uint8_t byte);

/* ---- terms ---- */

struct segment_term {
	uint32_t
		ordinal; /* its place among the terms of the segment, which are in order of bytes */
	uint32_t docs; /* that it stands in, dead ones included */
	uint64_t postings, postings_n; /* private: places in the file */
	uint64_t positions, positions_n;
};
/* 1 and the term, 0 when there is none such, or negative. */
int segment_find(const struct segment *seg, struct sv text, struct segment_term *ret,
	struct err *reterr) MUST_USE;
/* A result other than 0 ends the walk and is returned. */
typedef int (*term_fn)(void *data, struct sv text, const struct segment_term *term);
/* Terms that begin so, in order; an empty prefix is all of them. */
int segment_prefix(const struct segment *seg, struct sv prefix, term_fn fn, void *data,
	struct err *reterr) MUST_USE;
/*
 * Terms whose form is this one but that are spelt otherwise: for "running" ask for the stem "run",
 * get "runs" and "running", and look up "run" itself with segment_find(). `forms` is for work of
 * its own.
 */
int segment_forms(const struct segment *seg, struct word_forms *forms, enum word_form form,
	struct sv text, term_fn fn, void *data, struct err *reterr) MUST_USE;

/* ---- where a term stands ---- */

enum { POSTINGS_BLOCK = 128 };
struct postings {
	uint32_t doc[POSTINGS_BLOCK], count[POSTINGS_BLOCK];
	unsigned n; /* of the current block */
	/* private */
	const struct segment *seg;
	uint32_t left; /* documents of later blocks */
	uint64_t next_doc; /* the first that the next block may hold */
	uint64_t at, end; /* of the blocks that follow */
	uint64_t positions, positions_end; /* of what follows the current block */
	uint64_t block_positions; /* of the current block */
	uint64_t here_at; /* where those of document `here` of it begin */
	unsigned here;
	bool touched; /* they may be read */
	uint32_t *decoded; /* positions of one document */
	size_t decoded_cap;
};
void postings_begin(struct postings *p, const struct segment *seg, const struct segment_term *term);
void postings_release(struct postings *p);
/* The next block of documents in rising order: how many, 0 at the end, or negative. */
int postings_next(struct postings *p, struct err *reterr) MUST_USE;
/* The same, but passes over blocks that end before `doc` without decoding them. */
int postings_skip(struct postings *p, uint32_t doc, struct err *reterr) MUST_USE;
/* Positions in document i of the current block, never falling, count[i] of them; valid until the
 * next call. */
int postings_positions(
	struct postings *p, unsigned i, const uint32_t **ret, struct err *reterr) MUST_USE;

/* ---- writing ---- */

/* Documents gathered in memory. */
struct builder;
/* About how many bytes it may take. */
struct builder *builder_new(size_t budget);
void builder_free(struct builder *b); /* NULL is fine */
/* A source's documents follow; empty runs leave no trace. */
void builder_run(struct builder *b, uint32_t source, uint32_t generation, uint32_t flags);
/* Begins a document; doc->length is not looked at. Its terms follow, with
 * positions of each that never fall. */
void builder_doc(struct builder *b, const struct segment_doc *doc);
void builder_add(struct builder *b, struct sv term, uint32_t position);
/* All words of a text, from `position` on, which make up the length of the document; returns the
 * position after the last. */
uint32_t builder_text(struct builder *b, struct sv text, uint32_t position);
uint32_t builder_docs(const struct builder *b);
bool builder_full(const struct builder *b); /* time to write */
/* Writes what was gathered, whole or not at all, and empties the builder. Durable, unless it is
 * lazy: then it is on its way to the disk, and nobody waits for that. -EEXIST: there is such a
 * file. */
int builder_write(struct builder *b, const char *path, bool lazy, struct err *reterr) MUST_USE;

/* One segment of several, without dead runs, in memory that does not grow with them but by some
 * bytes a term. ret_docs: 0 when all of it was dead, and no file was written. */
int segment_merge(struct segment *const *segs, size_t n, const char *path, uint32_t *ret_docs,
	struct err *reterr) MUST_USE;
/* Compares every page with its check sum and walks every list. */
int segment_verify(const struct segment *seg, struct err *reterr) MUST_USE;
