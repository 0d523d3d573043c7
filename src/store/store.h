/*
 * The store: what faden itself remembers, shared by every faden process of the user. One SQLite
 * file in WAL mode; a crash at any point leaves the last committed state.
 *
 * This header opens and closes it and runs transactions; conversations, turns and the catalogue
 * have headers of their own. A handle is used by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"

struct sqlite3;
struct store;

enum store_flags {
	STORE_READONLY = 1 << 0, /* never creates, never migrates */
	STORE_MEMORY = 1 << 1, /* private and gone at close; path is ignored */
};

/*
 * Opens the store at path, made (0600, folders 0700) and brought to this version's schema when
 * needed. Fails with ERR_NEWER when a newer faden wrote it, ERR_STORE when it is damaged or cannot
 * be written. log may be NULL and must outlive the store.
 */
int store_open(const char *path, unsigned flags, const struct log *log, struct store **ret,
	struct err *reterr) MUST_USE;
/* A private copy in memory of everything in `from`: for looking where nothing can be written. */
int store_copy(
	struct store *from, const struct log *log, struct store **ret, struct err *reterr) MUST_USE;
/* What a database is made of: step i brings version i to i + 1. A step that was ever released is
 * never edited; a change is a new step. */
struct schema {
	int application_id;
	size_t version; /* number of steps */
	const char *const *steps;
	bool summed; /* each page has a check sum; of a database in a file */
};
/* The same for a database of another make, which must outlive the handle: what is derived from
 * files and can be made again lies in one of its own. */
int store_open_as(const struct schema *schema, const char *path, unsigned flags,
	const struct log *log, struct store **ret, struct err *reterr) MUST_USE;
/* Whether its pages have check sums. One that was made without them never gets them. */
bool store_is_summed(const struct store *store);
void store_close(struct store *store); /* NULL is fine */
static inline void store_closep(struct store **store)
{
	store_close(*store);
}
#define AUTO_STORE CLEANUP(store_closep) struct store

/* For files of this room only. The second is store_check() outside of a transaction. */
struct sqlite3 *store_db(struct store *store);
int store_check_alone(const struct store *store, struct err *reterr) MUST_USE;

/*
 * A write transaction: taken at once, so that what is read in it is what will be changed. Waits
 * for other processes up to STORE_BUSY_MS, then ERR_BUSY. store_end() is given how it went: it
 * rolls back when that is negative, and returns it; else it commits and returns how that went.
 *
 * Transactions nest: only the outermost one commits, and one that failed inside fails the whole
 * (ERR_STORE). So several calls can share one commit, which is one wait for the disk.
 */
enum { STORE_BUSY_MS = 30000 };
int store_begin(struct store *store, struct err *reterr) MUST_USE;
int store_end(struct store *store, int result, struct err *reterr) MUST_USE;

/* ERR_STORE when the file that was opened or its log is no longer what its name leads to (removed
 * or replaced, also with the folder), was emptied or overwritten from its beginning. Looked at
 * around everything that is written. */
int store_check(const struct store *store, struct err *reterr) MUST_USE;

/*
 * Writes the file anew and empties its log, so that nothing of rows that were deleted stands in
 * either any more: SQLite only marks their room as free. Outside of a transaction. Waits for others
 * like store_begin(); ERR_BUSY when somebody reads there all that time: the log has it still.
 */
int store_scrub(struct store *store, struct err *reterr) MUST_USE;

/* Small remembered answers ("which agent?"). Missing: ERR_NOTFOUND. */
int store_pref_get(struct store *store, const char *key, char **ret, struct err *reterr) MUST_USE;
int store_pref_set(
	struct store *store, const char *key, const char *value, struct err *reterr) MUST_USE;
