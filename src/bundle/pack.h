/*
 * The file that a bundle is: a head with the version, then frames as the archive has them
 * (archive/frame.h), each compressed and with checks of its own: the manifest, the bytes of its
 * files one after the other, and a close with the check sum of every file. Written and read in one
 * go from the beginning to the end, so that both may be pipes.
 *
 * Reading refuses whatever is not what was written: torn, changed, foreign, newer, more than was
 * announced. The message says in which file of the bundle.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "bundle/manifest.h"
#include "ui/term.h"

enum {
	PACK_VERSION = 1,
	PACK_HEAD = 16, /* bytes of the head */
	PACK_CHUNK = 8 * 1024 * 1024, /* bytes of a file in one frame */
};

/* ---- writing ---- */

struct pack_writer;
/* The head and the manifest are written. The manifest is borrowed until the end. */
int pack_begin(const struct bundle_manifest *m, struct term_sink sink, struct pack_writer **ret,
	struct err *reterr) MUST_USE;
/* The next file of the manifest: as many bytes as it says, from where fd stands. ERR_INPUT: there
 * are fewer. `name` is for messages. */
int pack_file(struct pack_writer *w, int fd, const char *name, struct err *reterr) MUST_USE;
int pack_end(struct pack_writer *w, struct err *reterr) MUST_USE;
void pack_writer_free(struct pack_writer *w); /* NULL is fine */

/* ---- reading ---- */

/* Up to n bytes into buf: how many, 0 at the end. */
struct pack_source {
	int (*read)(void *data, char *buf, size_t n, struct err *reterr);
	void *data;
};

/* Content hash of a file. */
struct pack_sum {
	uint64_t low, high;
};
typedef VEC(struct pack_sum) pack_sums;

/* Called for the bytes of each file in order, then once with none at its end. A negative result
 * ends it. */
typedef int (*pack_fn)(
	void *data, size_t file, uint64_t offset, struct sv bytes, struct err *reterr);

struct pack_reader;
/* Reads up to the manifest, which stays the reader's. ERR_NEWER: by a later version. */
int pack_open(struct pack_source source, struct pack_reader **ret, struct err *reterr) MUST_USE;
const struct bundle_manifest *pack_manifest(const struct pack_reader *r);
/*
 * Reads all the rest. Bytes that fn is given are those of frames whose checks hold; that the files
 * are whole and those that were meant is certain when this returns 0, or, where `known` is given
 * from an earlier reading of the same bundle, before fn is told of a file's end. ret_sums and known
 * may be NULL.
 */
int pack_read(struct pack_reader *r, const pack_sums *known, pack_fn fn, void *data,
	pack_sums *ret_sums, struct err *reterr) MUST_USE;
void pack_reader_free(struct pack_reader *r); /* NULL is fine */
