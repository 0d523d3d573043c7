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

int vault_forget(struct vault *v, const char *key, struct err *reterr)
{
	uint64_t size;
	int r = vault_size(v, key, &size, reterr);

	if (r == 0)
		r = vault_begin(v, reterr);
	/* The frame of a recipe goes with it: a sweep leaves out what has no row. */
	if (r == 0)
		r = SQL_RUN(v->db, reterr,
			"DELETE FROM frame WHERE kind = 2 AND id IN (SELECT frame FROM part WHERE"
			" file = (SELECT seq FROM file WHERE key = ?))",
			SQL_T(key));
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

/* ---- which frames are needed ---- */

int vault_gather_needed(struct vault *v, struct err *reterr)
{
	AUTO_SQL parts = SQL_INIT;
	AUTO_SQL add = SQL_INIT;
	int r = sql_exec(v->db,
		"CREATE TEMP TABLE IF NOT EXISTS needed (id INTEGER PRIMARY KEY);"
		"DELETE FROM needed",
		reterr);

	if (r == 0)
		r = sql_prepare(&parts, v->db, "SELECT recipe, frame FROM part", reterr);
	if (r == 0)
		r = sql_prepare(&add, v->db, "INSERT OR IGNORE INTO needed VALUES (?)", reterr);
	while (r == 0 && (r = sql_step(&parts, reterr)) > 0) {
		CLEANUP(recipe_release) struct recipe recipe = RECIPE_INIT;
		uint64_t last = (uint64_t)sql_get_int(&parts, 1);
		r = recipe_decode(sql_get_blob(&parts, 0), &recipe, reterr);
		sql_reset(&add);
		sql_int(&add, (int64_t)last);
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
			"DELETE FROM damaged WHERE frame NOT IN (SELECT id FROM needed);"
			"DELETE FROM frame WHERE id NOT IN (SELECT id FROM needed)",
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

/* ---- writing a pack anew ---- */

/* A recipe is taken from the database, so that one that was damaged is whole again. Lines that are
 * damaged go along as they are. */
static int copy_frames(struct vault *v, struct codec *codec, int64_t pack, int from,
	struct file_new *to, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	AUTO_STR bytes = STR_INIT;
	int r = SQL_PREPARE(&q, v->db, reterr,
		"SELECT f.id, f.offset, f.stored, p.recipe FROM frame f"
		" LEFT JOIN part p ON p.frame = f.id WHERE f.pack = ? ORDER BY f.offset",
		SQL_I(pack));

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		size_t n = (size_t)sql_get_int(&q, 2) + FRAME_HEAD;
		struct sv recipe = sql_get_blob(&q, 3);
		str_clear(&bytes);
		if (recipe.n > 0) {
			frame_encode(
				codec, FRAME_RECIPE, (uint64_t)sql_get_int(&q, 0), recipe, &bytes);
		} else {
			(void)str_reserve(&bytes, n);
			ssize_t got = pread(from, bytes.buf, n, (off_t)sql_get_int(&q, 1));
			if (got < 0)
				return err_errno(reterr, errno, "read of a pack");
			bytes.len = (size_t)got;
		}
		r = file_new_write(to, str_sv(&bytes), reterr);
	}
	return r;
}

static int rewrite_pack(struct vault *v, int64_t pack, struct err *reterr)
{
	AUTO_FREE char *old = pack_path(v, pack);
	AUTO_FREE char *new = pack_path(v, v->pack + 1);
	AUTO_CLOSE int from = open(old, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(file_new_release) struct file_new to = FILE_NEW_INIT;
	AUTO_STR head = STR_INIT;
	char number[24];
	int r = 0;

	if (from < 0)
		return err_errno(reterr, errno, "open %s", old);
	struct codec *codec = codec_new();
	(void)snprintf(number, sizeof(number), "%lld", (long long)pack);
	frame_encode(codec, FRAME_INSTEAD, v->next_id++, sv_of(number), &head);
	r = file_new_open_unnamed(&to, new, 0600, reterr);
	if (r == 0)
		r = file_new_write(&to, str_sv(&head), reterr);
	if (r == 0)
		r = copy_frames(v, codec, pack, from, &to, reterr);
	codec_free(codec);
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

int vault_sweep(struct vault *v, unsigned share, uint64_t *ret_freed, struct err *reterr)
{
	VEC(struct pack_row) packs = VEC_INIT;
	struct vault_figures before, after;
	AUTO_SQL q = SQL_INIT;
	int r = vault_begin(v, reterr);

	if (r == 0)
		r = vault_figures(v, &before, reterr);
	if (r == 0)
		r = vault_gather_needed(v, reterr);
	if (r == 0)
		r = sql_exec(
			v->db, "DELETE FROM frame WHERE id NOT IN (SELECT id FROM needed)", reterr);
	if (r == 0)
		r = SQL_PREPARE(&q, v->db, reterr,
			"SELECT n, size, (SELECT coalesce(sum(stored + ?1), 0) FROM frame"
			" WHERE pack = n) FROM pack",
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
		uint64_t needless = p->size > p->needed ? p->size - p->needed : 0;
		if (needless > 0 && needless * 100 >= (uint64_t)share * p->size)
			r = rewrite_pack(v, p->n, reterr);
	}
	vec_release(&packs);
	if (r == 0)
		r = vault_figures(v, &after, reterr);
	if (r == 0)
		*ret_freed = before.stored > after.stored ? before.stored - after.stored : 0;
	return r;
}
