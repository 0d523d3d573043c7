#include "store/health.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/map.h"
#include "store/schema.h"
#include "store/sql.h"
#include "store/sums.h"

enum {
	EMPTY_BYTES = 1, /* that SQLite takes for none */
	FAULTS_SHOWN = 1,
	WAIT_MS = 3000,
};

/* ---- files ---- */

/* Its log and the index of that are files of their own, with permissions of their own. */
static bool may_use_all(const char *path, struct str *words)
{
	static const char *const parts[] = { "", "-wal", "-shm" };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		char name[PATH_MAX];
		(void)snprintf(name, sizeof(name), "%s%s", path, parts[i]);
		if (access(name, R_OK | W_OK) == 0 || errno == ENOENT)
			continue;
		str_addf(words, "%s: %s", name, strerror(errno));
		return false;
	}
	return true;
}

/* ---- contents ---- */

static enum store_health health_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return STORE_DAMAGED;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return STORE_HELD;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return STORE_UNREADABLE;
	default:
		return STORE_UNWRITABLE;
	}
}

static enum store_health failed(sqlite3 *db, int code, struct str *words)
{
	str_adds(words, sqlite3_errmsg(db));
	if (sqlite3_system_errno(db) != 0 && (code & 0xff) != SQLITE_CORRUPT)
		str_addf(words, " (%s)", strerror(sqlite3_system_errno(db)));
	return health_of(code);
}

static enum store_health look_at_version(sqlite3 *db, int64_t *ret, struct str *words)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	*ret = code == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	(void)sqlite3_finalize(stmt);
	if (code != SQLITE_ROW)
		return failed(db, code, words);
	if (*ret <= (int64_t)schema_version)
		return STORE_SOUND;
	str_addf(words, "schema %lld, and this faden knows %zu", (long long)*ret, schema_version);
	return STORE_NEWER;
}

/* A row of the check may have many lines, the first of them a title. Returns how many there are. */
static int name_faults(struct sv text, int before, struct str *words)
{
	int faults = 0;
	struct sv line;

	while (text.n > 0) {
		if (!sv_split(&text, '\n', &line)) {
			line = text;
			text.n = 0;
		}
		if (line.n == 0 || sv_starts(line, SV("***")) || sv_eq(line, SV("ok")))
			continue;
		if (before + faults++ < FAULTS_SHOWN)
			str_add(words, line);
	}
	return faults;
}

static enum store_health read_all(sqlite3 *db, struct str *words)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL);
	int faults = 0;

	while (code == SQLITE_OK && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);
		code = SQLITE_OK;
		faults += text ? name_faults(sv_of(text), faults, words) : 0;
	}
	(void)sqlite3_finalize(stmt);
	if (faults > FAULTS_SHOWN)
		str_addf(words, "; %d more", faults - FAULTS_SHOWN);
	if (faults > 0)
		return STORE_DAMAGED;
	return code == SQLITE_DONE ? STORE_SOUND : failed(db, code, words);
}

/* What a turn does: a commit to the log; and what is done now and then, the log into the file. The
 * version is read anew: reading everything took a while, and a newer faden may have come meanwhile.
 */
static enum store_health write_one(sqlite3 *db, struct str *words)
{
	char text[96];
	int64_t version;

	int code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (code != SQLITE_OK)
		return failed(db, code, words);
	enum store_health health = look_at_version(db, &version, words);
	if (health == STORE_SOUND) {
		(void)snprintf(text, sizeof(text),
			"PRAGMA user_version = %lld; COMMIT; PRAGMA wal_checkpoint(PASSIVE)",
			(long long)version);
		code = sqlite3_exec(db, text, NULL, NULL, NULL);
		if (code != SQLITE_OK)
			health = failed(db, code, words);
	}
	if (health != STORE_SOUND)
		(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return health;
}

enum store_health store_try(const char *path, struct str *words)
{
	struct stat st;
	sqlite3 *db = NULL;
	int64_t version = 0;

	if (stat(path, &st) < 0) {
		if (errno == ENOENT)
			return STORE_NONE;
		str_addf(words, "%s", strerror(errno));
		return STORE_UNREADABLE;
	}
	/* SQLite would wait at a pipe for who writes to it. */
	if (!S_ISREG(st.st_mode)) {
		str_adds(words, "it is not a file");
		return STORE_UNREADABLE;
	}
	if (!may_use_all(path, words))
		return STORE_UNREADABLE;
	if (st.st_size <= EMPTY_BYTES)
		return STORE_EMPTY;
	int code =
		sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, sums_vfs());
	enum store_health health = code == SQLITE_OK ? STORE_SOUND : failed(db, code, words);
	if (health == STORE_SOUND) {
		(void)sqlite3_busy_timeout(db, WAIT_MS);
		(void)sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
		health = look_at_version(db, &version, words);
	}
	if (health == STORE_SOUND)
		health = read_all(db, words);
	if (health == STORE_SOUND)
		health = write_one(db, words);
	(void)sqlite3_close(db);
	return health;
}

bool store_lacks(struct store *store, struct str *words)
{
	static const char text[] = "SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT "
				   "LIKE 'sqlite_%'";
	AUTO_STORE *whole = NULL;
	AUTO_SQL q = SQL_INIT;
	AUTO_SQL has = SQL_INIT;
	AUTO_MAP there = MAP_INIT;
	uint64_t at;

	if (store_open(NULL, STORE_MEMORY, NULL, &whole, NULL) < 0 ||
		sql_prepare(&q, whole, text, NULL) < 0 || sql_prepare(&has, store, text, NULL) < 0)
		return false;
	while (sql_step(&has, NULL) > 0)
		(void)map_put(&there, sv_of(sql_get_text(&has, 0)), 1);
	while (sql_step(&q, NULL) > 0) {
		if (map_get(&there, sv_of(sql_get_text(&q, 0)), &at))
			continue;
		str_addf(words, "there is no %s", sql_get_text(&q, 0));
		return true;
	}
	return false;
}
