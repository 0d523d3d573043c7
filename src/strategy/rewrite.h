/*
 * A session written anew: every line of the parent goes through callbacks that may change it, and
 * the result is a new session of the same agent under a new id (or, on request, the same session).
 *
 * What does not change stays byte for byte. Lines that are no JSON object are copied as they are.
 * The parent is only read. The new file appears whole or not at all; only where it replaces the
 * parent is the disk waited for. A parent that grows meanwhile is read to its new end; one that is
 * replaced or does not come to rest is refused (ERR_BUSY).
 *
 * The work runs on several threads over chunks of lines, with memory that does not grow with the
 * bytes of the file. The order of calls for a chunk is
 *	read (each line) → join → edit (each line) → fold
 * where join and fold go in the order of the file, and read and edit of different chunks run at
 * the same time on different threads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/uuid.h"
#include "transcript/line.h"
#include "transcript/transcript.h"
#include "json/edit.h"
#include "json/scan.h"
#include "json/write.h"

struct rewrite_line {
	struct sv text; /* without the newline; with `oversize` only its beginning */
	uint64_t offset, size; /* in the parent, newline included */
	bool terminated;
	bool object; /* one JSON object without NULs: splices may be made */
	bool oversize; /* too long to be held: it is copied, whatever edit() says */
	size_t records; /* objects (or broken parts) on it, as transcript.h counts them */
	size_t record; /* number of the first; set from edit() on */
	bool noted; /* gets the note: make no other change to the members of the whole line */
	bool neutral; /* an API error that was taken out: leave its content alone */
	const struct line_look *look; /* in read(), of an object: what it holds */
	const struct jval
		*vals; /* in edit(), of an object, with opts.values: by the format's keys */
	size_t swaps; /* private */
};

enum rewrite_what {
	REWRITE_EDITED, /* with the splices that were made, if any */
	REWRITE_DROP, /* the line goes */
	REWRITE_OWN, /* `out` was given what stands in its place, newlines included */
};

/* All may be NULL. data is shared; chunk is what chunk_new() gave (NULL without it). A negative
 * result ends the run and is returned; nothing is then written. */
struct rewrite_ops {
	void *(*chunk_new)(void *data);
	void (*chunk_free)(void *data, void *chunk);
	/* Any thread. Looks at a line. */
	int (*read)(void *data, void *chunk, struct rewrite_line *line, struct err *reterr);
	/* Any thread, one at a time, in order: takes what later chunks must know into data. */
	int (*join)(void *data, void *chunk, struct err *reterr);
	/* Any thread. data is read only, but for what later join() calls add to it meanwhile: look
	 * at it in join(). Returns enum rewrite_what or negative. The changes that every rewrite
	 * makes are made already; do not touch the same values. */
	int (*edit)(void *data, void *chunk, struct rewrite_line *line, struct edit *e,
		struct str *out, struct err *reterr);
	/* Any thread, one at a time, in order. */
	int (*fold)(void *data, void *chunk, struct err *reterr);
	/* Once, after the last line and before the file appears. live is NULL unless asked for.
	 * ERR_NOTFOUND is the way to say that there is nothing to change. */
	int (*done)(void *data, const struct transcript_live *live, struct err *reterr);
	/* Once, after done(): appends lines that follow the last one, newlines included. */
	int (*tail)(void *data, struct str *out, struct err *reterr);
	/* Members of the note that goes into the first line, see note_key. Called twice: before
	 * the first line is written, and after done(), when the text may be up to
	 * REWRITE_NOTE_GROW bytes longer. */
	void (*note)(void *data, struct jw *w);
};

enum { REWRITE_NOTE_GROW = 512 };

enum {
	REWRITE_ID = LINE_ID, /* the session id, on every line that has one */
	REWRITE_USAGE = LINE_USAGE, /* the agents judge by recorded tokens how full it is */
	REWRITE_ERRORS = LINE_ERRORS, /* their marks would keep the agent from resuming */
	REWRITE_ALL = REWRITE_ID | REWRITE_USAGE | REWRITE_ERRORS,
};

struct rewrite_opts {
	const char *path; /* the parent */
	const struct transcript_format *format;
	unsigned changes; /* REWRITE_ bits; REWRITE_ID is needed for a new session */
	/* "trim_metadata", "continue_metadata", SESSION_NOTE_KEY or KNOWN_NOTE_KEY; NULL: no note.
	 * Notes of these names that the parent has go; in place only that of the same name.
	 * Claude: a member of the first line; Codex: of the payload of its session_meta. */
	const char *note_key;
	const char *id; /* of the new session; NULL: chosen here */
	const char *out_dir; /* where to write; NULL: where the agent looks for it */
	/* The parent ends here, where a line does; 0: where its file does. Not in place. */
	uint64_t end;
	bool in_place; /* same id and path; the caller has made a copy. ERR_BUSY names who has it
			* open for writing */
	bool dry; /* all but writing; edit() is called unless NULL */
	bool live; /* done() is given the live chain */
	bool values; /* edit() is given the members of lines */
	unsigned threads; /* 0: chosen here */
	const struct clock *clock;
};

struct rewrite_result {
	char id[UUID_TEXT];
	char *path; /* owned; NULL when dry */
	uint64_t bytes_in, bytes_out;
	uint64_t lines;
	uint64_t copied; /* lines that were no object */
	struct passed passed; /* lines that were too long to look into; they are copied too. Set
			       * also when there is nothing to change. */
	uint64_t late; /* bytes that others added while it was replaced, and that follow as they are
			*/
};
#define REWRITE_RESULT_INIT  \
	{                    \
		.path = NULL \
	}
void rewrite_result_release(struct rewrite_result *result);

int rewrite_session(const struct rewrite_opts *opts, const struct rewrite_ops *ops, void *data,
	struct rewrite_result *ret, struct err *reterr) MUST_USE;
