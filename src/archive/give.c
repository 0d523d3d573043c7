/*
 * The vault: reading what is kept, and checking it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "archive/vault-room.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/unpack.h"

/* ---- frames ---- */

void shelf_init(struct shelf *s, struct vault *v)
{
	*s = (struct shelf){ .v = v, .codec = codec_new(), .stored = STR_INIT, .fd = -1 };
	for (size_t i = 0; i < SHELF_SLOTS; i++)
		s->slots[i].raw = (struct str)STR_INIT;
}

void shelf_release(struct shelf *s)
{
	codec_free(s->codec);
	for (size_t i = 0; i < SHELF_SLOTS; i++)
		str_release(&s->slots[i].raw);
	str_release(&s->stored);
	if (s->fd >= 0)
		(void)close(s->fd);
}

struct shelf_slot *shelf_find(struct shelf *s, uint64_t id)
{
	for (size_t i = 0; i < SHELF_SLOTS; i++)
		if (s->slots[i].used > 0 && s->slots[i].id == id) {
			s->slots[i].used = ++s->clock;
			return &s->slots[i];
		}
	return NULL;
}

struct place {
	int64_t pack;
	uint64_t offset, stored;
};

static int find_place(struct vault *v, uint64_t id, struct place *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, v->db, reterr,
		"SELECT pack, offset, stored FROM frame WHERE id = ?", SQL_I(id));

	if (r == 0)
		r = sql_step(&q, reterr);
	if (r <= 0)
		return r < 0 ? r : err_set(reterr, ERR_NOTFOUND, "archive: a frame is missing");
	*ret = (struct place){ sql_get_int(&q, 0), (uint64_t)sql_get_int(&q, 1),
		(uint64_t)sql_get_int(&q, 2) };
	return 0;
}

static int read_place(
	struct shelf *s, uint64_t id, const struct place *at, struct str *raw, struct err *reterr)
{
	AUTO_FREE char *path = pack_path(s->v, at->pack);
	size_t size = (size_t)at->stored + FRAME_HEAD;
	struct frame f;

