#include "os/file.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "os/path.h"

#define TEMP_PREFIX ".faden-"
#define TEMP_SUFFIX ".tmp"

enum {
	READ_STEP = 64 * 1024, /* what is read at a time when the size is not known beforehand */
	NAME_TRIES = 16,
	LINKS_MAX = 40, /* of one path, as the system has it */
	PIECES = 256, /* of one call */
	START_AT = 8 * 1024 * 1024, /* what is written goes to the disk in pieces of this size */
	RESERVE_FROM = 16 * 1024 * 1024, /* a file that is as large gets its room on the disk … */
	RESERVE = 64 * 1024 * 1024, /* … by as much at once */
};

/* ---- reading ---- */

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a folder";
	case S_IFIFO:
		return "a pipe";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

static bool is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

int file_open(const char *path, struct stat *ret_st, struct err *reterr)
{
	struct stat st;
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 && errno == ENXIO) /* a socket, or a device without a driver */
		return err_set(reterr, ERR_INPUT, "%s is a socket, not a file", path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(reterr, errno, "open %s", path);
	if (!S_ISREG(st.st_mode) && !is_null_device(&st))
		return err_set(
			reterr, ERR_INPUT, "%s is %s, not a file", path, kind_of(st.st_mode));
	if (ret_st)
		*ret_st = st;
	return TAKE_FD(fd);
}

/* ---- what is no file, for output ---- */

/* Where a link leads, one step; NULL: it is none. */
static char *link_target(const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target));

	if (n <= 0 || (size_t)n == sizeof(target))
		return NULL;
	AUTO_FREE char *folder = path_folder(path);
	target[n] = '\0';
	return path_join(folder, target);
}

/* The number of the descriptor of ours that a path stands for; -1: it stands for none. */
static int descriptor_of(const char *path)
{
	AUTO_FREE char *own = NULL;
	AUTO_FREE char *at = xstrdup(path);
	bool able = path_real("/proc/self/fd", &own, NULL) >= 0;

	for (int i = 0; able && i < LINKS_MAX && at; i++) {
		AUTO_FREE char *folder = path_folder(at);
		AUTO_FREE char *real = NULL;
		long long n = -1;
		if (path_real(folder, &real, NULL) >= 0 && strcmp(real, own) == 0)
			return sv_parse_i64(path_base(sv_of(at)), &n) && n <= INT_MAX ? (int)n : -1;
		AUTO_FREE char *link = TAKE_PTR(at);
		at = link_target(link);
	}
	return -1;
}

int file_open_into(const char *path, int *ret_fd, struct err *reterr)
{
	struct stat st;
	int own = descriptor_of(path);

	/* Opening it would begin at its start, and cannot be done with a socket. All that we
	 * opened ourselves is close-on-exec, the store above all: nobody else's words go there. */
	if (own >= 0) {
		int flags = fcntl(own, F_GETFD);
		int fd = flags >= 0 && !(flags & FD_CLOEXEC) ? fcntl(own, F_DUPFD_CLOEXEC, 0) : -1;
		if (fd < 0)
			return err_errno(reterr, EBADF, "open %s", path);
		*ret_fd = fd;
		return 1;
	}
	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		return err_errno(reterr, EISDIR, "write %s", path);
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_errno(reterr, errno, "open %s", path);
	*ret_fd = fd;
	return 1;
}

/* ---- reading ---- */

