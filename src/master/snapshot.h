/*
 * The run as one JSON object: the state for whoever looks at the file, and every step. Private to
 * the room.
 *
 *	{"version":…,"sessionId":…,…,"layout":[…],"instructor":{"systemPrompt":…,"conversationHistory":[
 *	{"n":2,…}
 *	,{"n":5,…}
 *	]},"worker":{"conversationHistory":[
 *	…
 *	]},"log":[
 *	…
 *	]}
 *
 * A step stands on a line as it stood in the journal. Its place is that of who was spoken to, or
 * the log; the numbers give the order. The first line says how many bytes each list has, so that a
 * list can be found without reading the others, and a new snapshot is the old lists with what came
 * since.
 */
#pragma once

#include "master/run.h"
#include "json/write.h"

#define MASTER_VERSION "2.0.0"
enum { MASTER_VERSION_MAJOR = 2 };

enum snapshot_part { PART_INSTRUCTOR, PART_WORKER, PART_LOG, PARTS };

/* The lists of steps: bytes with the newlines, and how many. */
struct snapshot_lists {
	uint64_t bytes[PARTS];
	int64_t count[PARTS];
};
void snapshot_count(struct snapshot_lists *lists, enum snapshot_part part, size_t line);
enum snapshot_part snapshot_part_of(const struct master_step *step);

/* A file of ours that is open. */
struct snapshot {
	int fd; /* borrowed; -1: none */
	uint64_t size;
	int64_t steps;
	struct snapshot_lists lists;
	uint64_t at[PARTS]; /* where they begin */
	bool newer; /* a newer version wrote it */
};

/*
 * Reads the first line. *state (may be NULL) gets what it says of the run: enough for a list, not
 * for going on. ERR_INPUT when it is not in this form, though it may be a run in another one.
 */
int snapshot_look(
	int fd, struct snapshot *ret, struct master_state *state, struct err *reterr) MUST_USE;
/* Every step in order. ERR_INPUT when one is missing or not as it was written. */
int snapshot_steps(
	const struct snapshot *s, master_step_fn fn, void *data, struct err *reterr) MUST_USE;

/* What is known at the end of a journal. */
struct journal_end {
	uint64_t good; /* bytes that count */
	uint64_t size; /* bytes there are */
	bool damaged; /* steps that were saved follow behind `good`, or one is missing */
	int64_t steps; /* number of the last one */
};
/* The steps of a journal behind number `after`; those before it are passed over. */
int journal_steps(int fd, int64_t after, master_step_fn fn, void *data, struct journal_end *ret,
	struct err *reterr) MUST_USE;

/*
 * Writes the run anew, atomically: the lists of `old` (NULL: none) with the steps of the journal
 * that follow, as they are. `lists` is what both have together, `state` what all steps add up to.
 */
int snapshot_write(const char *path, const struct master_state *state,
	const struct snapshot_lists *lists, const struct snapshot *old, int journal,
	struct err *reterr) MUST_USE;

/* Appends text without what looks like a key, a token or a password in it. */
void master_redact(struct sv text, struct str *out);

/* Whether a version is one that we do not know yet. */
bool master_is_newer(struct sv version);
/* Parts of steps that the head has too. */
void master_put_rounds(struct jw *w, const char *key, int64_t rounds);
void master_put_config(struct jw *w, const struct master_config *c);
int64_t master_get_rounds(struct jval val);
void master_get_config(struct jval val, struct master_config *c);
