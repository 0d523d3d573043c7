#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/folder.h"

enum {
	READ_STEP = 64 * 1024, /* what is read at a time when the size is not known beforehand */
	/* Every try that finds the lock file replaced means that another process removed it. */
	LOCK_TRIES = 100,
};

/* ---- reading ---- */

/* A first guess of the size; /proc and pipes say 0. One byte more finds the end in one read. */
static size_t size_hint(int fd, size_t max)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return READ_STEP;
	size_t size = (size_t)st.st_size;
	return size < max ? size + 1 : max + 1;
}

static int read_all(int fd, size_t max, struct str *out)
{
	size_t want = size_hint(fd, max);

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
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_errno(reterr, errno, "open %s", path);
	int r = read_all(fd, max, out);
	if (r == 0)
		return 0;
	str_clear(out);
	if (r == ERR_LIMIT)
		return err_set(reterr, r, "%s: larger than %zu bytes", path, max);
	return err_errno(reterr, -r, "read %s", path);
}

/* ---- writing ---- */

static void wait_writable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	(void)poll(&p, 1, -1);
}

int file_write_all(int fd, struct sv data, struct err *reterr)
{
	while (data.n > 0) {
		ssize_t n = write(fd, data.p, data.n);
		if (n >= 0)
			data = sv_from(data, (size_t)n);
		else if (errno == EAGAIN)
			wait_writable(fd);
		else if (errno != EINTR)
			return err_errno(reterr, errno, "write");
	}
	return 0;
}

/* Opens for appending and tells whether the file is new, so that its name is made durable too. */
static int open_append(const char *path, bool *ret_created)
{
	const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, flags);

	*ret_created = fd < 0 && errno == ENOENT;
	return *ret_created ? open(path, flags | O_CREAT, 0600) : fd;
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

static int append_once(int fd, const char *path, struct sv data, struct err *reterr)
{
	ssize_t n;

	do
		n = write(fd, data.p, data.n);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(reterr, errno, "write %s", path);
	if ((size_t)n == data.n)
		return 0;
	cut_back(fd, (size_t)n);
	return err_errno(reterr, ENOSPC, "write %s: only %zd of %zu bytes went", path, n, data.n);
}

static int make_durable(int fd, bool created, const char *path, struct err *reterr)
{
	if (fdatasync(fd) < 0)
		return err_errno(reterr, errno, "sync %s", path);
	return created ? folder_sync_of(path, reterr) : 0;
}

int file_append(const char *path, struct sv data, bool durable, struct err *reterr)
{
	bool created;
	AUTO_CLOSE int fd = open_append(path, &created);

	if (fd < 0)
		return err_errno(reterr, errno, "open %s", path);
	int r = append_once(fd, path, data, reterr);
	if (r < 0)
		return r;
	if (durable && (r = make_durable(fd, created, path, reterr)) < 0) {
		cut_back(fd, data.n);
		return r;
	}
	/* Some file systems report a failed write only here. */
	if (close(TAKE_FD(fd)) < 0 && errno != EINTR)
		return err_errno(reterr, errno, "close %s", path);
	return 0;
}

/* ---- locks ---- */

static int open_locked(const char *path, bool wait, int *ret_fd)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);

	if (fd < 0)
		return -errno;
	int r;
	do
		r = flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB));
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return errno == EWOULDBLOCK ? ERR_BUSY : -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* A lock on a file that was meanwhile removed or replaced locks nobody out. */
static bool still_named(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino &&
		a.st_dev == b.st_dev;
}

int file_lock(const char *path, bool wait, int *ret_fd, struct err *reterr)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		AUTO_CLOSE int fd = -1;
		int r = open_locked(path, wait, &fd);

		if (r == ERR_BUSY)
			return err_set(reterr, r, "%s is locked by another process", path);
		if (r < 0)
			return err_errno(reterr, -r, "lock %s", path);
		if (still_named(fd, path)) {
			*ret_fd = TAKE_FD(fd);
			return 0;
		}
	}
	return err_set(reterr, ERR_BUSY, "%s is removed again and again", path);
}
