#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "os/file.h"
#include "os/folder.h"
#include "os/path.h"

#define TEMP_PREFIX ".faden-"
#define TEMP_SUFFIX ".tmp"

enum {
	NAME_TRIES = 16,
	PIECES = 64, /* of one call */
	START_AT = 8 * 1024 * 1024, /* what is written goes to the disk in pieces of this size */
};

/* ---- making ---- */

/* A link is kept and the file it points to is replaced: people link their settings elsewhere. */
static char *follow_link(const char *path)
{
	struct stat st;
	char *real = NULL;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && path_real(path, &real, NULL) == 0)
		return real;
	return xstrdup(path);
}

static char *temp_name(const char *path)
{
	struct sv folder = path_parent(sv_of(path));
	char id[UUID_TEXT];

	uuid_new(id);
	return xasprintf("%.*s%s" TEMP_PREFIX "%s" TEMP_SUFFIX, SV_ARG(folder),
		sv_is(folder, "/") ? "" : "/", id);
}

static mode_t mode_to_give(const char *path, mode_t mode)
{
	struct stat st;

	if (mode != 0)
		return mode;
	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0600;
}

static int create_temp(struct file_new *f)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		AUTO_FREE char *temp = temp_name(f->path);
		int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0) {
			f->fd = fd;
			f->temp = TAKE_PTR(temp);
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

int file_new_open(struct file_new *f, const char *path, mode_t mode, struct err *reterr)
{
	*f = (struct file_new)FILE_NEW_INIT;
	f->path = follow_link(path);
	int r = create_temp(f);
	if (r < 0) {
		file_new_release(f);
		return err_errno(reterr, -r, "create a file beside %s", path);
	}
	/* The lock says that the writer lives; without it, the age alone protects the file. */
	(void)flock(f->fd, LOCK_EX | LOCK_NB);
	if (fchmod(f->fd, mode_to_give(f->path, mode)) < 0) {
		r = err_errno(reterr, errno, "set the mode of %s", f->temp);
		file_new_release(f);
	}
	return r;
}

static int open_unnamed(const char *path)
{
	struct sv folder = path_parent(sv_of(path));
	AUTO_FREE char *dir = xmemdup0(folder.p, folder.n);

	/* The name is given later through /proc. */
	if (access("/proc/self/fd", X_OK) < 0)
		return -1;
	return open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
}

int file_new_open_unnamed(struct file_new *f, const char *path, mode_t mode, struct err *reterr)
{
	AUTO_FREE char *target = follow_link(path);
	AUTO_CLOSE int fd = open_unnamed(target);

	if (fd < 0 || fchmod(fd, mode_to_give(target, mode)) < 0)
		return file_new_open(f, path, mode, reterr);
	*f = (struct file_new)FILE_NEW_INIT;
	f->path = TAKE_PTR(target);
	f->fd = TAKE_FD(fd);
	return 0;
}

/* The disk works while more is made: the sync at the end has less to wait for. Where the system
 * cannot, that sync does it all. */
static void start_writing(struct file_new *f)
{
	if (f->written - f->started < START_AT)
		return;
	(void)sync_file_range(
		f->fd, (off_t)f->started, (off_t)(f->written - f->started), SYNC_FILE_RANGE_WRITE);
	f->started = f->written;
}

int file_new_write(struct file_new *f, struct sv data, struct err *reterr)
{
	int r = file_write_all(f->fd, data, reterr);

	if (r < 0) {
		err_prefix(reterr, "%s", f->path);
		return r;
	}
	f->written += data.n;
	start_writing(f);
	return 0;
}

/* What a call left over of the pieces: all but the first `done` bytes. */
static int write_rest(int fd, const struct sv *pieces, size_t n, size_t done, struct err *reterr)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		size_t skip = done < pieces[i].n ? done : pieces[i].n;
		r = file_write_all(fd, sv_from(pieces[i], skip), reterr);
		done -= skip;
	}
	return r;
}

/* The same type serves those who read into it, so it has no const. */
static struct iovec to_iovec(struct sv piece)
{
	struct iovec v = { .iov_len = piece.n };

	memcpy(&v.iov_base, &piece.p, sizeof(v.iov_base));
	return v;
}

static int write_some(struct file_new *f, const struct sv *pieces, size_t n, struct err *reterr)
{
	struct iovec iov[PIECES];

	for (size_t i = 0; i < n; i++) {
		iov[i] = to_iovec(pieces[i]);
		f->written += pieces[i].n;
	}
	ssize_t done = writev(f->fd, iov, (int)n);
	if (done < 0 && errno != EINTR && errno != EAGAIN)
		return err_errno(reterr, errno, "write");
	return write_rest(f->fd, pieces, n, done > 0 ? (size_t)done : 0, reterr);
}

