/*
 * What a bundle says of itself: the conversations in it and the files they are made of. It comes
 * from elsewhere and is taken for hostile: texts and numbers have limits, no place leads out of the
 * folder it is below, and no two files have the same one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

enum {
	BUNDLE_SESSIONS_MAX = 10000,
	BUNDLE_FILES_MAX = 100000,
	BUNDLE_TEXT_MAX = 8192, /* bytes of each text */
	BUNDLE_MARKS_MAX = 64,
};
#define BUNDLE_SIZE_MAX (UINT64_C(64) << 30) /* bytes of one file */

struct bundle_file {
	char *place; /* below the agent's home; of a run below its folder */
	uint64_t size;
};

/* Strings are owned and never NULL; "" when unknown. */
struct bundle_session {
	char *agent;
	char *id;
	char *title;
	char *name; /* given here or in the agent */
	char *dir; /* where it was begun */
	char *branch;
	char *parent_id; /* with the relation to it */
	char *relation;
	int64_t first_ms, active_ms, turns;
	struct strv marks; /* what the project is known by, see os/repo.h */
	bool ancestor; /* it is there for the sake of another */
	bool run; /* a run of the pair: agent is "" */
	size_t first, files; /* of manifest.files; the first of them is the session itself */
};

struct bundle_manifest {
	char *made_by; /* "faden 0.1.0" */
	int64_t made_ms;
	VEC(struct bundle_session) sessions;
	VEC(struct bundle_file) files; /* in the order of the sessions, and of their bytes */
};
#define BUNDLE_MANIFEST_INIT    \
	{                       \
		.made_by = NULL \
	}
void bundle_manifest_release(struct bundle_manifest *m);

void bundle_manifest_encode(const struct bundle_manifest *m, struct str *out);
/* ERR_INPUT, ERR_LIMIT. Release it after a failure too. */
int bundle_manifest_decode(
	struct sv json, struct bundle_manifest *ret, struct err *reterr) MUST_USE;

/* A way down: no empty part, no "..", nothing absolute, no control characters. */
bool bundle_place_valid(struct sv place);
