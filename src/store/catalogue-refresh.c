/*
 * Bringing the catalogue up to date: what is remembered, what is there, what differs is read, by
 * several threads, and written in short transactions so that other processes are not kept waiting
 * and an interrupted run is not lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/pool.h"
#include "os/unpack.h"
#include "store/catalogue-row.h"
#include "store/project.h"

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
	int64_t mtime_ns;
	bool subagent;
	/* the result */
	struct session_row row;
	struct file_stat stat;
	int r;
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
	struct unpack_doubt doubt;
	struct map dirs; /* where the sessions were begun that were read */
	size_t walking; /* home being walked */
	bool by_folder; /* what is remembered is loaded as folders are come across */
	struct str folder; /* the last of them */
	struct err err; /* of loading one */
};

static void refresh_init(
	struct refresh *f, struct store *store, const struct transcript_home *homes, size_t n_homes)
{
	*f = (struct refresh){
		.store = store,
		.homes = homes,
		.n_homes = n_homes,
		.states = xcalloc(n_homes + 1, sizeof(struct home_state)),
		.folder = STR_INIT,
	};
	unpack_doubt_init(&f->doubt);
}

static void refresh_release(struct refresh *f)
{
	for (size_t i = 0; i < f->n_homes; i++) {
		map_release(&f->states[i].names);
		strv_release(&f->states[i].texts);
	}
	free(f->states);
	map_release(&f->paths);
	map_release(&f->dirs);
	str_release(&f->folder);
	vec_release(&f->known);
	vec_each (&f->todo, t) {
		free(t->path);
		session_row_release(&t->row);
	}
	vec_release(&f->todo);
}

static void trouble(struct refresh *f, const struct err *err)
{
	f->stats.troubles++;
	if (f->opts && f->opts->trouble)
		f->opts->trouble(f->opts->data, err);
}

/* ---- what is remembered ---- */

static size_t home_of(const struct refresh *f, struct sv agent, struct sv path)
{
	for (size_t i = 0; i < f->n_homes; i++)
		if (sv_is(agent, f->homes[i].agent) && path_within(path, sv_of(f->homes[i].root)))
			return i;
	return f->n_homes;
}

#define KNOWN_SELECT \
	"SELECT rowid, path, agent, dev, ino, size, mtime_ns, gone, ctime_ns FROM session "

/* The current row of a KNOWN_SELECT. */
static void add_known(struct refresh *f, struct sql *q)
{
	struct sv path = sv_of(sql_get_text(q, 1));

	(void)map_put(&f->paths, path, f->known.n);
	unpack_doubt_note(&f->doubt, sql_get_int(q, 6));
	vec_push(&f->known,
		(struct known){
			.rowid = sql_get_int(q, 0),
			.stat = { (uint64_t)sql_get_int(q, 3), (uint64_t)sql_get_int(q, 4),
				(uint64_t)sql_get_int(q, 5), sql_get_int(q, 6), sql_get_int(q, 8) },
			.home = home_of(f, sv_of(sql_get_text(q, 2)), path),
			.gone = sql_get_int(q, 7) != 0,
		});
}

static int load_known(struct refresh *f, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, f->store, KNOWN_SELECT "INDEXED BY session_stat", reterr);

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
		add_known(f, &q);
	return r;
}

static int find_known(struct refresh *f, const char *path, uint64_t *ret_at)
{
	struct sv folder = path_parent(sv_of(path));
	AUTO_SQL q = SQL_INIT;
	int r = 0;

	if (f->by_folder && !sv_eq(folder, str_sv(&f->folder))) {
		str_clear(&f->folder);
		str_add(&f->folder, folder);
		r = sql_prepare(&q, f->store,
			KNOWN_SELECT "INDEXED BY session_stat WHERE path > ?1 || '/' AND"
				     " path < ?1 || '0'",
			&f->err);
		if (r < 0)
			return r;
		sql_sv(&q, folder);
		while ((r = sql_step(&q, &f->err)) > 0) {
			add_known(f, &q);
			/* What lies deeper is not walked, and so not missed. */
			f->known.v[f->known.n - 1].seen =
				!sv_eq(path_parent(sv_of(sql_get_text(&q, 1))), folder);
		}
	}
	return r < 0 ? r : map_get(&f->paths, sv_of(path), ret_at);
}

/* ---- what is there ---- */

