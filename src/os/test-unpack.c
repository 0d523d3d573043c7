#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <zstd.h>

#include "os/test-temp.h"
#include "os/unpack.h"

/* A frame of n bytes, each of them what its place says. */
static void pack(struct str *out, size_t n, int level)
{
	AUTO_FREE char *plain = xmalloc(n + 1);
	size_t room = ZSTD_compressBound(n);

	for (size_t i = 0; i < n; i++)
		plain[i] = (char)('a' + i * i / 7 % 26);
	assert_true(str_reserve(out, room));
	size_t packed = ZSTD_compress(out->buf + out->len, room, plain, n, level);
	assert_false(ZSTD_isError(packed));
	out->len += packed;
}

static char *write_packed(const char *folder, const char *name, const struct str *bytes)
{
	char *path = path_join(folder, name);

	assert_int_equal(file_replace(path, str_sv(bytes), 0600, NULL), 0);
	return path;
}

static void expect_refused(const char *path, int code, const char *words)
{
	struct err err = ERR_INIT;

	assert_int_equal(unpack_open(path, NULL, &err), code);
	if (!strstr(err.msg, words))
		fail_msg("\"%s\" does not say \"%s\"", err.msg, words);
	assert_non_null(strstr(err.msg, path));
}

/* From where the descriptor stands: the beginning. */
static size_t read_on(int fd, char *to, size_t n)
{
	size_t got = 0;
	ssize_t r = 1;

	while (got < n && r > 0) {
		r = read(fd, to + got, n - got);
		got += r > 0 ? (size_t)r : 0;
	}
	return got;
}

static void test_names(void **state)
{
	(void)state;
	assert_true(unpack_is(SV("/a/b.jsonl.zst")));
	assert_false(unpack_is(SV("/a/b.jsonl")));
	assert_true(sv_is(unpack_plain(SV("b.jsonl.zst")), "b.jsonl"));
	assert_true(sv_is(unpack_plain(SV("b.jsonl")), "b.jsonl"));
}

static void test_plain(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "a.jsonl", "{}\n");
	struct stat st, open_st;
	AUTO_CLOSE int fd = unpack_open(path, &st, NULL);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &open_st), 0);
	assert_int_equal(st.st_ino, open_st.st_ino);
}

/* Around the sizes of the buffers, which are 128 KB and a little more. */
static void test_sizes(void **state)
{
	static const size_t sizes[] = { 0, 1, 131071, 131072, 131073, 262144, 3 * 1000 * 1000 };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (size_t frames = 1; frames < 3; frames++) {
			AUTO_STR bytes = STR_INIT;
			for (size_t k = 0; k < frames; k++)
				pack(&bytes, sizes[i], 3);
			AUTO_FREE char *path = write_packed(*state, "a.jsonl.zst", &bytes);
			struct stat st, plain;
			AUTO_CLOSE int fd = unpack_open(path, &st, NULL);
			assert_true(fd >= 0);
			assert_int_equal(fstat(fd, &plain), 0);
			assert_int_equal(plain.st_size, sizes[i] * frames);
			assert_int_equal(plain.st_nlink, 0);
			assert_int_equal(st.st_size, bytes.len);
			AUTO_FREE char *text = xmalloc(sizes[i] * frames + 1);
			assert_int_equal(read_on(fd, text, sizes[i] * frames), sizes[i] * frames);
			for (size_t k = 0; k < sizes[i] * frames; k++)
				if (text[k] != (char)('a' + k % sizes[i] * (k % sizes[i]) / 7 % 26))
					fail_msg("byte %zu of %zu differs", k, sizes[i]);
		}
}

static void test_empty(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "a.jsonl.zst", "");
	AUTO_CLOSE int fd = unpack_open(path, NULL, NULL);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
}

