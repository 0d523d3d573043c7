#include "os/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/proc.h"

enum {
	WAIT_MS = 2000, /* for those who opened the old file at the last moment */
	PAUSE_MS = 1,
	UNSURE_PAUSE_MS = 20, /* without a lease: between looks … */
	UNSURE_LOOKS = 4, /* … that must find nobody one after the other */
	ROUNDS_MAX = 8,
	LATE_MAX = 16 * 1024 * 1024, /* bytes brought over at once */
};

/* ---- who writes ---- */

/* The kernel says by a signal that somebody waits for the lease; the usual one would end us. */
static int lease(int fd, int kind)
{
	return fcntl(fd, F_SETSIG, SIGURG) < 0 || fcntl(fd, F_SETLEASE, kind) < 0 ? -errno : 0;
}

static void end_lease(int fd)
{
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
}

/* Whether somebody else has the file open for writing. If not, *ret_sure says that there is a lease
 * now: nobody can before end_lease(). */
static bool is_written(int fd, bool *ret_sure)
{
	struct stat st;
	int r = lease(fd, F_RDLCK);

	*ret_sure = r == 0 || r == -EAGAIN;
	if (*ret_sure)
		return r < 0;
	return fstat(fd, &st) == 0 && proc_writer_of(&st, NULL) != 0;
}

/* Waits until nobody has. */
static bool await_writers(int fd, bool *ret_sure)
{
	int looks = 0;

	for (int waited = 0; waited < WAIT_MS;) {
		looks = is_written(fd, ret_sure) ? 0 : looks + 1;
		if (looks > 0 && (*ret_sure || looks >= UNSURE_LOOKS))
			return true;
		int ms = *ret_sure ? PAUSE_MS : UNSURE_PAUSE_MS;
		(void)nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
		waited += ms;
	}
	return false;
}

static int refuse(const struct file_new *f, int fd, struct err *reterr)
{
	AUTO_STR who = STR_INIT;
	struct stat st;

	if (fstat(fd, &st) < 0 || !proc_writer_of(&st, &who))
		str_adds(&who, "another program");
	return err_set(reterr, ERR_BUSY, "%s: %s has it open for writing", f->path, who.buf);
}

/* ---- what they wrote ---- */

/* All of `from` behind *at goes to the end of `to`, which is open for appending. */
static int bring_over(int from, uint64_t *at, int to, const char *path, struct err *reterr)
{
	struct stat st;
	bool any = false;

	for (;;) {
		AUTO_STR late = STR_INIT;
		if (fstat(from, &st) < 0)
			return err_errno(reterr, errno, "stat %s", path);
		if ((uint64_t)st.st_size <= *at)
			break;
		uint64_t more = (uint64_t)st.st_size - *at;
		size_t n = more < LATE_MAX ? (size_t)more : LATE_MAX;
		if (!str_reserve(&late, n))
			return err_set(reterr, ERR_LIMIT, "%s: no room for its end", path);
		ssize_t got = pread(from, late.buf, n, (off_t)*at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return err_errno(reterr, got < 0 ? errno : EIO, "read the end of %s", path);
		int r = file_write_all(to, sv_make(late.buf, (size_t)got), reterr);
		if (r < 0)
			return r;
		*at += (uint64_t)got;
		any = true;
	}
	return any && fdatasync(to) < 0 ? err_errno(reterr, errno, "sync %s", path) : 0;
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static bool is_file(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino &&
		a.st_dev == b.st_dev;
}

/* ---- the exchange ---- */

/* The old file keeps a name, the temporary one, so that there is a way back. *ret_back says whether
 * there is: some file systems can only rename. */
static int exchange(struct file_new *f, bool *ret_back, struct err *reterr)
{
	*ret_back = renameat2(AT_FDCWD, f->temp, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0;
	if (*ret_back)
		return 0;
	if ((errno != EINVAL && errno != ENOSYS) || rename(f->temp, f->path) < 0)
		return err_errno(reterr, errno, "rename to %s", f->path);
	free(TAKE_PTR(f->temp));
	return 0;
}

/*
 * The new file has the name. Waits for those who opened the old one meanwhile, until nobody is
 * left: whoever had found it by its name and not opened it yet stands at our lease by the time that
 * the folder is synced. Then takes what they wrote; who has opened the new one waits for that.
 */
static int drain(const struct file_new *f, int old, uint64_t *at, int fresh, struct err *reterr)
{
	bool sure;

	for (int i = 0; i < ROUNDS_MAX; i++) {
		end_lease(old);
		if (!await_writers(old, &sure))
			break;
		int r = folder_sync_of(f->path, reterr);
		if (r < 0)
			return r;
		if (sure && fcntl(old, F_GETLEASE) != F_RDLCK)
			continue;
		return bring_over(old, at, fresh, f->path, reterr);
	}
	return refuse(f, old, reterr);
}

/* The old file gets its name again, and what others have written to the new one behind its `own`
 * bytes. When that fails, what is under the temporary name is not thrown away. */
static void take_back(struct file_new *f, int old, int *fresh, uint64_t own)
{
	const int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	bool sure, back = renameat2(AT_FDCWD, f->temp, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0;

	end_lease(old);
	(void)close(TAKE_FD(*fresh)); /* and the lease with it: who waited writes now */
	AUTO_CLOSE int from = back ? open(f->temp, O_RDONLY | flags) : -1;
	AUTO_CLOSE int to = back ? open(f->path, O_WRONLY | O_APPEND | flags) : -1;
	if (from < 0 || to < 0 || !await_writers(from, &sure) ||
		bring_over(from, &own, to, f->path, NULL) < 0 || folder_sync_of(f->path, NULL) < 0)
		free(TAKE_PTR(f->temp));
}

static int swap(struct file_new *f, int old, uint64_t *at, struct err *reterr)
{
	bool sure, back = false;
	int r = file_new_ready(f, reterr);

	if (r < 0)
		return r;
	if (is_written(old, &sure))
		return refuse(f, old, reterr);
	AUTO_CLOSE int fresh = open(f->temp, O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY);
	if (fresh < 0)
		return err_errno(reterr, errno, "open %s", f->temp);
	r = bring_over(old, at, fresh, f->temp, reterr);
	if (r < 0)
		return r;
	if (!is_file(old, f->path))
		return err_set(reterr, ERR_BUSY, "%s: it was replaced while it was read", f->path);
	uint64_t own = size_of(fresh);
	/* The one kind that lets us write: nobody else opens it before what is late is in it. */
	(void)lease(fresh, F_WRLCK);
	r = exchange(f, &back, reterr);
	if (r < 0)
		return r;
	r = drain(f, old, at, fresh, reterr);
	if (r < 0 && back)
		take_back(f, old, &fresh, own);
	return r;
}

int file_new_swap(struct file_new *f, int old, uint64_t at, uint64_t *ret_late, struct err *reterr)
{
	uint64_t before = at;
	int r = swap(f, old, &at, reterr);

	end_lease(old);
	if (r == 0)
		*ret_late = at - before;
	file_new_release(f);
	return r;
}
