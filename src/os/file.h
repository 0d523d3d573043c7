/*
 * Files: whole reads with a limit, replacement that is either the old or the new file and never
 * half of one, appends, locks. Everything is opened close-on-exec. Messages name the path.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/*
 * Opens a regular file for reading: its descriptor, or negative. Links are followed. Nothing else
 * is opened for good: a pipe would make us wait for its writer, a device may never end; the message
 * says what stands there. /dev/null counts as a file that is empty. ret_st may be NULL.
 */
int file_open(const char *path, struct stat *ret_st, struct err *reterr) MUST_USE;
/* Reads the whole file into *out (cleared first). More than max bytes: ERR_LIMIT. Missing:
 * -ENOENT, so that callers can treat it as empty. */
int file_read(const char *path, size_t max, struct str *out, struct err *reterr) MUST_USE;
/* n bytes from a place on, appended to *out; fewer where the file ends before. *out is as it was
 * after a failure. */
int file_read_at(int fd, uint64_t offset, size_t n, struct str *out, struct err *reterr) MUST_USE;
/* Whether two files have the same n bytes from a place on. */
bool file_same(int a, int b, uint64_t offset, uint64_t n);
/* A time of a file in nanoseconds since 1970 UTC, below 0 before that. What is further away than
 * they reach (1677, 2262) counts as the last second within. Never 0, which in what is kept of files
 * stands for a time that is not known. */
#define FILE_TIME_MAX_S (INT64_MAX / 1000000000 - 1)
static inline int64_t file_time_ns(struct timespec t)
{
	int64_t s = t.tv_sec > FILE_TIME_MAX_S ? FILE_TIME_MAX_S
		: t.tv_sec < -FILE_TIME_MAX_S  ? -FILE_TIME_MAX_S
					       : t.tv_sec;
	int64_t ns = s * 1000000000 + t.tv_nsec;

	return ns != 0 ? ns : 1;
}
static inline int64_t file_mtime_ns(const struct stat *st)
{
	return file_time_ns(st->st_mtim);
}
/* Nobody can set this one back: what was written with the time of before has another. So has what
 * was only renamed, linked or given other rights. */
static inline int64_t file_ctime_ns(const struct stat *st)
{
	return file_time_ns(st->st_ctim);
}
/*
 * A path that was given for output: 1 when what stands there is no regular file but a device, a
 * pipe, or a descriptor that we were started with (/dev/stdout, /dev/fd/N). That is written into
 * and never replaced: *ret_fd is open for it. A pipe is waited for until somebody reads. 0: there
 * is a regular file, or nothing. A folder is an error.
 */
int file_open_into(const char *path, int *ret_fd, struct err *reterr) MUST_USE;
/* A file without a name, for reading and writing, that goes when it is closed: in the folder or,
 * where nothing can be made there, in /var/tmp or /tmp. Its descriptor, or negative. */
int file_open_temp(const char *folder, struct err *reterr) MUST_USE;

/*
 * A new file in the making, under a temporary name in the target's folder. Nothing shows under
 * `path` before commit; a crash leaves at most the temporary file, whose name begins with
 * ".faden-" and which file_sweep_temps() removes. A symbolic link at `path` is kept: the file it
 * points to is the target, also when there is none yet. The mode is given exactly, whatever the
 * umask; 0 means mode and owner of the file that is replaced, or 0600 when there is none.
 */
struct file_new {
	char *path;
	char *temp; /* NULL: it has no name yet */
	int fd;
	uint64_t written;
	uint64_t started; /* on its way to the disk up to here */
	uint64_t reserved; /* has room on the disk up to here; 0: not yet */
	/* May be set once it is open: nobody waits for the disk. After a loss of power it may be
	 * missing or end early, so this is for a copy whose original stays. */
	bool lazy;
};
#define FILE_NEW_INIT    \
	{                \
		.fd = -1 \
	}
int file_new_open(struct file_new *f, const char *path, mode_t mode, struct err *reterr) MUST_USE;
/* The same, but where the system can, the file has no name at all before it is whole and synced:
 * not even a kill leaves a trace of a half-made one. */
