#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "json/jsonl.h"

/* A file without a name. */
static int file_of(struct sv content)
{
	int fd = memfd_create("lines", MFD_CLOEXEC);

	assert_true(fd >= 0);
	for (size_t at = 0; at < content.n;) {
		ssize_t n = write(fd, content.p + at, content.n - at);
		assert_true(n > 0);
		at += (size_t)n;
	}
	return fd;
}

static void assert_line(
	struct jsonl *r, const char *text, uint64_t offset, uint64_t size, bool terminated)
{
	struct jsonl_line line;

	assert_int_equal(jsonl_next(r, &line, NULL), 1);
	assert_true(sv_is(line.text, text));
	assert_int_equal(line.offset, offset);
	assert_int_equal(line.size, size);
	assert_int_equal(line.terminated, terminated);
	assert_false(line.too_long);
}

static void assert_end(struct jsonl *r)
{
	struct jsonl_line line;

	assert_int_equal(jsonl_next(r, &line, NULL), 0);
	assert_int_equal(jsonl_next(r, &line, NULL), 0);
}

static void lines(void **state)
{
	AUTO_CLOSE int fd = file_of(SV("{}\n\na\r\n\xEF\xBB\xBFlast"));
	struct jsonl *r = jsonl_new(fd, NULL);

	(void)state;
	assert_line(r, "{}", 0, 3, true);
	assert_line(r, "", 3, 1, true);
	assert_line(r, "a\r", 4, 3, true);
	assert_line(r, "\xEF\xBB\xBFlast", 7, 7, false);
	assert_end(r);
	jsonl_free(r);
	jsonl_free(NULL);
}

static void a_range_of_a_file(void **state)
{
	AUTO_CLOSE int fd = file_of(SV("one\ntwo\nthree\n"));
	struct jsonl *r = jsonl_new(fd, &(struct jsonl_opts){ .offset = 4, .end = 8 });

	(void)state;
	assert_line(r, "two", 4, 4, true);
	assert_end(r);
	jsonl_free(r);
	r = jsonl_new(fd, &(struct jsonl_opts){ .end = 6 });
	assert_line(r, "one", 0, 4, true);
	assert_line(r, "tw", 4, 2, false);
	assert_end(r);
	jsonl_free(r);
	r = jsonl_new(fd, &(struct jsonl_opts){ .offset = 100 });
	assert_end(r);
	jsonl_free(r);
}

static void empty_file_and_errors(void **state)
{
	AUTO_CLOSE int fd = file_of(SV(""));
	struct jsonl *r = jsonl_new(fd, NULL);
	struct err err = ERR_INIT;
	struct jsonl_line line;

	(void)state;
	assert_end(r);
	jsonl_free(r);
	assert_int_equal(jsonl_open("/nonexistent/x", NULL, &r, &err), -ENOENT);
	assert_string_equal(err.msg, "open /nonexistent/x: No such file or directory");
	assert_int_equal(jsonl_open("/", NULL, &r, &err), ERR_INPUT);
	assert_string_equal(err.msg, "/ is a folder, not a file");
	AUTO_CLOSE int folder = open("/", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	r = jsonl_new(folder, NULL);
	assert_int_equal(jsonl_next(r, &line, &err), -EISDIR);
	assert_string_equal(err.msg, "read: Is a directory");
	jsonl_free(r);
}

static void a_pipe(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "a\nb", 3), 3);
	close(fds[1]);
	struct jsonl *r = jsonl_new(fds[0], NULL);
	assert_line(r, "a", 0, 2, true);
	assert_line(r, "b", 2, 1, false);
	assert_end(r);
	jsonl_free(r);
	close(fds[0]);
}

static void fill_line(struct str *s, char c, size_t n)
{
	(void)str_reserve(s, n + 1);
	memset(s->buf + s->len, c, n);
	s->len += n;
	s->buf[s->len] = '\0';
	str_addc(s, '\n');
}

