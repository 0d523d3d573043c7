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

static const char *const steps[] = { step_1, step_2 };
static const struct schema schema = {
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

/* 0: it is none. */
static long long pack_number(const char *file)
{
	struct sv name = sv_of(file);
	long long n;

	return sv_ends(name, SV(".pack")) && sv_parse_i64(sv_head(name, name.n - 5), &n) && n > 0
		? n
		: 0;
}

static int note_pack(struct vault *v, int64_t n, uint64_t size, struct err *reterr)
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

static int put_frame_row(
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
		" SET size = max(size, ?6), mtime_ns = max(mtime_ns, ?7), flags = ?5,"
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

/* ---- packs that the database does not know, or not all of ---- */

/* The next place that may be the head of a frame, or the end. */
static uint64_t find_head(int fd, uint64_t at)
{
	enum { FIRST = 0x93 }; /* of a head: frame.c */
	char buf[64 * 1024];
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), (off_t)at)) > 0) {
		const char *p = memchr(buf, FIRST, (size_t)n);
		if (p)
			return at + (uint64_t)(p - buf);
		at += (uint64_t)n;
	}
	return at;
}

int pack_walk(int fd, uint64_t from, pack_fn fn, void *data, uint64_t *ret_end, struct err *reterr)
{
	AUTO_STR stored = STR_INIT;
	char head[FRAME_HEAD];
	uint64_t end = from;
	struct frame f;
	int r = 0;

	for (uint64_t at = from; r == 0;) {
		ssize_t n = pread(fd, head, sizeof(head), (off_t)at);
		if (n < 0)
			return err_errno(reterr, errno, "read of a pack");
		if (n < FRAME_HEAD)
			break;
		if (!frame_head(sv_make(head, sizeof(head)), &f)) {
			at = find_head(fd, at + 1);
			continue;
		}
		str_clear(&stored);
		(void)str_reserve(&stored, f.stored);
		n = pread(fd, stored.buf, f.stored, (off_t)(at + FRAME_HEAD));
		stored.len = n > 0 ? (size_t)n : 0;
		bool sound =
			stored.len == f.stored && XXH3_64bits(stored.buf, stored.len) == f.check;
		r = fn(data, at, &f, sound ? &stored : NULL, reterr);
		/* A head whose bytes are not there may be one that stands in a session. */
		at = sound ? at + FRAME_HEAD + f.stored : find_head(fd, at + 1);
		end = sound ? at : end;
	}
	*ret_end = end;
	return r;
}

struct absorbing {
	struct vault *v;
	struct codec *codec;
	struct str raw;
	int64_t pack;
	long long instead; /* the pack whose place this one takes; -1: none */
	uint64_t frame; /* the hooks of which are remembered */
	struct err *reterr;
};

static int absorb_line(void *data, uint64_t hash, size_t offset, size_t n)
{
	struct absorbing *a = data;

	(void)offset;
	return line_is_hook(hash, n) ? vault_put_hook(a->v, hash, a->frame, a->reterr) : 0;
}

static int absorb_frame(void *data, uint64_t offset, const struct frame *f,
	const struct str *stored, struct err *reterr)
{
	struct absorbing *a = data;
	CLEANUP(recipe_release) struct recipe recipe = RECIPE_INIT;

	/* What is damaged is left for vault_verify() to tell; what it held is written anew when it
	 * comes again. */
	if (!stored || frame_decode(a->codec, f, str_sv(stored), &a->raw, NULL) < 0)
		return 0;
	struct sv raw = str_sv(&a->raw);
	int r = put_frame_row(a->v, f, a->pack, offset, reterr);
	if (r == 0)
		r = SQL_RUN(a->v->db, reterr, "DELETE FROM damaged WHERE frame = ?", SQL_I(f->id));
	a->frame = f->id;
	a->reterr = reterr;
	switch (f->kind) {
	case FRAME_LINES:
		return r < 0 ? r : lines_each(raw, absorb_line, a);
	case FRAME_RECIPE:
		if (r == 0 && recipe_decode(raw, &recipe, NULL) == 0)
			r = vault_put_recipe(a->v, &recipe, raw, f->id, reterr);
		return r;
	case FRAME_INSTEAD:
		(void)sv_parse_i64(raw, &a->instead);
		/* What is remembered of its lines comes again with those that stay. */
		return r < 0 ? r
			     : SQL_RUN(a->v->db, reterr,
				       "DELETE FROM hook WHERE frame NOT IN"
				       " (SELECT id FROM frame WHERE pack <> ?)",
				       SQL_I(a->instead));
	case FRAME_MANIFEST:
	case FRAME_MEMBER:
	case FRAME_CLOSE:
		break;
	}
	return r;
}

