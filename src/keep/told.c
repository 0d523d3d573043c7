#include "keep/told.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"

/* Held by whoever writes or reads the list, for moments, and by the one who takes in what it says.
 * An agent waits for the hook that tells. */
static int lock(const char *state_dir, const char *name, bool wait, int *ret_fd, struct err *reterr)
{
	static const struct lock_wait moment = { .idle_ms = LOCK_STOPPED_MS };
	AUTO_FREE char *path = path_join(state_dir, name);

	return file_lock(path, wait ? &moment : NULL, ret_fd, reterr);
}
#define LIST "told"
#define LIST_LOCK "told.lock"
#define TAKING_LOCK "told.taking"

int told_add(const char *state_dir, const char *path, struct err *reterr)
{
	AUTO_FREE char *list = path_join(state_dir, LIST);
	AUTO_CLOSE int listed = -1;
	AUTO_CLOSE int taking = -1;
	struct stat st;
	int r = lock(state_dir, LIST_LOCK, true, &listed, reterr);

	if (r < 0)
		return r;
	if (stat(list, &st) == 0 && st.st_size > TOLD_MAX)
		(void)unlink(list);
	r = file_append(list, sv_make(path, strlen(path) + 1), false, reterr);
	if (r == 0)
		r = lock(state_dir, TAKING_LOCK, false, &taking, reterr);
	return r == ERR_BUSY ? 0 : r < 0 ? r : 1;
}

/* ---- taking in ---- */

struct heard {
	struct strv paths;
	struct map seen;
};

static void heard_release(struct heard *h)
{
	strv_release(&h->paths);
	map_release(&h->seen);
}

static int add_file(void *data, const struct transcript_file *file)
{
	struct heard *h = data;

	if (map_put(&h->seen, sv_of(file->path), 1))
		strv_add(&h->paths, file->path);
	return 0;
}

/* What the list holds, and it is gone then. Only sessions: anybody may have written to it. */
static int hear(const struct keeper *k, struct heard *ret, struct err *reterr)
{
	AUTO_FREE char *list = path_join(k->state_dir, LIST);
	AUTO_STR text = STR_INIT;
	struct sv path;
	int r = file_read(list, 2 * TOLD_MAX, &text, reterr);

	if (r == -ENOENT)
		return 0;
	if (unlink(list) < 0)
		return err_errno(reterr, errno, "remove %s", list);
	if (r < 0)
		return r;
	struct sv rest = str_sv(&text);
	while (sv_split(&rest, '\0', &path)) {
		AUTO_FREE char *name = xmemdup0(path.p, path.n);
		const struct transcript_home *home = transcript_home_of(k->homes, k->n_homes, name);
		if (!home || transcript_path_id(home->format, path).n == 0)
			continue;
		(void)add_file(ret, &(struct transcript_file){ .path = name });
		r = transcript_walk_session(home, name, add_file, ret, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_heard(
	const struct keeper *k, const struct heard *h, struct told_stats *ret, struct err *reterr)
{
	struct index_stats index = { .files = 0 };
	struct archive_update_stats archive = { .files = 0 };
	struct err err = ERR_INIT;
	/* Without an index the archive is worth as much. */
	int r = keeper_index_files(k, &h->paths, 0, &index, reterr);
	int kept = keeper_archive_files(k, &h->paths, &archive, r < 0 ? &err : reterr);

	ret->read += index.read;
	ret->bytes_read += index.bytes_read;
	ret->archived += archive.taken;
	return r < 0 ? r : kept;
}

int told_take(const struct keeper *k, int settle_ms, struct told_stats *ret, struct err *reterr)
{
	const struct timespec settle = { settle_ms / 1000, settle_ms % 1000 * 1000000L };
	AUTO_CLOSE int taking = -1;
	int r = lock(k->state_dir, TAKING_LOCK, false, &taking, reterr);

	*ret = (struct told_stats){ .read = 0 };
	if (r == ERR_BUSY)
		return 0;
	while (r >= 0) {
		CLEANUP(heard_release) struct heard heard = { .paths = STRV_INIT };
		AUTO_CLOSE int listed = -1;
		(void)nanosleep(&settle, NULL);
		r = lock(k->state_dir, LIST_LOCK, true, &listed, reterr);
		if (r >= 0)
			r = hear(k, &heard, reterr);
		if (r < 0 || heard.paths.n == 0) {
			/* Given back before the list is: who tells from now on finds nobody at it.
			 */
			(void)close(taking);
			taking = -1;
			return r;
		}
		(void)close(listed);
		listed = -1;
		r = take_heard(k, &heard, ret, reterr);
	}
	return r;
}
