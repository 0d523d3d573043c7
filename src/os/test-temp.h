/*
 * For tests: a folder of one's own under /tmp, and files in it. Failures abort the test program.
 */
#pragma once

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"

/* Owned by the caller; remove with temp_remove(), which also frees. */
static inline char *temp_folder(void)
{
	char name[] = "/tmp/faden-test-XXXXXX";
	char *real = NULL;

	if (!mkdtemp(name) || path_real(name, &real, NULL) < 0)
		abort();
	return real;
}

static inline int temp_remove_one_(
	const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static inline void temp_remove(char *folder)
{
	(void)nftw(folder, temp_remove_one_, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
}

/* folder/name with the text, its folders made; the path is the caller's. */
static inline char *temp_write(const char *folder, const char *name, const char *text)
{
	char *path = path_join(folder, name);
	struct sv parent = path_parent(sv_of(path));
	AUTO_FREE char *dir = xmemdup0(parent.p, parent.n);

	if (file_mkdirs(dir, NULL) < 0 || file_replace(path, sv_of(text), 0600, NULL) < 0)
		abort();
	return path;
}

/* Bytes in the middle of a file become others; it is as large and as old as before. The clock of
 * the file system has ticked then. */
static inline void temp_overwrite(const char *path, size_t at, struct sv bytes)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct stat was, st;

	if (fd < 0 || fstat(fd, &was) < 0)
		abort();
	const struct timespec times[] = { was.st_atim, was.st_mtim };
	do {
		if (pwrite(fd, bytes.p, bytes.n, (off_t)at) != (ssize_t)bytes.n ||
			futimens(fd, times) < 0 || fstat(fd, &st) < 0)
			abort();
	} while (file_ctime_ns(&st) == file_ctime_ns(&was));
}

static inline int temp_set_up(void **state)
{
	*state = temp_folder();
	return 0;
}

static inline int temp_tear_down(void **state)
{
	temp_remove(*state);
	return 0;
}

/* A case whose state is such a folder. */
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, temp_set_up, temp_tear_down)
