#include "json/jsonl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/wide.h"
#include "os/unpack.h"
#include "json/block.h"
#include "json/jsonl-read.h"

enum {
	BUFFER = 2 * JSONL_READ, /* a rest of a line beside one read */
	BUFFER_KEEP = 16 * 1024 * 1024, /* a larger one is given back after its long line */
};

struct jsonl {
	int fd;
	bool owned;
	bool done;
	char *path; /* for messages; NULL: unknown */
	char *buf;
	size_t cap;
	size_t start, seen, len; /* line begins, newline looked for, bytes end */
	uint64_t base; /* place of buf[0] in the file, at a cache line of it */
	uint64_t end;
	size_t line_max;
};

/* ---- reading at a place ---- */

char *jsonl_buffer(char *old, size_t used, size_t cap)
{
	char *buf = aligned_alloc(JSONL_ALIGN, (cap + JSONL_ALIGN - 1) / JSONL_ALIGN * JSONL_ALIGN);

	if (!buf)
		abort();
	if (used > 0)
		memcpy(buf, old, used);
	free(old);
	return buf;
}

ssize_t jsonl_pread(int fd, char *buf, size_t n, uint64_t offset)
{
	for (;;) {
		ssize_t got = pread(fd, buf, n, (off_t)offset);
		if (got < 0 && errno == ESPIPE)
			got = read(fd, buf, n);
		if (got >= 0 || errno != EINTR)
			return got;
	}
}

int jsonl_copy(int fd, uint64_t offset, uint64_t size,
	int (*fn)(void *data, struct sv piece, struct err *reterr), void *data, struct err *reterr)
{
	AUTO_FREE char *buf = xmalloc(JSONL_READ);

	while (size) {
		size_t want = size < JSONL_READ ? (size_t)size : JSONL_READ;
		ssize_t got = jsonl_pread(fd, buf, want, offset);
		if (got < 0)
			return err_errno(reterr, errno, "read");
		if (got == 0)
			return err_set(reterr, ERR_INPUT, "the file has become shorter");
		int r = fn(data, sv_make(buf, (size_t)got), reterr);
		if (r < 0)
			return r;
		offset += (size_t)got;
		size -= (size_t)got;
	}
	return 0;
}

/* ---- opening ---- */

struct jsonl *jsonl_new(int fd, const struct jsonl_opts *opts)
{
	struct jsonl *r = xcalloc(1, sizeof(*r));

	uint64_t offset = opts ? opts->offset : 0;

	r->fd = fd;
	r->start = r->seen = r->len = (size_t)(offset % JSONL_ALIGN);
	r->base = offset - r->start;
	r->end = opts && opts->end ? opts->end : UINT64_MAX;
	r->line_max = opts && opts->line_max ? opts->line_max : JSONL_LINE_MAX;
	return r;
}

int jsonl_open(
	const char *path, const struct jsonl_opts *opts, struct jsonl **ret, struct err *reterr)
{
	int fd = unpack_open(path, NULL, reterr);

	if (fd < 0)
		return fd;
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	*ret = jsonl_new(fd, opts);
	(*ret)->owned = true;
	(*ret)->path = xstrdup(path);
	return 0;
}

void jsonl_free(struct jsonl *r)
{
	if (!r)
		return;
	if (r->owned)
		(void)close(r->fd);
	free(r->path);
	free(r->buf);
	free(r);
}

/* ---- filling ---- */

static void resize(struct jsonl *r, size_t cap)
{
	r->buf = jsonl_buffer(r->buf, r->buf ? r->len : 0, cap);
	r->cap = cap;
}

/* By whole cache lines. */
static void move_to_front(struct jsonl *r)
{
	size_t by = r->start - r->start % JSONL_ALIGN;

	if (by == 0)
		return;
	memmove(r->buf, r->buf + by, r->len - by);
	r->base += by;
	r->seen -= by;
	r->start -= by;
	r->len -= by;
}

/* Twice as much, but not more than a line of the greatest length needs; that at once when it is
 * near, since while it grows there are two. */
static size_t grown(const struct jsonl *r)
{
	size_t twice = r->cap ? r->cap * 2 : BUFFER, least = r->len + JSONL_READ;
	size_t most = r->line_max + BUFFER;

	if (twice > most / 2)
		twice = most;
	return twice > least ? twice : least;
}

/* Room for one read behind what is kept of the line. */
static void make_room(struct jsonl *r)
{
	bool shrink = r->cap > BUFFER_KEEP && r->len - r->start < JSONL_READ;

	if (r->cap >= r->len + JSONL_READ && !shrink)
		return;
	move_to_front(r);
	if (shrink)
		resize(r, BUFFER);
	else if (r->cap < r->len + JSONL_READ)
		resize(r, grown(r));
}

static int fail(const struct jsonl *r, struct err *reterr)
{
	int e = errno;

	return r->path ? err_errno(reterr, e, "read %s", r->path) : err_errno(reterr, e, "read");
}

/* Bytes read; 0 at the end of the file, of the range, or of a file that has shrunk. */
static int fill(struct jsonl *r, struct err *reterr)
{
	uint64_t at = r->base + r->len;
	size_t want = JSONL_READ;

	if (at >= r->end)
		return 0;
	if (r->end - at < want)
		want = (size_t)(r->end - at);
	make_room(r);
	ssize_t got = jsonl_pread(r->fd, r->buf + r->len, want, at);
	if (got < 0)
		return fail(r, reterr);
	r->len += (size_t)got;
	return (int)got;
}

/* ---- lines ---- */

