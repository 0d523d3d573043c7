/*
 * The vault: what leaves it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "archive/vault-room.h"
#include "base/mem.h"
#include "os/file.h"

#define NOT_INSTEAD "kind <> 3"
_Static_assert(FRAME_INSTEAD == 3, "NOT_INSTEAD names it by value");

int vault_forget(struct vault *v, const char *key, struct err *reterr)
{
	uint64_t size;
	int r = vault_size(v, key, &size, reterr);

	if (r == 0)
		r = vault_begin(v, reterr);
	/* The frame of a recipe goes with it: a sweep leaves out what has no row. */
	if (r == 0)
		r = SQL_RUN(v->db, reterr,
			"INSERT OR IGNORE INTO let_go SELECT frame FROM part WHERE"
			" file = (SELECT seq FROM file WHERE key = ?)",
			SQL_T(key));
	if (r == 0)
		r = SQL_RUN(v->db, reterr,
			"DELETE FROM frame WHERE kind = ? AND id IN (SELECT frame FROM part WHERE"
			" file = (SELECT seq FROM file WHERE key = ?))",
			SQL_I(FRAME_RECIPE), SQL_T(key));
	if (r == 0)
		r = SQL_RUN(v->db, reterr,
			"DELETE FROM part WHERE file = (SELECT seq FROM file WHERE key = ?)",
			SQL_T(key));
	if (r == 0)
		r = SQL_RUN(v->db, reterr, "DELETE FROM file WHERE key = ?", SQL_T(key));
	if (r == 0)
		r = SQL_RUN(v->db, reterr, "DELETE FROM seen WHERE key = ?", SQL_T(key));
	return r;
}

int vault_forget_path(struct vault *v, const char *path, struct err *reterr)
{
	int r = vault_begin(v, reterr);

	return r < 0 ? r : SQL_RUN(v->db, reterr, "DELETE FROM seen WHERE path = ?", SQL_T(path));
}

/* ---- which frames are needed ---- */

int vault_gather_needed(struct vault *v, struct err *reterr)
{
	AUTO_SQL parts = SQL_INIT;
	AUTO_SQL add = SQL_INIT;
	int r = sql_exec(v->db,
		"CREATE TEMP TABLE IF NOT EXISTS needed (id INTEGER PRIMARY KEY,"
		" file INTEGER, start INTEGER);" /* the part, where it is the frame of a recipe */
		"DELETE FROM needed",
		reterr);

	if (r == 0)
		r = sql_prepare(
			&parts, v->db, "SELECT recipe, frame, file, start FROM part", reterr);
	if (r == 0)
		r = sql_prepare(
			&add, v->db, "INSERT OR IGNORE INTO needed VALUES (?, ?, ?)", reterr);
	while (r == 0 && (r = sql_step(&parts, reterr)) > 0) {
		CLEANUP(recipe_release) struct recipe recipe = RECIPE_INIT;
		uint64_t last = (uint64_t)sql_get_int(&parts, 1);
		r = recipe_decode(sql_get_blob(&parts, 0), &recipe, reterr);
		sql_reset(&add);
		sql_int(&add, (int64_t)last);
		sql_int(&add, sql_get_int(&parts, 2));
		sql_int(&add, sql_get_int(&parts, 3));
		if (r == 0)
			r = sql_run(&add, reterr);
		vec_each (&recipe.extents, e) {
			if (r < 0 || e->frame == last)
				continue;
			last = e->frame;
			sql_reset(&add);
			sql_int(&add, (int64_t)last);
			r = sql_run(&add, reterr);
		}
	}
	return r;
}

/* ---- what was damaged ---- */

