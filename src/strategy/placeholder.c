#include "strategy/placeholder.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/utf8.h"

#define RECALL_WORDS "faden recall "

enum {
	BLOCK = 64, /* bytes counted at once */
	NAME_MAX_BYTES = 80, /* of a tool's name that is shown; it comes from outside */
	NOTICE_MAX = 5000, /* how far from the end the notices of others begin: they hold a path */
};

/* ---- counting ---- */

/* The second digit of "\udXxx" tells high surrogates (8 to b) from low ones (c to f). */
static bool is_surrogate(const char *p, const char *digits)
{
	return p[0] == '\\' && p[1] == 'u' && (p[2] | 0x20) == 'd' && p[3] &&
		strchr(digits, p[3] | 0x20);
}

/* Raw bytes of the character or escape at p. */
static size_t step(const char *p, size_t n)
{
	size_t size = 2;

	if (p[0] != '\\')
		size = utf8_expect((unsigned char)p[0]);
	else if (n >= 12 && is_surrogate(p, "89ab") && is_surrogate(p + 6, "cdef"))
		size = 12;
	else if (n >= 2 && p[1] == 'u')
		size = 6;
	return size < n ? size : n;
}

/* Of 64 bytes: backslashes and the letter u as one bit each, and how many bytes are inside a
 * character (all but its first). Texts of gigabytes are counted, so it is worth two ways. */
struct block {
	uint64_t backslashes, us;
	size_t inside;
};

#ifdef __SSE2__
static struct block look_at_block(const char *p)
{
	const __m128i backslash = _mm_set1_epi8('\\'), first = _mm_set1_epi8(-64);
	const __m128i letter = _mm_set1_epi8('u');
	struct block b = { 0, 0, 0 };
	__m128i inside = _mm_setzero_si128();

