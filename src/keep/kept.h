/*
 * What the archive keeps: found, brought back, written elsewhere, let go.
 */
#pragma once

#include "keep/keeper.h"
#include "store/catalogue.h"

/* One kept file. */
struct kept {
	char key[ARCHIVE_KEY_MAX];
	char *session, *path; /* owned; path "": not known */
	uint64_t size;
};
#define KEPT_INIT         \
	{                 \
		.key = "" \
	}
void kept_release(struct kept *kept);

/* By its key, or the end of it that lists show. ERR_NOTFOUND without a message. */
int kept_by_key(
	const struct keeper *k, const char *spec, struct kept *ret, struct err *reterr) MUST_USE;
/* By the beginning of a session's id, of CATALOGUE_FRAGMENT_MIN characters or more: for one that
 * nobody but the archive knows any more. ERR_NOTFOUND without a message; ERR_AMBIGUOUS. */
int kept_by_id(
	const struct keeper *k, const char *spec, struct kept *ret, struct err *reterr) MUST_USE;
/* The largest that is kept of a session, be its file there or gone. ERR_NOTFOUND. */
int kept_of_session(const struct keeper *k, const struct session_info *session, struct kept *ret,
	struct err *reterr) MUST_USE;

/*
 * What only the archive has goes to the catalogue as gone, where that knows nothing of it because
 * the store was lost: once for a store. What cannot be read there is trouble. ERR_INPUT: nothing of
 * the archive can.
 */
int kept_learn(const struct keeper *k, struct err *reterr) MUST_USE;

enum {
	KEPT_PARTIAL = 1 << 0, /* damaged lines are left out, and counted */
	KEPT_REPLACE = 1 << 1, /* what lies there goes to the archive first */
};
/* Told of each file. */
struct kept_back {
	const struct kept *kept;
	bool written; /* else it is there already */
	uint64_t lost; /* bytes that were left out */
	const char *aside; /* what lay there and has other bytes, by its key; NULL: nothing */
};
typedef void (*kept_fn)(void *data, const struct kept_back *back);

/*
 * Back to where it lay, and after it what lay beside the session and is missing.
 * ERR_DENIED: something else is there, and stays. With KEPT_REPLACE the caller has made sure that
 * nobody has the session open.
 */
int kept_restore(const struct keeper *k, const struct kept *kept, unsigned flags, kept_fn fn,
	void *data, struct err *reterr) MUST_USE;

typedef VEC(struct kept) kept_vec;
void kept_vec_release(kept_vec *all);
/* Files that are there and have fewer bytes than what is kept of them, by a crash or an
 * overwriting, or are compressed and cannot be unpacked: each with that. What was changed on
 * purpose is not among them. session NULL: of all.
 */
int kept_torn(
	const struct keeper *k, const char *session, kept_vec *ret, struct err *reterr) MUST_USE;

struct kept_written {
	size_t written, there, failed;
	size_t torn; /* of those that are there: see kept_torn(), which the caller asks */
};
/* Every session that is gone, back; or (folder not NULL) every file into a folder, as KEY.jsonl.
 * What is there stays. What fails is trouble, and the rest is done all the same. */
int kept_write_all(const struct keeper *k, const char *folder, unsigned flags,
	struct kept_written *ret, struct err *reterr) MUST_USE;

struct kept_limits {
	int64_t older_ms; /* what was taken before that span; 0: any age */
	uint64_t max_bytes; /* of the packs; 0: any size */
};
struct kept_old {
	struct kept kept;
	int64_t last_ms; /* taken */
	bool only; /* nothing is left of the session then */
};
struct kept_pruned {
	bool dry;
	size_t files; /* that went, or would go */
	uint64_t bytes; /* of them when they were whole */
	size_t referred; /* that would have gone, but references lead there */
	size_t there; /* … but their originals are there: they would be taken again */
	uint64_t over; /* bytes on the disk that are left above the limit */
	uint64_t freed; /* on the disk */
	VEC(struct kept_old) old; /* those files */
};
#define KEPT_PRUNED_INIT        \
	{                       \
		.old = VEC_INIT \
	}
void kept_pruned_release(struct kept_pruned *p);
/* Which are to go: the oldest whose original is gone and that no reference leads to. */
int kept_prune_plan(const struct keeper *k, struct vault *v, const struct kept_limits *limits,
	struct kept_pruned *ret, struct err *reterr) MUST_USE;
/* Lets go of them. */
int kept_prune(const struct keeper *k, struct vault *v, const struct kept_limits *limits,
	struct kept_pruned *plan, struct err *reterr) MUST_USE;

/* Removes a file, or a link to one. One that is gone is fine. */
int kept_remove(const char *path, struct err *reterr) MUST_USE;
/* Removes the folder of what lay beside a session, as far as it is empty. */
void kept_remove_folder(const struct transcript_format *format, const char *path);
