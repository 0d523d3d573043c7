#include "keep/keeper.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/unpack.h"
#include "store/catalogue.h"
#include "store/sql.h"

/* As of when the archive had all files. */
#define TAKEN_ALL "archive.taken_ms"

struct archive keeper_archive(const struct keeper *k)
{
	return (struct archive){ .store = k->store,
		.dir = k->archive_dir,
		.clock = k->clock,
		.homes = k->homes,
		.n_homes = k->n_homes };
}

bool keeper_beside(const struct keeper *k, const char *path)
{
	const struct transcript_home *home = transcript_home_of(k->homes, k->n_homes, path);
	AUTO_FREE char *of = home ? transcript_beside_of(home, path) : NULL;

	return of != NULL;
}

bool keeper_there(const struct keeper *k, const char *path)
{
	/* What lies beside a session may well be empty. */
	AUTO_FREE char *where = unpack_where(path);

	return where != NULL || (path_exists(path) && keeper_beside(k, path));
}

int keeper_vault(const struct keeper *k, unsigned flags, struct vault **ret, struct err *reterr)
{
	return vault_open_after(
		k->archive_dir, VAULT_WRITE | flags, &k->wait, k->clock, k->log, ret, reterr);
}

/* What is asked of index and archive: sessions, in place of what lies beside them. An empty list is
 * not the same as none: of no file, or of all. */
static const char *const *list_of(
	const struct keeper *k, const struct strv *paths, struct strv *sessions)
{
	static const char *const none[] = { NULL };
	AUTO_MAP seen = MAP_INIT;

	for (size_t i = 0; paths && i < paths->n; i++) {
		const char *path = paths->v[i];
		const struct transcript_home *home = transcript_home_of(k->homes, k->n_homes, path);
		AUTO_FREE char *of = home ? transcript_beside_of(home, path) : NULL;
		if (map_put(&seen, sv_of(of ? of : path), 1))
			strv_add(sessions, of ? of : path);
	}
	return !paths ? NULL : sessions->n == 0 ? none : (const char *const *)sessions->v;
}

/* The oldest of the files that were read. */
struct oldest {
	const struct keeper *k;
	int64_t ms; /* when it was written to */
};

static void on_took(void *data, const char *path)
{
	struct oldest *o = data;
	struct stat st;

	if (stat(path, &st) == 0 && file_mtime_ns(&st) / 1000000 < o->ms)
		o->ms = file_mtime_ns(&st) / 1000000;
}

static void on_trouble(void *data, const struct err *err)
{
	const struct oldest *o = data;

	if (o->k->trouble)
		o->k->trouble(o->k->data, err);
}

static bool is_cancelled(void *data)
{
	const struct oldest *o = data;

	return o->k->cancelled && o->k->cancelled(o->k->data);
}

/* By its time nobody would find that the archive does not have it, nor will an index that is up to
 * date tell: who looks next looks at all. */
static void note_older(const struct keeper *k, int64_t ms)
{
	AUTO_FREE char *since = NULL;
	long long taken_ms = 0;

	if (store_pref_get(k->store, TAKEN_ALL, &since, NULL) >= 0 && since &&
		sv_parse_i64(sv_of(since), &taken_ms) && ms < taken_ms)
		(void)!store_pref_set(k->store, TAKEN_ALL, "older ones came", NULL);
}

int keeper_index_files(const struct keeper *k, const struct strv *paths, int64_t budget_ms,
	struct index_stats *ret, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	AUTO_STRV sessions = STRV_INIT;
	const char *const *list = list_of(k, paths, &sessions);
	struct oldest oldest = { k, INT64_MAX };
	const struct index_opts opts = {
		.archive = &archive,
		.result_max = k->result_max,
		.budget_ms = budget_ms,
		.wait = budget_ms == 0 ? &k->wait : NULL,
		.paths = list,
		.n_paths = sessions.n,
		.trouble = on_trouble,
		.took = on_took,
		.cancelled = k->cancelled ? is_cancelled : NULL,
		.data = &oldest,
	};

	int r = index_update(k->index_dir, k->store, k->homes, k->n_homes, &opts, ret, reterr);
	if (r >= 0 && ret->anew == INDEX_WAS_DAMAGED && k->log)
		log_write(k->log, LOG_WARN, "%s; it is made anew", ret->why);
	if (oldest.ms < INT64_MAX)
		note_older(k, oldest.ms);
	return r;
}

