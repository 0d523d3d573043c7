#include "archive/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/vault.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "os/file.h"
#include "os/path.h"
#include "os/unpack.h"
#include "store/sql.h"
#include "transcript/transcript.h"

enum {
	KEY_TRIES = 16,
	ID_BYTES = UUID_TEXT - 1,
	COPY_BUFFER = 256 * 1024,
	SAME_BYTES = 4096, /* of each end that are compared */
	VAULT_REST = 16 * 1024 * 1024, /* more than that is set aside, and not compressed now */
};

/* ---- names ---- */

char *archive_path(const struct archive *a, const char *key)
{
	AUTO_FREE char *name = xasprintf("%s.jsonl", key);

	return path_join(a->dir, name);
}

/* The name without its ending and, where an id stands at its end, that alone. */
static struct sv session_of(const char *path)
{
	struct sv name = unpack_plain(path_base(sv_of(path)));

	if (sv_ends(name, SV(".jsonl")))
		name = sv_head(name, name.n - 6);
	else if (sv_ends(name, SV(".json"))) /* a run of the pair */
		name = sv_head(name, name.n - 5);
	return sv_from(name, name.n > ID_BYTES ? name.n - ID_BYTES : 0);
}

static bool key_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
}

/* Nothing but what vault_key_make() makes: a key may come from a store that somebody else wrote. */
static bool key_valid(const char *key)
{
	for (const char *p = key; *p; p++)
		if (!key_char(*p) && (*p != '.' || p == key))
			return false;
	return key[0] != '\0' && strlen(key) < ARCHIVE_KEY_MAX;
}

/* ---- copying ---- */

static int copy_file(const char *from, const char *to, struct err *reterr)
{
	AUTO_CLOSE int fd = unpack_open(from, NULL, reterr);
	CLEANUP(file_new_release) struct file_new file = FILE_NEW_INIT;

	if (fd < 0)
		return fd;
	int r = file_new_open_unnamed(&file, to, 0600, reterr);
	if (r == 0)
		r = file_new_copy(&file, fd, reterr);
	return r < 0 ? r : file_new_commit_excl(&file, reterr);
}

/* ---- copies that grow ---- */

/* Agents only append, so the ends tell whether a copy is the beginning of the file. */
static bool is_beginning(int copy, off_t size, int whole)
{
	uint64_t n = size < SAME_BYTES ? (uint64_t)size : SAME_BYTES;

	return file_same(copy, whole, 0, n) && file_same(copy, whole, (uint64_t)size - n, n);
}

