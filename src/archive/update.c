/*
 * The archive: every session into the vault.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/frame.h"
#include "archive/vault.h"
#include "base/mem.h"
#include "base/vec.h"
#include "os/path.h"
#include "os/pool.h"
#include "store/catalogue.h"
#include "store/sql.h"
#include "transcript/home.h"

struct job {
	struct vault_source source;
	char *texts[6]; /* that it borrows */
	uint64_t size; /* taken, of one that was set aside; UINT64_MAX: it was not */
};

struct updating {
	const struct archive *archive;
	const struct archive_update_opts *opts;
	struct archive_update_stats *stats;
	VEC(struct job) jobs;
	struct taker **takers;
	const struct session_row *row; /* whose folder is looked into */
	size_t done;
	pthread_mutex_t mutex; /* of stats, done and the callbacks */
};

/* ---- what is to be taken ---- */

static void add_job(struct updating *u, const char *path, const char *from, const char *key,
	const char *agent, const char *session, const char *own, bool frozen)
{
	const char *const given[] = { path, from, key, agent, session, own };
	struct job job = { .size = UINT64_MAX };
	const char **const fields[] = { &job.source.path, &job.source.from, &job.source.key,
		&job.source.agent, &job.source.session, &job.source.own };

	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		*fields[i] = job.texts[i] = given[i] ? xstrdup(given[i]) : NULL;
	job.source.frozen = frozen;
	vec_push(&u->jobs, job);
}

static void tell_trouble(struct updating *u, const struct err *err)
{
	u->stats->troubles++;
	if (u->opts->trouble)
		u->opts->trouble(u->opts->data, err);
}

static int add_beside(void *data, const struct transcript_file *file)
{
	struct updating *u = data;
	struct sv name = path_base(sv_of(file->path));
	struct err err = ERR_INIT;

	/* Those the catalogue knows. */
	if (file->subagent)
		return 0;
	if (file->size <= ARCHIVE_BESIDE_MAX) {
		add_job(u, file->path, NULL, NULL, u->row->agent, name.p, u->row->info.id, false);
		return 0;
	}
	(void)err_set(&err, ERR_LIMIT, "%s has more than 1 GB", file->path);
	tell_trouble(u, &err);
	return 0;
}

/* The lines of a sub-agent's session have the id of the one that started it. */
static int add_session(void *data, const struct session_row *row)
{
	struct updating *u = data;
	const struct session_info *info = &row->info;
	const char *own = strlen(info->id) == OWN_ID ? info->id : info->parent_id;
	struct err err = ERR_INIT;

	add_job(u, info->path, NULL, NULL, row->agent, info->id, own, false);
	u->row = row;
	if (!(info->flags & SESSION_SUBAGENT) &&
		transcript_walk_beside(info->format, info->path, add_beside, u, &err) < 0)
		tell_trouble(u, &err);
	u->row = NULL;
	return 0;
}

/* What was set aside: of one file, or (path NULL) all. */
static int add_aside(struct updating *u, const char *path, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, u->archive->store, reterr,
		"SELECT a.key, a.session, a.path, a.how, coalesce(s.agent, '') FROM archive a"
		" LEFT JOIN session s ON s.path = a.path WHERE a.how <> ?1"
		" AND (?2 IS NULL OR a.path = ?2) ORDER BY a.seq",
		SQL_I(ARCHIVE_VAULT), SQL_T(path));

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *key = sql_get_text(&q, 0), *session = sql_get_text(&q, 1);
		AUTO_FREE char *from = archive_path(u->archive, key);
		struct stat st;
		r = 0;
		if (stat(from, &st) == 0)
			add_job(u, sql_get_text(&q, 2), from, key, sql_get_text(&q, 4), session,
				session, sql_get_int(&q, 3) == ARCHIVE_COPY);
	}
	return r;
}

static int add_all(struct updating *u, size_t *ret_aside, struct err *reterr)
{
	const struct catalogue_query query = {
		.subagents = true, .empty = true, .order = CATALOGUE_SIZE
	};
	const struct archive_update_opts *o = u->opts;
	int r = o->paths ? 0 : add_aside(u, NULL, reterr);

	for (size_t i = 0; i < o->n_paths && r == 0; i++)
		r = add_aside(u, o->paths[i], reterr);
	*ret_aside = u->jobs.n;
	if (r == 0 && !o->paths)
		r = catalogue_query(u->archive->store, &query, add_session, u, reterr);
	for (size_t i = 0; i < o->n_paths && r == 0; i++) {
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		r = catalogue_by_path(u->archive->store, o->paths[i], &row, reterr);
		if (r == ERR_NOTFOUND || row.gone)
			r = 0;
		else if (r == 0)
			r = add_session(u, &row);
	}
	return r;
}

/* ---- taking ---- */

