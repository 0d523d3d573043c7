#include "keep/doomed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "os/path.h"
#include "os/unpack.h"
#include "store/conv.h"
#include "store/journal.h"
#include "store/sql.h"
#include "ui/editor.h"

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
	map_release(&d->files);
	strv_release(&d->led);
}

struct adding {
	struct doomed_session *one;
	bool forget;
	const char *path; /* of the session */
};

/* Whether it lies in the folder of the session at that path. */
static bool lies_below(struct sv path, const char *session)
{
	struct sv plain = unpack_plain(sv_of(session));

	return sv_ends(plain, SV(".jsonl")) && path_within(path, sv_head(plain, plain.n - 6));
}

/* The work of one that is gone is forgotten, too. */
static int add_subagent(void *data, const struct session_row *row)
{
	struct adding *a = data;
	struct sv path = sv_of(row->info.path);

	if (!(row->info.flags & SESSION_SUBAGENT) || (row->gone && !a->forget))
		return 0;
	/* What lies in a session's folder is for that one, and not for another of its id. */
	bool its =
		transcript_subagent_of(row->info.format, path).n == 0 || lies_below(path, a->path);
	for (size_t i = 0; i < a->one->files.n && !its; i++)
		its = lies_below(path, a->one->files.v[i]);
	if (its)
		strv_add(&a->one->files, row->info.path);
	return 0;
}

static int add_gone(void *data, const struct session_row *row)
{
	struct adding *a = data;

	if (row->gone && strcmp(row->info.path, a->path) != 0)
		strv_add(&a->one->files, row->info.path);
	return 0;
}

static int add_beside(void *data, const struct transcript_file *file)
{
	struct strv *files = data;

	/* What the catalogue knows of them is there already. */
	for (size_t i = 0; file->subagent && i < files->n; i++)
		if (strcmp(files->v[i], file->path) == 0)
			return 0;
	strv_add(files, file->path);
	return 0;
}

static int on_kept(void *data, const struct archive_file *file)
{
	(void)data;
	(void)file;
	return 1;
}

/* Where the archive cannot be read it may be: whoever writes there says why not. */
static bool is_kept(const struct keeper *k, const char *id)
{
	const struct archive archive = keeper_archive(k);

	return archive_each(&archive, &(struct archive_query){ .session = id }, on_kept, NULL,
		       NULL) != 0;
}

int doomed_add(const struct keeper *k, struct doomed *d, const struct session_row *row,
	bool everywhere, struct err *reterr)
{
	struct doomed_session one = { .files = STRV_INIT };
	struct adding adding = { &one, d->forget, row->info.path };
	const struct catalogue_query same = { .agent = row->agent,
		.id = row->info.id,
		.subagents = true,
		.empty = true,
		.gone = true };
	struct sv own = sv_of(row->info.path[0] ? row->info.path : row->info.id);
	uint64_t wide;
	int r = 0;

	if (map_get(&d->files, own, &wide) && (wide || !everywhere))
		return 0;
	/* One that was blanked is gone, and its file is there. */
	if (!row->gone || (d->forget && row->info.path[0]))
		strv_add(&one.files, row->info.path);
	if (d->forget && everywhere)
		r = catalogue_query(k->store, &same, add_gone, &adding, reterr);
	if (r >= 0)
		r = catalogue_children(k->store, &row->info, add_subagent, &adding, reterr);
	if (r >= 0 && !(row->info.flags & SESSION_SUBAGENT) && (!row->gone || d->forget))
		r = transcript_walk_beside(
			row->info.format, row->info.path, add_beside, &one.files, reterr);
	if (r < 0) {
		strv_release(&one.files);
		return r;
	}
	(void)map_put(&d->files, own, everywhere);
	for (size_t i = 0; i < one.files.n; i++) {
		struct stat st;
		bool counted = !map_put(&d->files, sv_of(one.files.v[i]), everywhere) &&
			!sv_is(own, one.files.v[i]);
		if (counted || stat(one.files.v[i], &st) < 0)
			continue;
		AUTO_FREE char *real = NULL;
		struct stat name;
		if (lstat(one.files.v[i], &name) == 0 && S_ISLNK(name.st_mode) &&
			path_real(one.files.v[i], &real, NULL) == 0)
			strv_add(&d->led, real);
		one.n_there++;
		one.bytes += (uint64_t)st.st_size;
	}
	/* Its children have the id of one that nobody else knows any more: it was forgotten. */
	if (!row->agent[0] && one.files.n == (row->info.path[0] ? 1 : 0) && one.n_there == 0 &&
		!is_kept(k, row->info.id)) {
		strv_release(&one.files);
		return err_set(reterr, ERR_NOTFOUND,
			"nothing is left of session %s to forget; only sessions that were made "
			"from it still name it",
			row->info.id);
	}
	one.format = row->info.format;
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
	const struct keeper *k;
	struct vault *v;
	const struct doomed_session *one;
	struct doomed_stats *ret;
	struct strv keys;
	struct map seen; /* of these, and of those before */
};

