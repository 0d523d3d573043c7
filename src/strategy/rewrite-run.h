/*
 * A rewrite under way. Private to rewrite*.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/vec.h"
#include "os/file.h"
#include "strategy/rewrite.h"
#include "transcript/chain.h"
#include "json/jsonl.h"

enum { MODEL_MAX = 64, MARK_MAX = 64 };

/* A stretch of the parent that is written from where it lies: it stands before out[at]. */
struct long_stretch {
	size_t at;
	struct sv text;
};

/* What is known of one chunk between its stages. */
struct part {
	struct line_reader reader;
	VEC(struct rewrite_line) lines;
	struct line_swaps swaps; /* of all lines; each knows where its own begin */
	struct str zeros; /* for use and use again */
	struct chain *chain;
	void *own; /* the callbacks' */
	struct sv last_model; /* that answered in this chunk; empty: none */
	char model[MODEL_MAX]; /* … and before it */
	size_t note_line; /* line that gets the note; SIZE_MAX: none */
	size_t note_at, note_n; /* that line in the chunk's output, newline included */
	struct edit edit;
	VEC(struct long_stretch) kept;
};

struct run {
	const struct rewrite_opts *opts;
	const struct rewrite_ops *ops;
	void *data;
	struct sv parent_id;
	struct rewrite_result *result;
	char mark[MARK_MAX]; /* JSON that stands where the note will be */

	int fd; /* the parent, plain */
	struct stat opened; /* its file */
	bool packed; /* … which is compressed, so that fd is another */
	uint64_t at; /* read up to here */

	/* touched in join() only */
	char model[MODEL_MAX];
	size_t records;
	bool note_placed;

	/* touched by the sink only */
	struct chain *chain;
	struct file_new file;
	struct str held; /* output from the chunk with the note on, without its line */
	bool holding;
	struct str head, tail; /* of the line with the note, around it */
	uint64_t note_offset; /* in the new file */
	size_t note_room;
	bool ends_open; /* the last line written has no newline */
};

/* The three stages of a chunk; see jsonl_map(). */
int part_read(void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr);
int part_join(void *data, const struct jsonl_chunk *in, struct err *reterr);
int part_edit(void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr);
void part_drop(void *data, void *own);

/* Writing, in the order of the file. `out` is what part_edit() made. */
int out_part(struct run *run, const struct part *part, struct sv out, struct err *reterr) MUST_USE;
int out_bytes(struct run *run, struct sv bytes, struct err *reterr) MUST_USE;
/* The note as it is known in the end, where room was left for it. */
int out_note(struct run *run, struct err *reterr) MUST_USE;