	if (s->fd < 0 || s->pack != at->pack) {
		if (s->fd >= 0)
			(void)close(s->fd);
		s->pack = at->pack;
		s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	if (s->fd < 0)
		return err_errno(reterr, errno, "open %s", path);
	str_clear(&s->stored);
	if (at->stored > 2 * (uint64_t)FRAME_RAW_MAX || !str_reserve(&s->stored, size))
		return err_set(reterr, ERR_INPUT, "%s: damaged", path);
	ssize_t n = pread(s->fd, s->stored.buf, size, (off_t)at->offset);
	if (n < 0)
		return err_errno(reterr, errno, "read %s", path);
	struct sv bytes = sv_make(s->stored.buf, (size_t)n);
	int r = !frame_head(bytes, &f) || f.id != id
		? err_set(reterr, ERR_INPUT, "its head has changed")
		: frame_decode(s->codec, &f, sv_from(bytes, FRAME_HEAD), raw, reterr);
	if (r < 0)
		err_prefix(
			reterr, "%s is damaged at byte %llu", path, (unsigned long long)at->offset);
	return r;
}

int shelf_get(struct shelf *s, uint64_t id, struct shelf_slot **ret, struct err *reterr)
{
	struct shelf_slot *slot = shelf_find(s, id);
	struct place at;
	int r = 0;

	if (slot) {
		*ret = slot;
		return 0;
	}
	slot = s->slots;
	for (size_t i = 1; i < SHELF_SLOTS; i++)
		if (s->slots[i].used < slot->used)
			slot = &s->slots[i];
	slot->used = 0;
	/* Twice: the packs may be written anew between the look and the reading. */
	for (int try = 0; try < 2; try++) {
		(void)pthread_mutex_lock(&s->v->mutex);
		r = find_place(s->v, id, &at, reterr);
		(void)pthread_mutex_unlock(&s->v->mutex);
		if (r == 0)
			r = read_place(s, id, &at, &slot->raw, reterr);
		if (r == 0)
			break;
		s->pack = -1;
	}
	if (r < 0)
		return r;
	slot->id = id;
	slot->used = ++s->clock;
	*ret = slot;
	return 0;
}

/* ---- bytes of a kept file ---- */

/* Pieces as they come; bytes NULL: so many of them are damaged. Not 0 ends it. */
typedef int (*bytes_fn)(void *data, const char *bytes, size_t n, struct err *reterr);

struct giving {
	struct shelf *shelf;
	uint64_t from, to; /* of the file */
	bytes_fn fn;
	void *data;
	struct str piece;
};

static int give_extents(struct giving *g, const struct recipe *recipe, struct err *reterr)
{
	uint64_t at = recipe->start;
	int r = 0;

	for (size_t i = 0; i < recipe->extents.n && at < g->to && r == 0; i++) {
		const struct extent *e = &recipe->extents.v[i];
		uint64_t end = at + e->size;
		if (end > g->from) {
			size_t first = g->from > at ? (size_t)(g->from - at) : 0;
			size_t last = g->to < end ? (size_t)(g->to - at) : e->size;
			struct shelf_slot *slot = NULL;
			struct err err = ERR_INIT;
			r = shelf_get(g->shelf, e->frame, &slot, &err);
			if (r == 0 && (uint64_t)e->offset + e->size > slot->raw.len)
				r = err_set(&err, ERR_INPUT, "a recipe leads beyond its frame");
			if (r == 0) {
				str_clear(&g->piece);
				str_add(&g->piece, sv_make(slot->raw.buf + e->offset, e->size));
				if (e->own)
					own_put_back(g->piece.buf, e->size, recipe->own);
				r = g->fn(g->data, g->piece.buf + first, last - first, reterr);
			} else if (r == ERR_INPUT || r == ERR_NOTFOUND || r == -ENOENT ||
				r == -EIO) {
				struct vault *v = g->shelf->v;
				(void)pthread_mutex_lock(&v->mutex);
				r = vault_mark(v, e->frame, reterr);
				(void)pthread_mutex_unlock(&v->mutex);
				if (reterr && r == 0)
					*reterr = err;
				if (r == 0)
					r = g->fn(g->data, NULL, last - first, reterr);
			} else if (reterr) {
				*reterr = err;
			}
		}
		at = end;
	}
	return r;
}

/* The recipes are copied first: reading is slow, and a writer waits for nobody. */
static int give(struct giving *g, const char *key, struct err *reterr)
{
	struct vault *v = g->shelf->v;
	struct strv recipes = STRV_INIT; /* as bytes: with their lengths beside */
	VEC(size_t) sizes = VEC_INIT;
	AUTO_SQL q = SQL_INIT;

	(void)pthread_mutex_lock(&v->mutex);
	int r = SQL_PREPARE(&q, v->db, reterr,
		"SELECT recipe FROM part WHERE file = (SELECT seq FROM file WHERE key = ?)"
		" AND start < ? AND start + size > ? ORDER BY start",
		SQL_T(key), SQL_I(g->to > INT64_MAX ? INT64_MAX : g->to), SQL_I(g->from));
	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		struct sv blob = sql_get_blob(&q, 0);
		strv_take(&recipes, xmemdup0(blob.p, blob.n));
		vec_push(&sizes, blob.n);
		r = 0;
	}
	sql_release(&q);
	(void)pthread_mutex_unlock(&v->mutex);
	for (size_t i = 0; i < recipes.n && r == 0; i++) {
		CLEANUP(recipe_release) struct recipe recipe = RECIPE_INIT;
		r = recipe_decode(sv_make(recipes.v[i], sizes.v[i]), &recipe, reterr);
		if (r == 0)
			r = give_extents(g, &recipe, reterr);
	}
	strv_release(&recipes);
	vec_release(&sizes);
	str_release(&g->piece);
	return r;
}

