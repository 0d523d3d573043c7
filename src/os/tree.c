#include "os/tree.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"

struct walk {
	const struct tree_opts *opts;
	struct str path; /* of what is being looked at */
	char *top; /* resolved, once a link was found */
	struct map led; /* folders that links lead to */
};

static int walk_folder(struct walk *w, DIR *dir, unsigned depth);

static void report(const struct walk *w, int errnum)
{
	if (errnum != ENOENT && w->opts->on_error)
		w->opts->on_error(w->opts->data, w->path.buf, errnum);
}

/* Takes the descriptor in any case. */
static DIR *dir_of_fd(int fd)
{
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0) {
		int errnum = errno;
		(void)close(fd);
		errno = errnum;
	}
	return dir;
}

/* That is cheaper to ask before it is opened. */
static bool is_old(int parent, const char *name, int flags, int64_t since_ns)
{
	struct stat st;

	return since_ns > 0 && fstatat(parent, name, &st, flags) == 0 && S_ISDIR(st.st_mode) &&
		file_mtime_ns(&st) < since_ns;
}

/* By the name alone: what comes and goes meanwhile changes nothing for the others. */
static bool is_of_part(const struct tree_opts *o, const char *name, unsigned depth)
{
	unsigned hash = 0;

	for (; *name; name++)
		hash = hash * 31 + (unsigned char)*name;
	return depth > 0 || o->parts < 2 || (hash ^ hash >> 16) % o->parts == o->part;
}

/* w->path is a link: to a folder that nothing else leads to. */
static bool leads_elsewhere(struct walk *w)
{
	struct sv top = sv_head(str_sv(&w->path), path_parent(str_sv(&w->path)).n);
	AUTO_FREE char *above = xmemdup0(top.p, top.n);
	AUTO_FREE char *real = NULL;
	struct stat st;

	if (stat(w->path.buf, &st) < 0 || !S_ISDIR(st.st_mode) ||
		path_real(w->path.buf, &real, NULL) < 0 ||
		(!w->top && path_real(above, &w->top, NULL) < 0))
		return false;
	return !path_within(sv_of(real), sv_of(w->top)) &&
		!path_within(sv_of(w->top), sv_of(real)) && map_put(&w->led, sv_of(real), 1);
}

static int enter(struct walk *w, int parent, const char *name, bool link, unsigned depth)
{
	if (depth >= w->opts->depth && w->opts->on_deep)
		return w->opts->on_deep(w->opts->data, w->path.buf);
	if (depth >= w->opts->depth || !is_of_part(w->opts, name, depth) ||
		is_old(parent, name, link ? 0 : AT_SYMLINK_NOFOLLOW, w->opts->since_ns))
		return 0;
	DIR *dir = dir_of_fd(openat(parent, name,
		O_RDONLY | O_DIRECTORY | (link ? 0 : O_NOFOLLOW) | O_NONBLOCK | O_CLOEXEC));
	if (!dir) {
		report(w, errno);
		return 0;
	}
	int r = walk_folder(w, dir, depth + 1);
	(void)closedir(dir);
	return r;
}

static int give_file(
	struct walk *w, struct sv name, unsigned depth, const struct stat *st, bool link)
{
	const struct tree_file file = {
		.path = w->path.buf,
		.name = sv_from(str_sv(&w->path), w->path.len - name.n),
		.depth = depth,
		.size = (uint64_t)st->st_size,
		.mtime_ns = file_mtime_ns(st),
		.ctime_ns = file_ctime_ns(st),
		.inode = st->st_ino,
		.device = st->st_dev,
		.link = link,
	};

	return w->opts->on_file(w->opts->data, &file);
}

/* One that leads round in a circle leads nowhere, like one to what is gone. */
static int look_at_link(
	struct walk *w, int parent, const struct dirent *entry, unsigned depth, bool wanted)
{
	struct stat st;

	if (w->opts->links && depth == 0 && leads_elsewhere(w))
		return enter(w, parent, entry->d_name, true, depth);
	if (!w->opts->file_links || !wanted)
		return 0;
	if (fstatat(parent, entry->d_name, &st, 0) < 0) {
		report(w, errno == ELOOP ? ENOENT : errno);
		return 0;
	}
	return S_ISREG(st.st_mode) ? give_file(w, sv_of(entry->d_name), depth, &st, true) : 0;
}

/* w->path already ends with the name. */
static int look_at(struct walk *w, int parent, const struct dirent *entry, unsigned depth)
{
	struct stat st;
	struct sv name = sv_of(entry->d_name);
	bool wanted = sv_ends(name, w->opts->suffix) ||
		(w->opts->or_suffix.n > 0 && sv_ends(name, w->opts->or_suffix));

	wanted = wanted && (depth > 0 || w->opts->part == 0);
	if (entry->d_type == DT_DIR)
		return enter(w, parent, entry->d_name, false, depth);
	if (entry->d_type == DT_LNK)
		return look_at_link(w, parent, entry, depth, wanted);
	if (entry->d_type != DT_UNKNOWN && (entry->d_type != DT_REG || !wanted))
		return 0;
	if (fstatat(parent, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		report(w, errno);
		return 0;
	}
	if (S_ISDIR(st.st_mode))
		return enter(w, parent, entry->d_name, false, depth);
	if (S_ISLNK(st.st_mode))
		return look_at_link(w, parent, entry, depth, wanted);
	return S_ISREG(st.st_mode) && wanted ? give_file(w, name, depth, &st, false) : 0;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static int walk_folder(struct walk *w, DIR *dir, unsigned depth)
{
	size_t len = w->path.len;
	int r = 0;

	while (r == 0) {
		errno = 0;
		const struct dirent *entry = readdir(dir);
		if (!entry) {
			if (errno != 0)
				report(w, errno);
			break;
		}
		if (is_dots(entry->d_name))
			continue;
		if (w->path.buf[len - 1] != '/')
			str_addc(&w->path, '/');
		str_adds(&w->path, entry->d_name);
		r = look_at(w, dirfd(dir), entry, depth);
		str_cut(&w->path, len);
	}
	return r;
}

int tree_walk(const char *top, const struct tree_opts *opts, struct err *reterr)
{
	struct walk w = { .opts = opts, .path = STR_INIT };

	assert(opts->depth <= TREE_DEPTH_MAX && top[0] != '\0');
	if (is_old(AT_FDCWD, top, 0, opts->since_ns))
		return 0;
	DIR *dir = opendir(top);
	if (!dir)
		return err_errno(reterr, errno, "open folder %s", top);
	str_adds(&w.path, top);
	int r = walk_folder(&w, dir, 0);
	(void)closedir(dir);
	str_release(&w.path);
	map_release(&w.led);
	free(w.top);
	return r;
}
