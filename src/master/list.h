/*
 * The runs below a folder: which there are, which one is meant, and that one goes.
 */
#pragma once

#include "archive/archive.h"
#include "base/vec.h"
#include "master/run.h"

/* What can be told without reading all its steps. */
struct master_row {
	struct master_state state; /* id, name, task, times, rounds, configuration, cost, stop */
	char *path;
	uint64_t bytes;
	int64_t pid; /* who runs it; 0: nobody on this machine */
	bool open; /* it was not closed: it runs, or was killed */
};
/* A file that is none of ours, or damaged. */
struct master_bad {
	char *path;
	struct err why;
};
struct master_list {
	VEC(struct master_row) rows; /* the latest first */
	VEC(struct master_bad) bad;
};
#define MASTER_LIST_INIT         \
	{                        \
		.rows = VEC_INIT \
	}
#define AUTO_MASTER_LIST CLEANUP(master_list_release) struct master_list
void master_list_release(struct master_list *list);

/* No folder is an empty list. A file that cannot be read is among the bad ones. */
int master_list(const char *root, struct master_list *ret, struct err *reterr) MUST_USE;
/* Those that were deleted and that the archive has, of all folders, each as it was last; the path
 * of a row is the archive's key. */
int master_list_kept(
	const struct archive *archive, struct master_list *ret, struct err *reterr) MUST_USE;
/* By id, name, the beginning of an id, or a part of a name: of these the first that fits. The row
 * is the list's. ERR_NOTFOUND; ERR_AMBIGUOUS names some that fit. */
int master_find(const struct master_list *list, const char *text, const struct master_row **ret,
	struct err *reterr) MUST_USE;
/* Keeps it in the archive, as one file where it is not damaged, then deletes it. ERR_BUSY: somebody
 * runs it. */
int master_delete(const char *root, const char *id, const struct archive *archive,
	struct err *reterr) MUST_USE;
