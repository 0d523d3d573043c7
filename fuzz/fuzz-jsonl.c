/*
 * Lines: both readers beside a naive splitter, with chunks and limits from the first bytes of the
 * input. Some bytes stand for long runs, so that buffers are crossed with small inputs.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"
#include "fuzz.h"
#include "json/jsonl.h"

enum { HEAD = 3, CONTENT_MAX = 600 * 1024 };

/* ---- content ---- */

static void add_run(struct str *out, size_t n)
{
	if (out->len + n > CONTENT_MAX || !str_reserve(out, n))
		return;
	memset(out->buf + out->len, 'x', n);
	out->len += n;
	out->buf[out->len] = '\0';
}

static void expand(struct str *out, struct sv text)
{
	for (size_t i = 0; i < text.n; i++) {
		switch (text.p[i]) {
		case '\1':
			add_run(out, JSONL_READ - 1);
			break;
		case '\2':
			add_run(out, JSONL_HEAD);
			break;
		case '\3':
			add_run(out, 1000);
			break;
		default:
			str_addc(out, text.p[i]);
		}
	}
}

static void put_file(int fd, struct sv content)
{
	REQUIRE(ftruncate(fd, 0) == 0);
	for (size_t at = 0; at < content.n;) {
		ssize_t n = pwrite(fd, content.p + at, content.n - at, (off_t)at);
		REQUIRE(n > 0);
		at += (size_t)n;
	}
}

/* ---- readers ---- */

/* The next line by the plainest means. */
static bool naive_next(struct sv content, size_t *at, struct jsonl_line *ret)
{
	struct sv rest = sv_from(content, *at);

	if (rest.n == 0)
		return false;
	const char *hit = memchr(rest.p, '\n', rest.n);
	ret->text = sv_head(rest, hit ? (size_t)(hit - rest.p) : rest.n);
	ret->terminated = hit != NULL;
	ret->offset = *at;
	ret->size = ret->text.n + ret->terminated;
	*at += (size_t)ret->size;
	return true;
}

static void check_sequential(int fd, struct sv content, size_t line_max)
{
	struct jsonl *r = jsonl_new(fd, &(struct jsonl_opts){ .line_max = line_max });
	struct jsonl_line want, got;
	size_t at = 0;

	while (naive_next(content, &at, &want)) {
		REQUIRE(jsonl_next(r, &got, NULL) == 1);
		REQUIRE(got.offset == want.offset && got.size == want.size);
		REQUIRE(got.terminated == want.terminated);
		REQUIRE(got.too_long == (want.text.n > line_max));
		REQUIRE(sv_eq(got.text, got.too_long ? sv_head(want.text, JSONL_HEAD) : want.text));
	}
	REQUIRE(jsonl_next(r, &got, NULL) == 0);
	jsonl_free(r);
}

static int copy_work(void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr)
{
	struct jsonl_line line;
	size_t at = 0;

	(void)data;
	(void)reterr;
	while (jsonl_chunk_next(in, &at, &line)) {
		str_add(out, line.text);
		if (line.terminated)
			str_addc(out, '\n');
	}
	return 0;
}

struct follow {
	struct sv content;
	size_t at;
	size_t line_max;
};

/* Chunks follow each other without a gap, begin and end at lines, and hold all but long ones. */
static int follow_sink(void *data, const struct jsonl_chunk *in, struct sv out, struct err *reterr)
{
	struct follow *f = data;

	(void)reterr;
	REQUIRE(in->offset == f->at);
	REQUIRE(f->at == 0 || f->content.p[f->at - 1] == '\n');
	REQUIRE(sv_eq(in->bytes, sv_head(sv_from(f->content, f->at), in->bytes.n)));
	REQUIRE(sv_eq(out, in->bytes));
	f->at += in->bytes.n;
	if (in->skipped) {
		struct jsonl_line line;
		size_t at = f->at;
		REQUIRE(naive_next(f->content, &at, &line));
		REQUIRE(line.size == in->skipped && line.text.n > f->line_max);
		f->at = at;
	}
	return 0;
}

static void check_map(int fd, struct sv content, const struct jsonl_opts *opts)
{
	const struct jsonl_map_ops ops = { .work = copy_work, .sink = follow_sink };
	struct follow f = { .content = content,
		.line_max = opts->line_max > opts->chunk ? opts->line_max : opts->chunk };

	REQUIRE(jsonl_map(fd, opts, &ops, &f, NULL) == 0);
	REQUIRE(f.at == content.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_STR content = STR_INIT;

	if (size < HEAD)
		return 0;
	expand(&content, sv_make((const char *)data + HEAD, size - HEAD));
	AUTO_CLOSE int fd = memfd_create("fuzz", MFD_CLOEXEC);
	REQUIRE(fd >= 0);
	put_file(fd, str_sv(&content));
	struct jsonl_opts opts = {
		.chunk = 1 + data[0] + content.len / 200,
		.line_max = data[1] < 128 ? 1u + data[1] : (size_t)data[1] * 2000,
		.threads = data[2] % 32 == 0 ? 2 : 1,
	};
	check_sequential(fd, str_sv(&content), opts.line_max);
	check_map(fd, str_sv(&content), &opts);
	return 0;
}
