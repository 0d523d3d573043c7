#include "archive/frame.h"

#include <assert.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/mem.h"

/*
 * The head, little-endian: magic, id, kind, bytes before and after compression, a check of all that
 * comes before it, and one of the stored bytes.
 */
enum {
	AT_ID = 8,
	AT_KIND = 16,
	AT_RAW = 20,
	AT_STORED = 24,
	AT_CHECK = 28,
	AT_HEAD = 36,
	LEVEL = 3, /* zstd's: 1 is a third faster and takes a few per cent more, 6 halves the speed
		    */
};
static const char magic[AT_ID + 1] = "\x93"
				     "fadenF\n";

struct codec {
	ZSTD_CCtx *c;
	ZSTD_DCtx *d;
};

struct codec *codec_new(void)
{
	struct codec *codec = xcalloc(1, sizeof(*codec));

	codec->c = ZSTD_createCCtx();
	codec->d = ZSTD_createDCtx();
	assert(codec->c && codec->d);
	return codec;
}

void codec_free(struct codec *codec)
{
	if (!codec)
		return;
	(void)ZSTD_freeCCtx(codec->c);
	(void)ZSTD_freeDCtx(codec->d);
	free(codec);
}

static void put(char *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (char)(value >> (8 * i));
}

static uint64_t get(const char *at, int bytes)
{
	uint64_t value = 0;

	for (int i = bytes; i-- > 0;)
		value = value << 8 | (unsigned char)at[i];
	return value;
}

void frame_encode(
	struct codec *codec, enum frame_kind kind, uint64_t id, struct sv raw, struct str *out)
{
	size_t bound = ZSTD_compressBound(raw.n);
	bool room = str_reserve(out, FRAME_HEAD + bound);

	assert(raw.n <= FRAME_RAW_MAX && room);
	char *head = out->buf + out->len;
	size_t n = ZSTD_compressCCtx(codec->c, head + FRAME_HEAD, bound, raw.p, raw.n, LEVEL);
	assert(!ZSTD_isError(n)); /* the room suffices, and memory that is gone ends us anyway */
	memcpy(head, magic, AT_ID);
	put(head + AT_ID, id, 8);
	put(head + AT_KIND, kind, 4);
	put(head + AT_RAW, raw.n, 4);
	put(head + AT_STORED, n, 4);
	put(head + AT_CHECK, XXH3_64bits(head + FRAME_HEAD, n), 8);
	put(head + AT_HEAD, XXH3_64bits(head, AT_HEAD), 4);
	out->len += FRAME_HEAD + n;
	out->buf[out->len] = '\0';
}

bool frame_head(struct sv bytes, struct frame *ret)
{
	const char *p = bytes.p;

	if (bytes.n < FRAME_HEAD || memcmp(p, magic, AT_ID) != 0 ||
		get(p + AT_HEAD, 4) != (XXH3_64bits(p, AT_HEAD) & UINT32_MAX))
		return false;
	uint64_t kind = get(p + AT_KIND, 4);
	struct frame f = {
		.id = get(p + AT_ID, 8),
		.check = get(p + AT_CHECK, 8),
		.raw = (uint32_t)get(p + AT_RAW, 4),
		.stored = (uint32_t)get(p + AT_STORED, 4),
		.kind = (enum frame_kind)kind,
	};
	if (kind < FRAME_LINES || kind > FRAME_CLOSE || f.raw > FRAME_RAW_MAX ||
		f.stored > ZSTD_compressBound(FRAME_RAW_MAX) || f.id > INT64_MAX)
		return false;
	*ret = f;
	return true;
}

int frame_decode(struct codec *codec, const struct frame *frame, struct sv stored,
	struct str *ret_raw, struct err *reterr)
{
	str_clear(ret_raw);
	if (stored.n != frame->stored || XXH3_64bits(stored.p, stored.n) != frame->check)
		return err_set(reterr, ERR_INPUT, "its bytes have changed");
	if (frame->raw > FRAME_RAW_MAX || !str_reserve(ret_raw, frame->raw))
		return err_set(reterr, ERR_LIMIT, "it is too large");
	size_t n = ZSTD_decompressDCtx(codec->d, ret_raw->buf, frame->raw, stored.p, stored.n);
	if (ZSTD_isError(n) || n != frame->raw)
		return err_set(reterr, ERR_INPUT, "it cannot be decompressed");
	ret_raw->len = n;
	ret_raw->buf[n] = '\0';
	return 0;
}

/* ---- recipes ---- */

void recipe_release(struct recipe *recipe)
{
	vec_release(&recipe->extents);
	*recipe = (struct recipe)RECIPE_INIT;
}

void recipe_add(struct recipe *recipe, struct extent extent)
{
	struct extent *last = recipe->extents.n ? &recipe->extents.v[recipe->extents.n - 1] : NULL;

	if (last && last->frame == extent.frame && last->offset + last->size == extent.offset &&
		last->own == extent.own) {
		last->size += extent.size;
		return;
	}
	assert(recipe->extents.n < RECIPE_EXTENTS_MAX);
	vec_push(&recipe->extents, extent);
}

/* Seven bits a byte, the lowest first; the eighth says that more follow. */
static void add_number(struct str *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		str_addc(out, (char)(value | 0x80));
	str_addc(out, (char)value);
}

