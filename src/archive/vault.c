#include "archive/vault-room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"

/* ---- the database ---- */

static const char step_1[] =
	/* How far each pack has been taken in. */
	"CREATE TABLE pack (n INTEGER PRIMARY KEY, size INTEGER NOT NULL) STRICT;"
	"CREATE TABLE frame ("
	" id INTEGER PRIMARY KEY,"
	" pack INTEGER NOT NULL, offset INTEGER NOT NULL,"
	" raw INTEGER NOT NULL, stored INTEGER NOT NULL,"
	" kind INTEGER NOT NULL" /* enum frame_kind */
	") STRICT;"
	"CREATE INDEX frame_pack ON frame(pack);"
	"CREATE TABLE file ("
	" seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	" key TEXT NOT NULL UNIQUE,"
	" agent TEXT NOT NULL, session TEXT NOT NULL, path TEXT NOT NULL,"
	" flags INTEGER NOT NULL,"
	" size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"
	" first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX file_path ON file(path);"
	"CREATE INDEX file_session ON file(session);"
	/* The recipe stands here and in its frame: neither alone can be lost. */
	"CREATE TABLE part ("
	" file INTEGER NOT NULL REFERENCES file(seq),"
	" start INTEGER NOT NULL, size INTEGER NOT NULL,"
	" frame INTEGER NOT NULL,"
	" recipe BLOB NOT NULL,"
	" PRIMARY KEY (file, start)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TABLE hook (hash INTEGER PRIMARY KEY, frame INTEGER NOT NULL) STRICT;"
	/* What stat() said of a file when it was last taken. */
	"CREATE TABLE seen ("
	" path TEXT PRIMARY KEY,"
	" dev INTEGER NOT NULL, ino INTEGER NOT NULL,"
	" size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"
	" key TEXT NOT NULL"
	") STRICT, WITHOUT ROWID;";

static const char step_2[] =
	/* Frames that are known to be damaged or missing. */
	"CREATE TABLE damaged (frame INTEGER PRIMARY KEY) STRICT;";

static const char step_3[] =
	/* Frames of recipes that were forgotten, until the packs have them no more. */
	"CREATE TABLE let_go (frame INTEGER PRIMARY KEY) STRICT;";

static const char step_4[] =
	/* What was written with the time of before is told by the time of the change. */
	"ALTER TABLE seen ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0;";

static const char *const steps[] = { step_1, step_2, step_3, step_4 };
const struct schema vault_schema = {
	.application_id = 0x66646e61, /* "fdna" */
	.version = ARRAY_LEN(steps),
	.steps = steps,
};

int vault_begin(struct vault *v, struct err *reterr)
{
	int r = v->began ? 0 : store_begin(v->db, reterr);

	v->began |= r == 0;
	return r;
}

int vault_commit_held(struct vault *v, struct err *reterr)
{
	int r = 0;

	if (v->failed)
		return err_set(reterr, ERR_STORE, "archive: what was taken last is not kept");
	if (v->fd >= 0 && v->unsynced > 0 && fdatasync(v->fd) < 0)
		r = err_errno(reterr, errno, "sync of the archive's packs");
	if (r == 0)
		v->unsynced = 0;
	if (r == 0 && v->began) {
		v->began = false;
		r = store_end(v->db, 0, reterr);
	}
	v->failed |= r < 0;
	return r;
}

int vault_commit(struct vault *v, struct err *reterr)
{
	(void)pthread_mutex_lock(&v->mutex);
	int r = vault_commit_held(v, reterr);
	(void)pthread_mutex_unlock(&v->mutex);
	return r;
}

/* ---- writing ---- */

char *pack_path(const struct vault *v, int64_t n)
{
	return xasprintf("%s/%08lld.pack", v->packs, (long long)n);
}

long long pack_number(const char *file)
{
	struct sv name = sv_of(file);
	long long n;

	return sv_ends(name, SV(".pack")) && sv_parse_i64(sv_head(name, name.n - 5), &n) && n > 0
		? n
		: 0;
}

int note_pack(struct vault *v, int64_t n, uint64_t size, struct err *reterr)
{
	return SQL_RUN(v->db, reterr, "INSERT OR REPLACE INTO pack (n, size) VALUES (?, ?)",
		SQL_I(n), SQL_I(size));
}

