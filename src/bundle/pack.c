#include "bundle/pack.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include <xxhash.h>

#include "archive/frame.h"
#include "base/mem.h"
#include "os/pool.h"
#include "json/scan.h"
#include "json/write.h"

enum { AT_VERSION = 8, LANES_MAX = 4, HEX_SUM = 32 };
static const char magic[AT_VERSION + 1] = "\x93"
					  "fadenB\n";

/* A frame's number: which file it is of, from 1, and which piece of it. */
static uint64_t frame_number(size_t file, uint64_t piece)
{
	return (uint64_t)(file + 1) << 32 | piece;
}

/* ---- writing ---- */

/* What is compressed at the same time as others. */
struct lane {
	struct codec *codec;
	struct str raw, out;
	uint64_t number;
};

struct pack_writer {
	const struct bundle_manifest *manifest;
	struct term_sink sink;
	struct lane lanes[LANES_MAX];
	unsigned n_lanes;
	XXH3_state_t *hash;
	pack_sums sums;
};

static int put_frame(struct pack_writer *w, enum frame_kind kind, uint64_t number, struct sv raw,
	struct err *reterr)
{
	struct lane *lane = &w->lanes[0];

	if (raw.n > FRAME_RAW_MAX)
		return err_set(reterr, ERR_LIMIT, "too many files for one bundle");
	str_clear(&lane->out);
	frame_encode(lane->codec, kind, number, raw, &lane->out);
	return w->sink.write(w->sink.data, str_sv(&lane->out), reterr);
}

int pack_begin(const struct bundle_manifest *m, struct term_sink sink, struct pack_writer **ret,
	struct err *reterr)
{
	struct pack_writer *w = xcalloc(1, sizeof(*w));
	unsigned cpus = pool_cpus();
	char head[PACK_HEAD] = { 0 };
	AUTO_STR json = STR_INIT;

	w->manifest = m;
	w->sink = sink;
	w->n_lanes = cpus < LANES_MAX ? cpus : LANES_MAX;
	for (unsigned i = 0; i < w->n_lanes; i++)
		w->lanes[i] =
			(struct lane){ .codec = codec_new(), .raw = STR_INIT, .out = STR_INIT };
	w->hash = XXH3_createState();
	assert(w->hash);
	*ret = w;
	memcpy(head, magic, AT_VERSION);
	head[AT_VERSION] = PACK_VERSION;
	int r = sink.write(sink.data, sv_make(head, sizeof(head)), reterr);
	if (r < 0)
		return r;
	bundle_manifest_encode(m, &json);
	return put_frame(w, FRAME_MANIFEST, 0, str_sv(&json), reterr);
}

static int compress_lane(void *data, size_t i, unsigned worker, struct err *reterr)
{
	struct pack_writer *w = data;
	struct lane *lane = &w->lanes[i];

	(void)worker;
	(void)reterr;
	str_clear(&lane->out);
	frame_encode(lane->codec, FRAME_MEMBER, lane->number, str_sv(&lane->raw), &lane->out);
	return 0;
}

/* The next piece of the file. */
static int fill_lane(struct lane *lane, int fd, uint64_t want, const char *name, struct err *reterr)
{
	str_clear(&lane->raw);
	if (!str_reserve(&lane->raw, PACK_CHUNK))
		return err_errno(reterr, ENOMEM, "%s", name);
	while (lane->raw.len < want) {
		ssize_t n = read(fd, lane->raw.buf + lane->raw.len, (size_t)want - lane->raw.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(reterr, errno, "read %s", name);
		if (n == 0)
			return err_set(reterr, ERR_INPUT,
				"%s became shorter while it was read; try again", name);
		lane->raw.len += (size_t)n;
	}
	return 0;
}

int pack_file(struct pack_writer *w, int fd, const char *name, struct err *reterr)
{
	size_t file = w->sums.n;
	uint64_t left = w->manifest->files.v[file].size, piece = 0;
	int r = 0;

	assert(file < w->manifest->files.n);
	(void)XXH3_128bits_reset(w->hash);
	while (r >= 0 && left > 0) {
		size_t lanes = 0;
		for (; r >= 0 && lanes < w->n_lanes && left > 0; lanes++) {
			struct lane *lane = &w->lanes[lanes];
			uint64_t want = left < PACK_CHUNK ? left : PACK_CHUNK;
			lane->number = frame_number(file, piece++);
			r = fill_lane(lane, fd, want, name, reterr);
			(void)XXH3_128bits_update(w->hash, lane->raw.buf, lane->raw.len);
			left -= want;
		}
		if (r >= 0)
			r = pool_each(w->n_lanes, lanes, compress_lane, w, reterr);
		for (size_t i = 0; r == 0 && i < lanes; i++)
			r = w->sink.write(w->sink.data, str_sv(&w->lanes[i].out), reterr);
		if (r > 0) /* nobody listens any more */
			return r;
	}
	XXH128_hash_t sum = XXH3_128bits_digest(w->hash);
	vec_push(&w->sums, ((struct pack_sum){ sum.low64, sum.high64 }));
	return r;
}

int pack_end(struct pack_writer *w, struct err *reterr)
{
	AUTO_STR json = STR_INIT;
	struct jw j = JW_INIT(&json);

	assert(w->sums.n == w->manifest->files.n);
	jw_object(&j);
	jw_key(&j, "sums");
	jw_array(&j);
	vec_each (&w->sums, s) {
		char text[HEX_SUM + 1];
		(void)snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)s->high,
			(unsigned long long)s->low);
		jw_string(&j, sv_of(text));
	}
	jw_end(&j);
	jw_end(&j);
	return put_frame(w, FRAME_CLOSE, frame_number(w->sums.n, 0), str_sv(&json), reterr);
}