/* Limit, limit + 1, and a line many times the buffer; what follows is found again. */
static void lines_beyond_the_limit(void **state)
{
	const size_t limit = 100000;
	AUTO_STR text = STR_INIT;
	struct jsonl_line line;

	(void)state;
	fill_line(&text, 'a', limit);
	fill_line(&text, 'b', limit + 1);
	fill_line(&text, 'c', 3 * JSONL_READ + 17);
	str_adds(&text, "d\n");
	fill_line(&text, 'e', limit + 1);
	str_cut(&text, text.len - 1);

	AUTO_CLOSE int fd = file_of(str_sv(&text));
	struct jsonl *r = jsonl_new(fd, &(struct jsonl_opts){ .line_max = limit });
	assert_int_equal(jsonl_next(r, &line, NULL), 1);
	assert_false(line.too_long);
	assert_int_equal(line.text.n, limit);
	uint64_t at = line.size;
	const size_t sizes[] = { limit + 2, 3 * JSONL_READ + 18 };
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		assert_int_equal(jsonl_next(r, &line, NULL), 1);
		assert_true(line.too_long && line.terminated);
		assert_int_equal(line.offset, at);
		assert_int_equal(line.size, sizes[i]);
		assert_int_equal(line.text.n, JSONL_HEAD);
		assert_int_equal(line.text.p[JSONL_HEAD - 1], 'b' + (int)i);
		at += line.size;
	}
	assert_line(r, "d", at, 2, true);
	assert_int_equal(jsonl_next(r, &line, NULL), 1);
	assert_true(line.too_long && !line.terminated);
	assert_int_equal(line.size, limit + 1);
	assert_end(r);
	jsonl_free(r);
}

static void a_line_of_200_megabytes(void **state)
{
	const off_t size = 200 * 1024 * 1024;
	AUTO_CLOSE int fd = file_of(SV("x\n"));
	struct jsonl_line line;

	(void)state;
	assert_int_equal(ftruncate(fd, size), 0); /* NUL bytes */
	assert_int_equal(pwrite(fd, "\ny", 2, size), 2);
	struct jsonl *r = jsonl_new(fd, &(struct jsonl_opts){ .line_max = (size_t)size });
	assert_line(r, "x", 0, 2, true);
	assert_int_equal(jsonl_next(r, &line, NULL), 1);
	assert_false(line.too_long);
	assert_int_equal(line.text.n, size - 2);
	assert_line(r, "y", (uint64_t)size + 1, 1, false);
	assert_end(r);
	jsonl_free(r);

	const size_t limits[] = { 1024 * 1024, 0 };
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		r = jsonl_new(fd, &(struct jsonl_opts){ .line_max = limits[i] });
		assert_line(r, "x", 0, 2, true);
		assert_int_equal(jsonl_next(r, &line, NULL), 1);
		assert_true(line.too_long);
		assert_int_equal(line.size, size - 1);
		assert_line(r, "y", (uint64_t)size + 1, 1, false);
		jsonl_free(r);
	}
}

static void the_longest_line(void **state)
{
	(void)state;
	for (int beyond = 0; beyond < 2; beyond++) {
		const off_t size = (off_t)JSONL_LINE_MAX + beyond;
		AUTO_CLOSE int fd = file_of(SV(""));
		struct jsonl_line line;
		assert_int_equal(ftruncate(fd, size), 0);
		assert_int_equal(pwrite(fd, "\ny", 2, size), 2);
		struct jsonl *r = jsonl_new(fd, NULL);
		assert_int_equal(jsonl_next(r, &line, NULL), 1);
		assert_int_equal(line.too_long, beyond);
		assert_int_equal(line.size, size + 1);
		assert_line(r, "y", (uint64_t)size + 1, 1, false);
		jsonl_free(r);
	}
}

static void a_file_that_changes(void **state)
{
	AUTO_STR text = STR_INIT;

	(void)state;
	for (int i = 0; i < 40; i++)
		fill_line(&text, 'a', JSONL_READ / 4);
	AUTO_CLOSE int fd = file_of(str_sv(&text));
	struct jsonl *r = jsonl_new(fd, NULL);
	struct jsonl_line line;
	assert_int_equal(jsonl_next(r, &line, NULL), 1);
	assert_int_equal(ftruncate(fd, 10), 0);
	int n = 1, result;
	while ((result = jsonl_next(r, &line, NULL)) > 0)
		n++;
	assert_int_equal(result, 0);
	assert_in_range(n, 1, 10);
	jsonl_free(r);

	r = jsonl_new(fd, NULL);
	assert_int_equal(pwrite(fd, "\nmore\n", 6, 10), 6);
	assert_line(r, "aaaaaaaaaa", 0, 11, true);
	assert_line(r, "more", 11, 5, true);
	assert_end(r);
	jsonl_free(r);
}

