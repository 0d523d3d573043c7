/*
 * Files that may be compressed, as Codex does with sessions that were not used for long: opened
 * here they are plain, so that nobody who reads them need know.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/str.h"

#define UNPACK_SUFFIX ".zst"

enum {
	UNPACK_WINDOW_LOG = 25, /* a frame that needs more memory than 32 MB is refused */
	/* What may come out of a file of n bytes: UNPACK_SMALL + n × UNPACK_RATIO. Sessions become
	 * 3 to 30 times smaller; a bomb 30,000 times. */
	UNPACK_SMALL = 64 * 1024 * 1024,
	UNPACK_RATIO = 512,
};
#define UNPACK_MAX (UINT64_C(16) << 30) /* … but never more than that */

/* Whether a file of this name is compressed. */
bool unpack_is(struct sv path);
/* The name of the same file when it is not. */
struct sv unpack_plain(struct sv path);

/*
 * file_open(), and where the name ends in UNPACK_SUFFIX the descriptor is that of its plain bytes,
 * in a file without a name that goes when it is closed. *ret_st (may be NULL) is of the file that
 * has the name; fstat() of the descriptor tells how many bytes there are to read.
 *
 * ERR_INPUT: damaged, or no such file at all; ERR_LIMIT: more than the limits above, or than half
 * of what the disk has free.
 */
int unpack_open(const char *path, struct stat *ret_st, struct err *reterr) MUST_USE;
