/*
 * The documents that a term stands in, block by block, and where it stands in them.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "search/segment-file.h"

void postings_begin(struct postings *p, const struct segment *seg, const struct segment_term *term)
{
	const struct segment_foot *f = seg->foot;

	p->n = 0;
	p->seg = seg;
	p->left = term->docs;
	p->next_doc = 0;
	p->at = f->sections[SECTION_POSTINGS].at + term->postings;
	p->end = p->at + term->postings_n;
	p->positions = f->sections[SECTION_POSITIONS].at + term->positions;
	p->positions_end = p->positions + term->positions_n;
	p->block_positions = p->positions;
	p->here_at = p->positions;
	p->here = 0;
	p->touched = false;
	p->decoded = NULL;
	p->decoded_cap = 0;
}

void postings_release(struct postings *p)
{
	free(p->decoded);
	p->decoded = NULL;
}

/*
 * The numbers of a block, of so many bits each; up to seven bytes behind them are read and not
 * used. A foot follows all lists, so that they are there. Eight numbers take as many bytes as each
 * has bits: with that known to the compiler all shifts are.
 */
static inline __attribute__((always_inline)) void unpack_bits(
	const uint8_t *p, const unsigned bits, uint32_t *out)
{
	const uint64_t mask = (UINT64_C(1) << bits) - 1;

	for (unsigned i = 0; i < POSTINGS_BLOCK; i += 8, p += bits)
#pragma GCC unroll 8
		for (unsigned k = 0; k < 8; k++) {
			uint64_t word;
			memcpy(&word, p + k * bits / 8, sizeof(word));
			out[i + k] = (uint32_t)(word >> k * bits % 8 & mask);
		}
}

static void unpack(const uint8_t *p, unsigned bits, uint32_t *out)
{
	switch (bits) {
	case 0:
		memset(out, 0, POSTINGS_BLOCK * sizeof(*out));
		return;
#define UNPACK(n)                       \
	case n:                         \
		unpack_bits(p, n, out); \
		return;
		UNPACK(1)
		UNPACK(2)
		UNPACK(3)
		UNPACK(4)
		UNPACK(5)
		UNPACK(6)
		UNPACK(7)
		UNPACK(8)
#undef UNPACK
	default:
		unpack_bits(p, bits, out);
	}
}

struct block_head {
	uint64_t last; /* document */
	unsigned doc_bits, count_bits;
	uint64_t positions_n;
};

/* The head of a full block; *p is behind it. */
static int read_head(const struct postings *p, const uint8_t **at, const uint8_t *end,
	struct block_head *ret, struct err *reterr)
{
	uint64_t step;

	if (!varint_get(at, end, &step) || end - *at < 2 || step == 0 ||
		step > segment_docs(p->seg))
		return segment_damaged(p->seg, reterr, "a list of documents is cut off");
	ret->last = p->next_doc + step - 1;
	ret->doc_bits = *(*at)++;
	ret->count_bits = *(*at)++;
	if (!varint_get(at, end, &ret->positions_n) || ret->doc_bits > 32 || ret->count_bits > 31 ||
		ret->last >= segment_docs(p->seg) ||
		ret->positions_n > p->positions_end - p->positions ||
		(uint64_t)(end - *at) <
			(uint64_t)(ret->doc_bits + ret->count_bits) * (POSTINGS_BLOCK / 8))
		return segment_damaged(p->seg, reterr, "a list of documents does not fit");
	return 0;
}

typedef uint32_t numbers __attribute__((vector_size(16)));

/* Distances − 1 become documents from `first` on, and counts − 1 counts. Returns the document that
 * would follow. */
static uint64_t add_up_far(uint64_t first, uint32_t *docs, uint32_t *counts)
{
	for (unsigned i = 0; i < POSTINGS_BLOCK; i++) {
		first += docs[i];
		docs[i] = (uint32_t)first++;
		counts[i]++;
	}
	return first;
}