/* ---- map ---- */

/* Random lines, many at the borders of small chunks. */
static void random_text(struct str *out, unsigned *seed, size_t size, size_t longest)
{
	while (out->len < size) {
		*seed = *seed * 1103515245 + 12345;
		size_t n = (*seed >> 8) % (longest + 1);
		for (size_t i = 0; i < n; i++)
			str_addc(out, (char)('a' + (*seed + i) % 26));
		str_addc(out, '\n');
	}
	if (*seed & 0x10000)
		str_cut(out, out->len - 1);
}

struct copy {
	int fd;
	struct str out;
	atomic_bool sinking;
	size_t calls, fail_work_at, fail_sink_at, wrong;
	uint64_t next_offset;
};

/* Each line in brackets, so that a wrong cut shows. */
static void bracket(struct str *out, struct sv text, bool terminated)
{
	str_addc(out, '<');
	str_add(out, text);
	str_adds(out, terminated ? ">\n" : ">");
}

static int bracket_work(
	void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr)
{
	const struct copy *c = data;
	struct jsonl_line line;
	size_t at = 0;

	if (c->fail_work_at && in->offset >= c->fail_work_at)
		return err_set(reterr, ERR_LIMIT, "work at %llu", (unsigned long long)in->offset);
	while (jsonl_chunk_next(in, &at, &line)) {
		assert_true(sv_eq(
			line.text, sv_make(in->bytes.p + (line.offset - in->offset), line.text.n)));
		bracket(out, line.text, line.terminated);
	}
	return 0;
}

static int add_piece(void *data, struct sv piece, struct err *reterr)
{
	(void)reterr;
	str_add(data, piece);
	return 0;
}

static void collect(struct copy *c, const struct jsonl_chunk *in, struct sv out)
{
	str_add(&c->out, out);
	if (in->skipped) {
		AUTO_STR whole = STR_INIT;
		c->wrong += jsonl_copy(c->fd, in->offset + in->bytes.n, in->skipped, add_piece,
				    &whole, NULL) != 0;
		bool terminated = whole.buf[whole.len - 1] == '\n';
		bracket(&c->out, sv_head(str_sv(&whole), whole.len - terminated), terminated);
	}
}

/* On any thread, where a failed assert would end the run without a word: it counts instead. */
static int collect_sink(void *data, const struct jsonl_chunk *in, struct sv out, struct err *reterr)
{
	struct copy *c = data;
	int r = 0;

	c->wrong += atomic_exchange(&c->sinking, true);
	c->wrong += in->offset != c->next_offset;
	c->next_offset = in->offset + in->bytes.n + in->skipped;
	if (c->fail_sink_at && ++c->calls >= c->fail_sink_at)
		r = err_set(reterr, ERR_BUSY, "sink");
	else
		collect(c, in, out);
	atomic_store(&c->sinking, false);
	return r;
}

static const struct jsonl_map_ops bracket_ops = { .work = bracket_work, .sink = collect_sink };

static void naive(struct str *out, struct sv text)
{
	while (text.n) {
		const char *hit = memchr(text.p, '\n', text.n);
		size_t n = hit ? (size_t)(hit - text.p) : text.n;
		bracket(out, sv_head(text, n), hit != NULL);
		text = sv_from(text, n + (hit != NULL));
	}
}

static void assert_map(struct sv text, const struct jsonl_opts *opts)
{
	AUTO_STR want = STR_INIT;
	AUTO_CLOSE int fd = file_of(text);
	struct copy c = { .fd = fd, .out = STR_INIT, .next_offset = opts->offset };

	naive(&want, sv_from(text, opts->offset));
	assert_int_equal(jsonl_map(fd, opts, &bracket_ops, &c, NULL), 0);
	assert_int_equal(c.wrong, 0);
	assert_int_equal(c.out.len, want.len);
	assert_memory_equal(c.out.buf, want.buf, want.len);
	str_release(&c.out);
}