/* The database has every recipe: those whose frames are damaged are written once more. */
static int put_recipes_again(struct vault *v, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	AUTO_STR bytes = STR_INIT;
	struct codec *codec = codec_new();
	struct frame f;
	int r = sql_prepare(&q, v->db,
		"SELECT frame, recipe FROM part WHERE frame IN (SELECT frame FROM damaged)",
		reterr);

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		str_clear(&bytes);
		frame_encode(codec, FRAME_RECIPE, (uint64_t)sql_get_int(&q, 0), sql_get_blob(&q, 1),
			&bytes);
		bool made = frame_head(str_sv(&bytes), &f);
		assert(made);
		r = vault_put(v, &f, str_sv(&bytes), reterr);
	}
	codec_free(codec);
	return r < 0
		? r
		: sql_exec(v->db, "DELETE FROM damaged WHERE frame IN (SELECT frame FROM part)",
			  reterr);
}

int vault_mend(struct vault *v, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;

	if (v->damaged == 0)
		return 0;
	(void)pthread_mutex_lock(&v->mutex);
	int r = vault_begin(v, reterr);
	if (r == 0)
		r = put_recipes_again(v, reterr);
	if (r == 0)
		r = vault_gather_needed(v, reterr);
	if (r == 0)
		r = sql_exec(v->db,
			"DELETE FROM hook WHERE frame IN (SELECT frame FROM damaged);"
			"DELETE FROM frame WHERE id NOT IN (SELECT id FROM needed)"
			" AND (" NOT_INSTEAD " OR id IN (SELECT frame FROM damaged));"
			"DELETE FROM damaged WHERE frame NOT IN (SELECT id FROM needed)",
			reterr);
	if (r == 0)
		r = sql_prepare(&q, v->db, "SELECT count(*) FROM damaged", reterr);
	if (r == 0)
		r = sql_step(&q, reterr);
	if (r > 0)
		v->damaged = (uint64_t)sql_get_int(&q, 0);
	(void)pthread_mutex_unlock(&v->mutex);
	return r < 0 ? r : 0;
}

/* ---- which bytes of frames are needed ---- */

struct range {
	uint64_t frame;
	uint32_t from, to;
};
typedef VEC(struct range) range_vec;

static int by_place(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->frame != y->frame ? (x->frame > y->frame) - (x->frame < y->frame)
				    : (x->from > y->from) - (x->from < y->from);
}

/* Of all frames, in order, none touching the next. */
static int gather_ranges(struct vault *v, range_vec *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	size_t n = 0;
	int r = sql_prepare(&q, v->db, "SELECT recipe FROM part", reterr);

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		CLEANUP(recipe_release) struct recipe recipe = RECIPE_INIT;
		r = recipe_decode(sql_get_blob(&q, 0), &recipe, reterr);
		vec_each (&recipe.extents, e)
			if (e->offset <= UINT32_MAX - e->size)
				vec_push(ret,
					(struct range){ e->frame, e->offset, e->offset + e->size });
	}
	vec_sort(ret, by_place);
	vec_each (ret, range) {
		struct range *last = n > 0 ? &ret->v[n - 1] : NULL;
		if (!last || last->frame != range->frame || last->to < range->from)
			ret->v[n++] = *range;
		else if (last->to < range->to)
			last->to = range->to;
	}
	ret->n = n;
	return r;
}