void pack_writer_free(struct pack_writer *w)
{
	if (!w)
		return;
	for (unsigned i = 0; i < w->n_lanes; i++) {
		codec_free(w->lanes[i].codec);
		str_release(&w->lanes[i].raw);
		str_release(&w->lanes[i].out);
	}
	(void)XXH3_freeState(w->hash);
	vec_release(&w->sums);
	free(w);
}

/* ---- reading ---- */

struct pack_reader {
	struct pack_source source;
	struct bundle_manifest manifest;
	struct codec *codec;
	struct str stored, raw;
	uint64_t at; /* bytes read of the bundle */
	XXH3_state_t *hash;
};

const struct bundle_manifest *pack_manifest(const struct pack_reader *r)
{
	return &r->manifest;
}

void pack_reader_free(struct pack_reader *r)
{
	if (!r)
		return;
	bundle_manifest_release(&r->manifest);
	codec_free(r->codec);
	str_release(&r->stored);
	str_release(&r->raw);
	(void)XXH3_freeState(r->hash);
	free(r);
}

/* All n bytes, or how many there are before the end. */
static ssize_t read_full(struct pack_reader *r, char *buf, size_t n, struct err *reterr)
{
	size_t got = 0;

	while (got < n) {
		int k = r->source.read(r->source.data, buf + got, n - got, reterr);
		if (k < 0)
			return k;
		if (k == 0)
			break;
		got += (size_t)k;
	}
	r->at += got;
	return (ssize_t)got;
}

static int torn(const struct pack_reader *r, struct err *reterr)
{
	return err_set(reterr, ERR_INPUT, "it ends early, after %llu bytes: it is torn",
		(unsigned long long)r->at);
}

/* The next frame: what it is, and its bytes in r->raw. */
static int next_frame(struct pack_reader *r, struct frame *ret, struct err *reterr)
{
	char head[FRAME_HEAD];
	uint64_t at = r->at;
	ssize_t n = read_full(r, head, sizeof(head), reterr);

	if (n < 0)
		return (int)n;
	if (n < (ssize_t)sizeof(head))
		return torn(r, reterr);
	if (!frame_head(sv_make(head, sizeof(head)), ret))
		return err_set(reterr, ERR_INPUT, "its bytes have changed at %llu",
			(unsigned long long)at);
	str_clear(&r->stored);
	if (!str_reserve(&r->stored, ret->stored))
		return err_set(reterr, ERR_LIMIT, "a piece is too large");
	n = read_full(r, r->stored.buf, ret->stored, reterr);
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)ret->stored)
		return torn(r, reterr);
	r->stored.len = ret->stored;
	int decoded = frame_decode(r->codec, ret, str_sv(&r->stored), &r->raw, reterr);
	if (decoded < 0)
		err_prefix(reterr, "at %llu", (unsigned long long)at);
	return decoded;
}

int pack_open(struct pack_source source, struct pack_reader **ret, struct err *reterr)
{
	struct pack_reader *r = xcalloc(1, sizeof(*r));
	char head[PACK_HEAD];
	struct frame frame = { .id = 0 };

	*r = (struct pack_reader){ .source = source, .stored = STR_INIT, .raw = STR_INIT };
	r->codec = codec_new();
	r->hash = XXH3_createState();
	assert(r->hash);
	*ret = r;
	ssize_t n = read_full(r, head, sizeof(head), reterr);
	if (n < 0)
		return (int)n;
	if (n < AT_VERSION || memcmp(head, magic, AT_VERSION) != 0)
		return err_set(reterr, ERR_INPUT, "it is no bundle of faden");
	if (n < PACK_HEAD)
		return torn(r, reterr);
	/* The first byte of a later version stays that of its number. */
	if ((unsigned char)head[AT_VERSION] > PACK_VERSION)
		return err_set(reterr, ERR_NEWER,
			"it was written by a later faden (its format is %d, this one reads up to "
			"%d)",
			(unsigned char)head[AT_VERSION], PACK_VERSION);
	int done = next_frame(r, &frame, reterr);
	if (done >= 0 && frame.kind != FRAME_MANIFEST)
		done = err_set(reterr, ERR_INPUT, "it does not begin with its manifest");
	if (done >= 0)
		done = bundle_manifest_decode(str_sv(&r->raw), &r->manifest, reterr);
	if (done < 0)
		err_prefix(reterr, "its manifest");
	return done;
}