static int append_rest(int from, int to, off_t at, struct err *reterr)
{
	AUTO_FREE char *buf = xmalloc(COPY_BUFFER);
	ssize_t n;

	while ((n = pread(from, buf, COPY_BUFFER, at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		ssize_t put = n < 0 ? n : pwrite(to, buf, (size_t)n, at);
		if (put < 0 && errno != EINTR)
			return err_errno(reterr, errno, "copy");
		at += put > 0 ? put : 0;
	}
	return fdatasync(to) < 0 ? err_errno(reterr, errno, "sync") : 0;
}

/*
 * Brings the copy up to the file: 1 when it has all of it now, 0 when it is no beginning of it.
 * Two processes at once write the same bytes to the same places.
 */
static int grow(const char *copy, const char *path, struct err *reterr)
{
	struct stat st, kept;
	AUTO_CLOSE int from = file_open(path, &st, reterr);
	AUTO_CLOSE int to = open(copy, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (from < 0)
		return from;
	if (to < 0 || fstat(to, &kept) < 0 || kept.st_size > st.st_size ||
		!is_beginning(to, kept.st_size, from))
		return 0;
	int r = append_rest(from, to, kept.st_size, reterr);
	return r < 0 ? r : 1;
}

/* ---- what is kept ---- */

/* Whether what is kept under a key serves for the file: 1 or 0. */
static int serves(enum archive_how how, const char *kept, const char *path, const struct stat *st,
	struct err *reterr)
{
	struct stat there;

	if (how == ARCHIVE_GROWING)
		return grow(kept, path, reterr);
	if (stat(kept, &there) < 0)
		return 0;
	return how == ARCHIVE_COPY ? there.st_size == st->st_size
				   : there.st_ino == st->st_ino && there.st_dev == st->st_dev;
}

/* A row for the same file, kept in this way, that is still there. A link serves for a copy that
 * grows only where a link would be made. */
static int find_kept(const struct archive *a, const char *path, const struct stat *st,
	enum archive_how how, char key[static ARCHIVE_KEY_MAX], struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, a->store,
		"SELECT key FROM archive WHERE ino = ? AND dev = ? AND how = ?"
		" AND (how <> ? OR (size = ? AND mtime_ns = ?)) ORDER BY kept_ms",
		reterr);

	if (r < 0)
		return r;
	sql_int(&q, (int64_t)st->st_ino);
	sql_int(&q, (int64_t)st->st_dev);
	sql_int(&q, how);
	sql_int(&q, ARCHIVE_COPY);
	sql_int(&q, st->st_size);
	sql_int(&q, file_mtime_ns(st));
	while ((r = sql_step(&q, reterr)) > 0) {
		const char *found = sql_get_text(&q, 0);
		AUTO_FREE char *kept = archive_path(a, found);
		int served = key_valid(found) ? serves(how, kept, path, st, reterr) : 0;
		if (served == 0)
			continue;
		(void)snprintf(key, ARCHIVE_KEY_MAX, "%s", found);
		return served;
	}
	return r;
}

static bool no_links_here(int errnum)
{
	return errnum == EXDEV || errnum == EPERM || errnum == EMLINK || errnum == EOPNOTSUPP ||
		errnum == EACCES;
}

/* Puts the file into the folder; *how says in the end how it was done. */
static int put_file(const struct archive *a, const char *path, enum archive_how *how,
	char key[static ARCHIVE_KEY_MAX], struct err *reterr)
{
	for (int i = 0; i < KEY_TRIES; i++) {
		vault_key_make(session_of(path), key);
		AUTO_FREE char *to = archive_path(a, key);
		if (*how == ARCHIVE_LINK) {
			if (linkat(AT_FDCWD, path, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0)
				return folder_sync_of(to, reterr);
			if (errno == EEXIST)
				continue;
			if (!no_links_here(errno))
				return err_errno(reterr, errno, "link %s to %s", path, to);
			*how = ARCHIVE_GROWING;
		}
		int r = copy_file(path, to, reterr);
		if (r != -EEXIST)
			return r;
	}
	return err_set(reterr, ERR_BUG, "no free name in %s", a->dir);
}

/* ---- the same bytes, kept before ---- */

static bool same_bytes(const char *kept, const char *path, const struct stat *st)
{
	AUTO_CLOSE int a = open(kept, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	AUTO_CLOSE int b = unpack_open(path, NULL, NULL);
	struct stat there;

	if (a < 0 || b < 0 || fstat(a, &there) < 0 || there.st_size != st->st_size ||
		(there.st_ino == st->st_ino && there.st_dev == st->st_dev))
		return false;
	return file_same(a, b, 0, (uint64_t)st->st_size);
}

/* From now on it is the copy of a file as it was: it grows no more. */
static int freeze(
	const struct archive *a, const char *key, const struct stat *st, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, a->store,
		"UPDATE archive SET how = ?, dev = ?, ino = ?, size = ?, mtime_ns = ? WHERE key = "
		"?",
		reterr);

	if (r < 0)
		return r;
	sql_int(&q, ARCHIVE_COPY);
	sql_int(&q, (int64_t)st->st_dev);
	sql_int(&q, (int64_t)st->st_ino);
	sql_int(&q, st->st_size);
	sql_int(&q, file_mtime_ns(st));
	sql_text(&q, key);
	return sql_run(&q, reterr);
}

/* A file that was brought back from the archive, or kept to grow, need not be copied again: 1 and
 * its key. */
static int find_same(const struct archive *a, const char *path, const struct stat *st,
	char key[static ARCHIVE_KEY_MAX], struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, a->store,
		"SELECT key FROM archive WHERE session = ? AND how <> ? ORDER BY kept_ms", reterr);

	if (r < 0)
		return r;
	sql_sv(&q, session_of(path));
	sql_int(&q, ARCHIVE_LINK);
	while ((r = sql_step(&q, reterr)) > 0) {
		const char *found = sql_get_text(&q, 0);
		AUTO_FREE char *kept = archive_path(a, found);
		if (!key_valid(found) || !same_bytes(kept, path, st))
			continue;
		(void)snprintf(key, ARCHIVE_KEY_MAX, "%s", found);
		sql_reset(&q);
		r = freeze(a, key, st, reterr);
		return r < 0 ? r : 1;
	}
	return r;
}

/* Bytes of a file that is set aside and is not the one of st; 0 when it is not there. */
static int64_t kept_size(const struct archive *a, const char *key, const struct stat *st)
{
	AUTO_FREE char *kept = archive_path(a, key);
	struct stat there;

	if (!key_valid(key) || stat(kept, &there) < 0 ||
		(there.st_ino == st->st_ino && there.st_dev == st->st_dev))
		return 0;
	return there.st_size;
}

struct largest {
	const struct archive *a;
	struct vault *v; /* NULL: there is none */
	int64_t size;
	char *key;
	bool gone; /* the session is: then what it was last is meant, though it was more before */
};

/* A first one is looked into when a second one comes. */
static void take_if_larger(struct largest *l, int64_t size, const char *key, bool latest)
{
	if (l->size > 0) {
		bool blank = archive_is_blank(l->a, l->v, key);
		if (blank != archive_is_blank(l->a, l->v, l->key) ? blank
				: latest			  ? size < l->size
								  : size <= l->size)
			return;
	}
	l->size = size;
	(void)snprintf(l->key, ARCHIVE_KEY_MAX, "%s", key);
}

static int take_larger(void *data, const struct vault_file *file)
{
	struct largest *l = data;

	/* The session is what it was before it was damaged. */
	if (sv_ends(sv_of(file->path), SV(UNPACK_SUFFIX UNPACK_DAMAGED)))
		return 0;
	if (l->gone && file->later && archive_has_words(l->a, l->v, file->later))
		return 0;
	if (file->size > 0 && key_valid(file->key))
		take_if_larger(l, (int64_t)file->size, file->key, true);
	return 0;
}

static int find_aside(const struct archive *a, const char *session, const char *path,
	const struct stat *st, struct largest *l, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, a->store, reterr,
		"SELECT key FROM archive WHERE session = ? OR path = ? ORDER BY kept_ms DESC",
		SQL_T(session), SQL_T(path));

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *key = sql_get_text(&q, 0);
		int64_t size = kept_size(a, key, st);
		r = 0;
		if (size > 0)
			take_if_larger(l, size, key, false);
	}
	return r;
}