	for (unsigned i = 0; i < BLOCK / 16; i++) {
		__m128i bytes = _mm_loadu_si128((const void *)(p + (size_t)i * 16));
		__m128i slash = _mm_cmpeq_epi8(bytes, backslash);
		__m128i u = _mm_cmpeq_epi8(bytes, letter);
		b.backslashes |= (uint64_t)(unsigned)_mm_movemask_epi8(slash) << (16 * i);
		b.us |= (uint64_t)(unsigned)_mm_movemask_epi8(u) << (16 * i);
		/* A comparison that is true gives -1. */
		inside = _mm_sub_epi8(inside, _mm_cmplt_epi8(bytes, first));
	}
	__m128i sums = _mm_sad_epu8(inside, _mm_setzero_si128());
	b.inside = (size_t)(_mm_extract_epi16(sums, 0) + _mm_extract_epi16(sums, 4));
	return b;
}
#else
/* Which of eight bytes are `c`, one bit each; a multiplication gathers their high bits. */
static uint64_t equal_bytes(uint64_t w, char c)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7, low7 = ~highs;
	uint64_t x = w ^ ones * (unsigned char)c;
	uint64_t zero = ~(((x & low7) + low7) | x) & highs;

	return (zero >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static struct block look_at_block(const char *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	struct block b = { 0, 0, 0 };
	uint64_t inside = 0;

	for (unsigned i = 0; i < BLOCK / 8; i++) {
		uint64_t w;
		memcpy(&w, p + (size_t)i * 8, 8);
		w = le64toh(w);
		b.backslashes |= equal_bytes(w, '\\') << (8 * i);
		b.us |= equal_bytes(w, 'u') << (8 * i);
		inside += (w & ~(w << 1) & highs) >> 7;
	}
	b.inside = (size_t)(inside * ones >> 56);
	return b;
}
#endif

static unsigned bits(uint64_t x)
{
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* Which backslashes begin an escape, when the first byte is not part of one: in each run of them
 * the first, third, … The subtraction borrows through a run, and so tells its odd places from its
 * even ones. */
static uint64_t escapes_of(uint64_t backslashes)
{
	const uint64_t odd = UINT64_C(0xaaaaaaaaaaaaaaaa);

	return (((backslashes << 1 | odd) - backslashes) ^ odd) & backslashes;
}

/* Characters of 64 bytes at p and of what the last escape in them has beyond; *ret_size is how many
 * bytes that is. */
static size_t count_block(const char *p, const char *end, size_t *ret_size)
{
	const struct block b = look_at_block(p);
	uint64_t backslashes = b.backslashes, escapes = escapes_of(backslashes);
	size_t chars = BLOCK - b.inside, size = BLOCK;

	if (!(escapes << 1 & b.us) && !(escapes >> (BLOCK - 1))) {
		/* Two bytes each, and none goes on behind the block. */
		*ret_size = BLOCK;
		return chars - bits(escapes);
	}
	while (backslashes) {
		size_t at = (size_t)__builtin_ctzll(backslashes);
		size_t left = (size_t)(end - p) - at;
		size_t n = left > 1 && p[at + 1] != 'u' ? 2 : step(p + at, left);
		if (at + n >= BLOCK) {
			chars -= BLOCK - at - 1;
			size = at + n;
			break;
		}
		chars -= n - 1;
		backslashes &= ~UINT64_C(0) << (at + n);
	}
	*ret_size = size;
	return chars;
}

size_t text_chars(struct sv inner)
{
	const char *p = inner.p, *end = p + inner.n;
	size_t chars = 0;

	while (end - p >= BLOCK) {
		size_t size;
		chars += count_block(p, end, &size);
		p += size;
	}
	while (p < end) {
		bool inside = ((unsigned char)*p & 0xc0) == 0x80;
		p += inside ? 1 : step(p, (size_t)(end - p));
		chars += !inside;
	}
	return chars;
}

struct sv text_head(struct sv inner, size_t chars)
{
	size_t at = 0;

	while (at < inner.n && chars-- > 0)
		at += step(inner.p + at, inner.n - at);
	return sv_head(inner, at);
}

/* Bytes that an escape or character decodes to. */
static size_t decoded_size(const char *p, size_t raw)
{
	if (p[0] != '\\')
		return raw;
	if (raw == 2)
		return 1;
	if (raw == 12)
		return 4;
	unsigned cp = 0;
	for (int i = 2; i < 6; i++)
		cp = cp << 4 |
			(unsigned)(p[i] <= '9' ? p[i] - '0' : ((p[i] | 0x20) - 'a' + 10) & 0xf);
	return cp < 0x80 ? 1 : cp < 0x800 ? 2 : 3;
}

/* Raw place of a byte of the decoded text. */
static size_t raw_place(struct sv inner, size_t decoded)
{
	size_t at = 0, done = 0;

	while (at < inner.n && done < decoded) {
		size_t raw = step(inner.p + at, inner.n - at);
		done += decoded_size(inner.p + at, raw);
		at += raw;
	}
	return at;
}

struct sv text_span(struct jval string, size_t from, size_t n)
{
	struct sv inner = scan_inner(string);
	AUTO_STR all = STR_INIT;
	AUTO_STR quoted = STR_INIT;
	AUTO_STR part = STR_INIT;
	size_t low = raw_place(inner, from);
	size_t high = low + raw_place(sv_from(inner, low), n);
	struct sv span = sv_make(inner.p + low, high - low);

	str_addc(&quoted, '"');
	str_add(&quoted, span);
	str_addc(&quoted, '"');
	if (!scan_string(string, &all) || from > all.len || n > all.len - from ||
		!scan_string((struct jval){ str_sv(&quoted), J_STRING }, &part) ||
		!sv_eq(str_sv(&part), sv_make(all.buf + from, n)))
		return (struct sv){ NULL, 0 };
	return span;
}

/* ---- words ---- */

static void add_name(struct str *out, struct sv name)
{
	AUTO_STR clean = STR_INIT;

	utf8_scrub_line(&clean, utf8_cut(name, NAME_MAX_BYTES));
	str_add(out, str_sv(&clean));
}

static void add_what(const struct placeholder *p, struct str *out)
{
	switch (p->kind) {
	case PLACEHOLDER_RESULT:
		str_adds(out, "[Results from ");
		add_name(out, p->name);
		str_addf(out, " tool suppressed - original content was %zu characters", p->length);
		break;
	case PLACEHOLDER_INPUT:
		str_adds(out, "[Input ");
		add_name(out, p->part);
		str_adds(out, p->part.n ? " of " : "of ");
		add_name(out, p->name);
		str_addf(out, " tool suppressed - original was %zu characters", p->length);
		break;
	case PLACEHOLDER_ANSWER:
		str_addc(out, '[');
		add_name(out, p->name);
		str_addf(out, " response trimmed - original was %zu characters", p->length);
		break;
	case PLACEHOLDER_IMAGE:
		str_adds(out, "[Data of type ");
		add_name(out, p->name);
		str_addf(out, " suppressed - original was %zu bytes", p->length);
		break;
	case PLACEHOLDER_SUMMARY:
		str_addf(out, "[Summarised - original was %zu characters", p->length);
		break;
	}
}

void placeholder_text(const struct placeholder *p, struct str *out)
{
	char ref[RECALL_REF];

	add_what(p, out);
	if (p->shown > 0)
		str_addf(out, ", the first %zu are shown", p->shown);
	recall_ref_text(p->hash, ref);
	str_addf(out, "] Original: " RECALL_WORDS "%s", ref);
}

static bool is_ours(struct sv inner)
{
	const struct sv words = SV(RECALL_WORDS);
	size_t n = words.n + RECALL_REF - 1;
	uint64_t low;

	if (inner.n < n)
		return false;
	struct sv end = sv_from(inner, inner.n - n);
	return sv_starts(end, words) && recall_ref_parse(sv_from(end, words.n), &low);
}

bool placeholder_is(struct sv inner)
{
	size_t at;

	if (is_ours(inner))
		return true;
	if (!sv_ends(inner, SV("]")))
		return false;
	/* Notices of the older tools: in front of a path, or all there is. */
	if (sv_starts(inner, SV("[Assistant message trimmed")) ||
		sv_starts(inner, SV("[Claude response trimmed")))
		return true;
	if (sv_starts(inner, SV("[Results from ")) &&
		sv_find(sv_head(inner, NOTICE_MAX), SV(" tool suppressed - original content was "),
			&at))
		return true;
	struct sv tail = sv_from(inner, inner.n > NOTICE_MAX ? inner.n - NOTICE_MAX : 0);
	return sv_find(tail, SV("[...truncated"), &at) ||
		(sv_starts(inner, SV("Summary of truncated content: ")));
}
