/*
 * Sessions that are deleted: the archive keeps them, unless they are to be forgotten.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "keep/kept.h"

struct doomed_session {
	char *agent, *id, *path, *title; /* path "": gone already */
	int64_t active_ms;
	const struct transcript_format *format;
	struct strv files; /* its own and what lies beside it; where it lay before, too */
	size_t n_there; /* of these */
	uint64_t bytes;
};
struct doomed {
	VEC(struct doomed_session) rows;
	struct map files; /* of all of them → 1: with what lay elsewhere */
	struct strv led; /* what those of them lead to that are links: it stays */
	bool forget; /* from archive, index and store as well */
};
#define DOOMED_INIT              \
	{                        \
		.rows = VEC_INIT \
	}
void doomed_release(struct doomed *d);
/* The caller has made sure that nobody has it open. One that is among them is not added again. To
 * be forgotten everywhere is to be so also where files of that id lay that are gone; without that
 * they are other sessions, as one of that id is whose file is there. ERR_NOTFOUND: nothing is left
 * of it but its id in others. */
int doomed_add(const struct keeper *k, struct doomed *d, const struct session_row *row,
	bool everywhere, struct err *reterr) MUST_USE;

struct doomed_stats {
	bool dry, forget;
	size_t sessions, files; /* deleted, or to be */
	uint64_t bytes;
	size_t stayed; /* sessions that could not be deleted: trouble() told why */
	/* … and forgotten: */
	size_t kept; /* files of the archive */
	uint64_t kept_bytes;
	size_t others; /* files of the archive that stay: of other sessions of one id with these */
	size_t rows; /* of the store */
	size_t lines; /* of the history of what was typed */
	uint64_t freed; /* of the archive on the disk */
};
/* What there is to delete. */
struct doomed_stats doomed_count(const struct doomed *d);
/*
 * Takes them into the archive, compares, notes that they go, and deletes what it has byte for byte.
 * One that it has not stays, and the others go all the same; what cannot be noted stays, and ends
 * it. What is to be forgotten goes from the files up, the store last, so that it can be done again
 * where it was cut short: also by cancelled(), which only that asks (ERR_CANCELLED).
 */
int doomed_delete(const struct keeper *k, struct vault *v, const struct doomed *d,
	struct doomed_stats *ret, struct err *reterr) MUST_USE;
/* After one that was cut short when the store no longer knew what it forgot: nothing of it stands
 * in the store's file or the history then. */
int doomed_finish(const struct keeper *k, size_t *ret_lines, struct err *reterr) MUST_USE;
