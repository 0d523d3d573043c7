/*
 * Bringing the index up to date, in two parts: what differs (index-look.c), and reading it
 * (index-update.c). Private to these.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/vec.h"
#include "os/unpack.h"
#include "search/index-text.h"
#include "search/manifest.h"

enum { HOMES_MAX = 16 };

/* Of what is known no more than tells whether it has changed: there may be many. */
struct known_source {
	uint32_t id;
	char *path;
	uint64_t dev, ino, size;
	uint64_t bytes; /* what there was, plain: of one that was torn more than its size */
	int64_t mtime_ns, ctime_ns;
	bool gone, seen;
	bool queued; /* it is among what is to be read */
	bool anew; /* … all of it: a result beside it has changed, or it is not larger */
};

struct todo {
	char *path;
	const struct transcript_home *home;
	size_t known; /* index plus one; 0: new */
	uint64_t size;
	int64_t mtime_ns;
	bool subagent;
	bool shorter; /* than what was known or is kept of it: perhaps torn */
	char *kept; /* it is gone or torn, and read from the archive by this key; else NULL */
	struct stat *torn; /* it is there, but a beginning of the copy only: as it was then */
};

typedef VEC(struct spilled) spilled_vec;

/* A source whose documents wait to be committed. */
struct pending {
	struct source_row row;
	bool was_known, rewritten, described; /* the last: with a new document of the session */
	spilled_vec spilled;
};

/* Where a source stands in the segments that were there before. */
struct old_run {
	uint32_t source, segment, run;
};

struct gatherer {
	struct builder *builder;
	VEC(struct pending) pending;
	struct str text;
};

struct update {
	struct manifest m;
	struct store *store;
	const struct transcript_home *homes;
	size_t n_homes;
	struct index_opts opts;
	struct index_stats stats;
	VEC(struct known_source) known;
	VEC(uint32_t) twice; /* ids of sources whose session another source has, too */
	struct map paths; /* without the ending of a compressed one → index in known */
	struct map met; /* likewise, of new ones that are to be read */
	struct unpack_doubt doubt;
	VEC(struct todo) todo;
	VEC(struct old_run) old;
	const struct transcript_home *walking;
	bool home_trouble[HOMES_MAX]; /* of those walked */
	bool blind; /* something that there may be could not be looked at */
	int64_t names_mark[HOMES_MAX]; /* of the files with names, */
	bool names_new[HOMES_MAX]; /* … where that differs from what all sources have */
	int64_t kept_mark; /* of the archive, all of which was compared; 0: it was not */
	int64_t kept_identity; /* of the archive, where it was looked at */
	bool take; /* each session is looked up by itself */
	bool named; /* a source that is known has a name of ours */
	int64_t deadline_ms; /* of the clock that goes on; 0 none */
	unsigned threads;
	struct gatherer *workers;
	sem_t large;
	atomic_bool stop;
	atomic_uint_least64_t bytes_done;
	atomic_size_t done;
	pthread_mutex_t lock; /* manifest, store, stats, errors */
	VEC(struct err) errors;
};

/* Fills what is known, and what is to be read of these files, or all. */
int index_look(struct update *u, struct err *reterr) MUST_USE;
/* What all are called was compared. */
int index_mark_named(struct update *u, struct err *reterr) MUST_USE;
/* All files were compared. */
int index_mark_checked(struct update *u, int64_t started_ms, struct err *reterr) MUST_USE;
