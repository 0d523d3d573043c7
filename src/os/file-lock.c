/* Locks on files, and the wait for who holds one. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/proc.h"

enum {
	/* Every try that finds the lock file replaced means that another process removed it. */
	TRIES = 100,
	/* Between two tries: most locks are free in a moment, and who has waited for longer than
	 * that does not mind some more. */
	POLL_MS = 50,
	POLL_LATER_MS = 200,
};

/* A lock on a file that was meanwhile removed or replaced locks nobody out. */
static bool still_named(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino &&
		a.st_dev == b.st_dev;
}

/* ERR_BUSY: held, the file is *ret_held. 0 and *ret_fd -1: it was locked, but is another by now. */
static int lock_now(const char *path, int *ret_fd, struct stat *ret_held, struct err *reterr)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	int r = fd;

	while (fd >= 0 && (r = flock(fd, LOCK_EX | LOCK_NB)) < 0 && errno == EINTR)
		;
	if (r < 0 && fd >= 0 && errno == EWOULDBLOCK) {
		r = err_set(reterr, ERR_BUSY, "%s is locked by another process", path);
		return fstat(fd, ret_held) < 0 ? err_errno(reterr, errno, "stat %s", path) : r;
	}
	if (r < 0)
		return err_errno(reterr, errno, "lock %s", path);
	*ret_fd = still_named(fd, path) ? TAKE_FD(fd) : -1;
	return 0;
}

/* ---- waiting ---- */

struct holder {
	pid_t pid; /* 0: not seen */
	uint64_t ticks;
	bool stopped;
};

struct lock_turn {
	const char *path;
	const struct lock_wait *wait;
	int64_t begun_ms;
	int64_t since_ms; /* the holder has done nothing */
	struct holder holder;
	bool told;
};

static void look_at_holder(struct lock_turn *t, const struct stat *file, int64_t now_ms)
{
	struct holder now = { .pid = proc_locker_of(file) };

	/* Who has ended may have left it to a child. */
	if (!proc_work(now.pid, &now.ticks, &now.stopped))
		now = (struct holder){ .pid = 0 };
	if (now.pid != t->holder.pid || now.ticks != t->holder.ticks ||
		now.stopped != t->holder.stopped)
		t->since_ms = now_ms;
	t->holder = now;
}

/*
 * A first index or archive of everything takes minutes, and whoever wants to write next would
 * rather wait than try again: so only one that is stopped or hangs is given up, by the time that it
 * got on a processor. What cannot be seen (of another machine or container) may work all the time.
 */
static int64_t patience_ms(const struct lock_turn *t)
{
	return t->wait->idle_ms	    ? t->wait->idle_ms
		: t->holder.stopped ? LOCK_STOPPED_MS
		: t->holder.pid	    ? LOCK_IDLE_MS
				    : LOCK_UNSEEN_MS;
}

static void describe(const struct lock_turn *t, struct str *out)
{
	if (t->holder.pid)
		proc_describe(t->holder.pid, out);
	else
		str_adds(out, "another process");
}

static void tell(struct lock_turn *t)
{
	AUTO_STR whom = STR_INIT;

	t->told = true;
	if (!t->wait->held)
		return;
	describe(t, &whom);
	str_addf(&whom, ", which %sholds %s", t->holder.stopped ? "is stopped and " : "", t->path);
	t->wait->held(t->wait->data, whom.buf);
}

static int give_up(const struct lock_turn *t, int64_t idle_ms, struct err *reterr)
{
	AUTO_STR who = STR_INIT;
	long long idle_s = (long long)(idle_ms + 999) / 1000;

	describe(t, &who);
	if (t->holder.stopped)
		return err_set(reterr, ERR_BUSY,
			"%s is held by %s, which is stopped: let it go on ('fg' where it was "
			"started, or 'kill -CONT %ld'), and try again",
			t->path, who.buf, (long)t->holder.pid);
	if (t->holder.pid)
		return err_set(reterr, ERR_BUSY,
			"%s is held by %s, which has done nothing for %lld s: try again when it "
			"has ended, and end it if it hangs ('kill %ld')",
			t->path, who.buf, idle_s, (long)t->holder.pid);
	return err_set(reterr, ERR_BUSY,
		"%s has been held for %lld s by a process that cannot be seen from here: try again "
		"when it has ended",
		t->path, idle_s);
}

/* 0: it may be tried again. */
static int wait_some(struct lock_turn *t, const struct stat *held, struct err *reterr)
{
	int64_t now_ms = clock_run_ms();
	int64_t waited_ms = now_ms - t->begun_ms;
	int pause_ms = waited_ms < LOCK_TELL_MS ? POLL_MS : POLL_LATER_MS;

	look_at_holder(t, held, now_ms);
	if (t->wait->cancelled && t->wait->cancelled(t->wait->data)) {
		AUTO_STR who = STR_INIT;
		describe(t, &who);
		return err_set(reterr, ERR_CANCELLED,
			"interrupted while it waited for %s, which holds %s", who.buf, t->path);
	}
	if (now_ms - t->since_ms >= patience_ms(t))
		return give_up(t, now_ms - t->since_ms, reterr);
	if (!t->told && waited_ms >= LOCK_TELL_MS)
		tell(t);
	(void)nanosleep(&(struct timespec){ .tv_nsec = pause_ms * 1000000L }, NULL);
	return 0;
}

int file_lock(const char *path, const struct lock_wait *wait, int *ret_fd, struct err *reterr)
{
	int64_t now_ms = wait ? clock_run_ms() : 0;
	struct lock_turn turn = {
		.path = path, .wait = wait, .begun_ms = now_ms, .since_ms = now_ms
	};

	for (int i = 0; i < TRIES;) {
		struct stat held;
		int fd = -1;
		struct err err = ERR_INIT;
		int r = lock_now(path, &fd, &held, &err);
		if (r == ERR_BUSY && wait)
			r = wait_some(&turn, &held, &err);
		else
			i++;
		if (r < 0 && reterr)
			*reterr = err;
		if (r < 0)
			return r;
		if (fd >= 0) {
			*ret_fd = fd;
			return 0;
		}
	}
	return err_set(reterr, ERR_BUSY, "%s is removed again and again", path);
}