int vault_size(struct vault *v, const char *key, uint64_t *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;

	(void)pthread_mutex_lock(&v->mutex);
	int r = SQL_PREPARE(&q, v->db, reterr, "SELECT size FROM file WHERE key = ?", SQL_T(key));
	if (r == 0)
		r = sql_step(&q, reterr);
	if (r > 0)
		*ret = (uint64_t)sql_get_int(&q, 0);
	sql_release(&q);
	(void)pthread_mutex_unlock(&v->mutex);
	if (r == 0)
		return err_set(reterr, ERR_NOTFOUND, "%s is not in the archive", key);
	return r < 0 ? r : 0;
}

static int add_bytes(void *data, const char *bytes, size_t n, struct err *reterr)
{
	(void)reterr; /* set already, where they are damaged */
	if (!bytes)
		return ERR_INPUT;
	str_add(data, sv_make(bytes, n));
	return 0;
}

/* Reads with a shelf of the caller's. */
static int read_range(struct shelf *s, const char *key, uint64_t offset, uint64_t size,
	struct str *out, struct err *reterr)
{
	struct giving g = { .shelf = s,
		.from = offset,
		.to = size > UINT64_MAX - offset ? UINT64_MAX : offset + size,
		.fn = add_bytes,
		.data = out,
		.piece = STR_INIT };

	return give(&g, key, reterr);
}

int vault_read(struct vault *v, const char *key, uint64_t offset, uint64_t size, struct str *out,
	struct err *reterr)
{
	struct shelf *s = xmalloc(sizeof(*s));
	uint64_t whole = 0;
	int r = vault_size(v, key, &whole, reterr);

	shelf_init(s, v);
	if (r == 0)
		r = read_range(s, key, offset, size, out, reterr);
	shelf_release(s);
	free(s);
	return r;
}

struct writing_out {
	int fd;
	uint64_t *lost;
	bool places; /* what is lost leaves newlines, else nothing */
	struct str held; /* so that small pieces make large writes */
};

static int write_bytes(void *data, const char *bytes, size_t n, struct err *reterr)
{
	enum { HELD = 256 * 1024 };
	struct writing_out *w = data;
	int r = 0;

	if (!bytes && !w->lost)
		return ERR_INPUT;
	if (!bytes)
		*w->lost += n;
	if (bytes)
		str_add(&w->held, sv_make(bytes, n));
	else if (w->places && str_reserve(&w->held, n)) {
		memset(w->held.buf + w->held.len, '\n', n);
		w->held.len += n;
	}
	if (w->held.len >= HELD) {
		r = file_write_all(w->fd, str_sv(&w->held), reterr);
		str_clear(&w->held);
	}
	return r;
}

static int write_range(struct vault *v, const char *key, uint64_t from, uint64_t to,
	struct writing_out *out, struct err *reterr)
{
	struct shelf *s = xmalloc(sizeof(*s));
	struct giving g = { .shelf = s,
		.from = from,
		.to = to,
		.fn = write_bytes,
		.data = out,
		.piece = STR_INIT };

	shelf_init(s, v);
	int r = give(&g, key, reterr);
	if (r == 0)
		r = file_write_all(out->fd, str_sv(&out->held), reterr);
	str_release(&out->held);
	shelf_release(s);
	free(s);
	return r;
}

int vault_write_out(
	struct vault *v, const char *key, int fd, uint64_t *ret_lost, struct err *reterr)
{
	struct writing_out out = { .fd = fd, .lost = ret_lost, .held = STR_INIT };
	uint64_t size = 0;
	int r = vault_size(v, key, &size, reterr);

	if (ret_lost)
		*ret_lost = 0;
	return r < 0 ? r : write_range(v, key, 0, UINT64_MAX, &out, reterr);
}