static int found_file(void *data, const struct transcript_file *file)
{
	struct refresh *f = data;
	uint64_t at;
	int old = find_known(f, file->path, &at);

	if (old < 0)
		return old;
	f->stats.files++;
	if (old) {
		struct known *k = &f->known.v[at];
		/* What was blanked is gone, and known as it was. */
		if (file->size == 0 && k->stat.size > 0)
			return 0;
		k->seen = true;
		if (!k->gone && k->stat.dev == file->dev && k->stat.ino == file->ino &&
			k->stat.size == file->size && k->stat.mtime_ns == file->mtime_ns &&
			k->stat.ctime_ns == file->ctime_ns &&
			!unpack_doubt_blank(&f->doubt, file->path, file->mtime_ns))
			return 0;
		k->seen = file->size == 0 ||
			!(unpack_blank(file->path) ||
				transcript_fell_silent(file->path, k->stat.size));
		if (!k->seen)
			return 0;
	} else if (file->size > 0 && unpack_blank(file->path)) {
		return 0;
	}
	vec_push(&f->todo,
		(struct todo){
			.path = xstrdup(file->path),
			.home = f->walking,
			.known = old ? at + 1 : 0,
			.size = file->size,
			.mtime_ns = file->mtime_ns,
			.subagent = file->subagent,
		});
	f->progress.bytes += file->size;
	return 0;
}

static void found_trouble(void *data, const struct err *err)
{
	struct refresh *f = data;

	f->states[f->walking].trouble = true;
	trouble(f, err);
}

static int walk_homes(struct refresh *f, struct err *reterr)
{
	for (f->walking = 0; f->walking < f->n_homes; f->walking++) {
		int r = transcript_walk(
			&f->homes[f->walking], found_file, found_trouble, f, reterr);
		if (r < 0)
			return r;
	}
	f->progress.files = f->todo.n;
	return 0;
}

/* ---- names kept beside the sessions ---- */

static int names_file_known(struct refresh *f, const char *path, const struct stat *st,
	bool *ret_same, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, f->store,
		"SELECT 1 FROM catalogue_file WHERE path = ? AND ino = ? AND size = ? AND"
		" mtime_ns = ?",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, path);
	sql_int(&q, (int64_t)st->st_ino);
	sql_int(&q, st->st_size);
	sql_int(&q, file_mtime_ns(st));
	r = sql_step(&q, reterr);
	*ret_same = r > 0;
	return r < 0 ? r : 0;
}

static int load_names(struct refresh *f, size_t home, struct err *reterr)
{
	struct home_state *state = &f->states[home];
	bool same = true, changed = false;
	AUTO_FREE char *path = transcript_names_file(&f->homes[home]);

	if (!path || stat(path, &state->names_stat) < 0)
		return 0;
	int r = names_file_known(f, path, &state->names_stat, &same, reterr);
	vec_each (&f->todo, t)
		changed |= t->home == home;
	if (r < 0 || (same && !changed))
		return r;
	struct err err = ERR_INIT;
	if (transcript_names(&f->homes[home], &state->names, &state->texts, &err) < 0) {
		trouble(f, &err);
		return 0;
	}
	state->names_known = true;
	state->names_new = !same;
	return 0;
}

static int save_names_file(struct refresh *f, size_t home, struct err *reterr)
{
	const struct stat *st = &f->states[home].names_stat;
	AUTO_SQL q = SQL_INIT;
	AUTO_FREE char *path = transcript_names_file(&f->homes[home]);
	int r = sql_prepare(
		&q, f->store, "INSERT OR REPLACE INTO catalogue_file VALUES (?,?,?,?)", reterr);

	if (r < 0)
		return r;
	sql_text(&q, path);
	sql_int(&q, (int64_t)st->st_ino);
	sql_int(&q, st->st_size);
	sql_int(&q, file_mtime_ns(st));
	return sql_run(&q, reterr);
}

static int save_names(struct refresh *f, size_t home, struct err *reterr)
{
	const struct home_state *state = &f->states[home];
	AUTO_SQL q = SQL_INIT;
	struct sv id;
	uint64_t at;
	size_t walk = 0;
	int r = sql_prepare(
		&q, f->store, "UPDATE session SET name = ? WHERE id = ? AND agent = ?", reterr);

	while (r >= 0 && map_next(&state->names, &walk, &id, &at)) {
		sql_reset(&q);
		sql_text(&q, state->texts.v[at]);
		sql_sv(&q, id);
		sql_text(&q, f->homes[home].agent);
		r = sql_run(&q, reterr);
	}
	return r < 0 ? r : save_names_file(f, home, reterr);
}