/* Of what was set aside and of what the vault has, where there is one; one of session and path is
 * NULL. */
static int find_largest(const struct archive *a, const char *session, const char *path,
	const struct stat *st, struct largest *l, struct err *reterr)
{
	struct sv plain = path ? unpack_plain(sv_of(path)) : SV("");
	AUTO_FREE char *lay = path ? xmemdup0(plain.p, plain.n) : NULL;
	const struct vault_query query = { .session = session, .path = lay };
	int r = a->store ? find_aside(a, session, path, st, l, reterr) : 0;

	return r < 0 || !l->v ? r : vault_each(l->v, &query, take_larger, l, reterr);
}

int archive_find(const struct archive *a, const char *path, char ret_key[static ARCHIVE_KEY_MAX],
	struct err *reterr)
{
	AUTO_VAULT *v = NULL;
	/* Kept under a path whose folders are resolved. */
	AUTO_FREE char *real = path_real_gone(path);
	struct sv name = session_of(path);
	AUTO_FREE char *session = xmemdup0(name.p, name.n);
	struct stat st = { .st_ino = 0 };
	AUTO_FREE char *where = unpack_where(path);
	struct largest l = { a, NULL, 0, ret_key, .gone = !where };
	int r = vault_open(a->dir, 0, a->clock, NULL, &v, reterr);

	l.v = v;
	if (r < 0 && r != ERR_NOTFOUND)
		return r;
	(void)stat(path, &st);
	/* Sessions of one id may lie at two places: this one's comes first. */
	r = find_largest(a, NULL, real, &st, &l, reterr);
	if (r == 0 && l.size == 0)
		r = find_largest(a, session, NULL, &st, &l, reterr);
	if (r == 0 && l.size == 0)
		return err_set(reterr, ERR_NOTFOUND, "%s is not in the archive", path);
	return r;
}

