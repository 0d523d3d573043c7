/*
 * The vault: its database from its packs, which have the last word.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "archive/vault-room.h"
#include "base/mem.h"

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

int pack_walk(int fd, struct pack_range range, pack_fn fn, void *data, struct err *reterr)
{
	AUTO_STR stored = STR_INIT;
	char head[FRAME_HEAD];
	bool led = true; /* here by the frame before */
	struct frame f;
	int r = 0;

	for (uint64_t at = range.from; r == 0 && at < range.to;) {
		ssize_t n = pread(fd, head, sizeof(head), (off_t)at);
		if (n < 0)
			return err_errno(reterr, errno, "read of a pack");
		if (n < FRAME_HEAD)
			break;
		if (!frame_head(sv_make(head, sizeof(head)), &f)) {
			at = find_head(fd, at + 1);
			led = false;
			continue;
		}
		uint64_t behind = at + FRAME_HEAD + f.stored;
		if (range.heads && led && f.kind == FRAME_LINES && behind <= range.to) {
			r = fn(data, at, &f, NULL, reterr);
			at = behind;
			continue;
		}
		str_clear(&stored);
		(void)str_reserve(&stored, f.stored);
		n = pread(fd, stored.buf, f.stored, (off_t)(at + FRAME_HEAD));
		stored.len = n > 0 ? (size_t)n : 0;
		led = stored.len == f.stored && XXH3_64bits(stored.buf, stored.len) == f.check;
		if (led)
			r = fn(data, at, &f, &stored, reterr);
		/* A head whose bytes are not there may be one that stands in a session. */
		at = led ? behind : find_head(fd, at + 1);
	}
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

static int is_let_go(struct vault *v, uint64_t frame, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(
		&q, v->db, reterr, "SELECT 1 FROM let_go WHERE frame = ?", SQL_I(frame));

	return r < 0 ? r : sql_step(&q, reterr);
}

/* What is damaged is left for vault_verify() to tell; what it held is written anew when it comes
 * again. */
static int absorb_frame(void *data, uint64_t offset, const struct frame *f,
	const struct str *stored, struct err *reterr)
{
	struct absorbing *a = data;
	CLEANUP(recipe_release) struct recipe recipe = RECIPE_INIT;

	if (!stored)
		return put_frame_row(a->v, f, a->pack, offset, reterr);
	if (frame_decode(a->codec, f, str_sv(stored), &a->raw, NULL) < 0)
		return 0;
	struct sv raw = str_sv(&a->raw);
	int r = f->kind == FRAME_RECIPE ? is_let_go(a->v, f->id, reterr) : 0;
	if (r != 0)
		return r < 0 ? r : 0;
	r = put_frame_row(a->v, f, a->pack, offset, reterr);
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
		r = SQL_RUN(v->db, reterr,
			"DELETE FROM part WHERE frame NOT IN (SELECT id FROM frame WHERE kind = ?)",
			SQL_I(FRAME_RECIPE));
	if (r == 0)
		r = sql_exec(v->db,
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

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(reterr, errno, "open %s", path);
	if ((uint64_t)st.st_size <= known)
		return 0;
	int r = pack_walk(fd, (struct pack_range){ known, (uint64_t)st.st_size, false },
		absorb_frame, &a, reterr);
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

int known_size(struct vault *v, int64_t n, uint64_t *ret, struct err *reterr)
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

/* ---- whether the database is what the packs say ---- */

/* Every page of it can be read, and its indexes lead to all that its tables have. */
static bool is_sound(struct vault *v)
{
	AUTO_SQL q = SQL_INIT;

	return sql_prepare(&q, v->db, "PRAGMA integrity_check(1)", NULL) == 0 &&
		sql_step(&q, NULL) > 0 && strcmp(sql_get_text(&q, 0), "ok") == 0;
}

static void remember_let_go(struct vault *v)
{
	AUTO_SQL q = SQL_INIT;

	v->let_go.n = 0;
	if (sql_prepare(&q, v->db, "SELECT frame FROM let_go", NULL) < 0)
		return;
	while (sql_step(&q, NULL) > 0)
		vec_push(&v->let_go, sql_get_int(&q, 0));
}

int vault_put_let_go(struct vault *v, struct err *reterr)
{
	int r = 0;

	vec_each (&v->let_go, frame)
		if (r == 0)
			r = SQL_RUN(v->db, reterr, "INSERT OR IGNORE INTO let_go VALUES (?)",
				SQL_I(*frame));
	return r;
}

/* Places and recipes from the packs, as far as the database knows these. */
static int absorb_known(struct vault *v, struct vault *fresh, struct err *reterr)
{
	struct absorbing a = { .v = fresh, .codec = codec_new(), .raw = STR_INIT };
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, v->db, "SELECT n, size FROM pack ORDER BY n", reterr);

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		AUTO_FREE char *path = pack_path(v, sql_get_int(&q, 0));
		AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		a.pack = sql_get_int(&q, 0);
		a.instead = -1;
		const struct pack_range all = { 0, (uint64_t)sql_get_int(&q, 1), true };
		r = fd < 0 ? 0 : pack_walk(fd, all, absorb_frame, &a, reterr);
		if (r == 0 && a.instead >= 0 && a.instead < a.pack)
			r = drop_pack(fresh, a.instead, reterr);
	}
	codec_free(a.codec);
	str_release(&a.raw);
	return r;
}