int keeper_archive_to(const struct keeper *k, struct vault *v, const struct strv *paths,
	struct archive_update_stats *ret, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	AUTO_STRV sessions = STRV_INIT;
	const char *const *list = list_of(k, paths, &sessions);
	const struct archive_update_opts opts = {
		.paths = list,
		.n_paths = sessions.n,
		.progress = k->progress,
		.trouble = k->trouble,
		.cancelled = k->cancelled,
		.data = k->data,
	};

	/* What it is, and whose, the archive asks the catalogue. */
	for (size_t i = 0; i < sessions.n; i++) {
		const char *path = sessions.v[i];
		const struct transcript_home *home = transcript_home_of(k->homes, k->n_homes, path);
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		struct err err = ERR_INIT;
		if (home && catalogue_take(k->store, home, path, &row, &err) < 0 &&
			keeper_there(k, path) && k->trouble)
			k->trouble(k->data, &err);
	}
	return archive_update(&archive, v, &opts, ret, reterr);
}

int keeper_archive_begin(const struct keeper *k, struct keeper_taking *ret, struct err *reterr)
{
	AUTO_FREE char *packs = path_join(k->archive_dir, "packs");
	AUTO_FREE char *since = NULL;
	struct keeper_taking taking = { .since_ms = 0 };
	long long ms = 0;

	taking.all = !path_exists(packs) || store_pref_get(k->store, TAKEN_ALL, &since, NULL) < 0 ||
		!since || !sv_parse_i64(sv_of(since), &ms);
	taking.since_ms = ms;
	/* Not that of another one who does the same, whose end says nothing of this. */
	(void)snprintf(taking.mark, sizeof(taking.mark), "begun by %d at %lld", (int)getpid(),
		(long long)clock_age_ms(NULL));
	int r = store_pref_set(k->store, TAKEN_ALL, taking.mark, reterr);
	if (r >= 0)
		*ret = taking;
	return r;
}

int keeper_archive_new(const struct keeper *k, const struct keeper_taking *taking,
	const struct strv *paths, int64_t as_of_ms, struct archive_update_stats *ret,
	struct err *reterr)
{
	enum { COARSE_MS = 20 }; /* the file system's clock runs behind by so much */
	const struct catalogue_opts reading = { .cancelled = k->cancelled, .data = k->data };
	AUTO_FREE char *now = xasprintf("%lld", (long long)as_of_ms);
	AUTO_STRV changed = STRV_INIT;
	AUTO_VAULT *v = NULL;
	int r;

	*ret = (struct archive_update_stats){ .files = 0 };
	for (size_t i = 0; i < paths->n; i++)
		strv_add(&changed, paths->v[i]);
	/* Where little was new, the index has asked the catalogue for no more than that. */
	if (taking->all)
		r = catalogue_refresh(k->store, k->homes, k->n_homes, &reading, NULL, reterr);
	else
		r = catalogue_changed(
			k->store, (taking->since_ms - COARSE_MS) * 1000000, &changed, reterr);
	if (r >= 0 && (taking->all || changed.n > 0)) {
		r = vault_open(k->archive_dir, VAULT_WRITE, k->clock, k->log, &v, reterr);
		if (r >= 0)
			r = keeper_archive_to(k, v, taking->all ? NULL : &changed, ret, reterr);
	}
	if (r < 0 || ret->left > 0 || ret->troubles > 0)
		return r;
	return SQL_RUN(k->store, reterr, "UPDATE pref SET value = ? WHERE key = ? AND value = ?",
		SQL_T(now), SQL_T(TAKEN_ALL), SQL_T(taking->mark));
}

int keeper_sweep(const struct keeper *k, struct vault *v, uint64_t *ret_freed, struct err *reterr)
{
	const struct vault_sweep_opts opts = { k->progress, k->cancelled, k->data };

	return vault_sweep(v, &opts, ret_freed, reterr);
}

int keeper_archive_files(const struct keeper *k, const struct strv *paths,
	struct archive_update_stats *ret, struct err *reterr)
{
	AUTO_VAULT *v = NULL;
	int r = keeper_vault(k, 0, &v, reterr);

	return r < 0 ? r : keeper_archive_to(k, v, paths, ret, reterr);
}