static int read_all(int fd, size_t max, struct str *out)
{
	struct stat st;
	size_t want = max < READ_STEP ? max + 1 : READ_STEP;

	/* A first guess of the size; /proc and pipes say 0. One byte more finds the end in one
	 * read. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		want = ((size_t)st.st_size < max ? (size_t)st.st_size : max) + 1;
	for (;;) {
		if (!str_reserve(out, want))
			return ERR_LIMIT;
		ssize_t n = read(fd, out->buf + out->len, out->cap - out->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		out->len += (size_t)n;
		out->buf[out->len] = '\0';
		if (out->len > max)
			return ERR_LIMIT;
		want = out->cap - out->len > 1 ? 1 : READ_STEP;
	}
}

int file_read(const char *path, size_t max, struct str *out, struct err *reterr)
{
	str_clear(out);
	AUTO_CLOSE int fd = file_open(path, NULL, reterr);
	if (fd < 0)
		return fd;
	int r = read_all(fd, max, out);
	if (r == 0)
		return 0;
	str_clear(out);
	if (r == ERR_LIMIT)
		return err_set(reterr, r, "%s: larger than %zu bytes", path, max);
	return err_errno(reterr, -r, "read %s", path);
}

int file_read_at(int fd, uint64_t offset, size_t n, struct str *out, struct err *reterr)
{
	size_t before = out->len;

	if (!str_reserve(out, n))
		return err_set(reterr, ERR_LIMIT, "too many bytes");
	while (out->len - before < n) {
		size_t got = out->len - before;
		ssize_t more = pread(fd, out->buf + out->len, n - got, (off_t)(offset + got));
		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0) {
			int r = err_errno(reterr, errno, "read");
			str_cut(out, before);
			return r;
		}
		if (more == 0)
			break;
		out->len += (size_t)more;
	}
	out->buf[out->len] = '\0';
	return 0;
}

bool file_same(int a, int b, uint64_t offset, uint64_t n)
{
	enum { PIECE = 64 * 1024 };
	AUTO_STR left = STR_INIT, right = STR_INIT;

	while (n > 0) {
		size_t piece = n < PIECE ? (size_t)n : PIECE;
		str_clear(&left);
		str_clear(&right);
		if (file_read_at(a, offset, piece, &left, NULL) < 0 || left.len < piece ||
			file_read_at(b, offset, piece, &right, NULL) < 0 ||
			!sv_eq(str_sv(&left), str_sv(&right)))
			return false;
		offset += piece;
		n -= piece;
	}
	return true;
}

int file_open_temp(const char *folder, struct err *reterr)
{
	const char *const folders[] = { folder, "/var/tmp", "/tmp" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		int fd = open(folders[i], O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
	}
	/* Network file systems and older ones have none that never had a name. */
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		AUTO_FREE char *name = path_join(folders[i], TEMP_PREFIX "XXXXXX");
		int fd = mkostemp(name, O_CLOEXEC);
		if (fd < 0)
			continue;
		if (unlink(name) == 0)
			return fd;
		(void)close(fd);
	}
	return err_errno(reterr, errno, "a temporary file in %s, /var/tmp or /tmp", folder);
}

/* ---- folders ---- */

int folder_sync_of(const char *path, struct err *reterr)
{
	AUTO_FREE char *folder = path_folder(path);
	AUTO_CLOSE int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == EACCES ? 0 : err_errno(reterr, errno, "open %s", folder);
	if (fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP)
		return err_errno(reterr, errno, "sync %s", folder);
	return 0;
}

static int check_folder(const char *path, struct err *reterr)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_errno(reterr, errno, "folder %s", path);
	return S_ISDIR(st.st_mode) ? 0 : err_errno(reterr, ENOTDIR, "folder %s", path);
}

int file_mkdirs(const char *path, struct err *reterr)
{
	/* Nearly always it is there already. */
	if (check_folder(path, NULL) == 0)
		return 0;
	AUTO_FREE char *part = xstrdup(path);
	for (char *p = part + strspn(part, "/"); *p;) {
		p += strcspn(p, "/");
		char saved = *p;
		*p = '\0';
		if (mkdir(part, 0700) == 0) {
			int r = folder_sync_of(part, reterr);
			if (r < 0)
				return r;
		} else if (errno != EEXIST) {
			return err_errno(reterr, errno, "make folder %s", part);
		}
		*p = saved;
		p += strspn(p, "/");
	}
	return check_folder(path, reterr);
}

/* ---- writing ---- */

