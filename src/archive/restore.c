/*
 * The archive: what is in it, and the way back.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/vault.h"
#include "base/map.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/unpack.h"
#include "store/sql.h"

/* ---- what there is ---- */

struct listing {
	const struct archive *a;
	const struct archive_query *query;
	struct vault *v;
	archive_fn fn;
	void *data;
	struct map keys; /* told already */
};

static bool is_meant(const struct archive_query *q, const struct archive_file *file)
{
	return file->kept_ms >= q->since_ms && (!q->key || strcmp(q->key, file->key) == 0) &&
		(!q->session || strcmp(q->session, file->session) == 0) &&
		(!q->below ||
			(path_within(sv_of(file->path), sv_of(q->below)) &&
				strcmp(file->path, q->below) != 0));
}

struct version {
	const struct listing *l;
	bool words;
};

static int note_version(void *data, const struct vault_file *f)
{
	struct version *v = data;

	v->words |= archive_has_words(v->l->a, v->l->v, f->key);
	return 0;
}

/* Whether something was taken of that file since its home was moved. */
static bool was_taken_since(const struct listing *l, const char *path)
{
	struct version version = { l, false };

	return vault_each(l->v, &(struct vault_query){ .path = path }, note_version, &version,
		       NULL) >= 0 &&
		version.words;
}

static int list_kept(void *data, const struct vault_file *f)
{
	struct listing *l = data;
	AUTO_FREE char *moved = transcript_moved(l->a->homes, l->a->n_homes, f->agent, f->path);
	const struct archive_file file = {
		.key = f->key,
		.agent = f->agent,
		.session = f->session,
		.path = moved ? moved : f->path,
		.size = f->size,
		.kept_ms = f->last_ms,
		.first_ms = f->first_ms,
		.frozen = f->frozen,
		.superseded = (f->later && archive_has_words(l->a, l->v, f->later)) ||
			(moved && was_taken_since(l, moved)),
		.damaged = l->query->damage && vault_whole(l->v, f->key, NULL) == 0,
	};

	(void)map_put(&l->keys, sv_of(f->key), 1);
	return is_meant(l->query, &file) ? l->fn(l->data, &file) : 0;
}

/* What is set aside and not in the vault yet. */
static int list_aside(struct listing *l, const struct archive *a, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, a->store, reterr,
		"SELECT a.key, coalesce(s.agent, ''), a.session, a.path, a.kept_ms, a.how"
		" FROM archive a LEFT JOIN session s ON s.path = a.path WHERE a.how <> ?"
		" ORDER BY a.path, a.seq",
		SQL_I(ARCHIVE_VAULT));

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		struct archive_file file = {
			.key = sql_get_text(&q, 0),
			.agent = sql_get_text(&q, 1),
			.session = sql_get_text(&q, 2),
			.path = sql_get_text(&q, 3),
			.kept_ms = sql_get_int(&q, 4),
			.first_ms = sql_get_int(&q, 4),
			.frozen = sql_get_int(&q, 5) == ARCHIVE_COPY,
			.aside = true,
		};
		AUTO_FREE char *path = archive_path(a, file.key);
		AUTO_FREE char *moved =
			transcript_moved(a->homes, a->n_homes, file.agent, file.path);
		uint64_t told;
		struct stat st;
		r = 0;
		file.path = moved ? moved : file.path;
		if (map_get(&l->keys, sv_of(file.key), &told) || !is_meant(l->query, &file) ||
			stat(path, &st) < 0)
			continue;
		file.size = (uint64_t)st.st_size;
		r = l->fn(l->data, &file);
	}
	return r;
}

int archive_each(const struct archive *a, const struct archive_query *query, archive_fn fn,
	void *data, struct err *reterr)
{
	AUTO_STRV roots = STRV_INIT;
	const struct vault_query all = { .key = query->key,
		.session = query->session,
		.below = query->below,
		.or_outside = &roots,
		.since_ms = query->since_ms };
	struct listing l = { .a = a, .query = query, .fn = fn, .data = data, .keys = MAP_INIT };
	AUTO_VAULT *v = NULL;
	int r = vault_open(a->dir, 0, a->clock, NULL, &v, reterr);

	for (size_t i = 0; i < a->n_homes; i++)
		strv_add(&roots, a->homes[i].root);
	l.v = v;
	if (r == 0)
		r = vault_each(v, &all, list_kept, &l, reterr);
	if (r == 0 || r == ERR_NOTFOUND)
		r = list_aside(&l, a, reterr);
	map_release(&l.keys);
	return r;
}

int64_t archive_mark(const struct archive *a)
{
	static const char *const files[] = { "archive.db", "archive.db-wal" };
	AUTO_SQL q = SQL_INIT;
	uint64_t mark = 0; /* starts again where the sum is too large: it is compared, no more */

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		AUTO_FREE char *path = path_join(a->dir, files[i]);
		struct stat st;
		if (stat(path, &st) == 0)
			mark += (uint64_t)file_mtime_ns(&st) + (uint64_t)st.st_size;
	}
	if (SQL_PREPARE(&q, a->store, NULL,
		    "SELECT IFNULL(SUM(seq), 0) FROM archive WHERE how <> ?",
		    SQL_I(ARCHIVE_VAULT)) == 0 &&
		sql_step(&q, NULL) > 0)
		mark += (uint64_t)sql_get_int(&q, 0);
	return (int64_t)mark;
}