/* The pack to write to, a new one when the last is full. It must end where it is recorded to: what
 * is written goes to its end, wherever that is. */
static int ready_pack(struct vault *v, struct err *reterr)
{
	struct stat st;

	if (v->fd >= 0 &&
		(fstat(v->fd, &st) < 0 || st.st_nlink == 0 || (uint64_t)st.st_size != v->end))
		return err_set(reterr, ERR_STORE,
			"archive: somebody has changed pack %lld while it was written to; what was "
			"taken last is not kept, 'faden archive' takes it again",
			(long long)v->pack);
	if (v->fd >= 0 && v->end < PACK_FULL)
		return 0;
	if (v->fd >= 0) {
		if (fdatasync(v->fd) < 0)
			return err_errno(reterr, errno, "sync of the archive's packs");
		(void)close(v->fd);
		v->fd = -1;
		v->pack++;
		v->end = 0;
	}
	AUTO_FREE char *path = pack_path(v, v->pack);
	v->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (v->fd < 0)
		return err_errno(reterr, errno, "open %s", path);
	if (fstat(v->fd, &st) < 0 || (uint64_t)st.st_size != v->end)
		return err_set(reterr, ERR_STORE, "archive: %s is not as it was left", path);
	return v->end == 0 ? folder_sync_of(path, reterr) : 0;
}

int put_frame_row(
	struct vault *v, const struct frame *f, int64_t pack, uint64_t offset, struct err *reterr)
{
	return SQL_RUN(v->db, reterr,
		"INSERT OR REPLACE INTO frame (id, pack, offset, raw, stored, kind)"
		" VALUES (?, ?, ?, ?, ?, ?)",
		SQL_I(f->id), SQL_I(pack), SQL_I(offset), SQL_I(f->raw), SQL_I(f->stored),
		SQL_I(f->kind));
}

int vault_put(struct vault *v, const struct frame *frame, struct sv bytes, struct err *reterr)
{
	/* Each thread says why, whichever met it. */
	if (v->failed)
		return err_set(reterr, v->why.code < 0 ? v->why.code : ERR_STORE, "%s",
			v->why.code < 0 ? v->why.msg : "archive: an earlier write failed");
	int r = vault_begin(v, reterr);
	if (r == 0)
		r = ready_pack(v, reterr);
	if (r == 0)
		r = file_write_all(v->fd, bytes, reterr);
	if (r == 0)
		r = put_frame_row(v, frame, v->pack, v->end, reterr);
	v->end += bytes.n;
	v->unsynced += bytes.n;
	/* On its way to the disk before somebody waits for it. */
	if (r == 0 && v->end / START_BYTES != (v->end - bytes.n) / START_BYTES)
		(void)sync_file_range(v->fd, 0, (off_t)v->end, SYNC_FILE_RANGE_WRITE);
	if (r == 0)
		r = note_pack(v, v->pack, v->end, reterr);
	if (r < 0 && reterr)
		v->why = *reterr;
	v->failed |= r < 0;
	return r;
}

int vault_put_hook(struct vault *v, uint64_t hash, uint64_t frame, struct err *reterr)
{
	return SQL_RUN(v->db, reterr, "INSERT OR REPLACE INTO hook (hash, frame) VALUES (?, ?)",
		SQL_I(hash), SQL_I(frame));
}

int vault_put_recipe(struct vault *v, const struct recipe *recipe, struct sv raw, uint64_t frame,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_RUN(v->db, reterr,
		"INSERT INTO file (key, agent, session, path, flags, size, mtime_ns, first_ms,"
		" last_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8) ON CONFLICT (key) DO UPDATE"
		" SET size = max(size, ?6), mtime_ns = max(mtime_ns, ?7),"
		" flags = CASE WHEN ?8 >= last_ms THEN ?5 ELSE flags END,"
		" first_ms = min(first_ms, ?8), last_ms = max(last_ms, ?8)",
		SQL_S(recipe->key), SQL_S(recipe->agent), SQL_S(recipe->session),
		SQL_S(recipe->path), SQL_I(recipe->flags), SQL_I(recipe->start + recipe->size),
		SQL_I(recipe->mtime_ns), SQL_I(recipe->taken_ms));

	/* A part that was taken again has two recipes in the packs, in any order: the newer counts.
	 */
	if (r == 0)
		r = sql_prepare(&q, v->db,
			"INSERT OR REPLACE INTO part (file, start, size, frame, recipe)"
			" SELECT seq, ?1, ?2, ?3, ?4 FROM file WHERE key = ?5 AND NOT EXISTS"
			" (SELECT 1 FROM part WHERE file = seq AND start = ?1 AND frame > ?3)",
			reterr);
	if (r < 0)
		return r;
	sql_int(&q, (int64_t)recipe->start);
	sql_int(&q, (int64_t)recipe->size);
	sql_int(&q, (int64_t)frame);
	sql_blob(&q, raw);
	sql_sv(&q, recipe->key);
	return sql_run(&q, reterr);
}