static int add_row(const struct archive *a, const char *key, const char *path,
	const struct stat *st, enum archive_how how, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, a->store,
		"INSERT OR IGNORE INTO archive (key, session, path, how, dev, ino, size, mtime_ns,"
		" kept_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, key);
	sql_sv(&q, session_of(path));
	sql_text(&q, path);
	sql_int(&q, how);
	sql_int(&q, (int64_t)st->st_dev);
	sql_int(&q, (int64_t)st->st_ino);
	sql_int(&q, st->st_size);
	sql_int(&q, file_mtime_ns(st));
	sql_int(&q, clock_wall_ms(a->clock));
	return sql_run(&q, reterr);
}

/* What is kept of a compressed file is plain, and all that will be of it. */
static int plain_size(const char *path, enum archive_how *how, struct stat *st, struct err *reterr)
{
	struct stat plain;
	AUTO_CLOSE int fd = unpack_open(path, st, reterr);

	if (fd < 0)
		return fd;
	if (fstat(fd, &plain) < 0)
		return err_errno(reterr, errno, "stat %s", path);
	st->st_size = plain.st_size;
	*how = ARCHIVE_COPY;
	return 0;
}

/* Where the vault has nearly all of the file, it gets the rest: 1 and the key. It is not waited
 * for. */
static int keep_in_vault(const struct archive *a, const char *path, const struct stat *st,
	char key[static ARCHIVE_KEY_MAX], struct err *reterr)
{
	AUTO_FREE char *packs = path_join(a->dir, "packs");
	struct sv name = session_of(path);
	AUTO_FREE char *session = xmemdup0(name.p, name.n);
	const struct vault_source source = {
		.path = path, .agent = "", .session = session, .own = session, .most = VAULT_REST
	};
	struct vault_taken taken = { .key = "" };
	AUTO_VAULT *v = NULL;

	if (!path_exists(packs))
		return 0;
	int r = vault_open(a->dir, VAULT_WRITE, a->clock, NULL, &v, reterr);
	if (r == ERR_BUSY)
		return 0;
	if (r < 0)
		return r;
	struct taker *taker = taker_new(v);
	r = taker_take(taker, &source, &taken, reterr);
	bool kept = r == 0 && taken.key[0] && taken.took != VAULT_REFUSED &&
		taken.took != VAULT_NEW && taken.took != VAULT_VERSION;
	if (kept)
		r = taker_finish(taker, reterr);
	if (r == 0 && kept)
		r = vault_commit(v, reterr);
	taker_free(taker);
	if (r < 0 || !kept)
		return r;
	memcpy(key, taken.key, ARCHIVE_KEY_MAX);
	r = add_row(a, key, path, st, ARCHIVE_VAULT, reterr);
	return r < 0 ? r : 1;
}

int archive_keep(const struct archive *a, const char *path, enum archive_how how,
	char ret_key[static ARCHIVE_KEY_MAX], struct err *reterr)
{
	/* A link has the session's name: what it leads to may be called otherwise. */
	AUTO_FREE char *real = path_real_gone(path);
	AUTO_CLOSE int lock = -1;
	char key[ARCHIVE_KEY_MAX];
	struct stat st;
	int r = stat(real, &st) < 0 ? err_errno(reterr, errno, "stat %s", real) : 0;

	if (r == 0 && unpack_is(sv_of(real)))
		r = plain_size(real, &how, &st, reterr);
	if (r == 0)
		r = file_mkdirs(a->dir, reterr);
	if (r == 0)
		r = archive_lock(a, &lock, reterr);
	if (r == 0 && how == ARCHIVE_GROWING && st.st_size >= ARCHIVE_LINK_FROM)
		how = ARCHIVE_LINK;
	if (r == 0)
		r = find_kept(a, real, &st, how, key, reterr);
	if (r == 0 && how == ARCHIVE_COPY)
		r = find_same(a, real, &st, key, reterr);
	if (r == 0 && how != ARCHIVE_COPY)
		r = keep_in_vault(a, real, &st, key, reterr);
	if (r == 0) {
		r = put_file(a, real, &how, key, reterr);
		if (r == 0)
			r = add_row(a, key, real, &st, how, reterr);
	}
	if (r < 0) {
		err_prefix(reterr, "archive");
		return r;
	}
	memcpy(ret_key, key, sizeof(key));
	return 0;
}

int archive_lock(const struct archive *a, int *ret_fd, struct err *reterr)
{
	AUTO_FREE char *path = path_join(a->dir, "aside.lock");

	return file_lock(path, LOCK_QUIETLY, ret_fd, reterr);
}

