#include "keep/doomed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "os/path.h"
#include "store/conv.h"
#include "store/sql.h"

void doomed_release(struct doomed *d)
{
	vec_each (&d->rows, row) {
		free(row->agent);
		free(row->id);
		free(row->path);
		free(row->title);
		strv_release(&row->files);
	}
	vec_release(&d->rows);
}

struct adding {
	struct doomed_session *one;
	bool forget;
};

/* The work of one that is gone is forgotten, too. */
static int add_subagent(void *data, const struct session_row *row)
{
	struct adding *a = data;

	if (row->info.flags & SESSION_SUBAGENT && (!row->gone || a->forget))
		strv_add(&a->one->files, row->info.path);
	return 0;
}

int doomed_add(
	const struct keeper *k, struct doomed *d, const struct session_row *row, struct err *reterr)
{
	struct doomed_session one = { .files = STRV_INIT };
	struct adding adding = { &one, d->forget };

	if (!row->gone)
		strv_add(&one.files, row->info.path);
	int r = catalogue_children(k->store, &row->info, add_subagent, &adding, reterr);
	if (r < 0) {
		strv_release(&one.files);
		return r;
	}
	for (size_t i = 0; i < one.files.n; i++) {
		struct stat st;
		if (stat(one.files.v[i], &st) < 0)
			continue;
		one.n_there++;
		one.bytes += (uint64_t)st.st_size;
	}
	one.agent = xstrdup(row->agent);
	one.id = xstrdup(row->info.id);
	one.path = xstrdup(row->info.path);
	one.title = xstrdup(session_title(row));
	one.active_ms = row->active_ms;
	vec_push(&d->rows, one);
	return 0;
}

struct doomed_stats doomed_count(const struct doomed *d)
{
	struct doomed_stats stats = { .forget = d->forget, .sessions = d->rows.n };

	vec_each (&d->rows, one) {
		stats.files += one->n_there;
		stats.bytes += one->bytes;
	}
	return stats;
}

/* ---- forgetting ---- */

struct forgetting {
	struct doomed_stats *ret;
	struct strv keys;
};

static int add_key(void *data, const struct archive_file *file)
{
	struct forgetting *f = data;

	strv_add(&f->keys, file->key);
	f->ret->kept++;
	f->ret->kept_bytes += file->size;
	return 0;
}

static int forget_kept(const struct keeper *k, struct vault *v, const char *session,
	struct doomed_stats *ret, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	const struct archive_query query = { .session = session };
	struct forgetting f = { .ret = ret, .keys = STRV_INIT };
	int r = archive_each(&archive, &query, add_key, &f, reterr);

	for (size_t i = 0; i < f.keys.n && r == 0; i++)
		r = archive_forget(&archive, v, f.keys.v[i], reterr);
	strv_release(&f.keys);
	return r;
}

static int forget_bytes(const struct keeper *k, struct vault *v, const struct doomed_session *one,
	struct doomed_stats *ret, struct err *reterr)
{
	int r = forget_kept(k, v, one->id, ret, reterr);

	for (size_t i = 0; i < one->files.n && r == 0; i++) {
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		const char *path = one->files.v[i];
		bool known = catalogue_by_path(k->store, path, &row, NULL) >= 0;
		r = kept_remove(NULL, path, reterr);
		if (r == 0)
			r = vault_forget_path(v, path, reterr);
		if (r == 0 && known && strcmp(row.info.id, one->id) != 0)
			r = forget_kept(k, v, row.info.id, ret, reterr);
	}
	return r;
}

static void add_paths(const struct doomed_session *one, struct strv *ret)
{
	if (one->path[0])
		strv_add(ret, one->path);
	for (size_t i = 0; i < one->files.n; i++)
		if (strcmp(one->files.v[i], one->path) != 0)
			strv_add(ret, one->files.v[i]);
}

/* Set while rows are forgotten whose bytes may still stand in the store's file. */
#define UNSCRUBBED "unscrubbed"

int doomed_finish(struct store *store, struct err *reterr)
{
	AUTO_FREE char *value = NULL;
	int r = store_pref_get(store, UNSCRUBBED, &value, NULL);

	if (r < 0)
		return 0;
	r = store_scrub(store, reterr);
	return r < 0 ? r : sql_exec(store, "DELETE FROM pref WHERE key = '" UNSCRUBBED "'", reterr);
}

/* The index, and last the store: as long as it knows them, this can be done again. */
static int forget_rows(const struct keeper *k, const struct doomed *d, struct doomed_stats *ret,
	struct err *reterr)
{
	AUTO_STRV all = STRV_INIT;
	int r = 0;

	vec_each (&d->rows, one)
		add_paths(one, &all);
	if (all.n > 0 && path_exists(k->index_dir))
		r = index_forget(k->index_dir, (const char *const *)all.v, all.n, reterr);
	if (r == 0)
		r = store_pref_set(k->store, UNSCRUBBED, "", reterr);
	vec_each (&d->rows, one) {
		AUTO_STRV paths = STRV_INIT;
		add_paths(one, &paths);
		if (r == 0)
			r = catalogue_forget(k->store, one->agent, one->id,
				(const char *const *)paths.v, paths.n, &ret->rows, reterr);
	}
	return r < 0 ? r : doomed_finish(k->store, reterr);
}