/* All that is needed of a pack stands in the one that takes its place. */
static int drop_pack(struct vault *v, int64_t n, struct err *reterr)
{
	int r = SQL_RUN(v->db, reterr, "DELETE FROM frame WHERE pack = ?", SQL_I(n));

	if (r == 0)
		r = SQL_RUN(v->db, reterr, "DELETE FROM pack WHERE n = ?", SQL_I(n));
	if (r == 0)
		r = sql_exec(v->db,
			"DELETE FROM part WHERE frame NOT IN (SELECT id FROM frame WHERE kind = 2);"
			"DELETE FROM file WHERE seq NOT IN (SELECT file FROM part);"
			"DELETE FROM seen WHERE key <> '' AND key NOT IN (SELECT key FROM file)",
			reterr);
	return r;
}

static int absorb_pack(
	struct vault *v, struct codec *codec, int64_t n, uint64_t known, struct err *reterr)
{
	AUTO_FREE char *path = pack_path(v, n);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct absorbing a = { .v = v, .codec = codec, .raw = STR_INIT, .pack = n, .instead = -1 };
	struct stat st;
	uint64_t end = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(reterr, errno, "open %s", path);
	if ((uint64_t)st.st_size <= known)
		return 0;
	int r = pack_walk(fd, known, absorb_frame, &a, &end, reterr);
	str_release(&a.raw);
	/* Found, but perhaps not yet on disk. */
	if (r == 0 && fdatasync(fd) < 0)
		r = err_errno(reterr, errno, "sync %s", path);
	if (r == 0)
		r = note_pack(v, n, (uint64_t)st.st_size, reterr);
	if (r < 0 || a.instead < 0 || a.instead >= n)
		return r;
	AUTO_FREE char *old = pack_path(v, a.instead);
	r = drop_pack(v, a.instead, reterr);
	if (r == 0)
		r = vault_commit_held(v, reterr);
	if (r == 0)
		r = vault_begin(v, reterr);
	if (r == 0 && unlink(old) < 0 && errno != ENOENT)
		r = err_errno(reterr, errno, "remove %s", old);
	return r;
}

static int known_size(struct vault *v, int64_t n, uint64_t *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, v->db, reterr, "SELECT size FROM pack WHERE n = ?", SQL_I(n));

	if (r == 0)
		r = sql_step(&q, reterr);
	*ret = r > 0 ? (uint64_t)sql_get_int(&q, 0) : 0;
	return r < 0 ? r : 0;
}

/*
 * Packs that are shorter than they were, or gone. What they had is damaged. Nothing is added to
 * them, so that one that comes back, from a copy of the disk, is taken in as it was. *ret_last: the
 * highest number there ever was; *ret_cut: that one is not to be written to.
 */
static int look_for_cut(struct vault *v, int64_t *ret_last, bool *ret_cut, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, v->db, "SELECT n, size FROM pack ORDER BY n", reterr);

	*ret_last = 0;
	*ret_cut = false;
	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		int64_t n = sql_get_int(&q, 0), size = sql_get_int(&q, 1);
		AUTO_FREE char *path = pack_path(v, n);
		struct stat st = { .st_size = 0 };
		bool there = stat(path, &st) == 0;
		r = 0;
		if (!there && errno != ENOENT)
			return err_errno(reterr, errno, "stat %s", path);
		*ret_last = n;
		*ret_cut = !there || st.st_size < size;
		if (st.st_size >= size)
			continue;
		v->cut++;
		log_write(v->log, LOG_WARN, "archive: %s has %lld bytes of %lld", path,
			(long long)st.st_size, (long long)size);
		r = SQL_RUN(v->db, reterr,
			"INSERT OR IGNORE INTO damaged SELECT id FROM frame WHERE pack = ?1"
			" AND offset + stored + ?2 > ?3",
			SQL_I(n), SQL_I(FRAME_HEAD), SQL_I(st.st_size));
		if (r == 0)
			r = note_pack(v, n, (uint64_t)st.st_size, reterr);
	}
	return r;
}

/* A database that was made again knows only what could be read. */
static int mark_missing(struct vault *v, struct err *reterr)
{
	int r = vault_gather_needed(v, reterr);

	return r < 0 ? r
		     : sql_exec(v->db,
			       "INSERT OR IGNORE INTO damaged SELECT id FROM needed"
			       " WHERE id NOT IN (SELECT id FROM frame)",
			       reterr);
}

