/*
 * Index and archive of the user's sessions, brought up to date and kept so. Silent: what is worth a
 * word comes back as figures or through trouble().
 */
#pragma once

#include "archive/archive.h"
#include "archive/vault.h"
#include "base/log.h"
#include "search/index.h"

/* What all of it works with; all is borrowed. */
struct keeper {
	struct store *store;
	const struct transcript_home *homes;
	size_t n_homes;
	const char *state_dir;
	const char *index_dir;
	const char *archive_dir;
	const struct clock *clock;
	const struct log *log; /* may be NULL */
	size_t result_max; /* bytes of a tool's result that are indexed */
	/* All may be NULL. trouble: a file or folder that cannot be read, it is left out. progress:
	 * of the archive. Both from any thread, one at a time. cancelled, from any thread: true
	 * ends what is done early, and keeps it. */
	void (*trouble)(void *data, const struct err *err);
	void (*progress)(void *data, size_t done, size_t files);
	bool (*cancelled)(void *data);
	void *data;
	/* For another one who writes; with a `cancelled` and a `data` of its own, since what must
	 * not be left half done has not begun then. */
	struct lock_wait wait;
};

struct archive keeper_archive(const struct keeper *k);

/* Whether what is kept of a path is still there: of a session also compressed, and not blanked. */
bool keeper_there(const struct keeper *k, const char *path);
/* Whether a file that is or was there belongs to a session and is none itself. */
bool keeper_beside(const struct keeper *k, const char *path);

/* The vault for writing, after whoever writes now. Flags of vault_open() are added. */
int keeper_vault(
	const struct keeper *k, unsigned flags, struct vault **ret, struct err *reterr) MUST_USE;

/*
 * Takes what is new of these files into the index, after whoever writes to it now. paths NULL: of
 * all files. With a budget no more than fits, and ERR_BUSY when another one writes.
 */
int keeper_index_files(const struct keeper *k, const struct strv *paths, int64_t budget_ms,
	struct index_stats *ret, struct err *reterr) MUST_USE;
/*
 * The same for the archive. Of all files (paths NULL) those count that the catalogue knows, which
 * is not brought up to date here.
 */
int keeper_archive_files(const struct keeper *k, const struct strv *paths,
	struct archive_update_stats *ret, struct err *reterr) MUST_USE;
/* What was let go leaves the packs; see vault_sweep(). */
int keeper_sweep(
	const struct keeper *k, struct vault *v, uint64_t *ret_freed, struct err *reterr) MUST_USE;
/*
 * Around an index of everything: what it has read is to be in the archive as well. Begun before it,
 * so that until keeper_archive_new() has come to its end whoever begins next takes all files.
 */
struct keeper_taking {
	bool all;
	int64_t since_ms; /* when the archive had all files */
	char mark[48];
};
int keeper_archive_begin(
	const struct keeper *k, struct keeper_taking *ret, struct err *reterr) MUST_USE;
/*
 * Takes what has changed since the archive had all files, and these in any case, or all. The
 * catalogue is as the files were at as_of_ms, and so is the archive then. ERR_BUSY, and nothing is
 * taken, when another one writes to the archive.
 */
int keeper_archive_new(const struct keeper *k, const struct keeper_taking *taking,
	const struct strv *paths, int64_t as_of_ms, struct archive_update_stats *ret,
	struct err *reterr) MUST_USE;
/* … with the vault open. */
int keeper_archive_to(const struct keeper *k, struct vault *v, const struct strv *paths,
	struct archive_update_stats *ret, struct err *reterr) MUST_USE;
