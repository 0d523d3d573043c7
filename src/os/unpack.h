/*
 * Files that may be compressed, as Codex does with sessions that were not used for long: opened
 * here they are plain, so that nobody who reads them need know.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/str.h"

#define UNPACK_SUFFIX ".zst"
/* Behind that: one that cannot be unpacked, as it is kept. Nobody takes it for a session. */
#define UNPACK_DAMAGED ".damaged"

enum {
	UNPACK_WINDOW_LOG = 25, /* a frame that needs more memory than 32 MB is refused */
	/* What may come out of a file of n bytes: UNPACK_SMALL + n × UNPACK_RATIO. Sessions become
	 * 3 to 30 times smaller; a bomb 30,000 times. */
	UNPACK_SMALL = 64 * 1024 * 1024,
	UNPACK_RATIO = 512,
};
#define UNPACK_MAX (UINT64_C(16) << 30) /* … but never more than that */

/* Whether a file of this name is a session that was compressed. Others that end so are what they
 * are. */
bool unpack_is(struct sv path);
/* The name of the same file when it is not. */
struct sv unpack_plain(struct sv path);

/* Whether a file has no byte, or none but NULs, as a power loss leaves it: what it held is gone.
 * One that cannot be read is not. */
bool unpack_blank(const char *path);

/* A crash may leave a file that was written to right before as large and as old as it was, with
 * NULs in place of its bytes. Which of those that are known as they are have to be looked into: the
 * last that were written to before the machine was started, but no more than a few. */
struct unpack_doubt {
	int64_t boot_ns; /* when it was started, in wall time */
	int64_t last_ns; /* the latest of the times noted that are before that */
	atomic_uint looked;
};
void unpack_doubt_init(struct unpack_doubt *d);
/* The time of a file that is known; all of them come first. */
void unpack_doubt_note(struct unpack_doubt *d, int64_t mtime_ns);
/* Whether one of this time is blank all the same; from any thread. */
bool unpack_doubt_blank(struct unpack_doubt *d, const char *path, int64_t mtime_ns);

/* Whether it is a compressed session that cannot be unpacked any more. */
bool unpack_damaged(const char *path);

/* Where a session lies, plain or compressed, whichever of the names is given; NULL when it is at
 * neither, or blank: what was blanked is not there, nor is what is no file. Caller frees. */
char *unpack_where(const char *path);

/*
 * file_open(), and where the name is such a one the descriptor is that of its plain bytes,
 * in a file without a name that goes when it is closed. *ret_st (may be NULL) is of the file that
 * has the name; fstat() of the descriptor tells how many bytes there are to read.
 *
 * ERR_NOTFOUND: a session that has nothing but NULs; ERR_INPUT: damaged, or no such file at all;
 * ERR_LIMIT: more than the limits above, or than half of what the disk has free.
 */
int unpack_open(const char *path, struct stat *ret_st, struct err *reterr) MUST_USE;