int vault_write_part(struct vault *v, const char *key, int64_t from, uint64_t size, int fd,
	uint64_t *ret_lost, struct err *reterr)
{
	struct writing_out out = { .fd = fd, .lost = ret_lost, .places = true, .held = STR_INIT };
	uint64_t whole = 0;
	int r = vault_size(v, key, &whole, reterr);

	*ret_lost = 0;
	if (r < 0)
		return r;
	uint64_t back = from < 0 ? -(uint64_t)from : 0;
	uint64_t at = from >= 0 ? (uint64_t)from : back < whole ? whole - back : 0;
	if (lseek(fd, (off_t)at, SEEK_SET) < 0)
		return err_errno(reterr, errno, "seek");
	r = write_range(v, key, at, size > UINT64_MAX - at ? UINT64_MAX : at + size, &out, reterr);
	off_t end = lseek(fd, 0, SEEK_CUR);
	if (r == 0 && *ret_lost > 0 && (uint64_t)end == at + *ret_lost)
		r = err_set(reterr, ERR_INPUT, "%s damaged",
			*ret_lost == whole ? "all that the archive has of it is"
					   : "what the archive has there is");
	return r;
}

/* ---- is it the same? ---- */

struct comparing {
	int fd;
	uint64_t at;
	struct str there;
};

static int compare_bytes(void *data, const char *bytes, size_t n, struct err *reterr)
{
	struct comparing *c = data;

	(void)reterr;
	/* Damaged bytes are not the same: they are taken anew. */
	if (!bytes)
		return 1;
	str_clear(&c->there);
	(void)str_reserve(&c->there, n);
	if (pread(c->fd, c->there.buf, n, (off_t)c->at) != (ssize_t)n ||
		memcmp(c->there.buf, bytes, n) != 0)
		return 1;
	c->at += n;
	return 0;
}

int vault_begins(struct vault *v, const char *key, uint64_t size, int fd, struct err *reterr)
{
	struct shelf *s = xmalloc(sizeof(*s));
	struct comparing c = { .fd = fd, .there = STR_INIT };
	struct giving g = {
		.shelf = s, .to = size, .fn = compare_bytes, .data = &c, .piece = STR_INIT
	};

	shelf_init(s, v);
	int r = size == 0 ? 0 : give(&g, key, reterr);
	shelf_release(s);
	free(s);
	str_release(&c.there);
	return r < 0 ? r : r == 0 && c.at == size;
}

/* ---- what there is ---- */

/* Only what is asked for stands there, so that an index serves. */
static int ask_for_files(
	struct vault *v, const struct vault_query *query, struct sql *q, struct err *reterr)
{
#define IN_FOLDER "(path > ? || '/' AND path < ? || '0')"
	AUTO_STR text = STR_INIT;
	AUTO_STRV bound = STRV_INIT;

	str_adds(&text,
		"SELECT key, agent, session, path, size, mtime_ns, first_ms, last_ms, flags,"
		" (SELECT min(s.key) FROM seen s WHERE s.key <> '' AND"
		" s.path IN (f.path, f.path || '" UNPACK_SUFFIX "')),"
		" EXISTS (SELECT 1 FROM seen s WHERE s.key = f.key AND"
		" s.path IN (f.path, f.path || '" UNPACK_SUFFIX "'))"
		" FROM file f WHERE last_ms >= ?");
	if (query->key) {
		str_adds(&text, " AND key = ?");
		strv_add(&bound, query->key);
	}
	if (query->session || query->path)
		str_adds(&text,
			!query->path		 ? " AND session = ?"
				: query->session ? " AND (session = ? OR path = ?)"
						 : " AND path = ?");
	if (query->session)
		strv_add(&bound, query->session);
	if (query->path)
		strv_add(&bound, query->path);
	if (query->below) {
		str_adds(&text, " AND (" IN_FOLDER);
		for (int i = 0; i < 2; i++)
			strv_add(&bound, query->below);
		for (size_t i = 0; query->or_outside && i < query->or_outside->n; i++) {
			str_adds(&text, i ? " AND NOT " IN_FOLDER : " OR NOT " IN_FOLDER);
			for (int k = 0; k < 2; k++)
				strv_add(&bound, query->or_outside->v[i]);
		}
		str_adds(&text, ")");
	}
	str_adds(&text, " ORDER BY path, seq");
	int r = sql_prepare(q, v->db, text.buf, reterr);
	if (r == 0)
		sql_int(q, query->since_ms);
	for (size_t i = 0; r == 0 && i < bound.n; i++)
		sql_text(q, bound.v[i]);
	return r;
#undef IN_FOLDER
}