/* Where the ranges of a frame begin. */
static size_t first_range(const range_vec *ranges, uint64_t frame)
{
	size_t low = 0, high = ranges->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (ranges->v[mid].frame < frame)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Blanks what nobody needs: line ends stand there then, so that the lines around keep their places,
 * and recipes need not change. True when there was something else.
 */
static bool blank(const range_vec *ranges, uint64_t frame, struct str *raw)
{
	bool found = false;
	size_t at = 0;

	for (size_t i = first_range(ranges, frame); at < raw->len; i++) {
		bool more = i < ranges->n && ranges->v[i].frame == frame;
		size_t end = more && ranges->v[i].from < raw->len ? ranges->v[i].from : raw->len;
		for (; at < end; at++) {
			found |= raw->buf[at] != '\n';
			raw->buf[at] = '\n';
		}
		if (more && ranges->v[i].to > at)
			at = ranges->v[i].to;
	}
	return found;
}

/* ---- writing a pack anew ---- */

struct sweeping {
	struct vault *v;
	struct codec *codec;
	range_vec ranges;
	struct str bytes, raw; /* of the frame looked at: encoded, and what it holds */
};

/* What is to be written in place of a frame. Lines that are damaged are left out: nobody can read
 * them, and whose they were cannot be told. 1 when it is not what stands there, 0 when it is. */
static int renew_frame(
	struct sweeping *s, int from, uint64_t id, int64_t at, int64_t stored, struct err *reterr)
{
	size_t n = (size_t)stored + FRAME_HEAD;
	struct frame f;

	str_clear(&s->bytes);
	if (!str_reserve(&s->bytes, n))
		return err_set(reterr, ERR_INPUT, "archive: a frame of %zu bytes", n);
	ssize_t got = pread(from, s->bytes.buf, n, (off_t)at);
	if (got < 0)
		return err_errno(reterr, errno, "read of a pack");
	s->bytes.len = (size_t)got;
	struct sv bytes = str_sv(&s->bytes);
	if (!frame_head(bytes, &f) || f.id != id ||
		frame_decode(s->codec, &f, sv_from(bytes, FRAME_HEAD), &s->raw, NULL) < 0) {
		str_clear(&s->bytes);
		return 1;
	}
	if (f.kind != FRAME_LINES || !blank(&s->ranges, id, &s->raw))
		return 0;
	str_clear(&s->bytes);
	frame_encode(s->codec, FRAME_LINES, id, str_sv(&s->raw), &s->bytes);
	return 1;
}

/* A recipe is taken from the database, so that one that was damaged is whole again. */
static int copy_frames(
	struct sweeping *s, int64_t pack, int from, struct file_new *to, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, s->v->db, reterr,
		"SELECT f.id, f.offset, f.stored, p.recipe FROM frame f"
		" LEFT JOIN needed n ON n.id = f.id"
		" LEFT JOIN part p ON p.file = n.file AND p.start = n.start AND p.frame = f.id"
		" WHERE f.pack = ? AND f.kind <> ?"
		" ORDER BY f.offset",
		SQL_I(pack), SQL_I(FRAME_INSTEAD));

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		uint64_t id = (uint64_t)sql_get_int(&q, 0);
		struct sv recipe = sql_get_blob(&q, 3);
		if (recipe.n > 0) {
			str_clear(&s->bytes);
			frame_encode(s->codec, FRAME_RECIPE, id, recipe, &s->bytes);
			r = 0;
		} else {
			r = renew_frame(
				s, from, id, sql_get_int(&q, 1), sql_get_int(&q, 2), reterr);
		}
		if (r >= 0)
			r = file_new_write(to, str_sv(&s->bytes), reterr);
	}
	return r;
}

/* Whether a pack has bytes that nobody needs, in a frame that has others: 1 or 0. */
static int has_needless(struct sweeping *s, int64_t pack, struct err *reterr)
{
	AUTO_FREE char *path = pack_path(s->v, pack);
	AUTO_CLOSE int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, s->v->db, reterr,
		"SELECT id, offset, stored, raw FROM frame WHERE pack = ? AND kind = ?"
		" ORDER BY offset",
		SQL_I(pack), SQL_I(FRAME_LINES));

	while (from >= 0 && r == 0 && (r = sql_step(&q, reterr)) > 0) {
		uint64_t id = (uint64_t)sql_get_int(&q, 0), covered = 0;
		for (size_t i = first_range(&s->ranges, id);
			i < s->ranges.n && s->ranges.v[i].frame == id; i++)
			covered += s->ranges.v[i].to - s->ranges.v[i].from;
		r = covered >= (uint64_t)sql_get_int(&q, 3)
			? 0
			: renew_frame(s, from, id, sql_get_int(&q, 1), sql_get_int(&q, 2), reterr);
	}
	return r;
}