int64_t archive_identity(const struct archive *a)
{
	enum { SECOND_NS = 1000000000 };
	AUTO_FREE char *path = path_join(a->dir, "archive.db");
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &st) < 0)
		return 0;
	/* The number of a file that went may be that of the next one; no other is as old. */
	uint64_t born = st.stx_mask & STATX_BTIME
		? (uint64_t)st.stx_btime.tv_sec * SECOND_NS + st.stx_btime.tv_nsec
		: 0;
	int64_t identity = (int64_t)(st.stx_ino ^ born);
	return identity ? identity : 1;
}

/* ---- back ---- */

/* Whether the two have the same bytes; the one at path may be compressed. */
static bool same(int a, const char *path)
{
	AUTO_CLOSE int b = unpack_open(path, NULL, NULL);
	struct stat left, right;

	return b >= 0 && fstat(a, &left) == 0 && fstat(b, &right) == 0 &&
		left.st_size == right.st_size && file_same(a, b, 0, (uint64_t)left.st_size);
}

int archive_restore(const struct archive *a, const char *key, const char *path, uint64_t *ret_lost,
	struct err *reterr)
{
	AUTO_FREE char *folder = path_folder(path);
	CLEANUP(file_new_release) struct file_new file = FILE_NEW_INIT;
	AUTO_CLOSE int from = -1;
	struct stat st;
	int r = archive_open(a, key, &from, ret_lost, reterr);

	if (r < 0)
		return r;
	/* The agent may have compressed it: a second file would be a second session of that id. A
	 * link is written through, like one that leads to nothing. */
	AUTO_FREE char *packed = xasprintf("%s" UNPACK_SUFFIX, path);
	const char *there = stat(path, &st) < 0 && stat(packed, &st) == 0 ? packed : path;
	AUTO_FREE char *real = NULL;
	/* One that was blanked has nothing to lose. */
	if (stat(there, &st) == 0 && S_ISREG(st.st_mode) && unpack_blank(there) &&
		!same(from, there) && path_real(there, &real, NULL) == 0)
		(void)unlink(real);
	if (stat(there, &st) == 0)
		return same(from, there)
			? 1
			: err_set(reterr, -EEXIST, "%s is there and has other bytes", there);
	r = file_mkdirs(folder, reterr);
	if (r == 0)
		r = file_new_open_unnamed(&file, path, 0600, reterr);
	if (r == 0)
		r = file_new_copy(&file, from, reterr);
	return r < 0 ? r : file_new_commit_excl(&file, reterr);
}

/* ---- out ---- */

struct holding {
	uint64_t size;
	int fd;
	struct vault *v;
	bool held;
	struct err *reterr;
};

static int compare_kept(void *data, const struct vault_file *file)
{
	struct holding *h = data;
	int r = h->held || file->size < h->size
		? 0
		: vault_begins(h->v, file->key, h->size, h->fd, h->reterr);

	h->held |= r > 0;
	return r < 0 ? r : 0;
}

int archive_holds(struct vault *v, const char *path, struct err *reterr)
{
	struct sv name = unpack_plain(sv_of(path));
	bool damaged = unpack_damaged(path);
	/* Of one that cannot be unpacked, the bytes that it has. */
	AUTO_FREE char *plain =
		damaged ? xasprintf("%s" UNPACK_DAMAGED, path) : xmemdup0(name.p, name.n);
	AUTO_CLOSE int fd =
		damaged ? file_open(path, NULL, reterr) : unpack_open(path, NULL, reterr);
	struct holding h = { .fd = fd, .v = v, .reterr = reterr };
	struct stat st;

	if (fd < 0)
		return fd == ERR_NOTFOUND ? 1 : fd;
	if (fstat(fd, &st) < 0)
		return err_errno(reterr, errno, "stat %s", path);
	h.size = (uint64_t)st.st_size;
	h.held = h.size == 0;
	const struct vault_query query = { .path = plain };
	int r = vault_each(v, &query, compare_kept, &h, reterr);
	/* Who takes it next believes neither its times nor its ends. */
	if (r >= 0 && !h.held)
		r = vault_forget_path(v, path, reterr);
	return r < 0 ? r : h.held;
}

int archive_forget(const struct archive *a, struct vault *v, const char *key, struct err *reterr)
{
	AUTO_FREE char *aside = archive_path(a, key);
	AUTO_CLOSE int lock = -1;
	int r = vault_forget(v, key, reterr);

	if (r == ERR_NOTFOUND)
		r = 0;
	if (r == 0)
		r = archive_lock(a, &lock, reterr);
	if (r == 0 && unlink(aside) < 0 && errno != ENOENT)
		r = err_errno(reterr, errno, "remove %s", aside);
	if (r == 0)
		r = store_begin(a->store, reterr);
	if (r < 0)
		return r;
	r = SQL_RUN(a->store, reterr,
		"DELETE FROM recall WHERE archive IN (SELECT seq FROM archive WHERE key = ?)",
		SQL_T(key));
	if (r == 0)
		r = SQL_RUN(a->store, reterr,
			"DELETE FROM recall_pack WHERE archive IN"
			" (SELECT seq FROM archive WHERE key = ?)",
			SQL_T(key));
	if (r == 0)
		r = SQL_RUN(a->store, reterr, "DELETE FROM archive WHERE key = ?", SQL_T(key));
	return store_end(a->store, r, reterr);
}

int archive_is_referred(const struct archive *a, const char *key, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, a->store, reterr,
		"SELECT 1 FROM archive a WHERE key = ? AND (EXISTS (SELECT 1 FROM recall WHERE"
		" archive = a.seq) OR EXISTS (SELECT 1 FROM recall_pack WHERE archive = a.seq))",
		SQL_T(key));

	return r < 0 ? r : sql_step(&q, reterr);
}
