/*
 * Lines of files of any size, with memory that does not grow with the file.
 *
 * A line ends at '\n' or at the end of the file; a '\r' before it stays part of the line (JSON
 * takes it for white space). Lines are bytes: NUL, invalid UTF-8 and broken JSON pass. A line
 * longer than the limit is not held in memory but reported with its place, so that it can be
 * copied; nothing is ever dropped unseen.
 *
 * Files may change while they are read: one that grows is read to its new end (or to
 * jsonl_opts.end), one that shrinks ends where it ends now.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum {
	JSONL_READ = 256 * 1024, /* bytes asked of one read() */
	JSONL_HEAD = 64 * 1024, /* what is shown of a line beyond the limit */
	/* Default limit of one line: more than twice what an agent sends to its model at once. */
	JSONL_LINE_MAX = 80 * 1024 * 1024,
	JSONL_CHUNK = 1024 * 1024, /* default bytes of one chunk of jsonl_map() */
	JSONL_THREADS_MAX = 64,
};

struct jsonl_opts {
	uint64_t offset; /* begin here, the first byte of a line */
	uint64_t end; /* stop here as if the file ended; 0: at its end */
	size_t line_max; /* 0: JSONL_LINE_MAX */
	unsigned threads; /* jsonl_map(): with the caller's; pool_cpus() is a good number; 0 as 1 */
	size_t chunk; /* jsonl_map(): 0 JSONL_CHUNK */
};

/* Kinds of bytes in a line. */
enum {
	JSONL_LOW = 1, /* below blank: a parse alone does not tell whether it is fine */
	JSONL_HIGH = 2, /* not ASCII */
};

struct jsonl_line {
	struct sv text; /* without the newline; with too_long its first JSONL_HEAD bytes */
	uint64_t offset; /* of its first byte in the file */
	uint64_t size; /* bytes it takes in the file, newline included */
	bool terminated; /* ended by a newline */
	bool too_long; /* beyond line_max */
	uint8_t bytes; /* JSONL_LOW, JSONL_HIGH; by jsonl_chunk_next() only */
};

/* ---- one after the other ---- */
struct jsonl;
/* A file that is compressed by its name is read as if it were not. opts may be NULL. *ret is freed
 * by jsonl_free(). */
int jsonl_open(const char *path, const struct jsonl_opts *opts, struct jsonl **ret,
	struct err *reterr) MUST_USE;
/* The descriptor is borrowed; its own position is neither used nor moved, unless it is a pipe or
 * the like, which is read from where it is (offsets then count from opts->offset). */
struct jsonl *jsonl_new(int fd, const struct jsonl_opts *opts);
void jsonl_free(struct jsonl *r); /* NULL is fine */
/* 1 and the next line (valid until the next call), 0 at the end, or negative. */
int jsonl_next(struct jsonl *r, struct jsonl_line *ret, struct err *reterr) MUST_USE;

/* ---- on many threads, in order ---- */
/* A run of whole lines. */
struct jsonl_chunk {
	struct sv bytes; /* lines with their newlines; the file's last line may have none */
	uint64_t offset; /* of bytes in the file */
	uint64_t skipped; /* size of a line beyond line_max that follows bytes in the file */
	void **own; /* for the callbacks: *own is NULL at first, see drop */
};

/*
 * work: turns one chunk into bytes appended to *out: output text, or records for sink to fold.
 * Runs on several threads at once, in any order; `data` is shared.
 * join: after work, one chunk at a time and in the order of the file, on any thread: where a chunk
 * learns from those before it. finish: after join, again on several threads at once.
 * sink: takes chunk and result in the order of the file, one after the other, on any of the
 * threads. Slices into the chunk are valid here too.
 * drop: frees what *own still points to after sink, or when there was none.
 * All but work may be NULL. They return 0 or negative. A negative result ends the run and is what
 * jsonl_map() returns; until its chunk has its turn at the sink, later ones may still go through
 * work, join and finish.
 */
struct jsonl_map_ops {
	int (*work)(void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr);
	int (*sink)(void *data, const struct jsonl_chunk *in, struct sv out, struct err *reterr);
	int (*join)(void *data, const struct jsonl_chunk *in, struct err *reterr);
	int (*finish)(
		void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr);
	void (*drop)(void *data, void *own);
};
/*
 * Maps a regular file. Memory is about 2 × threads × (chunk + output of a chunk), more only while
 * single lines are longer than a chunk; a line_max below the chunk counts as the chunk. The chunks
 * depend on file and options alone, so a run is repeatable. The end is fixed when it starts.
 * Threads take no signals. A system that refuses threads gets the work done on fewer.
 */
int jsonl_map(int fd, const struct jsonl_opts *opts, const struct jsonl_map_ops *ops, void *data,
	struct err *reterr) MUST_USE;

/* Cuts the next line off a chunk: start with *at = 0; false at the end. */
bool jsonl_chunk_next(const struct jsonl_chunk *chunk, size_t *at, struct jsonl_line *ret);

/* Calls fn with the bytes [offset, offset + size) of a regular file in pieces: for a line that was
 * too long. A file that is shorter now is ERR_INPUT. */
int jsonl_copy(int fd, uint64_t offset, uint64_t size,
	int (*fn)(void *data, struct sv piece, struct err *reterr), void *data,
	struct err *reterr) MUST_USE;