static int give(struct jsonl *r, size_t text_n, bool terminated, struct jsonl_line *ret)
{
	*ret = (struct jsonl_line){
		.text = { r->buf + r->start, text_n },
		.offset = r->base + r->start,
		.size = text_n + terminated,
		.terminated = terminated,
		.too_long = text_n > r->line_max,
	};
	if (ret->too_long)
		ret->text = sv_head(ret->text, JSONL_HEAD);
	r->start += text_n + terminated;
	r->seen = r->start;
	return 1;
}

static const char *find_newline(struct jsonl *r)
{
	const char *hit =
		r->len > r->seen ? memchr(r->buf + r->seen, '\n', r->len - r->seen) : NULL;

	if (!hit)
		r->seen = r->len;
	return hit;
}

/*
 * The line in the buffer is beyond the limit and goes on: its head stays, the rest is read over
 * what follows the head until its newline is met.
 */
static int give_long(struct jsonl *r, struct jsonl_line *ret, struct err *reterr)
{
	uint64_t offset = r->base + r->start;
	const size_t head = JSONL_HEAD;
	const char *hit = NULL;
	int got = 1;

	memmove(r->buf, r->buf + r->start, head);
	r->base += r->len - head;
	r->start = 0;
	r->len = head;
	while (!hit) {
		r->base += r->len - head;
		r->len = r->seen = head;
		got = fill(r, reterr);
		if (got < 0)
			return got;
		if (got == 0)
			break;
		hit = find_newline(r);
	}
	size_t stop = hit ? (size_t)(hit - r->buf) + 1 : r->len;
	*ret = (struct jsonl_line){
		.text = { r->buf, head },
		.offset = offset,
		.size = r->base + stop - offset,
		.terminated = hit != NULL,
		.too_long = true,
	};
	r->start = r->seen = stop;
	r->done = !hit;
	return 1;
}

int jsonl_next(struct jsonl *r, struct jsonl_line *ret, struct err *reterr)
{
	while (!r->done) {
		const char *hit = find_newline(r);
		if (hit)
			return give(r, (size_t)(hit - r->buf) - r->start, true, ret);
		size_t have = r->len - r->start;
		if (have > r->line_max && have >= JSONL_HEAD)
			return give_long(r, ret, reterr);
		int got = fill(r, reterr);
		if (got < 0)
			return got;
		if (got > 0)
			continue;
		r->done = true;
		if (r->len > r->start)
			return give(r, r->len - r->start, false, ret);
	}
	return 0;
}

/* ---- the end of a line ---- */

/* … and what kinds of bytes stand before it, in one pass: files of gigabytes go through here. */

typedef uint8_t vector __attribute__((vector_size(32)));
typedef uint8_t unaligned __attribute__((vector_size(32), aligned(1), may_alias));

enum { STRIDE = 4 * sizeof(vector) };

static bool has_any(const vector *v)
{
	uint64_t w[sizeof(*v) / sizeof(uint64_t)];

	memcpy(w, v, sizeof(w));
	return (w[0] | w[1] | w[2] | w[3]) != 0;
}

/* Passes what has no byte below blank. */
VECTOR_BODY const char *skip_plain_any(const char *p, const char *end, unsigned *bytes)
{
	vector all = { 0 };

	for (; end - p >= STRIDE; p += STRIDE) {
		const unaligned *at = (const void *)p;
		vector a = at[0], b = at[1], c = at[2], d = at[3];
		vector low = (vector)((a < ' ') | (b < ' ') | (c < ' ') | (d < ' '));
		if (has_any(&low))
			break;
		all |= a | b | c | d;
	}
	all &= 0x80;
	*bytes |= has_any(&all) ? JSONL_HIGH : 0;
	return p;
}
VECTOR_CLONES(const char *, skip_plain, (const char *p, const char *end, unsigned *bytes),
	(p, end, bytes))

/* The newline among the n bytes that were looked at, or n. */
static size_t take(struct block_kinds look, size_t n, unsigned *bytes)
{
	size_t stop = look.newline ? (size_t)__builtin_ctzll(look.newline) : n;
	uint64_t before = stop < BLOCK ? (UINT64_C(1) << stop) - 1 : ~UINT64_C(0);

	*bytes |= (look.low & before ? JSONL_LOW : 0) | (look.high & before ? JSONL_HIGH : 0);
	return stop;
}

size_t jsonl_line_end(struct sv text, unsigned *ret_bytes)
{
	const char *p = text.p, *end = text.p + text.n;
	char rest[BLOCK];
	unsigned bytes = 0;
	size_t stop = BLOCK;

	p = skip_plain(p, end, &bytes);
	while (stop == BLOCK && end - p >= BLOCK) {
		stop = take(block_kinds(p), BLOCK, &bytes);
		p = stop == BLOCK ? skip_plain(p + BLOCK, end, &bytes) : p + stop;
	}
	if (stop == BLOCK && p < end) {
		size_t n = (size_t)(end - p);
		memset(rest, ' ', sizeof(rest));
		memcpy(rest, p, n);
		p += take(block_kinds(rest), n, &bytes);
	}
	*ret_bytes = bytes;
	return (size_t)(p - text.p);
}

bool jsonl_chunk_next(const struct jsonl_chunk *chunk, size_t *at, struct jsonl_line *ret)
{
	struct sv rest = sv_from(chunk->bytes, *at);

	if (rest.n == 0)
		return false;
	unsigned bytes;
	size_t text_n = jsonl_line_end(rest, &bytes);
	bool terminated = text_n < rest.n;
	*ret = (struct jsonl_line){
		.text = sv_head(rest, text_n),
		.offset = chunk->offset + *at,
		.size = text_n + terminated,
		.terminated = terminated,
		.bytes = (uint8_t)bytes,
	};
	*at += (size_t)ret->size;
	return true;
}