static int rewrite_pack(struct sweeping *s, int64_t pack, struct err *reterr)
{
	struct vault *v = s->v;
	AUTO_FREE char *old = pack_path(v, pack);
	AUTO_FREE char *new = pack_path(v, v->pack + 1);
	AUTO_CLOSE int from = open(old, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(file_new_release) struct file_new to = FILE_NEW_INIT;
	AUTO_STR head = STR_INIT;
	char number[24];
	int r = 0;

	if (from < 0)
		return err_errno(reterr, errno, "open %s", old);
	(void)snprintf(number, sizeof(number), "%lld", (long long)pack);
	frame_encode(s->codec, FRAME_INSTEAD, v->next_id++, sv_of(number), &head);
	r = file_new_open_unnamed(&to, new, 0600, reterr);
	if (r == 0)
		r = file_new_write(&to, str_sv(&head), reterr);
	if (r == 0)
		r = copy_frames(s, pack, from, &to, reterr);
	/* From here on it counts, whatever happens: the rest is done by the one who absorbs it. */
	if (r == 0)
		r = vault_commit_held(v, reterr);
	if (r == 0)
		r = file_new_commit_excl(&to, reterr);
	return r < 0 ? r : vault_absorb(v, reterr);
}

struct pack_row {
	int64_t n;
	uint64_t size, needed;
};

int vault_sweep(struct vault *v, const struct vault_sweep_opts *opts, uint64_t *ret_freed,
	struct err *reterr)
{
	struct sweeping s = {
		.v = v, .codec = codec_new(), .ranges = VEC_INIT, .bytes = STR_INIT, .raw = STR_INIT
	};
	VEC(struct pack_row) packs = VEC_INIT;
	struct vault_figures before, after;
	AUTO_SQL q = SQL_INIT;
	int r = vault_begin(v, reterr);

	if (r == 0)
		r = vault_figures(v, &before, reterr);
	if (r == 0)
		r = vault_gather_needed(v, reterr);
	if (r == 0)
		r = gather_ranges(v, &s.ranges, reterr);
	if (r == 0)
		r = sql_exec(v->db,
			"DELETE FROM frame WHERE " NOT_INSTEAD
			" AND id NOT IN (SELECT id FROM needed);"
			"DELETE FROM damaged WHERE frame NOT IN (SELECT id FROM needed)",
			reterr);
	if (r == 0)
		r = SQL_PREPARE(&q, v->db, reterr,
			"SELECT n, size, (SELECT coalesce(sum(stored + ?1), 0) FROM frame"
			" WHERE pack = n AND offset + stored + ?1 <= size) FROM pack",
			SQL_I(FRAME_HEAD));
	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		vec_push(&packs,
			(struct pack_row){ sql_get_int(&q, 0), (uint64_t)sql_get_int(&q, 1),
				(uint64_t)sql_get_int(&q, 2) });
		r = 0;
	}
	sql_release(&q);
	if (r == 0)
		r = vault_commit_held(v, reterr);
	/* What is written to now is left open no longer. */
	if (v->fd >= 0)
		(void)close(v->fd);
	v->fd = -1;
	for (size_t i = 0; i < packs.n && r == 0; i++) {
		const struct pack_row *p = &packs.v[i];
		if (opts->progress)
			opts->progress(opts->data, i, packs.n);
		if (opts->cancelled && opts->cancelled(opts->data)) {
			r = err_set(reterr, ERR_CANCELLED, "interrupted");
			break;
		}
		r = p->size > p->needed ? 1 : has_needless(&s, p->n, reterr);
		if (r > 0)
			r = rewrite_pack(&s, p->n, reterr);
	}
	if (r == 0)
		r = vault_begin(v, reterr);
	if (r == 0)
		r = sql_exec(v->db, "DELETE FROM let_go", reterr);
	if (r == 0)
		r = vault_commit_held(v, reterr);
	vec_release(&packs);
	vec_release(&s.ranges);
	codec_free(s.codec);
	str_release(&s.bytes);
	str_release(&s.raw);
	if (r == 0)
		r = vault_figures(v, &after, reterr);
	if (r == 0)
		*ret_freed = before.stored > after.stored ? before.stored - after.stored : 0;
	return r;
}

int vault_scrub(struct vault *v, struct err *reterr)
{
	int r = vault_commit(v, reterr);

	return r < 0 ? r : store_scrub(v->db, reterr);
}
