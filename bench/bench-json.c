/*
 * Speed of reading one large file of lines: bench-json FILE [CHUNK]. Rows that only read or copy
 * are what the others are measured against. Wall time is the best of three rounds; processor time
 * (all threads) tells a busy machine from slow code.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "os/file.h"
#include "json/edit.h"
#include "json/jsonl.h"
#include "json/scan.h"

enum { ROUNDS = 3 };

struct bench {
	const char *path;
	char *copy; /* where the writing rows write */
	int fd, out_fd;
	unsigned threads;
	size_t chunk;
	uint64_t found; /* keeps the work from being optimised away */
};

static double now(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- what is measured ---- */

enum { K_TYPE, K_UUID, K_PARENT, K_SESSION, K_TIME, K_MESSAGE, K_ID, K_CONTENT, K_N };
static const struct scan_key keys[] = {
	[K_TYPE] = SCAN_KEY("type", SCAN_TOP),
	[K_UUID] = SCAN_KEY("uuid", SCAN_TOP),
	[K_PARENT] = SCAN_KEY("parentUuid", SCAN_TOP),
	[K_SESSION] = SCAN_KEY("sessionId", SCAN_TOP),
	[K_TIME] = SCAN_KEY("timestamp", SCAN_TOP),
	[K_MESSAGE] = SCAN_KEY("message", SCAN_TOP),
	[K_ID] = SCAN_KEY("id", K_MESSAGE),
	[K_CONTENT] = SCAN_KEY("content", K_MESSAGE),
};

static int add_piece(void *data, struct sv piece, struct err *reterr)
{
	struct bench *b = data;

	b->found += piece.n;
	return b->out_fd >= 0 ? file_write_all(b->out_fd, piece, reterr) : 0;
}

static int run_read(struct bench *b, struct err *reterr)
{
	struct stat st;

	if (fstat(b->fd, &st) < 0)
		return err_errno(reterr, errno, "stat");
	return jsonl_copy(b->fd, 0, (uint64_t)st.st_size, add_piece, b, reterr);
}

static int run_lines(struct bench *b, struct err *reterr)
{
	struct jsonl *r = jsonl_new(b->fd, NULL);
	struct jsonl_line line;
	int got;

	while ((got = jsonl_next(r, &line, reterr)) > 0)
		b->found++;
	jsonl_free(r);
	return got;
}

static int run_keys(struct bench *b, struct err *reterr)
{
	struct jsonl *r = jsonl_new(b->fd, NULL);
	struct jsonl_line line;
	struct jval vals[K_N];
	int got;

	while ((got = jsonl_next(r, &line, reterr)) > 0)
		b->found += scan_keys(line.text, keys, K_N, vals) > 0;
	jsonl_free(r);
	return got;
}

static int keys_work(void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr)
{
	struct jsonl_line line;
	struct jval vals[K_N];
	size_t at = 0, n = 0;

	(void)data;
	(void)reterr;
	while (jsonl_chunk_next(in, &at, &line))
		n += scan_keys(line.text, keys, K_N, vals) > 0;
	str_add(out, sv_make((const char *)&n, sizeof(n)));
	return 0;
}

static int sum_sink(void *data, const struct jsonl_chunk *in, struct sv out, struct err *reterr)
{
	struct bench *b = data;
	size_t n;

	(void)in;
	(void)reterr;
	memcpy(&n, out.p, sizeof(n));
	b->found += n;
	return 0;
}

/* Text of every string block, as an index wants it. */
static size_t decode_content(struct jval content, struct str *tmp)
{
	struct scan_iter it = scan_iter(content);
	struct jval block, text;
	size_t n = 0;

	while (scan_next(&it, NULL, &block) > 0) {
		if (scan_get(block, SV("text"), &text) > 0 ||
			scan_get(block, SV("content"), &text) > 0)
			n += scan_string_view(text, tmp).n;
	}
	return n + scan_string_view(content, tmp).n;
}

static int decode_work(
	void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr)
{
	AUTO_STR tmp = STR_INIT;
	struct jsonl_line line;
	struct jval vals[K_N];
	size_t at = 0, n = 0;

	(void)data;
	(void)reterr;
	while (jsonl_chunk_next(in, &at, &line))
		if (scan_keys(line.text, keys, K_N, vals) > 0)
			n += decode_content(vals[K_CONTENT], &tmp);
	str_add(out, sv_make((const char *)&n, sizeof(n)));
	return 0;
}

static int check_work(void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr)
{
	struct jsonl_line line;
	size_t at = 0, n = 0;

	(void)data;
	(void)reterr;
	while (jsonl_chunk_next(in, &at, &line))
		n += scan_check(line.text, NULL) == 0;
	str_add(out, sv_make((const char *)&n, sizeof(n)));
	return 0;
}

static int rewrite_work(
	void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr)
{
	CLEANUP(edit_release) struct edit e = EDIT_INIT(in->bytes);
	struct jsonl_line line;
	struct jval vals[K_N];
	size_t at = 0;

	(void)data;
	(void)reterr;
	while (jsonl_chunk_next(in, &at, &line)) {
		if (scan_keys(line.text, keys, K_N, vals) > 0 && vals[K_SESSION].type == J_STRING)
			edit_string(
				&e, vals[K_SESSION], SV("11111111-2222-4333-8444-555555555555"));
	}
	return edit_apply(&e, out);
}

static int write_sink(void *data, const struct jsonl_chunk *in, struct sv out, struct err *reterr)
{
	const struct bench *b = data;

	(void)in;
	return file_write_all(b->out_fd, out, reterr);
}

static int run_map(struct bench *b, const struct jsonl_map_ops *ops, struct err *reterr)
{
	return jsonl_map(b->fd, &(struct jsonl_opts){ .threads = b->threads, .chunk = b->chunk },
		ops, b, reterr);
}

static int run_map_keys(struct bench *b, struct err *reterr)
{
	return run_map(b, &(struct jsonl_map_ops){ .work = keys_work, .sink = sum_sink }, reterr);
}

static int run_map_decode(struct bench *b, struct err *reterr)
{
	return run_map(b, &(struct jsonl_map_ops){ .work = decode_work, .sink = sum_sink }, reterr);
}

static int run_map_check(struct bench *b, struct err *reterr)
{
	return run_map(b, &(struct jsonl_map_ops){ .work = check_work, .sink = sum_sink }, reterr);
}

static int run_map_rewrite(struct bench *b, struct err *reterr)
{
	return run_map(
		b, &(struct jsonl_map_ops){ .work = rewrite_work, .sink = write_sink }, reterr);
}

/* ---- the table ---- */

struct row {
	const char *name;
	int (*run)(struct bench *b, struct err *reterr);
	unsigned threads;
	bool writes;
};
static const struct row rows[] = {
	{ "read() only", run_read, 1, false },
	{ "copy", run_read, 1, true },
	{ "lines", run_lines, 1, false },
	{ "lines + keys", run_keys, 1, false },
	{ "map keys, 1 thread", run_map_keys, 1, false },
	{ "map keys, 2 threads", run_map_keys, 2, false },
	{ "map keys + decode, 1 thread", run_map_decode, 1, false },
	{ "map keys + decode, 2 threads", run_map_decode, 2, false },
	{ "map strict check, 1 thread", run_map_check, 1, false },
	{ "map rewrite, 1 thread", run_map_rewrite, 1, true },
	{ "map rewrite, 2 threads", run_map_rewrite, 2, true },
};

struct times {
	double wall, cpu;
};

static int run_once(struct bench *b, const struct row *row, struct times *ret, struct err *reterr)
{
	b->threads = row->threads;
	b->out_fd =
		row->writes ? open(b->copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	if (row->writes && b->out_fd < 0)
		return err_errno(reterr, errno, "open %s", b->copy);
	double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	int r = row->run(b, reterr);
	*ret = (struct times){ now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu };
	if (row->writes) {
		(void)close(b->out_fd);
		(void)unlink(b->copy);
	}
	return r;
}

static int run_row(struct bench *b, const struct row *row, double gigabytes, struct err *reterr)
{
	struct times best = { 1e9, 1e9 };

	for (int i = 0; i < ROUNDS; i++) {
		struct times t = { 0, 0 };
		int r = run_once(b, row, &t, reterr);
		if (r < 0)
			return r;
		best.wall = t.wall < best.wall ? t.wall : best.wall;
		best.cpu = t.cpu < best.cpu ? t.cpu : best.cpu;
	}
	struct rusage use;
	(void)getrusage(RUSAGE_SELF, &use);
	printf("%-30s %6.2f GB/s  %6.3f s  cpu %6.3f s  peak %5.1f MB\n", row->name,
		gigabytes / best.wall, best.wall, best.cpu, (double)use.ru_maxrss / 1024);
	return 0;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct stat st;

	if (argc < 2 || argc > 3) {
		fputs("usage: bench-json FILE [CHUNK]\n", stderr);
		return 2;
	}
	AUTO_FREE char *copy = xasprintf("%s.copy", argv[1]);
	AUTO_CLOSE int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	struct bench b = { .path = argv[1], .copy = copy, .fd = fd };
	if (argc == 3)
		b.chunk = strtoul(argv[2], NULL, 10);
	if (fd < 0 || fstat(fd, &st) < 0) {
		perror(argv[1]);
		return 1;
	}
	int r = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows) && r == 0; i++)
		r = run_row(&b, &rows[i], (double)st.st_size / 1e9, &err);
	if (r < 0)
		fprintf(stderr, "bench-json: %s\n", err.msg);
	return r < 0 || b.found == 0;
}