static int wrong_sum(const struct pack_reader *r, size_t file, struct err *reterr)
{
	return err_set(reterr, ERR_INPUT, "file %zu of %zu, %s: it is not the one that was written",
		file + 1, r->manifest.files.n, r->manifest.files.v[file].place);
}

/* All bytes of one file. */
static int read_file(struct pack_reader *r, size_t file, pack_fn fn, void *data, struct err *reterr)
{
	uint64_t size = r->manifest.files.v[file].size, have = 0;
	struct frame frame = { .id = 0 };
	int done = 0;

	(void)XXH3_128bits_reset(r->hash);
	for (uint64_t piece = 0; done >= 0 && have < size; piece++) {
		done = next_frame(r, &frame, reterr);
		if (done >= 0 &&
			(frame.kind != FRAME_MEMBER || frame.id != frame_number(file, piece) ||
				r->raw.len == 0 || r->raw.len > size - have))
			done = err_set(reterr, ERR_INPUT, "other bytes stand where its own should");
		if (done < 0)
			break;
		(void)XXH3_128bits_update(r->hash, r->raw.buf, r->raw.len);
		/* A failure of who takes the bytes is none of the bundle. */
		done = fn(data, file, have, str_sv(&r->raw), reterr);
		if (done < 0)
			return done;
		have += r->raw.len;
	}
	if (done < 0)
		err_prefix(reterr, "file %zu of %zu, %s", file + 1, r->manifest.files.n,
			r->manifest.files.v[file].place);
	return done;
}

static bool parse_sum(struct jval val, struct pack_sum *ret)
{
	struct sv text = scan_inner(val);

	*ret = (struct pack_sum){ 0, 0 };
	if (val.type != J_STRING || text.n != HEX_SUM)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		uint64_t digit =
			c >= '0' && c <= '9' ? (uint64_t)(c - '0') : (uint64_t)(c - 'a') + 10;
		uint64_t *half = i < HEX_SUM / 2 ? &ret->high : &ret->low;
		if (digit > 15)
			return false;
		*half = *half << 4 | digit;
	}
	return true;
}

/* What the close says of the files, against what was read; and nothing behind it. */
static int check_close(struct pack_reader *r, const pack_sums *sums, struct err *reterr)
{
	struct frame frame = { .id = 0 };
	struct jval object, list = { .type = J_NONE }, val;
	size_t n = 0;
	char more;
	int done = next_frame(r, &frame, reterr);

	if (done < 0) {
		err_prefix(reterr, "its end");
		return done;
	}
	if (frame.kind != FRAME_CLOSE || frame.id != frame_number(sums->n, 0) ||
		scan_check(str_sv(&r->raw), NULL) < 0 || scan_text(str_sv(&r->raw), &object) < 0 ||
		scan_get(object, SV("sums"), &list) <= 0)
		return err_set(reterr, ERR_INPUT, "its end is not one");
	struct scan_iter it = scan_iter(list);
	for (; scan_next(&it, NULL, &val) > 0 && n < sums->n; n++) {
		struct pack_sum sum;
		if (!parse_sum(val, &sum) || sum.low != sums->v[n].low ||
			sum.high != sums->v[n].high)
			return wrong_sum(r, n, reterr);
	}
	if (n != sums->n)
		return err_set(reterr, ERR_INPUT, "its end does not have all files");
	ssize_t got = read_full(r, &more, 1, reterr);
	if (got > 0)
		return err_set(reterr, ERR_INPUT, "there is something behind its end");
	return (int)got;
}

int pack_read(struct pack_reader *r, const pack_sums *known, pack_fn fn, void *data,
	pack_sums *ret_sums, struct err *reterr)
{
	pack_sums sums = VEC_INIT;
	int done = 0;

	for (size_t i = 0; done >= 0 && i < r->manifest.files.n; i++) {
		done = read_file(r, i, fn, data, reterr);
		if (done < 0)
			break;
		XXH128_hash_t hash = XXH3_128bits_digest(r->hash);
		const struct pack_sum sum = { hash.low64, hash.high64 };
		vec_push(&sums, sum);
		if (known &&
			(i >= known->n || known->v[i].low != sum.low ||
				known->v[i].high != sum.high))
			done = wrong_sum(r, i, reterr);
		else
			done = fn(data, i, r->manifest.files.v[i].size, SV(""), reterr);
	}
	if (done >= 0)
		done = check_close(r, &sums, reterr);
	if (done >= 0 && ret_sums)
		*ret_sums = sums;
	else
		vec_release(&sums);
	return done < 0 ? done : 0;
}