int vault_each(struct vault *v, const struct vault_query *query, vault_fn fn, void *data,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = ask_for_files(v, query, &q, reterr);

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *last = sql_get_text(&q, 9);
		const struct vault_file file = {
			.key = sql_get_text(&q, 0),
			.agent = sql_get_text(&q, 1),
			.session = sql_get_text(&q, 2),
			.path = sql_get_text(&q, 3),
			.size = (uint64_t)sql_get_int(&q, 4),
			.mtime_ns = sql_get_int(&q, 5),
			.first_ms = sql_get_int(&q, 6),
			.last_ms = sql_get_int(&q, 7),
			.frozen = sql_get_int(&q, 8) & RECIPE_FROZEN,
			.later = last && !sql_get_int(&q, 10) ? last : NULL,
		};
		r = fn(data, &file);
	}
	return r;
}

int recipe_damaged(struct vault *v, const struct recipe *recipe, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	uint64_t last = 0;
	int r = sql_prepare(&q, v->db, "SELECT 1 FROM damaged WHERE frame = ?", reterr);

	vec_each (&recipe->extents, e) {
		if (r != 0 || e->frame == last)
			continue;
		last = e->frame;
		sql_reset(&q);
		sql_int(&q, (int64_t)last);
		r = sql_step(&q, reterr);
	}
	return r;
}

int vault_whole(struct vault *v, const char *key, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, v->db, reterr,
		"SELECT recipe FROM part WHERE EXISTS (SELECT 1 FROM damaged)"
		" AND file = (SELECT seq FROM file WHERE key = ?)",
		SQL_T(key));

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		CLEANUP(recipe_release) struct recipe recipe = RECIPE_INIT;
		r = recipe_decode(sql_get_blob(&q, 0), &recipe, reterr);
		if (r == 0)
			r = recipe_damaged(v, &recipe, reterr);
	}
	return r < 0 ? r : r == 0;
}

int vault_figures(struct vault *v, struct vault_figures *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, v->db,
		"SELECT count(*), coalesce(sum(size), 0), (SELECT count(*) FROM pack),"
		" (SELECT coalesce(sum(size), 0) FROM pack) FROM file",
		reterr);

	if (r == 0)
		r = sql_step(&q, reterr);
	if (r < 0)
		return r;
	*ret = (struct vault_figures){ (uint64_t)sql_get_int(&q, 0), (uint64_t)sql_get_int(&q, 1),
		(uint64_t)sql_get_int(&q, 2), (uint64_t)sql_get_int(&q, 3) };
	return 0;
}

/* ---- checking ---- */

struct verifying {
	struct vault *v;
	struct vault_verdict *verdict;
	vault_fn fn;
	void *data;
	struct shelf shelf;
	uint64_t lost; /* of this part */
	XXH3_state_t *hash;
	struct err *reterr;
};

static int verify_bytes(void *data, const char *bytes, size_t n, struct err *reterr)
{
	struct verifying *y = data;

	(void)reterr;
	if (!bytes)
		y->lost += n;
	else
		(void)XXH3_128bits_update(y->hash, bytes, n);
	return 0;
}

/* All bytes of one recipe, against the hash that they had. */
static int verify_part(struct verifying *y, struct sv raw, uint64_t *ret_lost)
{
	CLEANUP(recipe_release) struct recipe recipe = RECIPE_INIT;
	struct giving g = { .shelf = &y->shelf,
		.to = UINT64_MAX,
		.fn = verify_bytes,
		.data = y,
		.piece = STR_INIT };
	int r = recipe_decode(raw, &recipe, y->reterr);

	if (r < 0)
		return r;
	(void)XXH3_128bits_reset(y->hash);
	y->lost = 0;
	r = give_extents(&g, &recipe, y->reterr);
	str_release(&g.piece);
	XXH128_hash_t hash = XXH3_128bits_digest(y->hash);
	if (r == 0 && y->lost == 0 &&
		(hash.low64 != recipe.hash[0] || hash.high64 != recipe.hash[1]))
		y->lost = recipe.size;
	*ret_lost += y->lost;
	return r;
}