/* The same four at a time, where all distances together fit into a number. */
static uint64_t add_up(uint64_t from, uint32_t *docs, uint32_t *counts)
{
	const uint32_t first = (uint32_t)from;
	const numbers zero = { 0 }, before = { first - 1, first - 1, first - 1, first - 1 };
	numbers sum = zero;

	for (unsigned i = 0; i < POSTINGS_BLOCK; i += 4) {
		numbers doc, count;
		memcpy(&doc, docs + i, sizeof(doc));
		memcpy(&count, counts + i, sizeof(count));
		doc += 1;
		doc += __builtin_shufflevector(doc, zero, 4, 0, 1, 2);
		doc += __builtin_shufflevector(doc, zero, 4, 4, 0, 1);
		doc += sum;
		sum = __builtin_shufflevector(doc, doc, 3, 3, 3, 3);
		doc += before;
		count += 1;
		memcpy(docs + i, &doc, sizeof(doc));
		memcpy(counts + i, &count, sizeof(count));
	}
	return from + sum[0];
}

static int read_block(
	struct postings *p, const uint8_t *at, const struct block_head *h, struct err *reterr)
{
	enum { NEAR_BITS = 24 };

	unpack(at, h->doc_bits, p->doc);
	at += h->doc_bits * (POSTINGS_BLOCK / 8);
	unpack(at, h->count_bits, p->count);
	p->next_doc = h->doc_bits <= NEAR_BITS ? add_up(p->next_doc, p->doc, p->count)
					       : add_up_far(p->next_doc, p->doc, p->count);
	/* What ends where it should has nothing behind that on its way. */
	if (p->next_doc != h->last + 1)
		return segment_damaged(
			p->seg, reterr, "a list of documents does not end where it should");
	p->n = POSTINGS_BLOCK;
	p->left -= POSTINGS_BLOCK;
	p->block_positions = p->positions;
	p->positions += h->positions_n;
	return 0;
}

static int read_last(struct postings *p, const uint8_t *at, const uint8_t *end, struct err *reterr)
{
	for (unsigned i = 0; i < p->left; i++) {
		uint64_t step, count = 1;
		if (!varint_get(&at, end, &step) || (!(step & 1) && !varint_get(&at, end, &count)))
			return segment_damaged(p->seg, reterr, "a list of documents is cut off");
		if (step >> 1 >= segment_docs(p->seg) - p->next_doc || count == 0 ||
			count > INT32_MAX)
			return segment_damaged(p->seg, reterr, "a list of documents does not fit");
		p->next_doc += step >> 1;
		p->doc[i] = (uint32_t)p->next_doc++;
		p->count[i] = (uint32_t)count;
	}
	p->n = p->left;
	p->left = 0;
	p->at = p->end;
	p->block_positions = p->positions;
	p->positions = p->positions_end;
	return 0;
}

int postings_skip(struct postings *p, uint32_t doc, struct err *reterr)
{
	enum { BLOCK_MAX = 2 * VARINT_MAX + 2 + 2 * POSTINGS_BLOCK * 4 };
	int r = 0;

	p->n = p->here = 0;
	p->touched = false;
	while (r >= 0 && p->left > 0 && p->n == 0) {
		uint64_t n = p->end - p->at;
		const uint8_t *at = p->seg->map + p->at, *end = at + n;
		if (p->left < POSTINGS_BLOCK) {
			r = segment_touch(p->seg, p->at, n, reterr);
			return r < 0 || (r = read_last(p, at, end, reterr)) < 0 ? r : (int)p->n;
		}
		struct block_head h = { .last = 0 };
		r = segment_touch(p->seg, p->at, n < BLOCK_MAX ? n : BLOCK_MAX, reterr);
		if (r >= 0)
			r = read_head(p, &at, end, &h, reterr);
		if (r < 0)
			break;
		p->at = (uint64_t)(at - p->seg->map) +
			(uint64_t)(h.doc_bits + h.count_bits) * (POSTINGS_BLOCK / 8);
		if (h.last >= doc) {
			r = read_block(p, at, &h, reterr);
		} else {
			p->next_doc = h.last + 1;
			p->left -= POSTINGS_BLOCK;
			p->positions += h.positions_n;
		}
	}
	return r < 0 ? r : (int)p->n;
}

int postings_next(struct postings *p, struct err *reterr)
{
	return postings_skip(p, 0, reterr);
}

/* Behind so many numbers from `at` on, or NULL when there are not as many. A number ends with a
 * byte below 0x80. */