/* ---- opening ---- */

/* Whether none of the packs is there that the database knows: 1 or 0. Their folder may be a link to
 * a disk that is not there now, or the place where one was mounted: to begin anew would be to hide
 * what was kept. */
static int misses_all(struct vault *v, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	bool known = false;
	int r = sql_prepare(&q, v->db, "SELECT n FROM pack WHERE size > 0", reterr);

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		AUTO_FREE char *path = pack_path(v, sql_get_int(&q, 0));
		struct stat st;
		known = true;
		/* What stands in the way is told by who opens it. */
		if (stat(path, &st) == 0 || errno != ENOENT)
			return 0;
	}
	return r < 0 ? r : known;
}

static int check_packs(struct vault *v, struct err *reterr)
{
	int r = misses_all(v, reterr);

	return r <= 0 ? r
		      : err_set(reterr, ERR_INPUT,
				"the packs of the archive are missing: %s has none of those that "
				"%s/archive.db knows. Where they lie on another disk, mount it; to "
				"begin anew without what they have, remove that file",
				v->packs, v->dir);
}

static int open_database(struct vault *v, unsigned flags, struct err *reterr)
{
	static const char *const parts[] = { "", "-wal", "-shm" };
	AUTO_FREE char *path = path_join(v->dir, "archive.db");
	bool there = path_exists(path);
	int r = store_open_as(&vault_schema, path, 0, v->log, &v->db, reterr);

	if (r == 0 && check_packs(v, reterr) == ERR_INPUT)
		return ERR_INPUT;
	if (r == 0 && (!there || !(flags & VAULT_CHECK) || vault_agrees(v))) {
		v->anew = !there && path_exists(v->packs);
		return 0;
	}
	struct stat st;
	if (r < 0 && r != ERR_STORE)
		return r;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(reterr, ERR_STORE,
			"%s is a folder, and should be the archive's database: move it away, then "
			"that is made again from the packs",
			path);
	if (access(path, R_OK | W_OK) < 0)
		return r < 0 ? r : err_errno(reterr, errno, "open %s", path);
	log_write(v->log, LOG_WARN, "archive: %s is damaged and is made again", path);
	store_close(TAKE_PTR(v->db));
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		AUTO_FREE char *part = xasprintf("%s%s", path, parts[i]);
		if (unlink(part) < 0 && errno != ENOENT)
			return err_errno(reterr, errno, "remove %s", part);
	}
	v->anew = true;
	r = store_open_as(&vault_schema, path, 0, v->log, &v->db, reterr);
	return r < 0 ? r : vault_put_let_go(v, reterr);
}

static int open_for_writing(
	struct vault *v, unsigned flags, const struct lock_wait *wait, struct err *reterr)
{
	AUTO_FREE char *lock = path_join(v->dir, "lock");
	int r = file_mkdirs(v->dir, reterr);

	if (r == 0)
		r = file_lock(lock, wait, &v->lock, reterr);
	if (r == ERR_BUSY && !wait)
		return err_set(reterr, r, "the archive is being written to by another faden");
	if (r == 0)
		r = open_database(v, flags, reterr);
	if (r == 0)
		r = file_mkdirs(v->packs, reterr);
	return r < 0 ? r : vault_absorb(v, reterr);
}

/* Whether the database knows of no file, though there are packs that it has not seen: a first run
 * was killed, or the disk was full. */
