#include "store/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"
#include "store/schema.h"
#include "store/sql.h"
#include "store/sums.h"

enum { WAL_PAGES = 64, FILES = 3 };

struct store {
	sqlite3 *db;
	const struct schema *schema;
	struct sql_kept kept;
	const struct log *log;
	/* What was opened, to notice when a name leads elsewhere: the database, its log, the index
	 * of that. path NULL: there is none. */
	struct {
		char *path;
		dev_t dev;
		ino_t ino;
	} files[FILES];
	char boot[PROC_BOOT_MAX]; /* empty: not asked for yet, or unknown */
	int depth; /* of nested transactions */
	bool failed; /* an inner one did */
};

struct sqlite3 *store_db(struct store *store)
{
	return store->db;
}

struct sql_kept *store_kept(struct store *store)
{
	return &store->kept;
}

const char *store_boot(struct store *store)
{
	if (!store->boot[0])
		proc_boot(store->boot);
	return store->boot;
}

bool store_is_summed(const struct store *store)
{
	return sums_there(store->db);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	sql_kept_release(&store->kept);
	(void)sqlite3_close(store->db);
	for (size_t i = 0; i < FILES; i++)
		free(store->files[i].path);
	free(store);
}

/* Every other one that is opened would be closed, and with it SQLite's locks would go. */
static bool is_overwritten(struct sqlite3 *db)
{
	static const char first[] = "SQLite format 3";
	struct sqlite3_file *file = NULL;
	char found[sizeof(first)];

	return sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
		file && file->pMethods &&
		file->pMethods->xRead(file, found, sizeof(found), 0) == SQLITE_OK &&
		memcmp(found, first, sizeof(first)) != 0;
}

int store_check(const struct store *store, struct err *reterr)
{
	for (size_t i = 0; i < FILES && store->files[i].path; i++) {
		const char *path = store->files[i].path, *what = NULL;
		struct stat st;
		if (stat(path, &st) < 0)
			what = "removed";
		else if (st.st_dev != store->files[i].dev || st.st_ino != store->files[i].ino)
			what = "replaced";
		else if (i == 0 && st.st_size == 0) /* the log is emptied by who folds it in */
			what = "emptied";
		else if (i == 0 && is_overwritten(store->db))
			what = "overwritten";
		if (what)
			return err_set(reterr, ERR_STORE,
				"store: %s was %s while faden was running; what happens here is "
				"not remembered any more: end this faden and start it again",
				path, what);
	}
	return 0;
}

int store_check_alone(const struct store *store, struct err *reterr)
{
	return store->depth == 0 ? store_check(store, reterr) : 0;
}

static int pragma_int(struct store *store, const char *text, int64_t *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, text, reterr);

	if (r < 0)
		return r;
	r = sql_step(&q, reterr);
	if (r < 0)
		return r;
	*ret = r > 0 ? sql_get_int(&q, 0) : 0;
	return 0;
}

static int refuse_newer(const struct store *store, int64_t version, struct err *reterr)
{
	return err_set(reterr, ERR_NEWER,
		"store: written by a newer faden (schema %lld, this one knows %zu); "
		"nothing was touched, please upgrade faden",
		(long long)version, store->schema->version);
}

static int migrate(struct store *store, struct err *reterr)
{
	int64_t version = 0;
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	/* Read again inside the lock: another process may have done the work meanwhile. */
	r = pragma_int(store, "PRAGMA user_version", &version, reterr);
	if (r == 0 && version > (int64_t)store->schema->version)
		r = refuse_newer(store, version, reterr);
	for (size_t i = (size_t)version; r == 0 && i < store->schema->version; i++)
		r = sql_exec(store, store->schema->steps[i], reterr);
	if (r == 0) {
		char text[96];
		(void)snprintf(text, sizeof(text),
			"PRAGMA user_version = %zu; PRAGMA application_id = %d",
			store->schema->version, store->schema->application_id);
		r = sql_exec(store, text, reterr);
	}
	return store_end(store, r, reterr);
}

