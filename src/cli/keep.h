/*
 * What the commands about the archive share: finding what is kept, taking everything, removing what
 * is kept elsewhere, letting go.
 */
#pragma once

#include "archive/archive.h"
#include "archive/vault.h"
#include "base/vec.h"
#include "cli/app.h"
#include "store/catalogue.h"
#include "view/archive.h"

/* One kept file. */
struct kept {
	char key[ARCHIVE_KEY_MAX];
	char *session, *path; /* owned */
};
void kept_release(struct kept *kept);
/* By its key, or the largest that is kept of a SESSION, be its file there or gone. */
int kept_find(struct app *app, const char *spec, struct kept *ret, struct err *reterr) MUST_USE;

/* The vault for writing, after whoever writes now; says so when its database was made again. */
int keep_open(struct app *app, struct vault **ret, struct err *reterr) MUST_USE;
/* Takes what is new of all sessions (session NULL) or one, with progress and warnings on standard
 * error. The catalogue should be up to date. */
int keep_sessions(struct app *app, struct vault *v, const char *session,
	struct archive_update_stats *ret, struct err *reterr) MUST_USE;

struct kept_limits {
	int64_t older_ms; /* what was taken before that span; 0: any age */
	uint64_t max_bytes; /* of the packs; 0: any size */
};
int keep_limits_of_settings(struct app *app, struct kept_limits *ret, struct err *reterr) MUST_USE;
/* Lets go of the oldest whose original is gone and that no reference leads to. */
int keep_prune(struct app *app, struct vault *v, const struct kept_limits *limits, bool dry,
	struct archive_pruned *ret, struct err *reterr) MUST_USE;

/* Removes a file that the vault has every byte of, and the folder of its sub-agents if that is
 * empty then. */
int keep_remove(struct vault *v, const char *path, struct err *reterr) MUST_USE;

struct doomed_session {
	char *agent, *id, *path; /* path "": gone already */
	struct strv files; /* its own and those of its sub-agents */
	uint64_t bytes;
};
/* Sessions that are to be deleted. */
struct doomed {
	VEC(struct doomed_session) rows;
	bool forget; /* from archive, index and store as well */
	bool dry, yes, json;
};
#define DOOMED_INIT              \
	{                        \
		.rows = VEC_INIT \
	}
void doomed_release(struct doomed *d);
/* ERR_BUSY when somebody has the session open; where it was not named, it is passed over then. */
int doomed_add(struct app *app, struct doomed *d, const struct session_row *row, bool named,
	struct err *reterr) MUST_USE;
/* Asks, takes them into the archive, deletes them, and says what was done. Exit status. */
int doomed_delete(struct app *app, struct doomed *d, struct err *reterr) MUST_USE;
