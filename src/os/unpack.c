#include "os/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/clock.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"

static const struct sv suffix = { UNPACK_SUFFIX, sizeof(UNPACK_SUFFIX) - 1 };

bool unpack_is(struct sv path)
{
	return sv_ends(path, SV(".jsonl" UNPACK_SUFFIX));
}

struct sv unpack_plain(struct sv path)
{
	return unpack_is(path) ? sv_head(path, path.n - suffix.n) : path;
}

static bool only_nuls(int fd, uint64_t size)
{
	static const char nuls[4096];
	char there[sizeof(nuls)];
	uint64_t at = 0;

	while (at < size) {
		ssize_t n = pread(fd, there, sizeof(there), (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || memcmp(there, nuls, (size_t)n) != 0)
			return false;
		at += (uint64_t)n;
	}
	return size > 0;
}

bool unpack_blank(const char *path)
{
	struct stat st;
	AUTO_CLOSE int fd = file_open(path, &st, NULL);

	return fd >= 0 && (st.st_size == 0 || only_nuls(fd, (uint64_t)st.st_size));
}

/* Systems write out what is older than half a minute. */
#define DOUBT_NS (INT64_C(5) * 60 * 1000000000)
enum { DOUBT_MAX = 64 }; /* files that are looked into: copies of many have one time */

void unpack_doubt_init(struct unpack_doubt *d)
{
	const struct clock now = { false, 0 };
	int64_t boot_ms = clock_wall_ms(&now) - clock_age_ms(&now);

	/* None is noted yet; one may be of before 1970. */
	*d = (struct unpack_doubt){ .boot_ns = boot_ms * 1000000, .last_ns = INT64_MIN + DOUBT_NS };
}

void unpack_doubt_note(struct unpack_doubt *d, int64_t mtime_ns)
{
	if (mtime_ns < d->boot_ns && mtime_ns > d->last_ns)
		d->last_ns = mtime_ns;
}

bool unpack_doubt_blank(struct unpack_doubt *d, const char *path, int64_t mtime_ns)
{
	return mtime_ns < d->boot_ns && mtime_ns > d->last_ns - DOUBT_NS &&
		atomic_fetch_add(&d->looked, 1) < DOUBT_MAX && unpack_blank(path);
}

char *unpack_where(const char *path)
{
	struct sv plain = unpack_plain(sv_of(path));
	const char *const endings[] = { "", sv_ends(plain, SV(".jsonl")) ? UNPACK_SUFFIX : NULL };
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(endings) && endings[i]; i++) {
		AUTO_FREE char *at = xasprintf("%.*s%s", SV_ARG(plain), endings[i]);
		if (stat(at, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
			!unpack_blank(at))
			return TAKE_PTR(at);
	}
	return NULL;
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

	if (r == 0 && sv_ends(unpack_plain(sv_of(path)), SV(".jsonl")) &&
		only_nuls(fd, (uint64_t)st.st_size))
		r = err_set(reterr, ERR_NOTFOUND, "%s has nothing but NULs", path);
	if (r == 0 && unpack_is(sv_of(path))) {
		/* Where the file lies there is room for sessions. */
		AUTO_FREE char *folder = path_folder(path);
		plain = file_open_temp(folder, reterr);
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

bool unpack_damaged(const char *path)
{
	AUTO_CLOSE int fd = unpack_is(sv_of(path)) ? unpack_open(path, NULL, NULL) : -1;

	return fd == ERR_INPUT;
}