static void test_damaged(void **state)
{
	AUTO_FREE char *none = temp_write(*state, "none.jsonl.zst", "{\"type\":\"user\"}\n");
	AUTO_STR bytes = STR_INIT;

	expect_refused(none, ERR_INPUT, "no zstd frame");
	pack(&bytes, 500000, 3);
	AUTO_STR torn = STR_INIT;
	str_add(&torn, sv_head(str_sv(&bytes), bytes.len - 3));
	AUTO_FREE char *half = write_packed(*state, "half.jsonl.zst", &torn);
	expect_refused(half, ERR_INPUT, "ends within a frame");
	bytes.buf[bytes.len / 2] ^= 0x55;
	bytes.buf[bytes.len / 2 + 1] ^= 0x55;
	AUTO_FREE char *flipped = write_packed(*state, "flipped.jsonl.zst", &bytes);
	struct err err = ERR_INIT;
	int fd = unpack_open(flipped, NULL, &err);
	if (fd >= 0)
		(void)close(fd); /* without a checksum some flips cannot be seen */
	else
		assert_int_equal(fd, ERR_INPUT);
	AUTO_STR behind = STR_INIT;
	pack(&behind, 10, 3);
	str_adds(&behind, "garbage");
	AUTO_FREE char *more = write_packed(*state, "more.jsonl.zst", &behind);
	expect_refused(more, ERR_INPUT, "no zstd frame");
}

/* More zeros than a file of this size may hold. */
static void test_bomb(void **state)
{
	AUTO_FREE char *zeros = xcalloc(1, 1 << 20);
	AUTO_STR bytes = STR_INIT;
	size_t n = 512; /* MB */

	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	assert_true(str_reserve(&bytes, 1 << 20));
	ZSTD_outBuffer out = { bytes.buf, 1 << 20, 0 };
	for (size_t i = 0; i <= n; i++) {
		ZSTD_inBuffer in = { zeros, i < n ? 1 << 20 : 0, 0 };
		size_t left;
		do {
			left = ZSTD_compressStream2(
				ctx, &out, &in, i < n ? ZSTD_e_continue : ZSTD_e_end);
			assert_false(ZSTD_isError(left));
		} while (in.pos < in.size || (i == n && left > 0));
	}
	(void)ZSTD_freeCCtx(ctx);
	bytes.len = out.pos;
	assert_true(bytes.len < (n << 20) / UNPACK_RATIO);
	AUTO_FREE char *path = write_packed(*state, "bomb.jsonl.zst", &bytes);
	expect_refused(path, ERR_LIMIT, "holds more than");
}

static void test_window(void **state)
{
	enum { SIZE = 1 << 20 };
	static const struct {
		int log;
		bool fine;
	} cases[] = { { UNPACK_WINDOW_LOG, true }, { UNPACK_WINDOW_LOG + 1, false } };
	AUTO_FREE char *zeros = xcalloc(1, SIZE);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_STR bytes = STR_INIT;
		ZSTD_CCtx *ctx = ZSTD_createCCtx();
		ZSTD_inBuffer in = { zeros, SIZE, 0 };
		assert_true(str_reserve(&bytes, SIZE));
		ZSTD_outBuffer out = { bytes.buf, SIZE, 0 };
		(void)ZSTD_CCtx_setParameter(ctx, ZSTD_c_windowLog, cases[i].log);
		while (in.pos < in.size)
			(void)ZSTD_compressStream2(ctx, &out, &in, ZSTD_e_continue);
		assert_int_equal(ZSTD_compressStream2(ctx, &out, &in, ZSTD_e_end), 0);
		(void)ZSTD_freeCCtx(ctx);
		bytes.len = out.pos;
		AUTO_FREE char *path = write_packed(*state, "w.jsonl.zst", &bytes);
		if (!cases[i].fine) {
			expect_refused(path, ERR_LIMIT, "memory");
			continue;
		}
		AUTO_CLOSE int fd = unpack_open(path, NULL, NULL);
		assert_true(fd >= 0);
	}
}

/* Where nothing can be made, another place serves. */
static void test_folder_not_writable(void **state)
{
	AUTO_STR bytes = STR_INIT;
	AUTO_CLOSE int fd = -1;

	pack(&bytes, 100, 3);
	AUTO_FREE char *path = write_packed(*state, "a.jsonl.zst", &bytes);
	AUTO_FREE char *self = xasprintf("/proc/%d/cwd/a.jsonl.zst", (int)getpid());
	assert_int_equal(chdir(*state), 0);
	assert_int_equal(chmod(*state, 0500), 0);
	fd = unpack_open(path, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(chmod(*state, 0700), 0);
	AUTO_CLOSE int by_link = unpack_open(self, NULL, NULL);
	assert_true(by_link >= 0);
	assert_int_equal(chdir("/"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		WITH_FOLDER(test_plain),
		WITH_FOLDER(test_sizes),
		WITH_FOLDER(test_empty),
		WITH_FOLDER(test_damaged),
		WITH_FOLDER(test_bomb),
		WITH_FOLDER(test_window),
		WITH_FOLDER(test_folder_not_writable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
