/*
 * A compressed file: plain bytes within the limits, the same that the library gives in one go, or
 * an error.
 */
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "base/mem.h"
#include "fuzz.h"
#include "os/file.h"
#include "os/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/faden-fuzz-XXXXXX.jsonl" UNPACK_SUFFIX;
	AUTO_CLOSE int file = mkstemps(path, sizeof(".jsonl" UNPACK_SUFFIX) - 1);
	struct err err = ERR_INIT;
	struct stat st;

	REQUIRE(file >= 0);
	REQUIRE(file_write_all(file, sv_make((const char *)data, size), NULL) == 0);
	AUTO_CLOSE int fd = unpack_open(path, NULL, &err);
	(void)unlink(path);
	if (fd < 0) {
		REQUIRE(err.code == fd && (fd == ERR_INPUT || fd == ERR_LIMIT));
		return 0;
	}
	REQUIRE(fstat(fd, &st) == 0);
	size_t n = (size_t)st.st_size;
	REQUIRE(n <= UNPACK_SMALL + size * UNPACK_RATIO);
	AUTO_FREE char *got = xmalloc(n + 1);
	AUTO_FREE char *want = xmalloc(n + 1);
	REQUIRE(pread(fd, got, n, 0) == (ssize_t)n);
	REQUIRE(ZSTD_decompress(want, n + 1, data, size) == n);
	REQUIRE(n == 0 || memcmp(got, want, n) == 0);
	return 0;
}
