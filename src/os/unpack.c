#include "os/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"

static const struct sv suffix = { UNPACK_SUFFIX, sizeof(UNPACK_SUFFIX) - 1 };

bool unpack_is(struct sv path)
{
	return sv_ends(path, suffix);
}

struct sv unpack_plain(struct sv path)
{
	return unpack_is(path) ? sv_head(path, path.n - suffix.n) : path;
}

/* Where the file lies there is room for sessions; it may be a place where nothing can be made. */
static int open_unnamed(const char *path, struct err *reterr)
{
	struct sv parent = path_parent(sv_of(path));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);
	const char *const folders[] = { folder, "/var/tmp", "/tmp" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		int fd = open(folders[i], O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
	}
	return err_errno(reterr, errno, "no folder to unpack %s in", path);
}

static uint64_t limit_of(uint64_t packed, int plain)
{
	uint64_t most = packed < UNPACK_MAX / UNPACK_RATIO ? UNPACK_SMALL + packed * UNPACK_RATIO
							   : UNPACK_MAX;
	struct statvfs disk;

	if (fstatvfs(plain, &disk) == 0 && disk.f_bavail * disk.f_frsize / 2 < most)
		most = disk.f_bavail * disk.f_frsize / 2;
	return most;
}

static int refuse(size_t code, const char *path, struct err *reterr)
{
	ZSTD_ErrorCode why = ZSTD_getErrorCode(code);

	if (why == ZSTD_error_frameParameter_windowTooLarge)
		return err_set(reterr, ERR_LIMIT,
			"%s needs more than %d MB of memory to be unpacked", path,
			1 << (UNPACK_WINDOW_LOG - 20));
	return err_set(reterr, ERR_INPUT, "%s is damaged: %s", path,
		why == ZSTD_error_prefix_unknown ? "no zstd frame where one must be"
						 : ZSTD_getErrorName(code));
}

static void free_ctx(ZSTD_DCtx **ctx)
{
	(void)ZSTD_freeDCtx(*ctx);
}

static int unpack(int from, int to, uint64_t most, const char *path, struct err *reterr)
{
	CLEANUP(free_ctx) ZSTD_DCtx *ctx = ZSTD_createDCtx();
	const size_t in_size = ZSTD_DStreamInSize(), out_size = ZSTD_DStreamOutSize();
	AUTO_FREE char *in = xmalloc(in_size);
	AUTO_FREE char *out = xmalloc(out_size);
	ZSTD_inBuffer input = { in, 0, 0 };
	uint64_t written = 0;
	size_t left = 0; /* 0: a frame has ended */
	bool full = false; /* there is more to come of what was read */

	if (!ctx ||
		ZSTD_isError(ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, UNPACK_WINDOW_LOG)))
		return err_errno(reterr, ENOMEM, "unpack %s", path);
	for (;;) {
		ZSTD_outBuffer output = { out, out_size, 0 };
		if (input.pos == input.size && !full) {
			ssize_t n = read(from, in, in_size);
			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				return err_errno(reterr, errno, "read %s", path);
			input = (ZSTD_inBuffer){ in, (size_t)n, 0 };
			if (n == 0)
				break;
		}
		left = ZSTD_decompressStream(ctx, &output, &input);
		if (ZSTD_isError(left))
			return refuse(left, path, reterr);
		full = left != 0 && output.pos == output.size;
		written += output.pos;
		if (written > most)
			return err_set(reterr, ERR_LIMIT,
				"%s holds more than %llu bytes: too much for a file of its size or "
				"for the disk",
				path, (unsigned long long)most);
		int r = file_write_all(to, sv_make(out, output.pos), reterr);
		if (r < 0) {
			err_prefix(reterr, "unpack %s", path);
			return r;
		}
	}
	if (left != 0)
		return err_set(reterr, ERR_INPUT, "%s is damaged: it ends within a frame", path);
	return lseek(to, 0, SEEK_SET) < 0 ? err_errno(reterr, errno, "unpack %s", path) : 0;
}

int unpack_open(const char *path, struct stat *ret_st, struct err *reterr)
{
	struct stat st;
	AUTO_CLOSE int fd = file_open(path, &st, reterr);
	AUTO_CLOSE int plain = -1;
	int r = fd < 0 ? fd : 0;

	if (r == 0 && unpack_is(sv_of(path))) {
		plain = open_unnamed(path, reterr);
		r = plain < 0
			? plain
			: unpack(fd, plain, limit_of((uint64_t)st.st_size, plain), path, reterr);
	}
	if (r < 0)
		return r;
	if (ret_st)
		*ret_st = st;
	return plain >= 0 ? TAKE_FD(plain) : TAKE_FD(fd);
}