/* *ret_lost: packs have lost some of what they had. */
static bool same_places(struct vault *v, struct vault *fresh, bool *ret_lost)
{
	enum { ID, NUMBERS, NEEDED = NUMBERS + 5 };

#define PLACES "SELECT id, pack, offset, raw, stored, kind"
	AUTO_SQL here = SQL_INIT;
	AUTO_SQL there = SQL_INIT;
	bool same = sql_prepare(&here, v->db, PLACES " FROM frame ORDER BY id", NULL) == 0 &&
		sql_prepare(&there, fresh->db,
			PLACES ", id IN (SELECT id FROM needed) FROM frame ORDER BY id", NULL) == 0;
#undef PLACES
	int has = same ? sql_step(&here, NULL) : -1, should = same ? sql_step(&there, NULL) : -1;

	while (same && (has > 0 || should > 0)) {
		int64_t a = has > 0 ? sql_get_int(&here, ID) : INT64_MAX;
		int64_t b = should > 0 ? sql_get_int(&there, ID) : INT64_MAX;
		for (int i = NUMBERS; a == b && i < NEEDED; i++)
			same &= sql_get_int(&here, i) == sql_get_int(&there, i);
		*ret_lost |= a < b;
		same &= a <= b || !sql_get_int(&there, NEEDED);
		if (a <= b)
			has = sql_step(&here, NULL);
		if (b <= a)
			should = sql_step(&there, NULL);
	}
	return same && has == 0 && should == 0;
}

static int compare_text(struct sql *a, struct sql *b, int column)
{
	const char *x = sql_get_text(a, column), *y = sql_get_text(b, column);

	return strcmp(x ? x : "", y ? y : "");
}

/* Of files that have lost parts in the packs, what is left is compared. */
static bool same_recipes(struct vault *v, struct vault *fresh, bool lost)
{
	enum { KEY, START, FRAME, SIZE, RECIPE, SESSION, PATH, AGENT, NUMBERS, END = NUMBERS + 4 };
	static const char text[] =
		"SELECT f.key, p.start, p.frame, p.size, p.recipe, f.session, f.path, f.agent,"
		" f.flags, f.size, f.mtime_ns, f.last_ms"
		" FROM file f JOIN part p ON p.file = f.seq ORDER BY f.key, p.start";
	AUTO_SQL here = SQL_INIT;
	AUTO_SQL there = SQL_INIT;
	bool same = sql_prepare(&here, v->db, text, NULL) == 0 &&
		sql_prepare(&there, fresh->db, text, NULL) == 0;
	int has = same ? sql_step(&here, NULL) : -1, should = same ? sql_step(&there, NULL) : -1;

	while (same && has > 0) {
		int order = should > 0 ? compare_text(&here, &there, KEY) : -1;
		if (order == 0)
			order = (sql_get_int(&here, START) > sql_get_int(&there, START)) -
				(sql_get_int(&here, START) < sql_get_int(&there, START));
		bool whole = order == 0 && sql_get_int(&here, FRAME) == sql_get_int(&there, FRAME);
		same = order <= 0 && (whole || lost);
		if (whole)
			same = sql_get_int(&here, SIZE) == sql_get_int(&there, SIZE) &&
				sv_eq(sql_get_blob(&here, RECIPE), sql_get_blob(&there, RECIPE)) &&
				compare_text(&here, &there, SESSION) == 0 &&
				compare_text(&here, &there, PATH) == 0 &&
				(sql_get_blob(&here, AGENT).n == 0 ||
					sql_get_blob(&there, AGENT).n == 0 ||
					compare_text(&here, &there, AGENT) == 0);
		for (int i = NUMBERS; whole && !lost && i < END; i++)
			same &= sql_get_int(&here, i) == sql_get_int(&there, i);
		has = sql_step(&here, NULL);
		if (order == 0)
			should = sql_step(&there, NULL);
	}
	return same && has == 0 && should == 0;
}

static bool has_strays(struct vault *v, bool lost)
{
	AUTO_SQL q = SQL_INIT;

	return SQL_PREPARE(&q, v->db, NULL,
		       "SELECT 1 FROM part WHERE file NOT IN (SELECT seq FROM file)"
		       " UNION ALL SELECT 1 FROM seen WHERE key <> ''"
		       " AND key NOT IN (SELECT key FROM file)"
		       " UNION ALL SELECT 1 FROM file WHERE NOT ?"
		       " AND seq NOT IN (SELECT file FROM part)",
		       SQL_I(lost)) < 0 ||
		sql_step(&q, NULL) != 0;
}

bool vault_agrees(struct vault *v)
{
	struct vault fresh = {
		.dir = v->dir, .packs = v->packs, .clock = v->clock, .lock = -1, .fd = -1
	};
	bool lost = false;

	remember_let_go(v);
	fresh.let_go.v = v->let_go.v; /* borrowed */
	fresh.let_go.n = v->let_go.n;
	bool same = is_sound(v) &&
		store_open_as(&vault_schema, NULL, STORE_MEMORY, NULL, &fresh.db, NULL) == 0 &&
		sql_exec(v->db, "BEGIN", NULL) == 0;

	if (same) {
		same = store_begin(fresh.db, NULL) == 0 && vault_put_let_go(&fresh, NULL) == 0 &&
			absorb_known(v, &fresh, NULL) == 0 &&
			vault_gather_needed(&fresh, NULL) == 0 && same_places(v, &fresh, &lost) &&
			same_recipes(v, &fresh, lost) && !has_strays(v, lost);
		same &= store_end(fresh.db, 0, NULL) == 0;
		same &= sql_exec(v->db, "COMMIT", NULL) == 0;
	}
	store_close(fresh.db);
	return same;
}
