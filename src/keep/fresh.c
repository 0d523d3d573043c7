#include "keep/fresh.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "os/file.h"
#include "os/path.h"
#include "os/pool.h"
#include "store/catalogue.h"

enum {
	RECENT_MIN = 64, /* sessions that are looked at in any case … */
	RECENT_US = 700, /* … and as many as this allows, those first that were active last */
	LOOK_EVERY = 16, /* of them, between two looks at the clock */
	CHANGED_MAX = 256, /* files that are taken in; for more the rest is waited for */
	CHECK_EVERY_MS = 60 * 1000,
	BUSY_MS = 2, /* between two looks whether another one is done */
	REST_US = 200, /* between two whether the thread is */
	REST_FILES = 4000, /* that it has looked at when the search has added up, or soon after */
	REST_MS = 10, /* that it is waited for then, */
	REST_ALL_MS = 5000, /* … and where nothing else was found */
	PART_FILES = 512, /* that one thread looks at, at a time */
	COARSE_MS = 20, /* the file system's clock runs behind by so much */
};

/* True once in CHECK_EVERY_MS, whichever process asks: searches in a row start one index. */
static bool is_due(const char *index_dir)
{
	AUTO_FREE char *stamp = path_join(index_dir, "started");
	AUTO_CLOSE int fd = open(stamp, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct timespec now;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0)
		return false;
	/* A new one has the time of now, but nothing in it. */
	bool due = st.st_size == 0 || now.tv_sec - st.st_mtim.tv_sec >= CHECK_EVERY_MS / 1000 ||
		now.tv_sec < st.st_mtim.tv_sec;
	return due && pwrite(fd, "\n", 1, 0) == 1;
}

/* ---- what has changed ---- */

struct recent {
	int64_t since_ms; /* written to since then */
	int64_t end_us; /* of the clock that goes on */
	size_t looked; /* at so many sessions */
	struct strv known; /* one of each folder */
	struct map folders;
	struct strv changed;
	struct map seen; /* what is among these */
	bool cut; /* not all were looked at */
};

static void recent_release(struct recent *r)
{
	strv_release(&r->known);
	map_release(&r->folders);
	strv_release(&r->changed);
	map_release(&r->seen);
}