static void count(struct updating *u, struct job *job, const struct vault_taken *taken,
	const struct err *trouble)
{
	struct archive_update_stats *s = u->stats;
	const struct archive_update_opts *o = u->opts;

	(void)pthread_mutex_lock(&u->mutex);
	if (trouble) {
		tell_trouble(u, trouble);
	} else {
		s->taken += taken->took == VAULT_GREW || taken->took == VAULT_NEW ||
			taken->took == VAULT_VERSION;
		s->versions += taken->took == VAULT_VERSION;
		s->mended += taken->mended;
		s->bytes += taken->size;
		s->bytes_read += taken->read;
		if (job->source.from && taken->took != VAULT_REFUSED)
			job->size = taken->size;
	}
	u->done++;
	if (o->progress)
		o->progress(o->data, u->done, u->jobs.n);
	(void)pthread_mutex_unlock(&u->mutex);
}

/* A file that cannot be read is told of; one that cannot be written ends it all. */
static int take_one(void *data, size_t i, unsigned worker, struct err *reterr)
{
	struct updating *u = data;
	struct job *job = &u->jobs.v[i];
	struct vault_taken taken;
	struct err err = ERR_INIT;

	if (u->opts->cancelled && u->opts->cancelled(u->opts->data)) {
		(void)pthread_mutex_lock(&u->mutex);
		u->stats->left++;
		(void)pthread_mutex_unlock(&u->mutex);
		return 0;
	}
	int r = taker_take(u->takers[worker], &job->source, &taken, &err);
	/* Deleted since the catalogue saw it. */
	if (r == -ENOENT) {
		taken = (struct vault_taken){ .took = VAULT_HELD };
		r = 0;
	}
	if (r == -ENOSPC || r == -EDQUOT || r == -EROFS || r == ERR_STORE) {
		if (reterr)
			*reterr = err;
		return r;
	}
	count(u, job, &taken, r < 0 ? &err : NULL);
	return 0;
}

static int take_all(struct updating *u, struct vault *v, size_t from, struct err *reterr)
{
	unsigned threads = pool_cpus();
	struct job *jobs = u->jobs.v;
	size_t n = u->jobs.n;
	int r = 0;

	u->takers = xcalloc(threads, sizeof(struct taker *));
	for (unsigned i = 0; i < threads; i++)
		u->takers[i] = taker_new(v);
	/* Those that were set aside first, so that what lies at their paths goes on with them. */
	for (size_t i = 0; i < from && r == 0; i++)
		r = take_one(u, i, 0, reterr);
	if (r == 0)
		r = taker_finish(u->takers[0], reterr);
	u->jobs.v += from;
	if (r == 0)
		r = pool_each(threads, n - from, take_one, u, reterr);
	u->jobs.v = jobs;
	for (unsigned i = 0; i < threads; i++) {
		if (r == 0)
			r = taker_finish(u->takers[i], reterr);
		taker_free(u->takers[i]);
	}
	free(u->takers);
	/* All recipes are looked through for that: only when it is worth it. */
	if (r == 0 && (u->stats->mended > 0 || (vault_damaged(v) > 0 && !u->opts->paths)))
		r = vault_mend(v, reterr);
	return r == 0 ? vault_commit(v, reterr) : r;
}

/* Removes what was set aside and is in the vault, unless it has grown meanwhile. */
static int settle(struct updating *u, const struct job *job, struct err *reterr)
{
	const struct archive *a = u->archive;
	AUTO_CLOSE int lock = -1;
	struct stat st;

	if (job->size == UINT64_MAX)
		return 0;
	int r = archive_lock(a, &lock, reterr);
	if (r < 0)
		return r;
	if (stat(job->source.from, &st) < 0 || (uint64_t)st.st_size != job->size)
		return 0;
	r = SQL_RUN(a->store, reterr, "UPDATE archive SET how = ? WHERE key = ?",
		SQL_I(ARCHIVE_VAULT), SQL_T(job->source.key));
	if (r == 0 && unlink(job->source.from) < 0 && errno != ENOENT)
		return err_errno(reterr, errno, "remove %s", job->source.from);
	u->stats->settled += r == 0;
	return r;
}

int archive_update(const struct archive *a, struct vault *v, const struct archive_update_opts *opts,
	struct archive_update_stats *ret, struct err *reterr)
{
	struct updating u = { .archive = a, .opts = opts, .stats = ret, .jobs = VEC_INIT };

	*ret = (struct archive_update_stats){ .files = 0 };
	(void)pthread_mutex_init(&u.mutex, NULL);
	size_t aside = 0;
	int r = add_all(&u, &aside, reterr);
	ret->files = u.jobs.n;
	if (r == 0)
		r = take_all(&u, v, aside, reterr);
	for (size_t i = 0; i < aside && r == 0; i++)
		r = settle(&u, &u.jobs.v[i], reterr);
	(void)pthread_mutex_destroy(&u.mutex);
	vec_each (&u.jobs, job)
		for (size_t i = 0; i < ARRAY_LEN(job->texts); i++)
			free(job->texts[i]);
	vec_release(&u.jobs);
	return r;
}