int file_write_all(int fd, struct sv data, struct err *reterr)
{
	while (data.n > 0) {
		ssize_t n = write(fd, data.p, data.n);
		if (n >= 0)
			data = sv_from(data, (size_t)n);
		else if (errno == EAGAIN)
			(void)poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
		else if (errno != EINTR)
			return err_errno(reterr, errno, "write");
	}
	return 0;
}

/*
 * Takes back the last n bytes, which we wrote. With O_APPEND the position after a write is the
 * end of our own bytes; if the file has grown since, another process appended behind us and
 * cutting would destroy its record, so ours stays.
 */
static void cut_back(int fd, size_t n)
{
	struct stat st;
	off_t end = lseek(fd, 0, SEEK_CUR);

	if (n > 0 && end >= (off_t)n && fstat(fd, &st) == 0 && st.st_size == end)
		(void)!ftruncate(fd, end - (off_t)n);
}

int file_append(const char *path, struct sv data, bool durable, struct err *reterr)
{
	/* A pipe that nobody reads must not hold us. */
	const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	AUTO_CLOSE int fd = open(path, flags);
	bool created = fd < 0 && errno == ENOENT; /* then its name is made durable too */
	ssize_t n;
	int r = 0;

	if (created)
		fd = open(path, flags | O_CREAT, 0600);
	if (fd < 0)
		return err_errno(reterr, errno, "open %s", path);
	do
		n = write(fd, data.p, data.n);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(reterr, errno, "write %s", path);
	if ((size_t)n != data.n)
		r = err_errno(
			reterr, ENOSPC, "write %s: only %zd of %zu bytes went", path, n, data.n);
	else if (durable && fdatasync(fd) < 0)
		r = err_errno(reterr, errno, "sync %s", path);
	else if (durable && created)
		r = folder_sync_of(path, reterr);
	if (r < 0) {
		cut_back(fd, (size_t)n);
		return r;
	}
	/* Some file systems report a failed write only here. */
	if (close(TAKE_FD(fd)) < 0 && errno != EINTR)
		return err_errno(reterr, errno, "close %s", path);
	return 0;
}

/* ---- a new file in the making ---- */

/* A link is kept and the file it points to is replaced: people link their settings elsewhere. One
 * that leads to nothing yet leads to the file to be made. */
static char *follow_link(const char *path)
{
	char *at = xstrdup(path);

	for (int i = 0; i < LINKS_MAX; i++) {
		AUTO_FREE char *next = link_target(at);
		char *real = NULL;
		if (!next)
			break;
		bool there = path_real(at, &real, NULL) == 0;
		free(at);
		if (there)
			return real;
		at = TAKE_PTR(next);
	}
	return at;
}

static char *temp_name(const char *path)
{
	struct sv folder = path_parent(sv_of(path));
	char id[UUID_TEXT];

	uuid_new(id);
	return xasprintf("%.*s%s" TEMP_PREFIX "%s" TEMP_SUFFIX, SV_ARG(folder),
		sv_is(folder, "/") ? "" : "/", id);
}

/* Mode 0: what replaces a file is its owner's, and as open to others as it was. */
static int give_mode(int fd, const char *path, mode_t mode)
{
	struct stat own, st;

	if (mode == 0 && stat(path, &st) == 0) {
		if (fstat(fd, &own) < 0 ||
			((own.st_uid != st.st_uid || own.st_gid != st.st_gid) &&
				fchown(fd, st.st_uid, st.st_gid) < 0))
			return -errno;
		mode = st.st_mode & 07777;
	}
	return fchmod(fd, mode ? mode : 0600) < 0 ? -errno : 0;
}

int file_new_open(struct file_new *f, const char *path, mode_t mode, struct err *reterr)
{
	*f = (struct file_new)FILE_NEW_INIT;
	f->path = follow_link(path);
	for (int i = 0; i < NAME_TRIES && f->fd < 0; i++) {
		AUTO_FREE char *temp = temp_name(f->path);
		f->fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (f->fd >= 0)
			f->temp = TAKE_PTR(temp);
		else if (errno != EEXIST)
			break;
	}
	int r = 0;
	if (f->fd < 0) {
		r = err_errno(reterr, errno, "create a file beside %s", path);
	} else {
		/* The lock says that the writer lives; without it, the age alone protects it. */
		(void)flock(f->fd, LOCK_EX | LOCK_NB);
		r = give_mode(f->fd, f->path, mode);
		if (r < 0)
			r = err_errno(reterr, -r, "keep owner and mode of %s", f->path);
	}
	if (r < 0)
		file_new_release(f);
	return r;
}

