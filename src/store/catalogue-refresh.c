/*
 * Bringing the catalogue up to date: what is remembered, what is there, what differs is read, by
 * several threads, and written in short transactions so that other processes are not kept waiting
 * and an interrupted run is not lost.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/mem.h"
#include "os/path.h"
#include "os/pool.h"
#include "store/catalogue-row.h"

enum {
	SLICE_FILES = 512, /* read and written together */
	SLICE_BYTES = 256 * 1024 * 1024,
	READ_THREADS = 8, /* more than processors: cold files are waited for */
	FEW_FILES = 4, /* not worth threads */
};

/* A remembered file. */
struct known {
	int64_t rowid;
	struct file_stat stat;
	size_t home; /* index, or n_homes for one of another home */
	bool gone, seen;
};

/* A file to read. */
struct todo {
	char *path;
	size_t home;
	size_t known; /* index plus one; 0: new */
	uint64_t size;
	bool subagent;
	/* the result */
	struct session_row row;
	struct file_stat stat;
	int rc;
	struct err err;
};

struct home_state {
	bool trouble; /* parts could not be read: nothing there counts as vanished */
	bool names_known;
	bool names_new;
	struct stat names_stat; /* of their file, before it was read */
	struct map names; /* session id → index in texts */
	struct strv texts;
};

struct refresh {
	struct store *store;
	const struct transcript_home *homes;
	size_t n_homes;
	const struct catalogue_opts *opts;
	struct catalogue_stats stats;
	struct catalogue_progress progress;
	struct home_state *states;
	struct map paths; /* path → index in known */
	VEC(struct known) known;
	VEC(struct todo) todo;
	size_t walking; /* home being walked */
};

static void todo_release(struct todo *t)
{
	free(t->path);
	session_row_release(&t->row);
}

static void refresh_release(struct refresh *r)
{
	for (size_t i = 0; i < r->n_homes; i++) {
		map_release(&r->states[i].names);
		strv_release(&r->states[i].texts);
	}
	free(r->states);
	map_release(&r->paths);
	vec_release(&r->known);
	vec_each (&r->todo, t)
		todo_release(t);
	vec_release(&r->todo);
}

static void trouble(struct refresh *r, const struct err *err)
{
	r->stats.troubles++;
	if (r->opts && r->opts->trouble)
		r->opts->trouble(r->opts->data, err);
}

/* ---- what is remembered ---- */

static size_t home_of(const struct refresh *r, struct sv agent, struct sv path)
{
	for (size_t i = 0; i < r->n_homes; i++)
		if (sv_is(agent, r->homes[i].agent) && path_within(path, sv_of(r->homes[i].root)))
			return i;
	return r->n_homes;
}

static int load_known(struct refresh *r, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int rc = sql_prepare(&q, r->store,
		"SELECT rowid, path, agent, dev, ino, size, mtime_ns, gone FROM session"
		" INDEXED BY session_stat",
		reterr);
	while (rc >= 0 && (rc = sql_step(&q, reterr)) > 0) {
		struct sv path = sv_of(sql_get_text(&q, 1));
		(void)map_put(&r->paths, path, r->known.n);
		vec_push(&r->known,
			(struct known){
				.rowid = sql_get_int(&q, 0),
				.stat = { (uint64_t)sql_get_int(&q, 3),
					(uint64_t)sql_get_int(&q, 4), (uint64_t)sql_get_int(&q, 5),
					sql_get_int(&q, 6) },
				.home = home_of(r, sv_of(sql_get_text(&q, 2)), path),
				.gone = sql_get_int(&q, 7) != 0,
			});
	}
	return rc;
}

/* ---- what is there ---- */

static bool same_stat(const struct file_stat *a, const struct transcript_file *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
		a->mtime_ns == b->mtime_ns;
}

static int found_file(void *data, const struct transcript_file *file)
{
	struct refresh *r = data;
	uint64_t at;
	bool old = map_get(&r->paths, sv_of(file->path), &at);
	r->stats.files++;
	if (old) {
		struct known *k = &r->known.v[at];
		k->seen = true;
		if (!k->gone && same_stat(&k->stat, file))
			return 0;
	}
	vec_push(&r->todo,
		(struct todo){
			.path = xstrdup(file->path),
			.home = r->walking,
			.known = old ? at + 1 : 0,
			.size = file->size,
			.subagent = file->subagent,
		});
	r->progress.bytes += file->size;
	return 0;
}

static void found_trouble(void *data, const struct err *err)
{
	struct refresh *r = data;
	r->states[r->walking].trouble = true;
	trouble(r, err);
}

static int walk_homes(struct refresh *r, struct err *reterr)
{
	for (r->walking = 0; r->walking < r->n_homes; r->walking++) {
		int rc = transcript_walk(
			&r->homes[r->walking], found_file, found_trouble, r, reterr);
		if (rc < 0)
			return rc;
	}
	r->progress.files = r->todo.n;
	return 0;
}

