/*
 * One write by the library, for the fault test: writer replace|swap|create|pieces|append|
 * journal|mkdirs|sweep PATH [TEXT]. Exit status 0 done, 1 failed (message on standard error), 2
 * usage.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/swap.h"

static int do_replace(const char *path, struct sv text, struct err *reterr)
{
	return file_replace(path, text, 0600, reterr);
}

/* In the place of all that is there; prints how many bytes came late. */
static int do_swap(const char *path, struct sv text, struct err *reterr)
{
	CLEANUP(file_new_release) struct file_new f = FILE_NEW_INIT;
	AUTO_CLOSE int old = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = old < 0 ? 0 : lseek(old, 0, SEEK_END);
	uint64_t late = 0;
	int r = file_new_open_unnamed(&f, path, 0, reterr);

	if (r == 0)
		r = file_new_write(&f, text, reterr);
	if (r == 0)
		r = file_new_swap(&f, old, (uint64_t)size, &late, reterr);
	if (r == 0)
		(void)printf("%llu\n", (unsigned long long)late);
	return r;
}

static int do_create(const char *path, struct sv text, struct err *reterr)
{
	CLEANUP(file_new_release) struct file_new f = FILE_NEW_INIT;
	int r = file_new_open(&f, path, 0600, reterr);

	if (r == 0)
		r = file_new_write(&f, text, reterr);
	return r == 0 ? file_new_commit_excl(&f, reterr) : r;
}

static int do_pieces(const char *path, struct sv text, struct err *reterr)
{
	CLEANUP(file_new_release) struct file_new f = FILE_NEW_INIT;
	const struct sv pieces[] = { sv_head(text, 5), { NULL, 0 }, sv_from(text, 5) };
	int r = file_new_open(&f, path, 0600, reterr);

	if (r == 0)
		r = file_new_writev(&f, pieces, ARRAY_LEN(pieces), reterr);
	return r == 0 ? file_new_commit(&f, reterr) : r;
}

static int do_append(const char *path, struct sv text, struct err *reterr)
{
	return file_append(path, text, false, reterr);
}

static int do_journal(const char *path, struct sv text, struct err *reterr)
{
	return file_append(path, text, true, reterr);
}

static int do_mkdirs(const char *path, struct sv text, struct err *reterr)
{
	(void)text;
	return file_mkdirs(path, reterr);
}

static int do_sweep(const char *path, struct sv text, struct err *reterr)
{
	(void)text;
	(void)reterr;
	file_sweep_temps(path, 0);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const char *path, struct sv text, struct err *reterr);
} actions[] = {
	{ "replace", do_replace },
	{ "swap", do_swap },
	{ "create", do_create },
	{ "pieces", do_pieces },
	{ "append", do_append },
	{ "journal", do_journal },
	{ "mkdirs", do_mkdirs },
	{ "sweep", do_sweep },
};

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; argc >= 3 && i < ARRAY_LEN(actions); i++) {
		if (strcmp(argv[1], actions[i].name) != 0)
			continue;
		int r = actions[i].run(argv[2], sv_of(argc > 3 ? argv[3] : ""), &err);
		if (r < 0)
			(void)fprintf(stderr, "%s\n", err.msg);
		return r < 0 ? 1 : 0;
	}
	return 2;
}