/* What lies, or lay, where another session has its place. */
static bool is_of_another(const struct forgetting *f, const char *path)
{
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	struct sv plain = unpack_plain(sv_of(path));
	bool ours = plain.n == 0 || sv_eq(plain, unpack_plain(sv_of(f->one->path)));

	ours = ours || lies_below(plain, f->one->path);
	for (size_t i = 0; i < f->one->files.n; i++)
		ours = ours || sv_eq(plain, unpack_plain(sv_of(f->one->files.v[i]))) ||
			lies_below(plain, f->one->files.v[i]);
	return !ours &&
		(keeper_there(f->k, path) || catalogue_by_path(f->k->store, path, &row, NULL) >= 0);
}

static int add_key(void *data, const struct archive_file *file)
{
	struct forgetting *f = data;

	if (!map_put(&f->seen, sv_of(file->key), 1))
		return 0;
	if (is_of_another(f, file->path)) {
		f->ret->others++;
		return 0;
	}
	strv_add(&f->keys, file->key);
	f->ret->kept++;
	f->ret->kept_bytes += file->size;
	return 0;
}

static int forget_kept(struct forgetting *f, const struct archive_query *query, struct err *reterr)
{
	const struct archive archive = keeper_archive(f->k);
	int r;

	strv_release(&f->keys);
	r = archive_each(&archive, query, add_key, f, reterr);
	for (size_t i = 0; i < f->keys.n && r == 0; i++)
		r = archive_forget(&archive, f->v, f->keys.v[i], reterr);
	return r;
}

/* What lay in the folder of a session; that which a sub-agent's file is in is another's. */
static int forget_beside(struct forgetting *f, const char *path, struct err *reterr)
{
	bool subagent = transcript_subagent_of(f->one->format, sv_of(path)).n > 0;
	AUTO_FREE char *folder = subagent ? NULL : transcript_folder(f->one->format, path);

	return folder ? forget_kept(f, &(struct archive_query){ .below = folder }, reterr) : 0;
}

static int forget_bytes(const struct keeper *k, struct vault *v, const struct doomed_session *one,
	struct doomed_stats *ret, struct err *reterr)
{
	struct forgetting f = { .k = k, .v = v, .one = one, .ret = ret, .keys = STRV_INIT };
	int r = forget_kept(&f, &(struct archive_query){ .session = one->id }, reterr);

