/*
 * The files below a folder, with what a catalogue needs to know whether one has changed. One
 * stat a file that passes the filter, none for the others where the file system tells the type.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

enum { TREE_DEPTH_MAX = 32 }; /* one open folder a level */

/* Valid only during the callback. */
struct tree_file {
	const char *path; /* top, '/', and the way down */
	struct sv name; /* its last part */
	unsigned depth; /* folders between top and the file */
	uint64_t size;
	int64_t mtime_ns, ctime_ns; /* since 1970 UTC */
	uint64_t inode;
	uint64_t device;
	bool link; /* the name is a link, and the rest is of what it leads to */
};

struct tree_opts {
	/* How many levels of folders below top are entered, at most TREE_DEPTH_MAX; 0: only the
	 * files in top itself. */
	unsigned depth;
	/* Folders in which no name has come or gone since then are not looked into; 0: all are. */
	int64_t since_ns;
	/* What lies in top may be a symbolic link to a folder elsewhere: to one that is not above
	 * or below top, and that no other such link leads to. */
	bool links;
	/* Links to regular files are given like these, wherever they lead. */
	bool file_links;
	/* Of the folders in top only those whose names belong to one part of so many, and the files
	 * in top itself only with part 0: all parts together are everything. 0 parts: all of it. */
	unsigned part, parts;
	struct sv suffix; /* names must end so; empty: all */
	struct sv or_suffix; /* … or so; empty: nothing else will do */
	/* Each regular file, in no order. Not 0 ends the walk, which returns it. */
	int (*on_file)(void *data, const struct tree_file *file);
	/* A folder or file that cannot be looked at; the walk goes on. May be NULL. */
	void (*on_error)(void *data, const char *path, int errnum);
	/* A folder that lies too deep to be entered. Not 0 ends the walk. May be
	 * NULL. */
	int (*on_deep)(void *data, const char *path);
	void *data;
};

/*
 * Other symbolic links are passed over, except that top may be one. What vanishes during the walk
 * is not an error. Fails only when top itself cannot be read (-ENOENT when there is none, so that
 * callers can treat it as empty).
 */
int tree_walk(const char *top, const struct tree_opts *opts, struct err *reterr) MUST_USE;
