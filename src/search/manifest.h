/*
 * What the index knows of its segments and sources: a database of its own beside the segments, and
 * the lock of whoever writes. Private to the room.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "os/unpack.h"
#include "search/index.h"
#include "store/sql.h"

#define SEGMENT_SUFFIX ".segment"

/* Another number when the words, the fields or the tables change: the index is made anew. */
enum { INDEX_VERSION = 6 };

/* A source as the manifest has it. */
struct source_row {
	struct index_source source;
	uint64_t dev, ino;
	int64_t mtime_ns, ctime_ns;
	uint64_t anchor; /* of the bytes before source.offset: see anchor_of() */
	uint32_t generation;
	char *own; /* the name that the user gave here */
};
void source_row_release(struct source_row *row);

/* A segment of the manifest, open. */
struct segment_row {
	uint32_t id;
	struct segment *seg;
	struct str dead; /* a bit each run */
	bool changed; /* `dead` is not written yet */
};

struct manifest {
	char *dir;
	int lock; /* -1: reads only */
	struct store *db;
	VEC(struct segment_row) segments;
	uint32_t next_segment, next_source;
	int64_t checked_ms; /* when all files were last begun to be compared; for readers */
	int64_t state; /* manifest_state() as the segments were; for readers */
};
#define MANIFEST_INIT      \
	{                  \
		.lock = -1 \
	}
void manifest_release(struct manifest *m);

/* For reading: the segments of one moment. ERR_NOTFOUND: none, or one of another version. */
int manifest_read(struct manifest *m, const char *dir, struct err *reterr) MUST_USE;
/*
 * For writing: takes the lock, opens or makes the database, opens all segments, removes files that
 * belong to nobody. What is damaged, blamed or of another version is emptied first;
 * wait: see file_lock(). *ret_anew says so, and why (of at least why_n bytes) what was wrong.
 */
int manifest_write(struct manifest *m, const char *dir, const struct lock_wait *wait,
	enum index_anew *ret_anew, char *why, size_t why_n, struct err *reterr) MUST_USE;

char *manifest_path(const struct manifest *m, uint32_t segment); /* caller frees */
int manifest_begin(struct manifest *m, struct err *reterr) MUST_USE;
int manifest_end(struct manifest *m, int result, struct err *reterr) MUST_USE;
/* Within a transaction. The segment's file must be there; it is opened. */
int manifest_add_segment(struct manifest *m, uint32_t id, struct err *reterr) MUST_USE;
int manifest_save_source(
	struct manifest *m, const struct source_row *row, struct err *reterr) MUST_USE;
/* A file that has a result of a source, as it was when that was read; size and time 0: it was not
 * there. */
struct spilled {
	char *path;
	uint64_t size;
	int64_t mtime_ns;
};
/* Adds these; anew: in place of all that there are of the source. */
int manifest_save_spilled(struct manifest *m, uint32_t source, bool anew, const struct spilled *v,
	size_t n, struct err *reterr) MUST_USE;
/* A source lies elsewhere now, and so does what lies beside it. 1, or 0 where another source is
 * known to lie there: then nothing is done. */
int manifest_move(struct manifest *m, uint32_t source, const char *was, const char *now,
	struct err *reterr) MUST_USE;
int manifest_mark_gone(struct manifest *m, uint32_t source, struct err *reterr) MUST_USE;
/* Writes which runs are dead, of the segments where that has changed. */
int manifest_save_dead(struct manifest *m, struct err *reterr) MUST_USE;
void segment_row_kill(struct segment_row *row, uint32_t run);

/* The sources of one session, compressed or not, by its plain path. */
#define MANIFEST_OF_PATH "WHERE path IN (?1, ?1 || '" UNPACK_SUFFIX "')"
/* Condition and values go to "SELECT … FROM source"; not 0 ends it. */
typedef int (*source_fn)(void *data, struct source_row *row); /* may take the strings */
int manifest_sources(struct store *db, const char *where, const struct sql_value *values, size_t n,
	source_fn fn, void *data, struct err *reterr) MUST_USE;

int manifest_get(struct store *db, const char *key, int64_t *ret, struct err *reterr) MUST_USE;
int manifest_set(struct manifest *m, const char *key, int64_t value, struct err *reterr) MUST_USE;
/* What the file of an agent's names was like when all sources had them. */
int64_t manifest_names_mark(const struct stat *st);
int manifest_names(struct store *db, const char *agent, int64_t *ret, struct err *reterr) MUST_USE;
int manifest_set_names(
	struct manifest *m, const char *agent, int64_t mark, struct err *reterr) MUST_USE;
/* Another number when another handle has written; -1: not known. */
int64_t manifest_state(struct store *db);

/* In a transaction of its own: the documents of these sources do not count any more. */
int manifest_forget(
	struct manifest *m, const uint32_t *sources, size_t n, struct err *reterr) MUST_USE;

/* Merges what the policy says; with `most` only what has fewer bytes in all. */
int manifest_merge(struct manifest *m, uint64_t most, struct err *reterr) MUST_USE;
/* Writes anew every segment that has dead runs. */
int manifest_purge(struct manifest *m, struct err *reterr) MUST_USE;