/* ---- all of it ---- */

typedef VEC(struct stat) stat_vec;

/* Whether the archive has every byte of all its files: 1 or 0. They are then as *ret says. */
static int holds_all(
	struct vault *v, const struct doomed_session *one, stat_vec *ret, struct err *reterr)
{
	int r = 1;

	ret->n = 0;
	for (size_t i = 0; i < one->files.n && r > 0; i++) {
		struct stat st = { .st_size = 0 };
		if (stat(one->files.v[i], &st) == 0)
			r = archive_holds(v, one->files.v[i], reterr);
		else if (errno != ENOENT)
			r = err_errno(reterr, errno, "stat %s", one->files.v[i]);
		vec_push(ret, st);
	}
	return r;
}

static bool is_untouched(const char *path, const struct stat *was)
{
	struct stat st;

	return stat(path, &st) < 0 ||
		(st.st_ino == was->st_ino && st.st_size == was->st_size &&
			st.st_mtim.tv_sec == was->st_mtim.tv_sec &&
			st.st_mtim.tv_nsec == was->st_mtim.tv_nsec);
}

/* 1 when it is deleted, 0 when it stays, and why is told. Noted before it goes: what cannot be
 * noted is not deleted. */
static int delete_one(const struct keeper *k, struct vault *v, const struct doomed_session *one,
	struct err *reterr)
{
	struct archive_update_stats stats;
	stat_vec were = VEC_INIT;
	struct err err = ERR_INIT;
	int r = holds_all(v, one, &were, &err);

	/* What it has grown by, or what the archive found damaged of it just now. */
	if (r == 0)
		r = keeper_archive_to(k, v, &one->files, &stats, &err);
	if (r == 0)
		r = holds_all(v, one, &were, &err);
	if (r == 0)
		r = err_set(&err, ERR_INPUT, "session %s changes while it is archived", one->id);
	bool told = r < 0;
	if (r > 0) {
		r = conv_deleted(k->store, one->agent, one->id, k->clock, reterr);
		for (size_t i = 0; i < one->files.n && r == 0; i++) {
			r = is_untouched(one->files.v[i], &were.v[i])
				? kept_remove(NULL, one->files.v[i], &err)
				: err_set(&err, ERR_INPUT, "%s has changed just now",
					  one->files.v[i]);
			told = r < 0;
		}
		if (told)
			(void)!conv_restored(k->store, one->id, NULL);
	}
	vec_release(&were);
	if (told && k->trouble)
		k->trouble(k->data, &err);
	return told ? 0 : r < 0 ? r : 1;
}

static int delete_kept(const struct keeper *k, struct vault *v, const struct doomed *d,
	struct doomed_stats *ret, struct err *reterr)
{
	struct archive_update_stats stats;
	AUTO_STRV paths = STRV_INIT;
	int r = 0;

	vec_each (&d->rows, one)
		for (size_t i = 0; i < one->files.n; i++)
			strv_add(&paths, one->files.v[i]);
	if (paths.n > 0)
		r = keeper_archive_to(k, v, &paths, &stats, reterr);
	vec_each (&d->rows, one) {
		if (r >= 0)
			r = delete_one(k, v, one, reterr);
		if (r != 0)
			continue;
		ret->stayed++;
		ret->sessions--;
		ret->files -= one->n_there;
		ret->bytes -= one->bytes;
	}
	/* Found as before. Where that fails now, the next index of everything sees to it. */
	struct index_stats index;
	if (r >= 0 && paths.n > 0 && path_exists(k->index_dir))
		(void)!keeper_index_files(k, &paths, 0, &index, NULL);
	return r < 0 ? r : 0;
}

int doomed_delete(const struct keeper *k, struct vault *v, const struct doomed *d,
	struct doomed_stats *ret, struct err *reterr)
{
	struct doomed_stats stats = doomed_count(d);
	/* Nothing goes that could not be noted: that is tried first. */
	int r = store_begin(k->store, reterr);

	if (r == 0) {
		r = store_pref_set(k->store, "deleting", "", reterr);
		if (r == 0)
			r = sql_exec(k->store, "DELETE FROM pref WHERE key = 'deleting'", reterr);
		r = store_end(k->store, r, reterr);
	}
	if (r < 0) {
		err_prefix(reterr, "nothing was deleted");
		return r;
	}
	if (!d->forget) {
		r = delete_kept(k, v, d, &stats, reterr);
	} else {
		for (size_t i = 0; i < d->rows.n && r == 0; i++)
			r = forget_bytes(k, v, &d->rows.v[i], &stats, reterr);
		if (r == 0)
			r = vault_sweep(v, &stats.freed, reterr);
		if (r == 0)
			r = vault_scrub(v, reterr);
		if (r == 0)
			r = forget_rows(k, d, &stats, reterr);
	}
	if (r == 0)
		*ret = stats;
	return r;
}