static bool knows_nothing(struct vault *v)
{
	AUTO_SQL q = SQL_INIT;
	DIR *dir = NULL;
	const struct dirent *entry;
	bool found = false;

	if (sql_prepare(&q, v->db, "SELECT 1 FROM file LIMIT 1", NULL) < 0 ||
		sql_step(&q, NULL) != 0)
		return false;
	dir = opendir(v->packs);
	while (dir && !found && (entry = readdir(dir))) {
		long long n = pack_number(entry->d_name);
		AUTO_FREE char *path = pack_path(v, n);
		struct stat st;
		uint64_t known = 0;
		found = n > 0 && stat(path, &st) == 0 && known_size(v, n, &known, NULL) == 0 &&
			(uint64_t)st.st_size > known;
	}
	if (dir)
		(void)closedir(dir);
	return found;
}

/* Who only reads is not told that there is nothing where a file is in the way, or where it has
 * gone.
 */
static int find_packs(const struct vault *v, bool known, struct err *reterr)
{
	struct stat st;

	if (stat(v->packs, &st) < 0 && errno == ENOENT)
		return known ? 0 : err_set(reterr, ERR_NOTFOUND, "nothing is in the archive yet");
	if (stat(v->packs, &st) < 0)
		return err_errno(reterr, errno, "folder %s", v->packs);
	return S_ISDIR(st.st_mode) ? 0 : err_errno(reterr, ENOTDIR, "folder %s", v->packs);
}

int vault_open(const char *dir, unsigned flags, const struct clock *clock, const struct log *log,
	struct vault **ret, struct err *reterr)
{
	return vault_open_after(dir, flags, NULL, clock, log, ret, reterr);
}

int vault_open_after(const char *dir, unsigned flags, const struct lock_wait *wait,
	const struct clock *clock, const struct log *log, struct vault **ret, struct err *reterr)
{
	struct vault *v = xcalloc(1, sizeof(*v));
	AUTO_FREE char *path = path_join(dir, "archive.db");
	int r;

	*v = (struct vault){
		.dir = xstrdup(dir),
		.packs = path_join(dir, "packs"),
		.clock = clock,
		.log = log,
		.lock = -1,
		.fd = -1,
	};
	(void)pthread_mutex_init(&v->mutex, NULL);
	if (flags & VAULT_WRITE)
		r = open_for_writing(v, flags, wait, reterr);
	else
		r = find_packs(v, path_exists(path), reterr);
	if (r == 0 && !(flags & VAULT_WRITE)) {
		r = store_open_as(&vault_schema, path, STORE_READONLY, log, &v->db, reterr);
		if (r == 0 && check_packs(v, reterr) == ERR_INPUT) {
			vault_close(v);
			return ERR_INPUT;
		}
		if (r == 0 && (flags & VAULT_CHECK) && !vault_agrees(v)) {
			store_close(TAKE_PTR(v->db));
			r = ERR_STORE;
		}
		/* One who reads makes it again where it is lost. */
		if (r < 0)
			r = open_for_writing(v, VAULT_CHECK, wait ? wait : LOCK_QUIETLY, reterr);
	}
	if (r == 0 && v->lock < 0 && knows_nothing(v)) {
		store_close(TAKE_PTR(v->db));
		r = open_for_writing(v, 0, NULL, reterr);
		/* Somebody is at it just now. */
		if (r == ERR_BUSY)
			r = store_open_as(&vault_schema, path, STORE_READONLY, log, &v->db, reterr);
		else if (r < 0)
			err_prefix(reterr,
				"the archive's database knows nothing of its packs, and "
				"they cannot be taken in");
	}
	if (r < 0) {
		vault_close(v);
		return r;
	}
	*ret = v;
	return 0;
}

void vault_close(struct vault *v)
{
	if (!v)
		return;
	if (v->began && store_end(v->db, ERR_CANCELLED, NULL) < 0)
		v->began = false;
	store_close(v->db);
	if (v->fd >= 0)
		(void)close(v->fd);
	if (v->lock >= 0)
		(void)close(v->lock);
	(void)pthread_mutex_destroy(&v->mutex);
	vec_release(&v->let_go);
	free(v->dir);
	free(v->packs);
	free(v);
}

bool vault_made_anew(const struct vault *v)
{
	return v->anew;
}

unsigned vault_cut(const struct vault *v)
{
	return v->cut;
}

uint64_t vault_damaged(const struct vault *v)
{
	return v->damaged;
}