	/* Its own file may be gone. */
	if (r == 0)
		r = forget_beside(&f, one->path, reterr);
	for (size_t i = 0; i < one->files.n && r == 0; i++) {
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		const char *path = one->files.v[i];
		bool known = catalogue_by_path(k->store, path, &row, NULL) >= 0;
		r = kept_remove(path, reterr);
		if (r == 0)
			r = vault_forget_path(v, path, reterr);
		if (r == 0 && known && strcmp(row.info.id, one->id) != 0)
			r = forget_kept(
				&f, &(struct archive_query){ .session = row.info.id }, reterr);
		if (r == 0 && known)
			r = forget_beside(&f, path, reterr);
	}
	kept_remove_folder(one->format, one->path);
	strv_release(&f.keys);
	map_release(&f.seen);
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

static void add_prompt(void *data, struct sv prompt)
{
	(void)map_put(data, sv_trim(prompt), 1);
}

static bool is_prompt(void *data, struct sv entry)
{
	uint64_t one;

	return map_get(data, sv_trim(entry), &one);
}

/* Which of the lines that were typed at the prompt went where only the journal knows: those stay
 * that are prompts it still has. */
static int forget_typed(const struct keeper *k, size_t *ret_lines, struct err *reterr)
{
	AUTO_FREE char *history = path_join(k->state_dir, "history");
	AUTO_MAP prompts = MAP_INIT;
	int r = journal_each_prompt(k->store, add_prompt, &prompts, reterr);

	return r < 0 ? r : editor_forget(history, is_prompt, &prompts, ret_lines, reterr);
}

int doomed_finish(const struct keeper *k, size_t *ret_lines, struct err *reterr)
{
	AUTO_FREE char *value = NULL;
	int r = store_pref_get(k->store, UNSCRUBBED, &value, NULL);

	if (r < 0)
		return 0;
	r = forget_typed(k, ret_lines, reterr);
	if (r == 0)
		r = store_scrub(k->store, reterr);
	return r < 0 ? r
		     : sql_exec(k->store, "DELETE FROM pref WHERE key = '" UNSCRUBBED "'", reterr);
}

/* Some at a time share one wait for the disk, and others wait no longer for the store. The vault is
 * committed behind all of them. */
static int forget_all_bytes(const struct keeper *k, struct vault *v, const struct doomed *d,
	struct doomed_stats *ret, struct err *reterr)
{
	enum { AT_ONCE = 50 };
	int r = 0;

	for (size_t i = 0; i < d->rows.n && r == 0;) {
		r = store_begin(k->store, reterr);
		if (r < 0)
			return r;
		for (size_t n = 0; n < AT_ONCE && i < d->rows.n && r == 0; n++)
			r = forget_bytes(k, v, &d->rows.v[i++], ret, reterr);
		r = store_end(k->store, r, reterr);
	}
	return r;
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
		r = index_forget(k->index_dir, (const char *const *)all.v, all.n, &k->wait, reterr);
	if (r == 0)
		r = store_pref_set(k->store, UNSCRUBBED, "", reterr);
	if (r == 0)
		r = store_begin(k->store, reterr);
	if (r < 0)
		return r;
	vec_each (&d->rows, one) {
		AUTO_STRV paths = STRV_INIT;
		add_paths(one, &paths);
		if (r == 0)
			r = conv_forgotten(k->store, one->id, one->path, reterr);
		if (r == 0)
			r = catalogue_forget(k->store, one->agent, one->id,
				(const char *const *)paths.v, paths.n, &ret->rows, reterr);
	}
	r = store_end(k->store, r, reterr);
	return r < 0 ? r : doomed_finish(k, &ret->lines, reterr);
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
		r = conv_deleted(k->store, one->agent, one->id, one->path, k->clock, reterr);
		for (size_t i = 0; i < one->files.n && r == 0; i++) {
			r = is_untouched(one->files.v[i], &were.v[i])
				? kept_remove(one->files.v[i], &err)
				: err_set(&err, ERR_INPUT, "%s has changed just now",
					  one->files.v[i]);
			told = r < 0;
		}
		kept_remove_folder(one->format, one->path);
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
		r = forget_all_bytes(k, v, d, &stats, reterr);
		if (r == 0)
			r = keeper_sweep(k, v, &stats.freed, reterr);
		if (r == 0)
			r = vault_scrub(v, reterr);
		if (r == ERR_CANCELLED)
			err_prefix(
				reterr, "not everything is forgotten yet, the same again does it");
		if (r == 0)
			r = forget_rows(k, d, &stats, reterr);
	}
	if (r == 0)
		*ret = stats;
	return r;
}
