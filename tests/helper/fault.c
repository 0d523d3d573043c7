/*
 * Preloaded into a program under test: lets the Nth call that changes storage fail, or the
 * program die there. What counts, for regular files and folders only: opening for writing or
 * creating, opening a folder (to sync it), write, fsync, rename, link, mkdir, ftruncate,
 * fallocate, and close of a file open for writing.
 *
 *	FADEN_FAULT_AT=N         the Nth counted call, from 1
 *	FADEN_FAULT_ERRNO=NAME   how it fails: ENOSPC (default), EIO, EDQUOT, EROFS, EACCES,
 *	                         EMFILE, EINVAL, EINTR
 *	FADEN_FAULT_STICKY=1     all later ones fail as well: a full disk stays full
 *	FADEN_FAULT_SHORT=1      a write there takes half of its bytes and says so; others fail
 *	FADEN_FAULT_KILL=1       SIGKILL instead of the call
 *	FADEN_FAULT_STOP=1       SIGSTOP before the call, which is then made
 *	FADEN_FAULT_NO_LEASE=1   the file system has no leases (whatever N is)
 *	FADEN_FAULT_NAMED=1      it has no files without a name, as with NFS (whatever N is)
 *	FADEN_FAULT_MATCH=TEXT   only paths that hold TEXT count
 *	FADEN_FAULT_COUNT=FILE   gets the number of counted calls, a decimal line
 *
 * The real calls are made by syscall(), which needs no lookup and is counted nowhere. Functions
 * have names of their own and take the C library's by asm label, so that no header's idea of
 * open() and open64() gets in the way.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define TAKES_OVER(symbol) __asm__(symbol) __attribute__((visibility("default")))
#define SAME_AS(symbol) __attribute__((visibility("default"), alias(symbol)))

enum { PATH_ROOM = 4096 };

struct fault {
	bool ready; /* other libraries open files before our constructor has run */
	unsigned long at;
	int errnum;
	bool sticky, cut_short, deadly, stops, no_lease, named;
	const char *match;
	int count_fd;
};

/* A preloaded library has nowhere else to keep its state. */
static struct fault fault;
static atomic_ulong calls;

/* ---- settings ---- */

static int errno_of(const char *name)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {
		{ "EIO", EIO },
		{ "EDQUOT", EDQUOT },
		{ "EROFS", EROFS },
		{ "EACCES", EACCES },
		{ "EMFILE", EMFILE },
		{ "EINVAL", EINVAL },
		{ "EINTR", EINTR },
	};

	for (size_t i = 0; name && i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].number;
	return ENOSPC;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && strcmp(value, "1") == 0;
}