/* ---- names kept beside the sessions ---- */

static int names_file_known(struct refresh *r, const char *path, const struct stat *st,
	bool *ret_same, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int rc = sql_prepare(&q, r->store,
		"SELECT 1 FROM catalogue_file WHERE path = ? AND ino = ? AND size = ? AND"
		" mtime_ns = ?",
		reterr);
	if (rc < 0)
		return rc;
	sql_text(&q, path);
	sql_int(&q, (int64_t)st->st_ino);
	sql_int(&q, st->st_size);
	sql_int(&q, (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec);
	rc = sql_step(&q, reterr);
	*ret_same = rc > 0;
	return rc < 0 ? rc : 0;
}

static bool has_todo(const struct refresh *r, size_t home)
{
	for (size_t i = 0; i < r->todo.n; i++)
		if (r->todo.v[i].home == home)
			return true;
	return false;
}

static int load_names(struct refresh *r, size_t home, struct err *reterr)
{
	struct home_state *state = &r->states[home];
	bool same = true;
	AUTO_FREE char *path = transcript_names_file(&r->homes[home]);
	if (!path || stat(path, &state->names_stat) < 0)
		return 0;
	int rc = names_file_known(r, path, &state->names_stat, &same, reterr);
	if (rc < 0 || (same && !has_todo(r, home)))
		return rc;
	struct err err = ERR_INIT;
	if (transcript_names(&r->homes[home], &state->names, &state->texts, &err) < 0) {
		trouble(r, &err);
		return 0;
	}
	state->names_known = true;
	state->names_new = !same;
	return 0;
}

static int save_names_file(struct refresh *r, size_t home, struct err *reterr)
{
	const struct stat *st = &r->states[home].names_stat;
	AUTO_SQL q = SQL_INIT;
	AUTO_FREE char *path = transcript_names_file(&r->homes[home]);
	int rc = sql_prepare(
		&q, r->store, "INSERT OR REPLACE INTO catalogue_file VALUES (?,?,?,?)", reterr);
	if (rc < 0)
		return rc;
	sql_text(&q, path);
	sql_int(&q, (int64_t)st->st_ino);
	sql_int(&q, st->st_size);
	sql_int(&q, (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec);
	return sql_run(&q, reterr);
}

static int save_names(struct refresh *r, size_t home, struct err *reterr)
{
	const struct home_state *state = &r->states[home];
	AUTO_SQL q = SQL_INIT;
	struct sv id;
	uint64_t at;
	size_t walk = 0;
	int rc = sql_prepare(
		&q, r->store, "UPDATE session SET name = ? WHERE id = ? AND agent = ?", reterr);
	while (rc >= 0 && map_next(&state->names, &walk, &id, &at)) {
		sql_reset(&q);
		sql_text(&q, state->texts.v[at]);
		sql_sv(&q, id);
		sql_text(&q, r->homes[home].agent);
		rc = sql_run(&q, reterr);
	}
	return rc < 0 ? rc : save_names_file(r, home, reterr);
}

static void apply_name(const struct refresh *r, struct todo *t)
{
	const struct home_state *state = &r->states[t->home];
	uint64_t at;
	if (!state->names_known || !map_get(&state->names, sv_of(t->row.info.id), &at))
		return;
	free(t->row.info.name);
	t->row.info.name = xstrdup(state->texts.v[at]);
}

/* ---- reading ---- */

static int by_size(const void *a, const void *b)
{
	const struct todo *x = a, *y = b;
	return (x->size < y->size) - (x->size > y->size);
}

static bool grew(const struct todo *t, const struct known *k)
{
	return t->size > k->stat.size;
}

/* A file that only grew goes on from its row; any other begins anew. */
static int prepare_row(struct refresh *r, struct todo *t, struct err *reterr)
{
	row_init(&t->row, &r->homes[t->home], t->path);
	if (t->known == 0 || !grew(t, &r->known.v[t->known - 1]))
		return 0;
	AUTO_SQL q = SQL_INIT;
	int rc = sql_prepare(&q, r->store, ROW_SELECT "WHERE s.rowid = ?", reterr);
	if (rc < 0)
		return rc;
	sql_int(&q, r->known.v[t->known - 1].rowid);
	rc = sql_step(&q, reterr);
	if (rc > 0) {
		session_row_release(&t->row);
		row_load(&q, &t->row);
	}
	return rc < 0 ? rc : 0;
}

struct slice {
	struct todo *v;
	size_t n;
};

static int read_one(void *data, size_t i, unsigned worker UNUSED, struct err *reterr UNUSED)
{
	const struct slice *slice = data;
	struct todo *t = &slice->v[i];
	t->rc = row_scan(&t->row, t->subagent, &t->stat, &t->err);
	return 0;
}

static int write_slice(struct refresh *r, const struct slice *slice, struct err *reterr)
{
	AUTO_SQL save = SQL_INIT;
	int rc = store_begin(r->store, reterr);
	if (rc < 0)
		return rc;
	rc = row_save_prepare(&save, r->store, reterr);
	for (size_t i = 0; rc >= 0 && i < slice->n; i++)
		if (slice->v[i].rc >= 0)
			rc = row_save(&save, &slice->v[i].row, &slice->v[i].stat, reterr);
	sql_release(&save);
	return store_end(r->store, rc, reterr);
}

static void count_slice(struct refresh *r, const struct slice *slice)
{
	for (size_t i = 0; i < slice->n; i++) {
		const struct todo *t = &slice->v[i];
		if (t->rc >= 0) {
			r->stats.read++;
			r->stats.bytes_read += t->size;
		} else if (t->rc != -ENOENT) {
			trouble(r, &t->err);
		}
		r->progress.bytes_done += t->size;
	}
	r->progress.done += slice->n;
	if (r->opts && r->opts->progress)
		r->opts->progress(r->opts->data, &r->progress);
}

static int do_slice(struct refresh *r, struct slice *slice, struct err *reterr)
{
	unsigned threads = r->opts && r->opts->threads ? r->opts->threads : READ_THREADS;
	if (slice->n <= FEW_FILES)
		threads = 1;
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < slice->n; i++)
		rc = prepare_row(r, &slice->v[i], reterr);
	if (rc >= 0)
		rc = pool_each(threads, slice->n, read_one, slice, reterr);
	for (size_t i = 0; i < slice->n; i++)
		apply_name(r, &slice->v[i]);
	if (rc >= 0)
		rc = write_slice(r, slice, reterr);
	if (rc >= 0)
		count_slice(r, slice);
	for (size_t i = 0; i < slice->n; i++)
		session_row_release(&slice->v[i].row);
	return rc;
}

/* What is written here can be made again, so it need not be on the disk before we go on; what
 * others commit later waits for it as well. */
static int set_durable(struct refresh *r, bool durable, struct err *reterr)
{
	return sql_exec(r->store,
		durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", reterr);
}

/* Largest first, so that the threads end together. */
static int read_changed(struct refresh *r, struct err *reterr)
{
	vec_sort(&r->todo, by_size);
	for (size_t at = 0; at < r->todo.n;) {
		struct slice slice = { r->todo.v + at, 0 };
		uint64_t bytes = 0;
		while (at < r->todo.n && slice.n < SLICE_FILES && bytes < SLICE_BYTES) {
			bytes += r->todo.v[at++].size;
			slice.n++;
		}
		int rc = do_slice(r, &slice, reterr);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- what is gone ---- */

static bool vanished(const struct refresh *r, const struct known *k)
{
	return !k->seen && !k->gone && k->home < r->n_homes && !r->states[k->home].trouble;
}

static int mark_gone(struct refresh *r, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int rc = sql_prepare(&q, r->store, "UPDATE session SET gone = 1 WHERE rowid = ?", reterr);
	vec_each (&r->known, k) {
		if (rc < 0 || !vanished(r, k))
			continue;
		sql_reset(&q);
		sql_int(&q, k->rowid);
		rc = sql_run(&q, reterr);
		r->stats.gone++;
	}
	return rc;
}

static bool has_rest(const struct refresh *r)
{
	for (size_t i = 0; i < r->known.n; i++)
		if (vanished(r, &r->known.v[i]))
			return true;
	for (size_t i = 0; i < r->n_homes; i++)
		if (r->states[i].names_new)
			return true;
	return false;
}

static int write_rest(struct refresh *r, struct err *reterr)
{
	if (!has_rest(r))
		return 0;
	int rc = store_begin(r->store, reterr);
	if (rc < 0)
		return rc;
	rc = mark_gone(r, reterr);
	for (size_t i = 0; rc >= 0 && i < r->n_homes; i++)
		if (r->states[i].names_new)
			rc = save_names(r, i, reterr);
	return store_end(r->store, rc, reterr);
}

int catalogue_refresh(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const struct catalogue_opts *opts, struct catalogue_stats *ret_stats, struct err *reterr)
{
	CLEANUP(refresh_release)
	struct refresh r = {
		.store = store,
		.homes = homes,
		.n_homes = n_homes,
		.opts = opts,
		.states = xcalloc(n_homes + 1, sizeof(struct home_state)),
	};
	int rc = load_known(&r, reterr);
	if (rc >= 0)
		rc = walk_homes(&r, reterr);
	for (size_t i = 0; rc >= 0 && i < n_homes; i++)
		rc = load_names(&r, i, reterr);
	if (rc >= 0)
		rc = set_durable(&r, false, reterr);
	if (rc >= 0)
		rc = read_changed(&r, reterr);
	if (rc >= 0)
		rc = write_rest(&r, reterr);
	int after = set_durable(&r, true, rc >= 0 ? reterr : NULL);
	rc = rc < 0 ? rc : after;
	if (rc >= 0 && ret_stats)
		*ret_stats = r.stats;
	return rc < 0 ? rc : 0;
}
