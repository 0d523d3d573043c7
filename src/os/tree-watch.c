#include "os/tree-watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "os/path.h"
#include "os/tree.h"

enum { BUFFER = 64 * 1024, LINKS_DEPTH = 2 /* folders below top that may be links */ };

struct tree_watch {
	struct loop *loop;
	tree_watch_fn fn;
	void *data;
	int fd;
	struct loop_source *source;
	VEC(char *)
	folders; /* by the number of the watch, which the kernel counts up; NULL: none */
	struct strv tops;
	struct strv missing; /* of these, that are waited for */
	const char *top; /* that is being added */
};

static bool add(struct tree_watch *w, const char *folder, unsigned depth);

/* A link to a folder that is not watched anyway. */
static bool leads_elsewhere(const struct tree_watch *w, const char *path)
{
	AUTO_FREE char *real = NULL;
	AUTO_FREE char *top = NULL;
	struct stat st;

	return w->top && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
		path_real(path, &real, NULL) == 0 && path_real(w->top, &top, NULL) == 0 &&
		!path_within(sv_of(real), sv_of(top)) && !path_within(sv_of(top), sv_of(real));
}

/* The folders in it; where one is new, so may be what is in it. */
static bool add_below(struct tree_watch *w, const char *folder, unsigned depth)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	bool all = dir != NULL;

	while (dir && (entry = readdir(dir))) {
		struct stat st;
		if (entry->d_name[0] == '.' &&
			(!entry->d_name[1] || (entry->d_name[1] == '.' && !entry->d_name[2])))
			continue;
		if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN &&
			entry->d_type != DT_LNK)
			continue;
		AUTO_FREE char *path = path_join(folder, entry->d_name);
		if (entry->d_type != DT_DIR &&
			(lstat(path, &st) < 0 ||
				!(S_ISDIR(st.st_mode) ||
					(S_ISLNK(st.st_mode) && depth < LINKS_DEPTH &&
						leads_elsewhere(w, path)))))
			continue;
		if (!add(w, path, depth + 1))
			all = false;
	}
	if (dir)
		(void)closedir(dir);
	return all;
}

static bool add(struct tree_watch *w, const char *folder, unsigned depth)
{
	const uint32_t events = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO |
		IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR | IN_EXCL_UNLINK;
	int wd = inotify_add_watch(w->fd, folder,
		events | (depth > LINKS_DEPTH ? (uint32_t)IN_DONT_FOLLOW : 0) |
			(depth == 0 ? (uint32_t)IN_MOVE_SELF : 0));

	if (wd < 0)
		return errno == ENOENT && depth > 0; /* gone again is no trouble */
	while (w->folders.n <= (size_t)wd)
		vec_push(&w->folders, NULL);
	free(w->folders.v[wd]);
	w->folders.v[wd] = xstrdup(folder);
	return depth >= TREE_DEPTH_MAX || add_below(w, folder, depth);
}

static const char *find(const struct strv *list, const char *path)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i], path) == 0)
			return list->v[i];
	return NULL;
}

static void add_once(struct strv *list, const char *path)
{
	if (!find(list, path))
		strv_add(list, path);
}

/* What comes into the nearest folder that is there may be it, or lead to it. */
static void wait_for(struct tree_watch *w, const char *top)
{
	AUTO_FREE char *folder = xstrdup(top);
	int wd = -1;

	while (wd < 0 && folder[0] == '/' && folder[1]) {
		char *above = path_folder(folder);
		free(folder);
		folder = above;
		wd = inotify_add_watch(
			w->fd, folder, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_MASK_ADD);
	}
	add_once(&w->missing, top);
}

bool tree_watch_add(struct tree_watch *w, const char *top)
{
	add_once(&w->tops, top);
	w->top = top;
	bool all = add(w, top, 0);
	w->top = NULL;
	if (!all && !path_exists(top))
		wait_for(w, top);
	return all;
}

/* True when one of them has come. */
static bool look_for_missing(struct tree_watch *w)
{
	struct strv missing = w->missing;
	bool came = false;

	w->missing = (struct strv)STRV_INIT;
	for (size_t i = 0; i < missing.n; i++) {
		came |= path_exists(missing.v[i]);
		(void)tree_watch_add(w, missing.v[i]);
	}
	strv_release(&missing);
	return came;
}

/* A top was moved away or removed: what is told from there is not of it any more, and another may
 * take its place. */
static void begin_again(struct tree_watch *w, const char *top)
{
	for (size_t i = 0; i < w->folders.n; i++) {
		if (!w->folders.v[i] || !path_within(sv_of(w->folders.v[i]), sv_of(top)))
			continue;
		(void)inotify_rm_watch(w->fd, (int)i);
		free(TAKE_PTR(w->folders.v[i]));
	}
	(void)tree_watch_add(w, top);
	w->fn(w->data, NULL);
}

static void on_event(struct tree_watch *w, const struct inotify_event *event)
{
	size_t wd = (size_t)event->wd;

	if (event->mask & IN_Q_OVERFLOW) {
		/* Folders that were made meanwhile are among what was missed. */
		for (size_t i = 0; i < w->tops.n; i++)
			(void)tree_watch_add(w, w->tops.v[i]);
		w->fn(w->data, NULL);
		return;
	}
	/* It may be made in several steps, and be there after the last of them. */
	if (w->missing.n > 0 && event->mask & (IN_CREATE | IN_MOVED_TO | IN_IGNORED) &&
		look_for_missing(w))
		w->fn(w->data, NULL);
	if (event->wd < 0 || wd >= w->folders.n || !w->folders.v[wd])
		return;
	const char *top = find(&w->tops, w->folders.v[wd]);
	if (top && event->mask & (IN_MOVE_SELF | IN_IGNORED)) {
		begin_again(w, top);
		return;
	}
	if (event->mask & IN_IGNORED) {
		free(TAKE_PTR(w->folders.v[wd]));
		return;
	}
	if (event->len == 0)
		return;
	AUTO_FREE char *path = path_join(w->folders.v[wd], event->name);
	if (!(event->mask & IN_ISDIR)) {
		w->fn(w->data, path);
		return;
	}
	/* What came into it before it was watched is told by nobody. */
	if (event->mask & (IN_CREATE | IN_MOVED_TO)) {
		(void)add(w, path, 1);
		w->fn(w->data, NULL);
	}
}

static void on_readable(void *data, short revents UNUSED)
{
	struct tree_watch *w = data;
	_Alignas(struct inotify_event) char buf[BUFFER];
	ssize_t n = read(w->fd, buf, sizeof(buf));

	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *event = (const void *)(buf + at);
		at += (ssize_t)(sizeof(*event) + event->len);
		on_event(w, event);
	}
}

struct tree_watch *tree_watch_new(
	struct loop *loop, tree_watch_fn fn, void *data, struct err *reterr)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd < 0) {
		(void)err_errno(reterr, errno, "cannot watch folders");
		return NULL;
	}
	struct tree_watch *w = xcalloc(1, sizeof(*w));
	*w = (struct tree_watch){ .loop = loop, .fn = fn, .data = data, .fd = fd };
	w->source = loop_add_fd(loop, fd, POLLIN, on_readable, w);
	return w;
}

void tree_watch_free(struct tree_watch *w)
{
	if (!w)
		return;
	loop_remove(w->loop, w->source);
	(void)close(w->fd);
	vec_each (&w->folders, folder)
		free(*folder);
	vec_release(&w->folders);
	strv_release(&w->tops);
	strv_release(&w->missing);
	free(w);
}