static void apply_name(const struct refresh *f, struct todo *t)
{
	const struct home_state *state = &f->states[t->home];
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

/* A file that only grew goes on from its row; any other begins anew. */
static int prepare_row(struct refresh *f, struct todo *t, struct err *reterr)
{
	const struct known *k = t->known ? &f->known.v[t->known - 1] : NULL;
	AUTO_SQL q = SQL_INIT;

	row_init(&t->row, &f->homes[t->home], t->path);
	if (!k || t->size <= k->stat.size)
		return 0;
	int r = sql_prepare(&q, f->store, ROW_SELECT "WHERE s.rowid = ?", reterr);
	if (r < 0)
		return r;
	sql_int(&q, k->rowid);
	r = sql_step(&q, reterr);
	if (r > 0) {
		session_row_release(&t->row);
		row_load(&q, &t->row);
	}
	return r < 0 ? r : 0;
}

struct slice {
	struct todo *v;
	size_t n;
};

static int read_one(void *data, size_t i, unsigned worker UNUSED, struct err *reterr UNUSED)
{
	const struct slice *slice = data;
	struct todo *t = &slice->v[i];

	t->r = row_scan(&t->row, t->subagent, &t->stat, &t->err);
	return 0;
}

static int do_slice(struct refresh *f, struct slice *slice, struct err *reterr)
{
	unsigned threads = f->opts && f->opts->threads ? f->opts->threads : READ_THREADS;
	int r = 0;

	if (slice->n <= FEW_FILES)
		threads = 1;
	for (size_t i = 0; r >= 0 && i < slice->n; i++)
		r = prepare_row(f, &slice->v[i], reterr);
	if (r >= 0)
		r = pool_each(threads, slice->n, read_one, slice, reterr);
	for (size_t i = 0; i < slice->n; i++)
		apply_name(f, &slice->v[i]);
	if (r >= 0)
		r = store_begin(f->store, reterr);
	if (r >= 0) {
		AUTO_SQL save = SQL_INIT;
		r = row_save_prepare(&save, f->store, reterr);
		for (size_t i = 0; r >= 0 && i < slice->n; i++)
			if (slice->v[i].r >= 0)
				r = row_save(&save, &slice->v[i].row, &slice->v[i].stat, reterr);
		sql_release(&save);
		r = store_end(f->store, r, reterr);
	}
	for (size_t i = 0; i < slice->n; i++) {
		struct todo *t = &slice->v[i];
		if (r >= 0 && t->r >= 0 && t->row.info.cwd[0] == '/')
			(void)map_put(&f->dirs, sv_of(t->row.info.cwd), 1);
		session_row_release(&t->row);
		if (r < 0)
			continue;
		if (t->r >= 0) {
			f->stats.read++;
			f->stats.bytes_read += t->size;
		} else if (t->r != -ENOENT) {
			trouble(f, &t->err);
		}
		f->progress.bytes_done += t->size;
	}
	if (r < 0)
		return r;
	f->progress.done += slice->n;
	if (f->opts && f->opts->progress)
		f->opts->progress(f->opts->data, &f->progress);
	return r;
}

/* What is written here can be made again, so it need not be on the disk before we go on; what
 * others commit later waits for it as well. */
static int set_durable(struct refresh *f, bool durable, struct err *reterr)
{
	return sql_exec(f->store,
		durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", reterr);
}

/* Largest first, so that the threads end together. */
static int read_changed(struct refresh *f, struct err *reterr)
{
	vec_sort(&f->todo, by_size);
	for (size_t at = 0; at < f->todo.n;) {
		if (f->opts && f->opts->cancelled && f->opts->cancelled(f->opts->data))
			break;
		struct slice slice = { f->todo.v + at, 0 };
		uint64_t bytes = 0;
		while (at < f->todo.n && slice.n < SLICE_FILES && bytes < SLICE_BYTES) {
			bytes += f->todo.v[at++].size;
			slice.n++;
		}
		int r = do_slice(f, &slice, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- what is gone ---- */

static bool vanished(const struct refresh *f, const struct known *k)
{
	return !k->seen && !k->gone && k->home < f->n_homes && !f->states[k->home].trouble;
}

/* One that was compressed or unpacked since is there under another name. */
static int mark_gone(struct refresh *f, struct err *reterr)
{
	static const char *const steps[] = {
		"UPDATE session SET gone = 1 WHERE rowid = ?",
		"DELETE FROM session WHERE rowid = ? AND EXISTS (SELECT 1 FROM session o WHERE"
		" o.gone = 0 AND o.path IN (session.path || '" UNPACK_SUFFIX "',"
		" replace(session.path, '.jsonl" UNPACK_SUFFIX "', '.jsonl')))",
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_LEN(steps); i++) {
		AUTO_SQL q = SQL_INIT;
		r = sql_prepare(&q, f->store, steps[i], reterr);
		vec_each (&f->known, k) {
			if (r < 0 || !vanished(f, k))
				continue;
			sql_reset(&q);
			sql_int(&q, k->rowid);
			r = sql_run(&q, reterr);
			f->stats.gone += i == 0;
		}
	}
	return r;
}

static bool has_rest(const struct refresh *f)
{
	for (size_t i = 0; i < f->known.n; i++)
		if (vanished(f, &f->known.v[i]))
			return true;
	for (size_t i = 0; i < f->n_homes; i++)
		if (f->states[i].names_new)
			return true;
	return false;
}

static int write_rest(struct refresh *f, struct err *reterr)
{
	if (!has_rest(f))
		return 0;
	int r = store_begin(f->store, reterr);
	if (r < 0)
		return r;
	r = mark_gone(f, reterr);
	for (size_t i = 0; r >= 0 && i < f->n_homes; i++)
		if (f->states[i].names_new)
			r = save_names(f, i, reterr);
	return store_end(f->store, r, reterr);
}

/* While the folders of what was read are there, by what they will be known again. */
static int note_folders(struct refresh *f, struct err *reterr)
{
	struct sv dir;
	uint64_t value;
	size_t walk = 0;
	int r = store_begin(f->store, reterr);

	if (r < 0)
		return r;
	while (r >= 0 && map_next(&f->dirs, &walk, &dir, &value)) {
		AUTO_FREE char *path = xmemdup0(dir.p, dir.n);
		r = project_note(f->store, path, reterr);
	}
	if (r >= 0)
		r = project_note_sessions(f->store, reterr);
	return store_end(f->store, r, reterr);
}

static int take_changes(struct refresh *f, struct err *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < f->n_homes; i++)
		r = load_names(f, i, reterr);
	bool first = r >= 0 && !project_noted(f->store);
	if (r < 0 || (f->todo.n == 0 && !first && !has_rest(f)))
		return r;
	r = set_durable(f, false, reterr);
	if (r >= 0)
		r = read_changed(f, reterr);
	if (r >= 0)
		r = write_rest(f, reterr);
	if (r >= 0 && (first || f->stats.read > 0))
		r = note_folders(f, reterr);
	int after = set_durable(f, true, r >= 0 ? reterr : NULL);
	return r < 0 ? r : after;
}

void moved_rows_release(struct moved_rows *moved)
{
	vec_each (&moved->all, row) {
		free(row->was);
		free(row->now);
	}
	vec_release(&moved->all);
}

int moved_rows(struct store *db, const char *table, const struct transcript_home *homes, size_t n,
	struct moved_rows *ret, struct err *reterr)
{
	AUTO_FREE char *text =
		xasprintf("SELECT rowid, path, agent FROM %s WHERE path >= ? ORDER BY path", table);
	AUTO_FREE char *from = xstrdup("");
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, db, text, reterr);

	if (r >= 0)
		sql_text(&q, from);
	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *was = sql_get_text(&q, 1);
		const struct transcript_home *home = transcript_home_of(homes, n, was);
		if (home) {
			/* What comes behind all that lies in it. */
			sql_reset(&q);
			free(from);
			from = xasprintf("%s%c", home->root, '/' + 1);
			sql_text(&q, from);
			continue;
		}
		char *now = transcript_moved(homes, n, sql_get_text(&q, 2), was);
		if (now)
			vec_push(&ret->all,
				(struct moved_row){ sql_get_int(&q, 0), xstrdup(was), now });
	}
	return r < 0 ? r : 0;
}

int catalogue_follow(struct store *store, const struct transcript_home *homes, size_t n_homes,
	struct err *reterr)
{
	CLEANUP(moved_rows_release) struct moved_rows moved = { .all = VEC_INIT };
	int r = moved_rows(store, "session", homes, n_homes, &moved, reterr);

	if (r < 0 || moved.all.n == 0)
		return r;
	r = store_begin(store, reterr);
	if (r < 0)
		return r;
	vec_each (&moved.all, row) {
		if (r >= 0)
			r = SQL_RUN(store, reterr,
				"UPDATE OR IGNORE session SET path = ? WHERE rowid = ?",
				SQL_T(row->now), SQL_I(row->id));
		if (r >= 0)
			r = SQL_RUN(store, reterr, "DELETE FROM session WHERE path = ?",
				SQL_T(row->was));
	}
	return store_end(store, r, reterr);
}

int catalogue_refresh(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const struct catalogue_opts *opts, struct catalogue_stats *ret_stats, struct err *reterr)
{
	CLEANUP(refresh_release) struct refresh f;
	int r = 0;

	refresh_init(&f, store, homes, n_homes);
	f.opts = opts;
	r = catalogue_follow(store, homes, n_homes, reterr);
	if (r >= 0)
		r = load_known(&f, reterr);
	if (r >= 0)
		r = walk_homes(&f, reterr);
	if (r >= 0)
		r = take_changes(&f, reterr);
	if (r >= 0 && ret_stats)
		*ret_stats = f.stats;
	return r < 0 ? r : 0;
}

int catalogue_refresh_names(struct store *store, const struct transcript_home *homes,
	size_t n_homes, struct err *reterr)
{
	CLEANUP(refresh_release) struct refresh f;
	int r = 0;

	refresh_init(&f, store, homes, n_homes);
	for (size_t i = 0; r >= 0 && i < n_homes; i++)
		r = load_names(&f, i, reterr);
	return r < 0 ? r : write_rest(&f, reterr);
}

/* ---- only what is near ---- */

/* Sessions of the folder that lie elsewhere, as Codex's do by their day. */
static int look_at_known(struct refresh *f, const char *dir, struct err *reterr)
{
	enum { KNOWN_MAX = 50 };
	size_t walked = f->known.n;

	f->by_folder = false; /* each of them alone */
	AUTO_STRV paths = STRV_INIT;
	AUTO_SQL q = SQL_INIT;
	uint64_t at;
	int r = sql_prepare(&q, f->store,
		KNOWN_SELECT "WHERE cwd = ? AND gone = 0 ORDER BY active_ms DESC LIMIT ?", reterr);

	if (r < 0)
		return r;
	sql_text(&q, dir);
	sql_int(&q, KNOWN_MAX);
	while ((r = sql_step(&q, reterr)) > 0) {
		const char *path = sql_get_text(&q, 1);
		if (map_get(&f->paths, sv_of(path), &at))
			continue;
		strv_add(&paths, path);
		add_known(f, &q);
	}
	for (size_t i = 0; r >= 0 && i < paths.n; i++) {
		struct known *k = &f->known.v[walked + i];
		struct stat st;
		f->walking = k->home;
		if (k->home == f->n_homes || stat(paths.v[i], &st) < 0) {
			k->seen = k->home == f->n_homes || errno != ENOENT;
			continue;
		}
		r = found_file(f,
			&(struct transcript_file){
				.path = paths.v[i],
				.dev = st.st_dev,
				.ino = st.st_ino,
				.size = (uint64_t)st.st_size,
				.mtime_ns = file_mtime_ns(&st),
				.ctime_ns = file_ctime_ns(&st),
			});
	}
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct todo *x = a, *y = b;

	return (x->mtime_ns < y->mtime_ns) - (x->mtime_ns > y->mtime_ns);
}

/* What is left for later is as if it had not been seen. */
static void keep_within_budget(struct refresh *f)
{
	uint64_t bytes = 0;
	size_t n = 0;

	vec_sort(&f->todo, by_time);
	while (n < f->todo.n && (n == 0 || bytes < CATALOGUE_NEAR_BYTES)) {
		const struct todo *t = &f->todo.v[n++];
		const struct known *k = t->known ? &f->known.v[t->known - 1] : NULL;
		bytes += k && t->size > k->stat.size ? t->size - k->stat.size : t->size;
	}
	for (size_t i = n; i < f->todo.n; i++)
		free(f->todo.v[i].path);
	f->todo.n = n;
}

int catalogue_refresh_near(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const char *dir, int64_t wall_ms, struct catalogue_stats *ret_stats, struct err *reterr)
{
	CLEANUP(refresh_release) struct refresh f;
	int r = 0;

	refresh_init(&f, store, homes, n_homes);
	f.by_folder = true;
	for (f.walking = 0; r >= 0 && f.walking < n_homes; f.walking++)
		r = transcript_walk_near(&homes[f.walking], dir, wall_ms, CATALOGUE_NEAR_DAYS,
			found_file, &f, reterr);
	if (r < 0 && f.err.code < 0 && reterr)
		*reterr = f.err;
	if (r >= 0)
		r = look_at_known(&f, dir, reterr);
	keep_within_budget(&f);
	if (r >= 0)
		r = take_changes(&f, reterr);
	if (r >= 0 && ret_stats)
		*ret_stats = f.stats;
	return r < 0 ? r : 0;
}