int file_new_writev(struct file_new *f, const struct sv *pieces, size_t n, struct err *reterr)
{
	for (size_t some; n > 0; pieces += some, n -= some) {
		some = n < PIECES ? n : PIECES;
		int r = write_some(f, pieces, some, reterr);
		if (r < 0) {
			err_prefix(reterr, "%s", f->path);
			return r;
		}
		start_writing(f);
	}
	return 0;
}

/* ---- giving it its name ---- */

static int finish_content(struct file_new *f, struct err *reterr)
{
	if (fsync(f->fd) < 0)
		return err_errno(reterr, errno, "sync %s", f->path);
	if (f->temp && close(TAKE_FD(f->fd)) < 0 && errno != EINTR)
		return err_errno(reterr, errno, "close %s", f->path);
	return 0;
}

static void forget_temp(struct file_new *f)
{
	free(TAKE_PTR(f->temp));
}

/* A file without a name gets one; like every link, never one that exists. */
static int name_unnamed(const struct file_new *f, const char *path)
{
	AUTO_FREE char *from = xasprintf("/proc/self/fd/%d", f->fd);

	return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Replacing needs a name to rename from. */
static int name_temp(struct file_new *f, struct err *reterr)
{
	AUTO_FREE char *temp = temp_name(f->path);
	int r = name_unnamed(f, temp);

	if (r < 0)
		return err_errno(reterr, -r, "create a file beside %s", f->path);
	f->temp = TAKE_PTR(temp);
	return 0;
}

int file_new_commit(struct file_new *f, struct err *reterr)
{
	int r = finish_content(f, reterr);

	if (r == 0 && !f->temp)
		r = name_temp(f, reterr);
	if (r < 0)
		return r;
	if (rename(f->temp, f->path) < 0)
		return err_errno(reterr, errno, "rename to %s", f->path);
	forget_temp(f);
	return folder_sync_of(f->path, reterr);
}

/* link() refuses an existing name on every file system that has links at all. */
static int link_excl(const char *from, const char *to)
{
	if (link(from, to) < 0)
		return -errno;
	(void)unlink(from);
	return 0;
}

static int rename_excl(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EINVAL || errno == ENOSYS)
		return link_excl(from, to);
	return -errno;
}

int file_new_commit_excl(struct file_new *f, struct err *reterr)
{
	int r = finish_content(f, reterr);

	if (r < 0)
		return r;
	r = f->temp ? rename_excl(f->temp, f->path) : name_unnamed(f, f->path);
	if (r < 0)
		return err_errno(reterr, -r, "create %s", f->path);
	forget_temp(f);
	return folder_sync_of(f->path, reterr);
}

void file_new_release(struct file_new *f)
{
	if (f->temp)
		(void)unlink(f->temp);
	if (f->fd >= 0)
		(void)close(f->fd);
	free(f->temp);
	free(f->path);
	*f = (struct file_new)FILE_NEW_INIT;
}

int file_replace(const char *path, struct sv data, mode_t mode, struct err *reterr)
{
	CLEANUP(file_new_release) struct file_new f = FILE_NEW_INIT;
	int r = file_new_open(&f, path, mode, reterr);

	if (r == 0)
		r = file_new_write(&f, data, reterr);
	if (r == 0)
		r = file_new_commit(&f, reterr);
	return r;
}

/* ---- what a crash left behind ---- */

static bool is_temp_name(struct sv name)
{
	const struct sv prefix = SV(TEMP_PREFIX), suffix = SV(TEMP_SUFFIX);

	if (!sv_starts(name, prefix) || !sv_ends(name, suffix) || name.n < prefix.n + suffix.n)
		return false;
	return uuid_valid(sv_make(name.p + prefix.n, name.n - prefix.n - suffix.n));
}

static int64_t age_ms(const struct stat *st)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - st->st_mtim.tv_sec) * 1000 +
		(now.tv_nsec - st->st_mtim.tv_nsec) / 1000000;
}

static void sweep_one(int folder, const char *name, int64_t max_age_ms)
{
	struct stat st;
	AUTO_CLOSE int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || age_ms(&st) < max_age_ms)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		(void)unlinkat(folder, name, 0);
}

void file_sweep_temps(const char *folder, int64_t max_age_ms)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_temp_name(sv_of(entry->d_name)))
			sweep_one(dirfd(dir), entry->d_name, max_age_ms);
	if (dir)
		(void)closedir(dir);
}