/* Small distances in either direction are short. */
static void add_distance(struct str *out, uint64_t from, uint64_t to)
{
	uint64_t step = to - from;

	add_number(out, step << 1 ^ (step >> 63 ? UINT64_MAX : 0));
}

static void add_text(struct str *out, struct sv text)
{
	add_number(out, text.n);
	str_add(out, text);
}

void recipe_encode(const struct recipe *r, struct str *out)
{
	struct extent last = { .frame = 0 };

	add_text(out, r->key);
	add_text(out, r->agent);
	add_text(out, r->session);
	add_text(out, r->path);
	add_text(out, r->own);
	add_number(out, r->flags);
	add_number(out, r->start);
	add_number(out, r->size);
	add_number(out, (uint64_t)r->mtime_ns);
	add_number(out, (uint64_t)r->taken_ms);
	add_number(out, r->hash[0]);
	add_number(out, r->hash[1]);
	add_number(out, r->extents.n);
	vec_each (&r->extents, e) {
		add_distance(out, last.frame, e->frame);
		add_distance(out, e->frame == last.frame ? last.offset + last.size : 0, e->offset);
		add_number(out, (uint64_t)e->size << 1 | e->own);
		last = *e;
	}
}

/* What is left to read; p NULL after a failure. */
struct reading {
	struct sv left;
	bool failed;
};

static uint64_t take_number(struct reading *in)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && in->left.n > 0; shift += 7) {
		unsigned char c = (unsigned char)in->left.p[0];
		in->left = sv_from(in->left, 1);
		value |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return value;
	}
	in->failed = true;
	return 0;
}

static uint64_t take_distance(struct reading *in, uint64_t from)
{
	uint64_t step = take_number(in);

	return from + (step >> 1 ^ (step & 1 ? UINT64_MAX : 0));
}

static struct sv take_text(struct reading *in)
{
	uint64_t n = take_number(in);

	if (in->failed || n > RECIPE_TEXT_MAX || n > in->left.n ||
		memchr(in->left.p, '\0', (size_t)n)) {
		in->failed = true;
		return SV("");
	}
	struct sv text = sv_head(in->left, (size_t)n);
	in->left = sv_from(in->left, (size_t)n);
	return text;
}

static bool take_extents(struct reading *in, struct recipe *ret)
{
	struct extent last = { .frame = 0 };
	uint64_t n = take_number(in), total = 0;

	if (in->failed || n > RECIPE_EXTENTS_MAX || n > in->left.n)
		return false;
	for (; n > 0 && !in->failed; n--) {
		uint64_t frame = take_distance(in, last.frame);
		uint64_t from = frame == last.frame ? (uint64_t)last.offset + last.size : 0;
		uint64_t offset = take_distance(in, from);
		uint64_t size = take_number(in);
		if (frame > INT64_MAX || offset > FRAME_RAW_MAX ||
			size >> 1 > FRAME_RAW_MAX - offset)
			return false;
		last = (struct extent){ .frame = frame,
			.offset = (uint32_t)offset,
			.size = (uint32_t)(size >> 1),
			.own = size & 1 };
		total += last.size;
		vec_push(&ret->extents, last);
	}
	return !in->failed && in->left.n == 0 && total == ret->size;
}

int recipe_decode(struct sv raw, struct recipe *ret, struct err *reterr)
{
	struct reading in = { .left = raw };

	*ret = (struct recipe)RECIPE_INIT;
	ret->key = take_text(&in);
	ret->agent = take_text(&in);
	ret->session = take_text(&in);
	ret->path = take_text(&in);
	ret->own = take_text(&in);
	ret->flags = (unsigned)take_number(&in);
	ret->start = take_number(&in);
	ret->size = take_number(&in);
	ret->mtime_ns = (int64_t)take_number(&in);
	ret->taken_ms = (int64_t)take_number(&in);
	ret->hash[0] = take_number(&in);
	ret->hash[1] = take_number(&in);
	if (in.failed || ret->key.n == 0 || (ret->own.n != 0 && ret->own.n != OWN_ID) ||
		ret->start > INT64_MAX || ret->size > INT64_MAX - ret->start ||
		!take_extents(&in, ret))
		return err_set(reterr, ERR_INPUT, "it is no recipe");
	return 0;
}

/* ---- the session's own id ---- */

bool own_take_out(char *line, size_t n, struct sv id)
{
	if (memchr(line, '\0', n))
		return false;
	if (id.n != OWN_ID)
		return true;
	for (char *p = line; (p = memmem(p, n - (size_t)(p - line), id.p, id.n)); p += OWN_ID)
		memset(p, 0, OWN_ID);
	return true;
}

void own_put_back(char *bytes, size_t n, struct sv id)
{
	static const char blank[OWN_ID];
	char *end = bytes + n, *p = bytes;

	if (id.n != OWN_ID)
		return;
	/* Looking for one byte of 0 is much faster than looking for the whole. */
	while ((p = memchr(p, '\0', (size_t)(end - p)))) {
		size_t left = (size_t)(end - p);
		if (left < OWN_ID)
			return;
		if (memcmp(p, blank, OWN_ID) == 0) {
			memcpy(p, id.p, OWN_ID);
			p += OWN_ID;
		} else {
			p++;
		}
	}
}
