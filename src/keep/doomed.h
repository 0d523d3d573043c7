/*
 * Sessions that are deleted: the archive keeps them, unless they are to be forgotten.
 */
#pragma once

#include "base/vec.h"
#include "keep/kept.h"

struct doomed_session {
	char *agent, *id, *path, *title; /* path "": gone already */
	int64_t active_ms;
	struct strv files; /* its own and those of its sub-agents */
	size_t n_there; /* of these */
	uint64_t bytes;
};
struct doomed {
	VEC(struct doomed_session) rows;
	bool forget; /* from archive, index and store as well */
};
#define DOOMED_INIT              \
	{                        \
		.rows = VEC_INIT \
	}
void doomed_release(struct doomed *d);
/* The caller has made sure that nobody has it open. */
int doomed_add(const struct keeper *k, struct doomed *d, const struct session_row *row,
	struct err *reterr) MUST_USE;

struct doomed_stats {
	bool dry, forget;
	size_t sessions, files; /* deleted, or to be */
	uint64_t bytes;
	size_t stayed; /* sessions that could not be deleted: trouble() told why */
	/* … and forgotten: */
	size_t kept; /* files of the archive */
	uint64_t kept_bytes;
	size_t rows; /* of the store */
	uint64_t freed; /* of the archive on the disk */
};
/* What there is to delete. */
struct doomed_stats doomed_count(const struct doomed *d);
/*
 * Takes them into the archive, compares, notes that they go, and deletes what it has byte for byte.
 * One that it has not stays, and the others go all the same; what cannot be noted stays, and ends
 * it. What is to be forgotten goes from the files up, the store last, so that it can be done again
 * where it was cut short.
 */
int doomed_delete(const struct keeper *k, struct vault *v, const struct doomed *d,
	struct doomed_stats *ret, struct err *reterr) MUST_USE;
/* After one that was cut short when the store no longer knew what it forgot: nothing of it stands
 * in the store's file then. */
int doomed_finish(struct store *store, struct err *reterr) MUST_USE;