static const uint8_t *skip_numbers(const uint8_t *at, const uint8_t *end, uint64_t n)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	while (n >= sizeof(ones) && end - at >= (ptrdiff_t)sizeof(ones)) {
		uint64_t word;
		memcpy(&word, at, sizeof(word));
		n -= (~word >> 7 & ones) * ones >> 56;
		at += sizeof(word);
	}
	for (; n > 0; n--) {
		while (at < end && *at >= 0x80)
			at++;
		if (at++ >= end)
			return NULL;
	}
	return at;
}

/* They may be read from here on. */
static int touch_positions(struct postings *p, struct err *reterr)
{
	int r = segment_touch(
		p->seg, p->block_positions, p->positions - p->block_positions, reterr);

	p->touched = r >= 0;
	return r;
}

/* Where the positions of document i of the block begin: each has as many numbers as its count says,
 * and mostly one comes after the other. */
static inline int find_start(struct postings *p, unsigned i, struct err *reterr)
{
	uint64_t count = 0;

	assert(i < p->n);
	if (!p->touched) {
		int r = touch_positions(p, reterr);
		if (r < 0)
			return r;
	}
	if (p->here == 0 || i < p->here) {
		p->here_at = p->block_positions;
		p->here = 0;
	}
	for (; p->here < i; p->here++)
		count += p->count[p->here];
	if (count == 0)
		return 0;
	const uint8_t *at =
		skip_numbers(p->seg->map + p->here_at, p->seg->map + p->positions, count);
	if (!at)
		return segment_damaged(p->seg, reterr, "positions are cut off");
	p->here_at = (uint64_t)(at - p->seg->map);
	return 0;
}

/* Those of document i have been read up to `at`. */
static int end_positions(struct postings *p, unsigned i, const uint8_t *at, struct err *reterr)
{
	p->here = i + 1;
	p->here_at = (uint64_t)(at - p->seg->map);
	return p->here < p->n || p->here_at == p->positions
		? 0
		: segment_damaged(p->seg, reterr, "positions do not end where they should");
}

int postings_raw_positions(struct postings *p, unsigned i, struct sv *ret, struct err *reterr)
{
	int r = find_start(p, i, reterr);

	if (r < 0)
		return r;
	const uint8_t *from = p->seg->map + p->here_at, *end = p->seg->map + p->positions;
	const uint8_t *at = skip_numbers(from, end, p->count[i]);
	if (!at)
		return segment_damaged(p->seg, reterr, "positions are cut off");
	*ret = sv_make((const char *)from, (size_t)(at - from));
	return end_positions(p, i, at, reterr);
}

int postings_positions(struct postings *p, unsigned i, const uint32_t **ret, struct err *reterr)
{
	enum { MOST = 5 }; /* bytes of a number that fits */
	int r = find_start(p, i, reterr);
	uint32_t count = p->count[i];

	if (r < 0)
		return r;
	if (p->decoded_cap < count) {
		p->decoded_cap = count;
		p->decoded = xreallocarray(p->decoded, count, sizeof(*p->decoded));
	}
	const uint8_t *at = p->seg->map + p->here_at, *end = p->seg->map + p->positions;
	uint32_t *out = p->decoded, *out_end = out + count;
	uint64_t position = 0;
	/* Mostly a byte or two, and far from the end. Which of the two it is would be guessed wrong
	 * too often: that is computed, and no branch. */
	bool room = (uint64_t)(end - at) >= (uint64_t)count * MOST;
	while (out < out_end) {
		uint64_t step, two;
		if (room && (at[0] & at[1]) < 0x80) {
			two = at[0] >> 7;
			step = (at[0] & 0x7F) | ((uint64_t)at[1] << 7 & (0 - two));
			at += 1 + two;
		} else {
			if (!varint_get(&at, end, &step))
				return segment_damaged(p->seg, reterr, "positions are cut off");
			if (step > UINT32_MAX)
				return segment_damaged(p->seg, reterr, "positions do not fit");
		}
		position += step;
		*out++ = (uint32_t)position;
	}
	if (position > UINT32_MAX)
		return segment_damaged(p->seg, reterr, "positions do not fit");
	*ret = p->decoded;
	return end_positions(p, i, at, reterr);
}