/* ---- reading ---- */

/* What is set aside goes first: it may have grown since the vault took it. */
static int open_aside(const struct archive *a, const char *key, int *ret_fd, struct err *reterr)
{
	if (!key_valid(key))
		return err_set(reterr, ERR_NOTFOUND, "no such key in the archive");
	AUTO_FREE char *path = archive_path(a, key);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return err_set(reterr, ERR_NOTFOUND, "%s is gone", path);
	if (fd < 0)
		return err_errno(reterr, errno, "open %s", path);
	*ret_fd = fd;
	return 0;
}

/* What is set aside: 0; else 1, the vault, and a file without a name for what that has. */
static int open_either(const struct archive *a, const char *key, struct vault **ret_vault,
	int *ret_fd, struct err *reterr)
{
	int r = open_aside(a, key, ret_fd, reterr);

	if (r != ERR_NOTFOUND || !key_valid(key) ||
		vault_open(a->dir, 0, a->clock, NULL, ret_vault, NULL) < 0)
		return r;
	*ret_fd = file_open_temp(a->dir, reterr);
	return *ret_fd < 0 ? *ret_fd : 1;
}

int archive_open_part(const struct archive *a, const char *key, int64_t from, uint64_t size,
	int *ret_fd, uint64_t *ret_lost, struct err *reterr)
{
	AUTO_VAULT *v = NULL;
	AUTO_CLOSE int fd = -1;
	int r = open_either(a, key, &v, &fd, reterr);

	*ret_lost = 0;
	if (r > 0)
		r = vault_write_part(v, key, from, size, fd, ret_lost, reterr);
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

int archive_open(const struct archive *a, const char *key, int *ret_fd, uint64_t *ret_lost,
	struct err *reterr)
{
	AUTO_VAULT *v = NULL;
	AUTO_CLOSE int fd = -1;
	int r = open_either(a, key, &v, &fd, reterr);

	if (ret_lost)
		*ret_lost = 0;
	if (r > 0)
		r = vault_write_out(v, key, fd, ret_lost, reterr);
	if (r == 0 && ret_lost && *ret_lost > 0 && lseek(fd, 0, SEEK_END) == 0)
		r = err_set(reterr, ERR_INPUT, "all that the archive has of it is damaged");
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

/* Fewer where the file ends before. */
static int read_some(const struct archive *a, struct vault *open, const char *key, uint64_t offset,
	size_t size, struct str *out, struct err *reterr)
{
	AUTO_VAULT *v = NULL;
	AUTO_CLOSE int fd = -1;
	int r = open_aside(a, key, &fd, reterr);

	if (r == 0)
		return file_read_at(fd, offset, size, out, reterr);
	if (r == ERR_NOTFOUND && key_valid(key))
		r = open ? 0 : vault_open(a->dir, 0, a->clock, NULL, &v, reterr);
	return r < 0 ? r : vault_read(open ? open : v, key, offset, size, out, reterr);
}

int archive_read(const struct archive *a, const char *key, uint64_t offset, uint64_t size,
	struct str *out, struct err *reterr)
{
	size_t before = out->len;

	if (size > RECALL_VALUE_MAX || !str_reserve(out, (size_t)size))
		return err_set(reterr, ERR_LIMIT, "too many bytes");
	int r = read_some(a, NULL, key, offset, (size_t)size, out, reterr);
	if (r == 0 && out->len - before < size)
		r = err_set(reterr, ERR_INPUT, "the bytes are not there");
	return r;
}

bool archive_has_words(const struct archive *a, struct vault *v, const char *key)
{
	enum { HEAD = 64 * 1024 };
	AUTO_STR head = STR_INIT;

	/* What cannot be read may be anything. */
	return read_some(a, v, key, 0, HEAD, &head, NULL) < 0 || head.len == 0 ||
		transcript_speaks(str_sv(&head));
}

bool archive_is_blank(const struct archive *a, struct vault *v, const char *key)
{
	enum { HEAD = 16 };
	AUTO_STR head = STR_INIT;
	size_t n = 0;

	if (read_some(a, v, key, 0, HEAD, &head, NULL) < 0)
		return false;
	while (n < head.len && head.buf[n] == '\0')
		n++;
	return n > 0 && n == head.len;
}
