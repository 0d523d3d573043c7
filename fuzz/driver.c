/*
 * Runs a fuzz target over the files given as arguments, or in folders given: its corpus as a plain
 * test, and a way to look at one failing input without a fuzzer.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"

enum { INPUT_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input is copied to a block of its very size, so that sanitizers see a read beyond it. */
static int run_file(const char *path)
{
	AUTO_STR text = STR_INIT;
	struct err err = ERR_INIT;

	if (file_read(path, INPUT_MAX, &text, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	AUTO_FREE uint8_t *exact = xmalloc(text.len ? text.len : 1);
	memcpy(exact, text.buf, text.len);
	(void)LLVMFuzzerTestOneInput(exact, text.len);
	return 0;
}

static int run_folder(const char *path)
{
	DIR *dir = opendir(path);
	int failed = 0, n = 0;

	if (!dir) {
		perror(path);
		return 1;
	}
	for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		AUTO_FREE char *file = xasprintf("%s/%s", path, e->d_name);
		failed |= run_file(file);
		n++;
	}
	(void)closedir(dir);
	printf("%s: %d inputs\n", path, n);
	return failed || n == 0;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;

	for (int i = 1; i < argc; i++) {
		struct stat st;
		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			failed |= run_folder(argv[i]);
		else
			failed |= run_file(argv[i]);
	}
	return failed;
}
