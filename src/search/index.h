/*
 * The index over every session of every agent: a folder with segments and a manifest (SQLite) that
 * says which of them count and how far each file was read. All of it can be made again from the
 * sessions and, for those that are gone, from the archive.
 *
 * One process writes at a time. Readers take a view and never wait: segments do not change, and one
 * that was merged away stays readable for whoever has it open.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "archive/archive.h"
#include "base/err.h"
#include "os/file.h"
#include "search/segment.h"
#include "store/store.h"
#include "transcript/home.h"
#include "transcript/transcript.h"

/* ---- reading ---- */

struct index_view;
/* ERR_NOTFOUND when there is none yet, or one of another version; SEGMENT_DAMAGED. */
int index_view_open(const char *dir, struct index_view **ret, struct err *reterr) MUST_USE;
void index_view_close(struct index_view *view); /* NULL is fine */
size_t index_view_segments(const struct index_view *view);
const struct segment *index_view_segment(const struct index_view *view, size_t i);
uint32_t index_view_sources(const struct index_view *view); /* there are about so many, or fewer */
/* When all files were last begun to be compared with it, in wall time; 0 never. */
int64_t index_view_checked_ms(const struct index_view *view);

/* A file that documents come from. Strings are owned, never NULL. */
struct index_source {
	uint32_t id;
	char *path;
	char *agent;
	const struct transcript_format *format;
	char *session; /* id; of a sub-agent's file that of the session it worked for */
	char *cwd, *branch, *name; /* as they were indexed */
	bool subagent;
	bool gone; /* the file is not there any more */
	uint64_t size; /* bytes of the file */
	uint64_t offset; /* how many of them are in the index; of a torn one more: its copy's */
};
void index_source_release(struct index_source *source);
#define AUTO_INDEX_SOURCE CLEANUP(index_source_release) struct index_source
int index_source(struct index_view *view, uint32_t id, struct index_source *ret,
	struct err *reterr) MUST_USE;
/* Whether all of a file was read, when it was like that: as of now, which is perhaps later than
 * what the view has. index_view_old() asked afterwards tells. */
bool index_view_has(struct index_view *view, const char *path, const struct stat *st);
/* The same of the names that an agent keeps, in all sources. */
bool index_view_has_names(struct index_view *view, const char *agent, const struct stat *st);
/* Whether sources lie in a home that was moved, as far as whoever writes next has to follow it. */
bool index_view_moved(struct index_view *view, const struct transcript_home *homes, size_t n);
/* Whether somebody has written since it was opened. */
bool index_view_old(struct index_view *view);
/* All of them, for what a query says of agent, directory and branch; not 0 ends it. */
int index_sources(struct index_view *view, int (*fn)(void *data, const struct index_source *source),
	void *data, struct err *reterr) MUST_USE;

/*
 * The files that are there as far as the index knows, and as they were when they were read; time 0:
 * not to their end. By a handle of its own, so that it can be on any thread. Not 0 ends it.
 */
int index_known(const char *dir, int (*fn)(void *data, const struct transcript_file *file),
	void *data, struct err *reterr) MUST_USE;

/* Where results lie that were too big for the session's file. */
struct index_beside {
	const char *path; /* of the session, where it lies or lay */
	const struct archive
		*archive; /* has what is gone; may be NULL. Its store is not touched. */
	/* Set by index_item(): the file that the last item's text was looked for in, and what it
	 * was like; path empty: in none, size and time 0: it is not there. */
	struct str spilled;
	uint64_t size;
	int64_t mtime_ns;
};
/* What an item is in the index, and the text that is indexed of it (appended): what a snippet is
 * made of. False when it is no document: words of programs, pictures, copies in a compaction.
 * beside may be NULL: of a result in a file of its own, that which stands for it. */
bool index_item(const struct transcript_format *format, const struct item *item,
	struct index_beside *beside, size_t result_max, enum doc_kind *ret_kind, struct str *out);

/* A reader found damage: nobody reads the index any more, and the next writer makes it anew and
 * says why. */
void index_blame(const char *dir, const struct err *why);

/* Whether its database is damaged, as one may think after an error of a store: who finds that
 * blames it. All of it is read. */
bool index_is_bad(const char *dir, struct err *ret_why);

/* ---- writing ---- */

struct index_progress {
	size_t files, done; /* to read, and read */
	uint64_t bytes, bytes_done;
};
struct index_opts {
	unsigned threads; /* 0: chosen here */
	size_t memory; /* about what gathering documents may take; 0: INDEX_MEMORY */
	size_t result_max; /* bytes of a tool's result that are indexed; 0: INDEX_RESULT_MAX */
	/* Where not all can be done now: bytes to read, and time. 0: no limit. */
	uint64_t budget_bytes;
	int64_t budget_ms;
	/* Only these files are looked at; NULL: all of the homes. */
	const char *const *paths;
	size_t n_paths;
	/* What is gone from its place and was not read before is read from there; NULL: not at all.
	 */
	const struct archive *archive;
	/* Reads everything again, whatever is known of it. What there is counts until then, so that
	 * a search meanwhile finds no less. */
	bool rebuild;
	const struct lock_wait *wait; /* for another writer, see file_lock() */
	/* From the calling thread; all may be NULL. cancelled, from any thread: true ends it
	 * early, what was read is kept. */
	void (*progress)(void *data, const struct index_progress *p);
	void (*trouble)(void *data, const struct err *err);
	/* A file that was there was read; from any thread, one at a time. */
	void (*took)(void *data, const char *path);
	bool (*cancelled)(void *data);
	void *data;
};
enum { INDEX_RESULT_MAX = 256 * 1024, INDEX_MEMORY = 72 * 1024 * 1024 };

enum index_anew { INDEX_KEPT, INDEX_NEW, INDEX_OTHER_VERSION, INDEX_WAS_DAMAGED, INDEX_ASKED };
struct index_stats {
	enum index_anew anew; /* whether the whole index was made again, and why */
	char why[256]; /* INDEX_WAS_DAMAGED: what was wrong */
	size_t files; /* that there are, and that are gone and to be read from the archive */
	size_t read; /* new or changed */
	size_t rewritten; /* of these, not only grown */
	size_t gone; /* vanished since the last time */
	size_t lost; /* of these, not in the archive */
	size_t forgotten; /* neither there nor in the archive, and made anew the index has them not
			   */
	size_t left; /* not done: budget, or cancelled */
	uint64_t bytes_read, bytes_left;
	size_t documents; /* added */
	size_t troubles;
	/* afterwards; with a budget of time nobody counts */
	size_t sources, segments;
	uint64_t index_documents, index_bytes;
};
/*
 * Brings the index up to date with the files. Titles come from the catalogue in `store`, which is
 * refreshed for what changed.
 */
int index_update(const char *dir, struct store *store, const struct transcript_home *homes,
	size_t n_homes, const struct index_opts *opts, struct index_stats *ret_stats,
	struct err *reterr) MUST_USE;
/* Everything is read and compared; SEGMENT_DAMAGED with what is wrong. ret_stats may be NULL. */
int index_check(const char *dir, struct index_stats *ret_stats, struct err *reterr) MUST_USE;
/* Takes files out, also of the bytes on the disk. What is not in it is passed over. wait: see
 * file_lock(). */
int index_forget(const char *dir, const char *const *paths, size_t n, const struct lock_wait *wait,
	struct err *reterr) MUST_USE;
