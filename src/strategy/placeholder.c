#include "strategy/placeholder.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "base/wide.h"

#define RECALL_WORDS "faden recall "

enum {
	WINDOW = 512, /* bytes counted at once */
	AHEAD = 3, /* what is looked at behind them */
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

/*
 * Texts of gigabytes are counted, so this goes by windows: their bytes less those inside a
 * character, one for each escape, and four more for each "\u0000". A run of backslashes holds an
 * escape for every place that has an odd number of them from there on; so each byte tells by
 * itself, with the three behind it, what it adds, and windows may begin and end anywhere.
 */
typedef int8_t vector __attribute__((vector_size(32)));

enum { WORDS = sizeof(vector) / sizeof(uint64_t) };

/* Of numbers whose sum is below 256 for every eight of them. */
static size_t sum_of(const vector *v)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t w[WORDS], sum = 0;

	memcpy(w, v, sizeof(w));
	for (size_t i = 0; i < WORDS; i++)
		sum += w[i] * ones >> 56;
	return (size_t)sum;
}

static bool is_zero(const vector *v)
{
	uint64_t w[WORDS], any = 0;

	memcpy(w, v, sizeof(w));
	for (size_t i = 0; i < WORDS; i++)
		any |= w[i];
	return any == 0;
}

/* False where it is not as simple: four backslashes or more, one before "u" that stands for itself,
 * half a character ("\ud83d"). */
VECTOR_BODY bool count_window_any(const char *p, size_t *ret)
{
	vector less = { 0 }, wide = { 0 }, odd = { 0 };

	for (size_t i = 0; i < WINDOW; i += sizeof(vector)) {
		vector a, b, c, d;
		memcpy(&a, p + i, sizeof(a));
		memcpy(&b, p + i + 1, sizeof(b));
		memcpy(&c, p + i + 2, sizeof(c));
		memcpy(&d, p + i + 3, sizeof(d));
		vector a1 = a == '\\', b1 = b == '\\', c1 = c == '\\', u = a1 & (b == 'u');
		/* A comparison that is true gives -1. */
		less -= (a < -64) + (a1 & (~b1 | c1));
		wide -= u;
		odd |= a1 & b1 & ((c == 'u') | (c1 & ((d == '\\') | (d == 'u'))));
		odd |= u & ((c | 0x20) == 'd');
	}
	*ret = WINDOW - sum_of(&less) - 4 * sum_of(&wide);
	return is_zero(&odd);
}
VECTOR_CLONES(bool, count_window, (const char *p, size_t *ret), (p, ret))

size_t text_chars(struct sv inner)
{
	const char *p = inner.p, *end = p + inner.n;
	char last[WINDOW + AHEAD];
	size_t chars = 0, n;

	while (p < end) {
		size_t left = (size_t)(end - p), some = left < WINDOW ? left : WINDOW;
		const char *window = p, *stop = p + some;
		/* Bytes that stand for themselves fill up the last one. */
		if (left < sizeof(last)) {
			memcpy(last, p, left);
			memset(last + left, 'x', sizeof(last) - left);
			window = last;
		}
		if (count_window(window, &n)) {
			chars += n - (WINDOW - some);
			p = stop;
		}
		while (p < stop) {
			bool inside = ((unsigned char)*p & 0xc0) == 0x80;
			p += inside ? 1 : step(p, (size_t)(end - p));
			chars += !inside;
		}
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

static void walk_to(struct text_walk *w, size_t decoded)
{
	struct sv inner = scan_inner(w->string);

	while (w->raw < inner.n && w->decoded < decoded) {
		size_t raw = step(inner.p + w->raw, inner.n - w->raw);
		w->decoded += decoded_size(inner.p + w->raw, raw);
		w->raw += raw;
	}
}

struct sv text_span(struct text_walk *w, size_t from, size_t n)
{
	const struct sv none = { NULL, 0 };
	AUTO_STR quoted = STR_INIT;

	if (from < w->decoded || from > w->text.n || n > w->text.n - from)
		return none;
	walk_to(w, from);
	size_t low = w->raw;
	walk_to(w, from + n);
	struct sv span = sv_make(scan_inner(w->string).p + low, w->raw - low);
	str_addc(&quoted, '"');
	str_add(&quoted, span);
	str_addc(&quoted, '"');
	bool same = scan_string_eq(
		(struct jval){ str_sv(&quoted), J_STRING }, sv_make(w->text.p + from, n));
	return same ? span : none;
}

/* ---- words ---- */

static void add_name(struct str *out, struct sv name)
{
	utf8_scrub_line(out, utf8_cut(name, NAME_MAX_BYTES));
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
	str_adds(out, "] Original: " RECALL_WORDS);
	str_adds(out, ref);
}

bool placeholder_ref(struct sv inner, struct sv *ret)
{
	const struct sv words = SV(RECALL_WORDS);
	size_t n = words.n + RECALL_REF - 1;
	uint64_t low;

	if (inner.n < n)
		return false;
	struct sv end = sv_from(inner, inner.n - n);
	struct sv ref = sv_from(end, words.n);
	if (!sv_starts(end, words) || !recall_ref_parse(ref, &low))
		return false;
	*ret = ref;
	return true;
}

bool placeholder_is(struct sv inner)
{
	struct sv ref;
	size_t at;

	if (placeholder_ref(inner, &ref))
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
