#include "keep/fresh.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "store/catalogue.h"

enum {
	RECENT = 64, /* sessions that are looked at, and with their folders */
	CHANGED_MAX = 256, /* files that are taken in; for more the rest is waited for */
	CHECK_EVERY_MS = 60 * 1000,
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
	struct strv known; /* sessions that were active last */
	struct strv changed;
	struct map seen; /* what is among these */
};

static void recent_release(struct recent *r)
{
	strv_release(&r->known);
	strv_release(&r->changed);
	map_release(&r->seen);
}

static void add_changed(struct recent *r, const char *path)
{
	if (r->changed.n < CHANGED_MAX && map_put(&r->seen, sv_of(path), 1))
		strv_add(&r->changed, path);
}

static bool is_newer(const struct recent *r, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 &&
		(int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 >= r->since_ms;
}

static int on_new(void *data, const struct transcript_file *file)
{
	add_changed(data, file->path);
	return 0;
}

/* True when there is something to take in. */
static bool find_changed(const struct keeper *k, struct recent *r)
{
	bool named = false;

	/* What cannot be looked at is missing until everything is. */
	(void)!catalogue_recent(k->store, RECENT, &r->known, NULL);
	for (size_t i = 0; i < r->known.n; i++)
		if (is_newer(r, r->known.v[i]))
			add_changed(r, r->known.v[i]);
	for (size_t i = 0; i < k->n_homes; i++) {
		AUTO_FREE char *names = transcript_names_file(&k->homes[i]);
		named |= names && is_newer(r, names);
		(void)!transcript_walk_new(
			&k->homes[i], &r->known, r->since_ms * 1000000, on_new, r, NULL);
	}
	return named || r->changed.n > 0;
}

/* ---- the view ---- */

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
		.view = view, .left = stats.left, .due = stats.left > 0 && is_due(k->index_dir)
	};
	return 0;
}

int fresh_view(const struct keeper *k, int64_t budget_ms, int64_t first_ms, struct fresh *ret,
	struct err *reterr)
{
	CLEANUP(recent_release)
	struct recent recent = { .known = STRV_INIT, .changed = STRV_INIT };
	struct index_stats stats = { .files = 0 };
	struct index_view *view = NULL, *later = NULL;

	if (index_view_open(k->index_dir, &view, NULL) < 0)
		return first_view(k, first_ms, ret, reterr);
	int64_t checked_ms = index_view_checked_ms(view);
	recent.since_ms = checked_ms > COARSE_MS ? checked_ms - COARSE_MS : 0;
	struct err failed = ERR_INIT;
	if (find_changed(k, &recent) &&
		keeper_index_files(k, &recent.changed, budget_ms, &stats, &failed) >= 0 &&
		index_view_open(k->index_dir, &later, NULL) >= 0) {
		index_view_close(view);
		view = later;
	}
	bool wanted = clock_wall_ms(k->clock) - checked_ms > CHECK_EVERY_MS || stats.left > 0 ||
		recent.changed.n == CHANGED_MAX;
	/* Who writes now takes it in. */
	if (failed.code == ERR_BUSY)
		failed.code = 0;
	*ret = (struct fresh){ .view = view,
		.left = stats.left,
		.never = checked_ms == 0,
		.failed = failed,
		.due = wanted && is_due(k->index_dir) };
	return 0;
}