static void map_equals_a_naive_splitter(void **state)
{
	static const size_t chunks[] = { 1, 2, 3, 7, 64, 1000, 100000 };
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 20; round++) {
		AUTO_STR text = STR_INIT;
		random_text(&text, &seed, 2000, round % 2 ? 5 : 90);
		for (size_t i = 0; i < ARRAY_LEN(chunks); i++)
			for (unsigned threads = 1; threads <= 3; threads += 2)
				assert_map(str_sv(&text),
					&(struct jsonl_opts){
						.chunk = chunks[i], .threads = threads });
		/* lines beyond the limit are handed over by their place */
		assert_map(str_sv(&text),
			&(struct jsonl_opts){ .chunk = 16, .line_max = 16, .threads = 2 });
		size_t second = (size_t)(strchr(text.buf, '\n') - text.buf) + 1;
		assert_map(str_sv(&text),
			&(struct jsonl_opts){ .chunk = 10, .offset = second, .threads = 2 });
	}
}

static void map_of_small_files(void **state)
{
	static const char *const texts[] = { "", "\n", "a", "a\n", "\n\n", "\na", "ab\ncd" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		for (size_t chunk = 1; chunk < 4; chunk++)
			assert_map(sv_of(texts[i]),
				&(struct jsonl_opts){ .chunk = chunk, .threads = 2 });
}

static void map_reads_on_over_long_lines(void **state)
{
	AUTO_STR text = STR_INIT;

	(void)state;
	str_adds(&text, "a\n");
	fill_line(&text, 'b', 3 * JSONL_READ);
	str_adds(&text, "c\n");
	fill_line(&text, 'd', 5 * JSONL_READ);
	str_adds(&text, "e");
	for (unsigned threads = 1; threads <= 2; threads++) {
		assert_map(
			str_sv(&text), &(struct jsonl_opts){ .chunk = 4096, .threads = threads });
		for (size_t max = 3 * JSONL_READ - 1; max <= 3 * JSONL_READ; max++)
			assert_map(str_sv(&text),
				&(struct jsonl_opts){
					.chunk = 4096, .threads = threads, .line_max = max });
	}
}

static void map_stops_at_the_first_failure(void **state)
{
	AUTO_STR text = STR_INIT;
	struct err err = ERR_INIT;
	unsigned seed = 3;

	(void)state;
	random_text(&text, &seed, 20000, 9);
	AUTO_CLOSE int fd = file_of(str_sv(&text));
	for (unsigned threads = 1; threads <= 4; threads++) {
		const struct jsonl_opts opts = { .chunk = 100, .threads = threads };
		struct copy c = { .out = STR_INIT };
		c.fail_work_at = 5000;
		assert_int_equal(jsonl_map(fd, &opts, &bracket_ops, &c, &err), ERR_LIMIT);
		/* all before it was delivered, in order, and nothing behind it */
		assert_in_range(c.next_offset, 5000, 5100);
		AUTO_STR want = STR_INIT;
		str_addf(&want, "work at %llu", (unsigned long long)c.next_offset);
		assert_string_equal(err.msg, want.buf);
		str_release(&c.out);
		c = (struct copy){ .out = STR_INIT };
		c.fail_sink_at = 3;
		assert_int_equal(jsonl_map(fd, &opts, &bracket_ops, &c, &err), ERR_BUSY);
		assert_int_equal(c.calls, 3);
		assert_int_equal(c.wrong, 0);
		str_release(&c.out);
	}
}

static int count_work(void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr)
{
	struct jsonl_line line;
	size_t at = 0, n = 0;

	(void)data;
	(void)reterr;
	while (jsonl_chunk_next(in, &at, &line))
		n++;
	str_add(out, sv_make((const char *)&n, sizeof(n)));
	return 0;
}

static int sum_sink(void *data, const struct jsonl_chunk *in, struct sv out, struct err *reterr)
{
	size_t n;

	(void)in;
	(void)reterr;
	assert_int_equal(out.n, sizeof(n));
	memcpy(&n, out.p, sizeof(n));
	*(size_t *)data += n;
	return 0;
}

static void map_as_reduce(void **state)
{
	const struct jsonl_map_ops ops = { .work = count_work, .sink = sum_sink };
	const struct jsonl_opts opts = { .chunk = 50, .threads = 2 };
	AUTO_STR text = STR_INIT;
	size_t n = 0;
	int fds[2];

	(void)state;
	for (int i = 0; i < 1000; i++)
		str_adds(&text, "line\n");
	AUTO_CLOSE int fd = file_of(str_sv(&text));
	assert_int_equal(jsonl_map(fd, &opts, &ops, &n, NULL), 0);
	assert_int_equal(n, 1000);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(jsonl_map(fds[0], &opts, &ops, &n, NULL), ERR_INPUT);
	close(fds[0]);
	close(fds[1]);
}

/* ---- stages in order ---- */

struct stages {
	uint64_t next; /* offset of the chunk whose turn it is, at join and at sink */
	uint64_t sunk;
	uint64_t fail_at; /* join of the chunk with this byte fails */
	size_t living; /* own values not yet dropped */
	pthread_mutex_t lock;
};

static int stages_work(
	void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr)
{
	struct stages *s = data;

	(void)out;
	(void)reterr;
	*in->own = xmemdup0(&in->offset, sizeof(in->offset));
	pthread_mutex_lock(&s->lock);
	s->living++;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static int stages_join(void *data, const struct jsonl_chunk *in, struct err *reterr)
{
	struct stages *s = data;

	assert_int_equal(in->offset, s->next);
	s->next = in->offset + in->bytes.n + in->skipped;
	if (s->fail_at >= in->offset && s->fail_at < s->next)
		return err_set(reterr, ERR_BUSY, "here");
	return 0;
}

static int stages_finish(
	void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr)
{
	(void)data;
	(void)reterr;
	assert_memory_equal(*in->own, &in->offset, sizeof(in->offset));
	str_add(out, in->bytes);
	return 0;
}

static int stages_sink(void *data, const struct jsonl_chunk *in, struct sv out, struct err *reterr)
{
	struct stages *s = data;

	(void)reterr;
	assert_int_equal(in->offset, s->sunk);
	assert_true(sv_eq(out, in->bytes));
	s->sunk += in->bytes.n + in->skipped;
	return 0;
}

static void stages_drop(void *data, void *own)
{
	struct stages *s = data;

	free(own);
	pthread_mutex_lock(&s->lock);
	s->living--;
	pthread_mutex_unlock(&s->lock);
}

static void stages_go_in_order(void **state)
{
	static const struct jsonl_map_ops ops = {
		.work = stages_work,
		.sink = stages_sink,
		.join = stages_join,
		.finish = stages_finish,
		.drop = stages_drop,
	};
	AUTO_STR text = STR_INIT;

	(void)state;
	for (int i = 0; i < 500; i++)
		str_addf(&text, "%0*d\n", i % 150 + 1, i);
	AUTO_CLOSE int fd = file_of(str_sv(&text));
	for (unsigned threads = 1; threads <= 4; threads++)
		for (int fails = 0; fails < 2; fails++) {
			const struct jsonl_opts opts = {
				.chunk = 50, .threads = threads, .line_max = 100
			};
			struct stages s = { .fail_at = fails ? text.len / 2 : UINT64_MAX };
			struct err err = ERR_INIT;
			pthread_mutex_init(&s.lock, NULL);
			assert_int_equal(
				jsonl_map(fd, &opts, &ops, &s, &err), fails ? ERR_BUSY : 0);
			assert_int_equal(s.living, 0);
			if (!fails)
				assert_int_equal(s.sunk, text.len);
			pthread_mutex_destroy(&s.lock);
		}
}

static void copying_a_file_that_shrank(void **state)
{
	AUTO_CLOSE int fd = file_of(SV("abc"));
	AUTO_STR out = STR_INIT;

	(void)state;
	assert_int_equal(jsonl_copy(fd, 1, 2, add_piece, &out, NULL), 0);
	assert_string_equal(out.buf, "bc");
	assert_int_equal(jsonl_copy(fd, 1, 3, add_piece, &out, NULL), ERR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(a_range_of_a_file),
		cmocka_unit_test(empty_file_and_errors),
		cmocka_unit_test(a_pipe),
		cmocka_unit_test(lines_beyond_the_limit),
		cmocka_unit_test(a_line_of_200_megabytes),
		cmocka_unit_test(the_longest_line),
		cmocka_unit_test(a_file_that_changes),
		cmocka_unit_test(map_equals_a_naive_splitter),
		cmocka_unit_test(map_of_small_files),
		cmocka_unit_test(map_reads_on_over_long_lines),
		cmocka_unit_test(map_stops_at_the_first_failure),
		cmocka_unit_test(map_as_reduce),
		cmocka_unit_test(stages_go_in_order),
		cmocka_unit_test(copying_a_file_that_shrank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