static int verify_file(void *data, const struct vault_file *file)
{
	struct verifying *y = data;
	AUTO_SQL q = SQL_INIT;
	uint64_t lost = 0, whole = 0;
	int r = SQL_PREPARE(&q, y->v->db, y->reterr,
		"SELECT recipe, size FROM part WHERE file = (SELECT seq FROM file WHERE key = ?)",
		SQL_T(file->key));

	while (r == 0 && (r = sql_step(&q, y->reterr)) > 0) {
		whole += (uint64_t)sql_get_int(&q, 1);
		r = verify_part(y, sql_get_blob(&q, 0), &lost);
	}
	/* A part of it that nobody has. */
	lost += whole < file->size ? file->size - whole : 0;
	y->verdict->files++;
	y->verdict->bytes += file->size;
	y->verdict->lost += lost;
	y->verdict->damaged_files += lost > 0;
	return r == 0 && lost > 0 && y->fn ? y->fn(y->data, file) : r;
}

/* Every frame that the database knows, where it says that it is. */
static int verify_frames(struct verifying *y)
{
	AUTO_SQL q = SQL_INIT;
	AUTO_STR raw = STR_INIT;
	int r = sql_prepare(&q, y->v->db,
		"SELECT id, pack, offset, stored FROM frame ORDER BY pack, offset", y->reterr);

	while (r == 0 && (r = sql_step(&q, y->reterr)) > 0) {
		struct place at = { sql_get_int(&q, 1), (uint64_t)sql_get_int(&q, 2),
			(uint64_t)sql_get_int(&q, 3) };
		uint64_t id = (uint64_t)sql_get_int(&q, 0);
		bool sound = read_place(&y->shelf, id, &at, &raw, NULL) == 0;
		y->verdict->frames++;
		y->verdict->damaged_frames += !sound;
		r = sound ? 0 : vault_mark(y->v, id, y->reterr);
	}
	return r;
}

static int count_unused(struct verifying *y)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, y->v->db,
		"SELECT (SELECT coalesce(sum(size), 0) FROM pack)"
		" - (SELECT coalesce(sum(stored), 0) + ? * count(*) FROM frame)",
		y->reterr);

	if (r < 0)
		return r;
	sql_int(&q, FRAME_HEAD);
	r = sql_step(&q, y->reterr);
	if (r > 0 && sql_get_int(&q, 0) > 0)
		y->verdict->unused = (uint64_t)sql_get_int(&q, 0);
	return r < 0 ? r : 0;
}

int vault_verify(
	struct vault *v, vault_fn fn, void *data, struct vault_verdict *ret, struct err *reterr)
{
	struct verifying *y = xcalloc(1, sizeof(*y));
	int r;

	*ret = (struct vault_verdict){ .files = 0 };
	*y = (struct verifying){ .v = v,
		.verdict = ret,
		.fn = fn,
		.data = data,
		.hash = XXH3_createState(),
		.reterr = reterr };
	shelf_init(&y->shelf, v);
	/* What was damaged may have been brought back. */
	r = v->lock < 0 ? 0 : vault_begin(v, reterr);
	if (r == 0 && v->lock >= 0)
		r = sql_exec(v->db, "DELETE FROM damaged", reterr);
	v->damaged = 0;
	if (r == 0)
		r = verify_frames(y);
	if (r == 0)
		r = vault_each(v, &(struct vault_query){ .key = NULL }, verify_file, y, reterr);
	if (r == 0)
		r = count_unused(y);
	if (r == 0)
		r = vault_commit(v, reterr);
	(void)XXH3_freeState(y->hash);
	shelf_release(&y->shelf);
	free(y);
	return r;
}