int file_new_open_unnamed(struct file_new *f, const char *path, mode_t mode, struct err *reterr)
{
	AUTO_FREE char *target = follow_link(path);
	AUTO_FREE char *folder = path_folder(target);
	/* The name is given later through /proc. */
	AUTO_CLOSE int fd = access("/proc/self/fd", X_OK) == 0
		? open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600)
		: -1;

	if (fd < 0 || give_mode(fd, target, mode) < 0)
		return file_new_open(f, path, mode, reterr);
	*f = (struct file_new)FILE_NEW_INIT;
	f->path = TAKE_PTR(target);
	f->fd = TAKE_FD(fd);
	return 0;
}

/*
 * Room for what comes, in one piece: ext4 else looks for it block by block, which takes more time
 * than the copying. Other file systems gain nothing by it, and some would not compress what lies
 * there. The size stays that of what was written; where there is no room, writing will tell.
 */
static void reserve(struct file_new *f, size_t n)
{
	struct statfs fs;

	if (f->written < RESERVE_FROM || f->written + n <= f->reserved)
		return;
	bool able = fstatfs(f->fd, &fs) == 0 && fs.f_type == EXT4_SUPER_MAGIC &&
		fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)f->written, (off_t)(n + RESERVE)) == 0;
	f->reserved = able ? f->written + n + RESERVE : UINT64_MAX;
}

/* What was reserved and not used goes back; the bytes stay, whoever wrote them. */
static void give_back(const struct file_new *f)
{
	struct stat st;

	if (f->reserved > f->written && fstat(f->fd, &st) == 0)
		(void)!ftruncate(f->fd, st.st_size);
}

/* The disk works while more is made: the sync at the end has less to wait for. Where the system
 * cannot, that sync does it all. */
static void start_writing(struct file_new *f)
{
	if (f->lazy || f->written - f->started < START_AT)
		return;
	(void)sync_file_range(
		f->fd, (off_t)f->started, (off_t)(f->written - f->started), SYNC_FILE_RANGE_WRITE);
	f->started = f->written;
}

int file_new_write(struct file_new *f, struct sv data, struct err *reterr)
{
	reserve(f, data.n);
	int r = file_write_all(f->fd, data, reterr);

	if (r < 0) {
		err_prefix(reterr, "%s", f->path);
		return r;
	}
	f->written += data.n;
	start_writing(f);
	return 0;
}

int file_new_writev(struct file_new *f, const struct sv *pieces, size_t n, struct err *reterr)
{
	int r = 0;

	for (size_t some; n > 0 && r == 0; pieces += some, n -= some) {
		struct iovec iov[PIECES];
		size_t bytes = 0;
		some = n < PIECES ? n : PIECES;
		for (size_t i = 0; i < some; i++) {
			iov[i].iov_len = pieces[i].n;
			/* The same type serves those who read into it, so it has no const. */
			memcpy(&iov[i].iov_base, &pieces[i].p, sizeof(iov[i].iov_base));
			bytes += pieces[i].n;
		}
		reserve(f, bytes);
		f->written += bytes;
		ssize_t done = writev(f->fd, iov, (int)some);
		if (done < 0 && errno != EINTR && errno != EAGAIN)
			r = err_errno(reterr, errno, "write");
		size_t skip = done > 0 ? (size_t)done : 0;
		for (size_t i = 0; i < some && r == 0; i++) {
			size_t went = skip < pieces[i].n ? skip : pieces[i].n;
			r = file_write_all(f->fd, sv_from(pieces[i], went), reterr);
			skip -= went;
		}
		start_writing(f);
	}
	if (r < 0)
		err_prefix(reterr, "%s", f->path);
	return r;
}