int file_new_open_unnamed(
	struct file_new *f, const char *path, mode_t mode, struct err *reterr) MUST_USE;
int file_new_write(struct file_new *f, struct sv data, struct err *reterr) MUST_USE;
/* Several pieces in one go. */
int file_new_writev(
	struct file_new *f, const struct sv *pieces, size_t n, struct err *reterr) MUST_USE;
/* All bytes of another file, from its begin. */
int file_new_copy(struct file_new *f, int from, struct err *reterr) MUST_USE;
/* All that was written is on the disk, under the temporary name, and closed: it may take the place
 * of an original, so it is no lazy one. */
int file_new_ready(struct file_new *f, struct err *reterr) MUST_USE;
/* fsync, rename over `path`, fsync of the folder. After a failure `path` is the old file or, when
 * only the last step failed, the new one. What stands there and is no regular file, a device or a
 * pipe, is never replaced: an error. */
int file_new_commit(struct file_new *f, struct err *reterr) MUST_USE;
/* The same, but fails with -EEXIST when `path` exists already. A lazy one has no fsync. */
int file_new_commit_excl(struct file_new *f, struct err *reterr) MUST_USE;
/* Closes and removes what was not committed. Harmless after commit and on an unopened one. */
void file_new_release(struct file_new *f);

int file_replace(const char *path, struct sv data, mode_t mode, struct err *reterr) MUST_USE;
/* Removes leftover temporaries older than max_age_ms from a folder, but none whose writer still
 * lives; errors are ignored. */
void file_sweep_temps(const char *folder, int64_t max_age_ms);

/* All of data at the end of the file (created 0600) in one write(), so that several processes may
 * append whole records; with `durable` followed by fdatasync. A short write is an error, and the
 * file is cut back unless another process has appended behind it meanwhile. */
int file_append(const char *path, struct sv data, bool durable, struct err *reterr) MUST_USE;

/* write() until all is out; EINTR, short writes and a full non-blocking descriptor handled. */
int file_write_all(int fd, struct sv data, struct err *reterr) MUST_USE;

/* Folders: all missing parents too, mode 0700; there already is fine. */
int file_mkdirs(const char *path, struct err *reterr) MUST_USE;
/* Syncs the folder that holds `path`: a new name is durable only then. Folders that cannot be
 * opened for reading, and file systems that cannot sync a folder, are passed over: nothing more can
 * be done there. */
int folder_sync_of(const char *path, struct err *reterr) MUST_USE;

/* ---- locks ---- */

enum {
	LOCK_TELL_MS = 1000, /* until it is told who is waited for */
	/* How long a holder may do nothing: one that is stopped, one that is not, and one of which
	 * that cannot be seen. */
	LOCK_STOPPED_MS = 5 * 1000,
	LOCK_IDLE_MS = 60 * 1000,
	LOCK_UNSEEN_MS = 10 * 60 * 1000,
};
#define LOCK_FOREVER INT64_MAX
/* How another holder is waited for: as long as it works, and no longer than it may do nothing. */
struct lock_wait {
	int64_t idle_ms; /* that it may do nothing; 0: as above */
	/* From the calling thread; both may be NULL. held: once, whom it waits for and why, as part
	 * of a sentence. cancelled: true ends it, ERR_CANCELLED. */
	void (*held)(void *data, const char *whom);
	bool (*cancelled)(void *data);
	void *data;
};
/* Silent, and not to be cancelled: for locks that are held for moments. */
#define LOCK_QUIETLY (&(const struct lock_wait){ .idle_ms = 0 })
/* Advisory whole-file lock (created when missing) that dies with the process. A lock held elsewhere
 * (also by this process through another descriptor) is ERR_BUSY: at once where wait is NULL, else
 * when its holder has done nothing for too long, and says by whom and what to do. The caller
 * closes *ret_fd to unlock. Lock a file of its own, never one that is replaced. */
int file_lock(
	const char *path, const struct lock_wait *wait, int *ret_fd, struct err *reterr) MUST_USE;