static int64_t now_us(void)
{
	struct timespec now = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void add_changed(struct recent *r, const char *path)
{
	if (r->changed.n < CHANGED_MAX && map_put(&r->seen, sv_of(path), 1))
		strv_add(&r->changed, path);
}

static void add_folder(struct recent *r, const char *path)
{
	if (map_put(&r->folders, path_parent(sv_of(path)), 1))
		strv_add(&r->known, path);
}

static bool is_newer(const struct recent *r, const char *path, struct stat *ret)
{
	return stat(path, ret) == 0 && file_ctime_ns(ret) / 1000000 >= r->since_ms;
}

static int on_new(void *data, const struct transcript_file *file)
{
	/* Nobody has written to it yet. */
	if (file->size > 0)
		add_changed(data, file->path);
	return 0;
}

static int on_recent(void *data, const char *path)
{
	struct recent *r = data;
	struct stat st;

	add_folder(r, path);
	if (is_newer(r, path, &st))
		add_changed(r, path);
	r->cut = ++r->looked >= RECENT_MIN && r->looked % LOOK_EVERY == 0 && now_us() >= r->end_us;
	return r->cut;
}

/* Whether names that an agent keeps beside its sessions have to be taken in. */
static bool find_changed(const struct keeper *k, struct index_view *view, struct recent *r)
{
	bool named = false;

	r->end_us = now_us() + RECENT_US;
	/* What cannot be looked at is missing until everything is. */
	if (catalogue_recent(k->store, on_recent, r, NULL) < 0 || r->looked == 0)
		r->cut = true;
	for (size_t i = 0; i < k->n_homes; i++) {
		AUTO_FREE char *names = transcript_names_file(&k->homes[i]);
		struct stat st;
		named |= names && is_newer(r, names, &st) &&
			!index_view_has_names(view, k->homes[i].agent, &st);
		(void)!transcript_walk_new(
			&k->homes[i], &r->known, r->since_ms * 1000000, on_new, r, NULL);
	}
	r->cut |= r->changed.n >= CHANGED_MAX;
	return named;
}

/* ---- all others ---- */

struct known_file {
	struct transcript_file file; /* as the index has it */
	char *path; /* that of file */
	bool changed;
};

struct fresh_rest {
	pthread_t thread;
	bool begun, started; /* the second: by a thread */
	struct keeper k;
	struct recent recent;
	VEC(struct known_file) files;
	atomic_bool stop, done;
};

static int on_known(void *data, const struct transcript_file *file)
{
	struct fresh_rest *rest = data;
	struct known_file known = { .file = *file, .path = xstrdup(file->path) };

	known.file.path = known.path;
	vec_push(&rest->files, known);
	return atomic_load(&rest->stop);
}

/* Most of the time goes to the system, which is asked about every file: on several threads. */
static int look_at_part(void *data, size_t part, unsigned worker UNUSED, struct err *reterr UNUSED)
{
	struct fresh_rest *rest = data;
	struct stat st;

	for (size_t i = part * PART_FILES;
		i < rest->files.n && i < (part + 1) * PART_FILES && !atomic_load(&rest->stop);
		i++) {
		struct known_file *k = &rest->files.v[i];
		const struct transcript_file *was = &k->file;
		if (stat(k->path, &st) < 0)
			continue;
		/* One that was not read to its end is left to who reads all. */
		k->changed = was->mtime_ns == 0
			? file_ctime_ns(&st) / 1000000 >= rest->recent.since_ms
			: st.st_dev != was->dev || st.st_ino != was->ino ||
				(uint64_t)st.st_size != was->size ||
				file_mtime_ns(&st) != was->mtime_ns ||
				file_ctime_ns(&st) != was->ctime_ns;
	}
	return 0;
}

static int on_rest_new(void *data, const struct transcript_file *file)
{
	struct fresh_rest *rest = data;

	(void)on_new(&rest->recent, file);
	return atomic_load(&rest->stop) ? ERR_CANCELLED : 0;
}

static void *look_at_rest(void *data)
{
	struct fresh_rest *rest = data;
	struct recent *r = &rest->recent;
	const struct keeper *k = &rest->k;

	r->cut = index_known(k->index_dir, on_known, rest, NULL) != 0 ||
		pool_each(0, (rest->files.n + PART_FILES - 1) / PART_FILES, look_at_part, rest,
			NULL) < 0;
	vec_each (&rest->files, file) {
		add_folder(r, file->path);
		if (file->changed)
			add_changed(r, file->path);
	}
	for (size_t i = 0; i < k->n_homes && !r->cut; i++)
		r->cut = atomic_load(&rest->stop) ||
			transcript_walk_new(&k->homes[i], &r->known, r->since_ms * 1000000,
				on_rest_new, rest, NULL) < 0;
	r->cut |= r->changed.n >= CHANGED_MAX;
	atomic_store(&rest->done, true);
	return NULL;
}

static void rest_free(struct fresh_rest *rest)
{
	if (!rest)
		return;
	atomic_store(&rest->stop, true);
	if (rest->started)
		(void)pthread_join(rest->thread, NULL);
	recent_release(&rest->recent);
	vec_each (&rest->files, file)
		free(file->path);
	vec_release(&rest->files);
	free(rest);
}

static void rest_begin(struct fresh_rest *rest)
{
	rest->begun = true;
	rest->started = thread_start(&rest->thread, look_at_rest, rest) == 0;
	if (!rest->started)
		(void)look_at_rest(rest);
}

static struct fresh_rest *rest_new(const struct keeper *k, int64_t since_ms)
{
	struct fresh_rest *rest = xcalloc(1, sizeof(*rest));

	rest->k = *k;
	rest->recent.since_ms = since_ms;
	return rest;
}

/* ---- the view ---- */

/* Whether the index has these files as they are. */
static bool has_all(struct index_view *view, const struct strv *paths)
{
	for (size_t i = 0; i < paths->n; i++) {
		struct stat st;
		if (stat(paths->v[i], &st) == 0 && !index_view_has(view, paths->v[i], &st))
			return false;
	}
	return true;
}

/* Since everything was looked at last a search or a watch may have read them: these go from the
 * list. */
static void drop_had(const struct keeper *k, struct index_view **view, struct recent *r)
{
	struct index_view *later = NULL;
	struct strv left = STRV_INIT;

	for (size_t i = 0; i < r->changed.n; i++) {
		struct stat st;
		if (stat(r->changed.v[i], &st) < 0 || !index_view_has(*view, r->changed.v[i], &st))
			strv_add(&left, r->changed.v[i]);
	}
	strv_release(&r->changed);
	r->changed = left;
	/* Had just now by another one: not by this view yet. */
	if (index_view_old(*view) && index_view_open(k->index_dir, &later, NULL) >= 0) {
		index_view_close(*view);
		*view = later;
	}
}

/*
 * Takes them in and opens the view anew. Another one who writes at the same time, as a watch does,
 * may have begun before the last of it was there, but is mostly done at once: it is waited for
 * until it has them or the budget is spent. ERR_BUSY: they may be missing.
 */
static int take_in(const struct keeper *k, const struct strv *changed, int64_t budget_ms,
	struct index_view **view, struct index_stats *ret, struct err *reterr)
{
	const struct timespec pause = { 0, BUSY_MS * 1000000L };
	int64_t begun = clock_run_ms();

	for (;;) {
		int64_t rest = budget_ms - (clock_run_ms() - begun);
		int r = keeper_index_files(k, changed, rest > 1 ? rest : 1, ret, reterr);
		/* Asked before the view is opened anew: what is had then, the view has. */
		bool had = r == ERR_BUSY && has_all(*view, changed);
		struct index_view *later = NULL;
		if ((r >= 0 || had || (r == ERR_BUSY && rest <= 1)) &&
			index_view_open(k->index_dir, &later, NULL) >= 0) {
			index_view_close(*view);
			*view = later;
		}
		if (had || r != ERR_BUSY || rest <= 1)
			return had ? 0 : r;
		(void)nanosleep(&pause, NULL);
	}
}

static int first_view(
	const struct keeper *k, int64_t budget_ms, struct fresh *ret, struct err *reterr)
{
	struct index_stats stats = { .files = 0 };
	struct index_view *view = NULL;
	int r = keeper_index_files(k, NULL, budget_ms, &stats, reterr);

	/* Somebody else is at it: what is there will do, and an error only when nothing is. */
	if (r >= 0 || r == ERR_BUSY)
		r = index_view_open(k->index_dir, &view, reterr);
	if (r < 0)
		return r;
	*ret = (struct fresh){
		.view = view, .stats = stats, .due = stats.left > 0 && is_due(k->index_dir)
	};
	return 0;
}

void fresh_release(struct fresh *f)
{
	rest_free(TAKE_PTR(f->rest));
	index_view_close(TAKE_PTR(f->view));
}

bool fresh_rest(const struct keeper *k, struct fresh *f, bool all, int64_t budget_ms)
{
	const struct timespec pause = { 0, REST_US * 1000L };
	const struct index_view *before = f->view;
	struct index_stats stats = { .files = 0 };
	struct err failed = ERR_INIT;

	f->unseen = f->rest && !f->rest->begun && !all;
	if (!f->rest || f->unseen)
		return false;
	if (!f->rest->begun)
		rest_begin(f->rest);
	int64_t end_us = now_us() + (all ? REST_ALL_MS : REST_MS) * 1000;
	while (!atomic_load(&f->rest->done)) {
		f->unseen = now_us() >= end_us;
		if (f->unseen)
			return false;
		(void)nanosleep(&pause, NULL);
	}
	drop_had(k, &f->view, &f->rest->recent);
	bool more = f->view != before;
	before = f->view;
	const struct strv *changed = &f->rest->recent.changed;
	int r = changed->n == 0 ? 0 : take_in(k, changed, budget_ms, &f->view, &stats, &failed);
	f->unseen = f->rest->recent.cut;
	f->stats.left += stats.left;
	f->busy |= r == ERR_BUSY;
	if (r < 0 && r != ERR_BUSY)
		f->failed = failed;
	rest_free(TAKE_PTR(f->rest));
	return more || f->view != before;
}

int fresh_view(const struct keeper *k, int64_t budget_ms, int64_t first_ms, struct fresh *ret,
	struct err *reterr)
{
	CLEANUP(recent_release)
	struct recent recent = { .known = STRV_INIT, .changed = STRV_INIT };
	struct index_stats stats = { .files = 0 };
	struct index_view *view = NULL;
	int r = 0;

	if (index_view_open(k->index_dir, &view, NULL) < 0)
		return first_view(k, first_ms, ret, reterr);
	int64_t checked_ms = index_view_checked_ms(view);
	recent.since_ms = checked_ms > COARSE_MS ? checked_ms - COARSE_MS : 0;
	struct err failed = ERR_INIT;
	/* Nothing that was moved along looks as if it were new. */
	bool moved = index_view_moved(view, k->homes, k->n_homes);
	if (moved)
		(void)!catalogue_follow(k->store, k->homes, k->n_homes, NULL);
	bool named = find_changed(k, view, &recent);
	bool many = recent.changed.n == CHANGED_MAX;
	drop_had(k, &view, &recent);
	if (moved || named || recent.changed.n > 0)
		r = take_in(k, &recent.changed, budget_ms, &view, &stats, &failed);
	bool late = clock_wall_ms(k->clock) - checked_ms > CHECK_EVERY_MS;
	bool wanted = late || stats.left > 0 || many;
	/* Who writes now takes it in. */
	if (r >= 0 || r == ERR_BUSY)
		failed.code = 0;
	*ret = (struct fresh){ .view = view,
		.rest = recent.cut ? rest_new(k, recent.since_ms) : NULL,
		.checked_ms = checked_ms,
		.stats = stats,
		.never = checked_ms == 0,
		.busy = r == ERR_BUSY,
		.failed = failed,
		.due = wanted && is_due(k->index_dir) };
	/* With many it would not come to its end in that time, and only be in the search's way. */
	bool few = index_view_sources(view) <= REST_FILES;
	if (ret->rest && ((late && few) || recent.looked < RECENT_MIN))
		rest_begin(ret->rest);
	return 0;
}