static int real_open(int dir, const char *path, int flags, mode_t mode)
{
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

__attribute__((constructor)) static void read_settings(void)
{
	const char *at = getenv("FADEN_FAULT_AT");
	const char *count = getenv("FADEN_FAULT_COUNT");

	fault.at = at ? strtoul(at, NULL, 10) : 0;
	fault.errnum = errno_of(getenv("FADEN_FAULT_ERRNO"));
	fault.sticky = is_set("FADEN_FAULT_STICKY");
	fault.cut_short = is_set("FADEN_FAULT_SHORT");
	fault.deadly = is_set("FADEN_FAULT_KILL");
	fault.stops = is_set("FADEN_FAULT_STOP");
	fault.no_lease = is_set("FADEN_FAULT_NO_LEASE");
	fault.named = is_set("FADEN_FAULT_NAMED");
	fault.match = getenv("FADEN_FAULT_MATCH");
	fault.count_fd = count
		? real_open(AT_FDCWD, count, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
		: -1;
	fault.ready = true;
}

/* ---- counting ---- */

static bool matches(const char *path)
{
	return !fault.match || strstr(path, fault.match);
}

static bool fd_matches(int fd)
{
	char link[64], path[PATH_ROOM];

	if (!fault.match)
		return true;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return false;
	path[n] = '\0';
	return matches(path);
}

static void write_count(unsigned long n)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%lu\n", n);

	if (fault.count_fd >= 0)
		(void)syscall(SYS_pwrite64, fault.count_fd, text, (size_t)len, (off_t)0);
}

/* Counts the call; true when it is to fail. */
static bool strikes(void)
{
	unsigned long n = atomic_fetch_add(&calls, 1) + 1;

	write_count(n);
	bool hit = fault.at > 0 && (n == fault.at || (fault.sticky && n > fault.at));
	if (hit && fault.deadly)
		(void)raise(SIGKILL);
	if (hit && fault.stops) {
		(void)raise(SIGSTOP);
		return false;
	}
	if (hit)
		errno = fault.errnum;
	return hit;
}

static bool path_strikes(const char *path)
{
	return fault.ready && path && matches(path) && strikes();
}

static bool is_storage(int fd)
{
	struct stat st;

	return fd != fault.count_fd && fstat(fd, &st) == 0 &&
		(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* errno must survive a look that finds nothing. */
static bool fd_strikes(int fd)
{
	int saved = errno;

	if (!fault.ready || !is_storage(fd) || !fd_matches(fd)) {
		errno = saved;
		return false;
	}
	errno = saved;
	return strikes();
}

/* ---- opening ---- */

static bool open_counts(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_DIRECTORY));
}

static int open_or_fail(int dir, const char *path, int flags, mode_t mode)
{
	if (fault.named && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (open_counts(flags) && path_strikes(path))
		return -1;
	return real_open(dir, path, flags, mode);
}

static mode_t mode_argument(int flags, va_list ap)
{
	return (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(ap, mode_t) : 0;
}

int fault_open(const char *path, int flags, ...) TAKES_OVER("open");
int fault_open(const char *path, int flags, ...)
{
	va_list ap;

	va_start(ap, flags);
	mode_t mode = mode_argument(flags, ap);
	va_end(ap);
	return open_or_fail(AT_FDCWD, path, flags, mode);
}
int fault_open64(const char *path, int flags, ...) __asm__("open64") SAME_AS("open");

int fault_openat(int dir, const char *path, int flags, ...) TAKES_OVER("openat");
int fault_openat(int dir, const char *path, int flags, ...)
{
	va_list ap;

	va_start(ap, flags);
	mode_t mode = mode_argument(flags, ap);
	va_end(ap);
	return open_or_fail(dir, path, flags, mode);
}
int fault_openat64(int dir, const char *path, int flags, ...) __asm__("openat64") SAME_AS("openat");

/* What _FORTIFY_SOURCE makes of open() with two arguments. */
int fault_open_2(const char *path, int flags) TAKES_OVER("__open_2");
int fault_open_2(const char *path, int flags)
{
	return open_or_fail(AT_FDCWD, path, flags, 0);
}
int fault_open64_2(const char *path, int flags) __asm__("__open64_2") SAME_AS("__open_2");

int fault_openat_2(int dir, const char *path, int flags) TAKES_OVER("__openat_2");
int fault_openat_2(int dir, const char *path, int flags)
{
	return open_or_fail(dir, path, flags, 0);
}
int fault_openat64_2(int dir, const char *path, int flags) __asm__("__openat64_2")
	SAME_AS("__openat_2");

int fault_creat(const char *path, mode_t mode) TAKES_OVER("creat");
int fault_creat(const char *path, mode_t mode)
{
	return open_or_fail(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}
int fault_creat64(const char *path, mode_t mode) __asm__("creat64") SAME_AS("creat");

/* ---- writing ---- */

/* What is left of a write of n bytes at the chosen call: half of it, or an error. */
static ssize_t struck_length(size_t n)
{
	return fault.cut_short && n > 1 ? (ssize_t)(n / 2) : -1;
}

ssize_t fault_write(int fd, const void *data, size_t n) TAKES_OVER("write");
ssize_t fault_write(int fd, const void *data, size_t n)
{
	if (fd_strikes(fd)) {
		ssize_t part = struck_length(n);
		return part < 0 ? -1 : syscall(SYS_write, fd, data, (size_t)part);
	}
	return syscall(SYS_write, fd, data, n);
}

ssize_t fault_pwrite(int fd, const void *data, size_t n, off_t at) TAKES_OVER("pwrite");
ssize_t fault_pwrite(int fd, const void *data, size_t n, off_t at)
{
	if (fd_strikes(fd)) {
		ssize_t part = struck_length(n);
		return part < 0 ? -1 : syscall(SYS_pwrite64, fd, data, (size_t)part, at);
	}
	return syscall(SYS_pwrite64, fd, data, n, at);
}
ssize_t fault_pwrite64(int fd, const void *data, size_t n, off_t at) __asm__("pwrite64")
	SAME_AS("pwrite");

/* A short write is one of the first piece alone. */
ssize_t fault_writev(int fd, const struct iovec *pieces, int n) TAKES_OVER("writev");
ssize_t fault_writev(int fd, const struct iovec *pieces, int n)
{
	if (fd_strikes(fd)) {
		ssize_t part = n > 0 ? struck_length(pieces[0].iov_len) : -1;
		return part < 0 ? -1 : syscall(SYS_write, fd, pieces[0].iov_base, (size_t)part);
	}
	return syscall(SYS_writev, fd, pieces, n);
}

int fault_ftruncate(int fd, off_t size) TAKES_OVER("ftruncate");
int fault_ftruncate(int fd, off_t size)
{
	return fd_strikes(fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}
int fault_ftruncate64(int fd, off_t size) __asm__("ftruncate64") SAME_AS("ftruncate");

int fault_fallocate(int fd, int mode, off_t at, off_t n) TAKES_OVER("fallocate");
int fault_fallocate(int fd, int mode, off_t at, off_t n)
{
	return fd_strikes(fd) ? -1 : (int)syscall(SYS_fallocate, fd, mode, at, n);
}
int fault_fallocate64(int fd, int mode, off_t at, off_t n) __asm__("fallocate64")
	SAME_AS("fallocate");

int fault_fsync(int fd) TAKES_OVER("fsync");
int fault_fsync(int fd)
{
	return fd_strikes(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fault_fdatasync(int fd) TAKES_OVER("fdatasync");
int fault_fdatasync(int fd)
{
	return fd_strikes(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

/* The descriptor is closed in any case, as Linux does it. */
int fault_close(int fd) TAKES_OVER("close");
int fault_close(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	bool writes = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !(flags & O_PATH);
	bool struck = writes && fd_strikes(fd);
	int r = (int)syscall(SYS_close, fd);

	if (struck)
		errno = fault.errnum;
	return struck ? -1 : r;
}

/* ---- leases ---- */

int fault_fcntl(int fd, int command, ...) TAKES_OVER("fcntl");
int fault_fcntl(int fd, int command, ...)
{
	va_list ap;

	va_start(ap, command);
	void *argument = va_arg(ap, void *);
	va_end(ap);
	if (fault.no_lease && command == F_SETLEASE) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}
int fault_fcntl64(int fd, int command, ...) __asm__("fcntl64") SAME_AS("fcntl");

/* ---- names ---- */

int fault_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
	TAKES_OVER("renameat2");
int fault_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	if (path_strikes(to))
		return -1;
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int fault_renameat(int from_dir, const char *from, int to_dir, const char *to)
	TAKES_OVER("renameat");
int fault_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return fault_renameat2(from_dir, from, to_dir, to, 0);
}

int fault_rename(const char *from, const char *to) TAKES_OVER("rename");
int fault_rename(const char *from, const char *to)
{
	return fault_renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int fault_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
	TAKES_OVER("linkat");
int fault_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	if (path_strikes(to))
		return -1;
	return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

int fault_link(const char *from, const char *to) TAKES_OVER("link");
int fault_link(const char *from, const char *to)
{
	return fault_linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int fault_mkdirat(int dir, const char *path, mode_t mode) TAKES_OVER("mkdirat");
int fault_mkdirat(int dir, const char *path, mode_t mode)
{
	return path_strikes(path) ? -1 : (int)syscall(SYS_mkdirat, dir, path, mode);
}

int fault_mkdir(const char *path, mode_t mode) TAKES_OVER("mkdir");
int fault_mkdir(const char *path, mode_t mode)
{
	return fault_mkdirat(AT_FDCWD, path, mode);
}