int vault_mark(struct vault *v, uint64_t frame, struct err *reterr)
{
	int r = v->lock < 0 ? 0 : vault_begin(v, reterr);

	if (r < 0 || v->lock < 0)
		return r;
	r = SQL_RUN(v->db, reterr, "INSERT OR IGNORE INTO damaged VALUES (?)", SQL_I(frame));
	v->damaged += r == 0 && sql_changes(v->db) > 0;
	return r;
}

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int vault_absorb(struct vault *v, struct err *reterr)
{
	VEC(int64_t) packs = VEC_INIT;
	AUTO_SQL q = SQL_INIT;
	DIR *dir = opendir(v->packs);
	const struct dirent *entry;
	int r = 0;

	if (!dir)
		return err_errno(reterr, errno, "open %s", v->packs);
	while ((entry = readdir(dir))) {
		long long n = pack_number(entry->d_name);
		if (n > 0)
			vec_push(&packs, n);
	}
	(void)closedir(dir);
	vec_sort(&packs, by_number);
	struct codec *codec = codec_new();
	for (size_t i = 0; i < packs.n && r == 0; i++) {
		uint64_t known = 0;
		r = known_size(v, packs.v[i], &known, reterr);
		if (r == 0)
			r = vault_begin(v, reterr);
		if (r == 0)
			r = absorb_pack(v, codec, packs.v[i], known, reterr);
		v->pack = packs.v[i];
	}
	codec_free(codec);
	vec_release(&packs);
	int64_t last = 0;
	bool cut = false;
	if (r == 0)
		r = vault_begin(v, reterr);
	if (r == 0)
		r = look_for_cut(v, &last, &cut, reterr);
	if (r == 0 && v->anew)
		r = mark_missing(v, reterr);
	if (r == 0)
		r = vault_commit_held(v, reterr);
	if (v->pack < last)
		v->pack = last;
	if (v->pack == 0 || (cut && v->pack == last))
		v->pack++;
	if (r == 0)
		r = known_size(v, v->pack, &v->end, reterr);
	if (r == 0)
		r = sql_prepare(&q, v->db,
			"SELECT coalesce(max(id), 0), (SELECT coalesce(max(frame), 0) FROM "
			"damaged),"
			" (SELECT count(*) FROM damaged) FROM frame",
			reterr);
	if (r == 0)
		r = sql_step(&q, reterr);
	if (r < 0)
		return r;
	int64_t most = sql_get_int(&q, 0), missing = sql_get_int(&q, 1);
	v->next_id = (uint64_t)(most > missing ? most : missing) + 1;
	v->damaged = (uint64_t)sql_get_int(&q, 2);
	return 0;
}

/* ---- opening ---- */

/* Whether every page of it can be read. */
static bool is_sound(struct vault *v)
{
	AUTO_SQL q = SQL_INIT;

	return sql_prepare(&q, v->db, "PRAGMA quick_check(1)", NULL) == 0 &&
		sql_step(&q, NULL) > 0 && strcmp(sql_get_text(&q, 0), "ok") == 0;
}

static int open_database(struct vault *v, unsigned flags, struct err *reterr)
{
	static const char *const parts[] = { "", "-wal", "-shm" };
	AUTO_FREE char *path = path_join(v->dir, "archive.db");
	bool there = path_exists(path);
	int r = store_open_as(&schema, path, 0, v->log, &v->db, reterr);

	if (r == 0 && (!there || !(flags & VAULT_CHECK) || is_sound(v))) {
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
	return store_open_as(&schema, path, 0, v->log, &v->db, reterr);
}

static int open_for_writing(struct vault *v, unsigned flags, struct err *reterr)
{
	AUTO_FREE char *lock = path_join(v->dir, "lock");
	int r = file_mkdirs(v->dir, reterr);

	if (r == 0)
		r = file_lock(lock, flags & VAULT_WAIT, &v->lock, reterr);
	if (r == ERR_BUSY)
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

int vault_open(const char *dir, unsigned flags, const struct clock *clock, const struct log *log,
	struct vault **ret, struct err *reterr)
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
		r = open_for_writing(v, flags, reterr);
	else if (!path_exists(v->packs))
		r = err_set(reterr, ERR_NOTFOUND, "nothing is in the archive yet");
	else
		r = store_open_as(&schema, path, STORE_READONLY, log, &v->db, reterr);
	/* One who reads makes it again where it is lost. */
	if (r < 0 && !(flags & VAULT_WRITE) && path_exists(v->packs))
		r = open_for_writing(v, VAULT_WAIT | VAULT_CHECK, reterr);
	if (r == 0 && v->lock < 0 && knows_nothing(v)) {
		store_close(TAKE_PTR(v->db));
		r = open_for_writing(v, 0, reterr);
		/* Somebody is at it just now. */
		if (r == ERR_BUSY)
			r = store_open_as(&schema, path, STORE_READONLY, log, &v->db, reterr);
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