/* Two processes that make the store at once: here SQLite gives up at once instead of waiting. */
static int use_wal(struct store *store, struct err *reterr)
{
	enum { PAUSE_MS = 5 };
	int code = SQLITE_BUSY;

	for (int waited = 0; code == SQLITE_BUSY && waited < STORE_BUSY_MS; waited += PAUSE_MS) {
		code = sqlite3_exec(store->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
		if (code == SQLITE_BUSY)
			(void)usleep(PAUSE_MS * 1000);
	}
	return code == SQLITE_OK ? 0 : sql_error(store, code, reterr);
}

/* The log is folded in when it has grown, and emptied then: who opens the store reads it from its
 * beginning, also what was folded in long ago. Nobody is waited for; where somebody reads it right
 * now, it is emptied the next time. */
static int fold_log(void *data, sqlite3 *db, const char *name, int pages)
{
	(void)data;
	if (pages < WAL_PAGES)
		return SQLITE_OK;
	(void)sqlite3_busy_timeout(db, 0);
	(void)sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	(void)sqlite3_busy_timeout(db, STORE_BUSY_MS);
	return SQLITE_OK;
}

static int configure(struct store *store, unsigned flags, struct err *reterr)
{
	(void)sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
	/* A program that lives for milliseconds would pay more for the checkpoint at its end than
	 * for all its work. */
	(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	(void)sqlite3_wal_hook(store->db, fold_log, NULL);
	int64_t version;
	int r = pragma_int(store, "PRAGMA user_version", &version, reterr);
	if (r < 0)
		return r;
	if (version > (int64_t)store->schema->version)
		return refuse_newer(store, version, reterr);
	/* synchronous = FULL is the default; a pragma would only cost its parsing. */
	(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
	if (version == (int64_t)store->schema->version)
		return 0;
	if (flags & STORE_READONLY)
		return err_set(reterr, ERR_NOTFOUND, "store: not made yet");
	if (!(flags & STORE_MEMORY))
		r = use_wal(store, reterr);
	return r < 0 ? r : migrate(store, reterr);
}

/* SQLite makes its file with the process's umask; the store holds prompts, so it is made here. */
static int prepare_file(const char *path, struct err *reterr)
{
	AUTO_FREE char *dir = path_folder(path);
	int r = file_mkdirs(dir, reterr);

	if (r < 0)
		return r;
	struct str empty = STR_INIT;
	return file_append(path, str_sv(&empty), false, reterr);
}

/* The log stays as long as one has it open, which whoever has read the database does. */
static void note_files(struct store *store, const char *path)
{
	static const char *const parts[FILES] = { "", "-wal", "-shm" };
	size_t n = 0;

	for (size_t i = 0; i < FILES; i++) {
		AUTO_FREE char *name = xasprintf("%s%s", path, parts[i]);
		struct stat st;
		bool there = stat(name, &st) == 0;
		if (!there && n == 0)
			return;
		if (!there)
			continue;
		store->files[n].dev = st.st_dev;
		store->files[n].ino = st.st_ino;
		store->files[n++].path = TAKE_PTR(name);
	}
}

int store_open(const char *path, unsigned flags, const struct log *log, struct store **ret,
	struct err *reterr)
{
	return store_open_as(&schema_own, path, flags, log, ret, reterr);
}

int store_open_as(const struct schema *schema, const char *path, unsigned flags,
	const struct log *log, struct store **ret, struct err *reterr)
{
	int mode = flags & STORE_READONLY ? SQLITE_OPEN_READONLY
					  : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	const char *name = flags & STORE_MEMORY ? ":memory:" : path;
	struct stat st;
	int r = 0;

	if (!(flags & (STORE_READONLY | STORE_MEMORY)) && !path_exists(path))
		r = prepare_file(path, reterr);
	/* SQLite waits at a pipe for who writes to it, for ever. */
	if (r == 0 && !(flags & STORE_MEMORY) && stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		r = err_set(reterr, ERR_STORE, "%s is not a file", path);
	if (r < 0) {
		err_prefix(reterr, "store");
		return r;
	}
	/* Nobody asks how much memory SQLite has; to count it takes a lock for every piece. Heeded
	 * before the first one is opened. */
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	struct store *store = xcalloc(1, sizeof(*store));
	store->log = log;
	store->schema = schema;
	bool summed = schema->summed && !(flags & STORE_MEMORY);
	int code = sqlite3_open_v2(
		name, &store->db, mode | SQLITE_OPEN_NOMUTEX, summed ? sums_vfs() : NULL);
	if (!store->db) {
		free(store);
		return err_set(reterr, ERR_STORE, "store: out of memory");
	}
	if (summed && code == SQLITE_OK)
		sums_wanted(store->db);
	r = code == SQLITE_OK ? configure(store, flags, reterr) : sql_error(store, code, reterr);
	if (r == 0 && !(flags & STORE_MEMORY))
		note_files(store, path);
	if (r < 0) {
		log_write(log, LOG_ERROR, "store %s: error %d", name, r);
		store_close(store);
		return r;
	}
	*ret = store;
	return 0;
}

int store_copy(struct store *from, const struct log *log, struct store **ret, struct err *reterr)
{
	enum { ALL_PAGES = -1 };
	struct store *copy = NULL;
	int r = store_open(NULL, STORE_MEMORY, log, &copy, reterr);

	if (r < 0)
		return r;
	sqlite3_backup *backup = sqlite3_backup_init(copy->db, "main", from->db, "main");
	int code = backup ? sqlite3_backup_step(backup, ALL_PAGES) : SQLITE_ERROR;
	(void)sqlite3_backup_finish(backup);
	if (code != SQLITE_DONE) {
		store_close(copy);
		return sql_error(from, code, reterr);
	}
	*ret = copy;
	return 0;
}

int store_begin(struct store *store, struct err *reterr)
{
	int r = store_check_alone(store, reterr);

	if (r == 0 && store->depth == 0)
		r = sql_exec(store, "BEGIN IMMEDIATE", reterr);
	if (r < 0)
		return r;
	if (store->depth++ == 0)
		store->failed = false;
	return 0;
}

int store_end(struct store *store, int result, struct err *reterr)
{
	int r = result < 0 ? result : 0;

	store->failed |= r < 0;
	if (--store->depth > 0)
		return r;
	if (r == 0 && store->failed)
		r = err_set(reterr, ERR_STORE, "store: nothing was changed");
	if (r == 0)
		r = store_check(store, reterr);
	if (r == 0)
		r = sql_exec(store, "COMMIT", reterr);
	/* What went into a file that nobody finds again is not kept. */
	if (r == 0)
		r = store_check(store, reterr);
	/* A failed commit leaves the transaction open; a rollback that finds none is harmless. */
	if (r < 0)
		(void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

int store_scrub(struct store *store, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = store_check_alone(store, reterr);

	/* Statements that are kept ready may hold on to what they read. */
	sql_kept_release(&store->kept);
	if (r == 0)
		r = sql_exec(store, "VACUUM", reterr);
	if (r == 0)
		r = sql_prepare(&q, store, "PRAGMA wal_checkpoint(TRUNCATE)", reterr);
	if (r == 0)
		r = sql_step(&q, reterr);
	if (r < 0)
		return r;
	return r > 0 && sql_get_int(&q, 0) != 0
		? err_set(reterr, ERR_BUSY,
			  "store: another program reads %s: what "
			  "was forgotten stands in its log until "
			  "that ends; do it again then",
			  store->files[0].path ? store->files[0].path : "it")
		: 0;
}

int store_pref_get(struct store *store, const char *key, char **ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr, "SELECT value FROM pref WHERE key = ?", SQL_T(key));

	if (r == 0)
		r = sql_step(&q, reterr);
	if (r < 0)
		return r;
	if (r == 0)
		return err_set(reterr, ERR_NOTFOUND, "nothing remembered as '%s'", key);
	*ret = sql_dup_text(&q, 0);
	return 0;
}

int store_pref_set(struct store *store, const char *key, const char *value, struct err *reterr)
{
	return SQL_RUN(store, reterr, "INSERT OR REPLACE INTO pref (key, value) VALUES (?, ?)",
		SQL_T(key), SQL_T(value));
}