/* ---- giving it its name ---- */

static int finish_content(struct file_new *f, struct err *reterr)
{
	give_back(f);
	if (!f->lazy && fsync(f->fd) < 0)
		return err_errno(reterr, errno, "sync %s", f->path);
	if (f->temp && close(TAKE_FD(f->fd)) < 0 && errno != EINTR)
		return err_errno(reterr, errno, "close %s", f->path);
	return 0;
}

/* A file without a name gets one; like every link, never one that exists. */
static int name_unnamed(const struct file_new *f, const char *path)
{
	AUTO_FREE char *from = xasprintf("/proc/self/fd/%d", f->fd);

	return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

int file_new_copy(struct file_new *f, int from, struct err *reterr)
{
	enum { STEP = 1 << 30, BUFFER = 256 * 1024 };
	off_t at = 0;
	ssize_t n;

	do {
		n = copy_file_range(from, &at, f->fd, NULL, STEP, 0);
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n == 0)
		return 0;
	if (errno == EIO || errno == ENOSPC || errno == EDQUOT)
		return err_errno(reterr, errno, "copy to %s", f->path);
	/* Where the kernel cannot copy by itself. */
	AUTO_FREE char *buf = xmalloc(BUFFER);
	while ((n = pread(from, buf, BUFFER, at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(reterr, errno, "read");
		int r = file_new_write(f, sv_make(buf, (size_t)n), reterr);
		if (r < 0)
			return r;
		at += n;
	}
	return 0;
}

int file_new_ready(struct file_new *f, struct err *reterr)
{
	assert(!f->lazy); /* the old file goes */
	int r = finish_content(f, reterr);

	if (r < 0 || f->temp)
		return r;
	AUTO_FREE char *temp = temp_name(f->path);
	r = name_unnamed(f, temp);
	if (r < 0)
		return err_errno(reterr, -r, "create a file beside %s", f->path);
	f->temp = TAKE_PTR(temp);
	(void)close(TAKE_FD(f->fd)); /* it was synced */
	return 0;
}

/* A rename would put a file in the place of a device as well, for all who use it. */
static int check_replaced(const char *path, struct err *reterr)
{
	struct stat st;

	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		return 0;
	return err_set(reterr, ERR_INPUT, "%s is %s, not a file", path, kind_of(st.st_mode));
}

int file_new_commit(struct file_new *f, struct err *reterr)
{
	int r = check_replaced(f->path, reterr);

	if (r == 0)
		r = file_new_ready(f, reterr); /* replacing needs a name to rename from */
	if (r < 0)
		return r;
	if (rename(f->temp, f->path) < 0)
		return err_errno(reterr, errno, "rename to %s", f->path);
	free(TAKE_PTR(f->temp));
	return folder_sync_of(f->path, reterr);
}

static int rename_excl(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* link() refuses an existing name on every file system that has links at all. */
	if (link(from, to) < 0)
		return -errno;
	(void)unlink(from);
	return 0;
}

int file_new_commit_excl(struct file_new *f, struct err *reterr)
{
	int r = finish_content(f, reterr);

	if (r < 0)
		return r;
	r = f->temp ? rename_excl(f->temp, f->path) : name_unnamed(f, f->path);
	if (r < 0)
		return err_errno(reterr, -r, "create %s", f->path);
	free(TAKE_PTR(f->temp));
	return f->lazy ? 0 : folder_sync_of(f->path, reterr);
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
	int r = check_replaced(path, reterr); /* also before anything is made beside it */

	if (r == 0)
		r = file_new_open(&f, path, mode, reterr);
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

static void sweep_one(int folder, const char *name, int64_t max_age_ms)
{
	struct stat st;
	const struct clock now = { false, 0 };
	AUTO_CLOSE int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (clock_wall_ms(&now) - file_mtime_ns(&st) / 1000000 < max_age_ms)
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
