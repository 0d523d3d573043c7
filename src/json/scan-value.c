/*
 * Values as C has them, and whether a text is JSON at all.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "json/block.h"
#include "json/scan.h"
#include "json/text.h"

/* ---- lexical grammar ---- */

static bool is_tail(unsigned char c)
{
	return (c & 0xC0) == 0x80;
}

/* The ranges of the second byte keep out overlong forms, surrogates and what lies beyond
 * U+10FFFF. */
size_t json_utf8_sequence(const char *at, const char *end)
{
	const unsigned char *p = (const unsigned char *)at;
	unsigned char low = 0x80, high = 0xBF;
	size_t n;

	if (p[0] >= 0xC2 && p[0] <= 0xDF)
		n = 2;
	else if (p[0] >= 0xE0 && p[0] <= 0xEF)
		n = 3;
	else if (p[0] >= 0xF0 && p[0] <= 0xF4)
		n = 4;
	else
		return 0;
	if (p[0] == 0xE0)
		low = 0xA0;
	else if (p[0] == 0xED)
		high = 0x9F;
	else if (p[0] == 0xF0)
		low = 0x90;
	else if (p[0] == 0xF4)
		high = 0x8F;
	if ((size_t)(end - at) < n || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (!is_tail(p[i]))
			return 0;
	return n;
}

static const char *skip_ascii(const char *p, const char *end)
{
	uint64_t word;

#if defined(__SSE2__)
	for (; end - p >= 16; p += 16) {
		unsigned high = (unsigned)block_bits(block_load(p, 0), 0);
		if (high)
			return p + __builtin_ctz(high);
	}
#endif
	for (; (size_t)(end - p) >= sizeof(word); p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		word = le64toh(word) & UINT64_C(0x8080808080808080);
		if (word)
			return p + __builtin_ctzll(word) / 8;
	}
	while (p < end && (unsigned char)*p < 0x80)
		p++;
	return p;
}

size_t json_utf8_prefix(struct sv s)
{
	const char *p = s.p, *end = s.p + s.n;

	while ((p = skip_ascii(p, end)) < end) {
		size_t n = json_utf8_sequence(p, end);
		if (n == 0)
			break;
		p += n;
	}
	return (size_t)(p - s.p);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *digits_end(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && is_digit(*p))
		p++;
	return p == start ? NULL : p;
}

const char *json_number_end(const char *p, const char *end)
{
	if (p < end && *p == '-')
		p++;
	if (p < end && *p == '0')
		p++;
	else
		p = digits_end(p, end);
	if (p && p < end && *p == '.')
		p = digits_end(p + 1, end);
	if (p && p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		p = digits_end(p, end);
	}
	return p;
}

/* The four hexadecimal digits of a \u escape; false when there are fewer. */
static bool hex4(const char *p, const char *end, unsigned *ret)
{
	unsigned v = 0;

	if (end - p < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		if (is_digit(c))
			v = v << 4 | (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v = v << 4 | (unsigned)((c | 0x20) - 'a' + 10);
		else
			return false;
	}
	*ret = v;
	return true;
}

enum { REPLACEMENT = 0xFFFD };

/* ---- strings ---- */

static char simple_escape(char c)
{
	switch (c) {
	case '"':
	case '\\':
	case '/':
		return c;
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	default:
		return '\0';
	}
}

/*
 * Decoding writes straight into the string. Escapes shrink; only invalid bytes grow, to three each.
 * So there is always room for what is left of the input, and more is asked for at a bad byte.
 */
struct decoder {
	const char *p, *end;
	struct str *out;
	char *o;
};

/* Room for the input that is left, a replacement, and a whole word beyond what is meant. */
static bool decoder_room(struct decoder *d)
{
	size_t left = (size_t)(d->end - d->p) + 3;

	d->out->len = (size_t)(d->o - d->out->buf);
	if (!str_reserve(d->out, left + JSON_WORD))
		return false;
	d->o = d->out->buf + d->out->len;
	return true;
}

static void put_code_point(struct decoder *d, unsigned cp)
{
	if (cp < 0x80) {
		*d->o++ = (char)cp;
		return;
	}
	if (cp < 0x800) {
		*d->o++ = (char)(0xC0 | cp >> 6);
	} else {
		if (cp < 0x10000) {
			*d->o++ = (char)(0xE0 | cp >> 12);
		} else {
			*d->o++ = (char)(0xF0 | cp >> 18);
			*d->o++ = (char)(0x80 | (cp >> 12 & 0x3F));
		}
		*d->o++ = (char)(0x80 | (cp >> 6 & 0x3F));
	}
	*d->o++ = (char)(0x80 | (cp & 0x3F));
}

/* p is behind "\u". */
static bool decode_unicode(struct decoder *d)
{
	unsigned cp, low;

	if (!hex4(d->p, d->end, &cp))
		return false;
	d->p += 4;
	if (cp >= 0xD800 && cp < 0xDC00 && d->end - d->p >= 6 && d->p[0] == '\\' &&
		d->p[1] == 'u' && hex4(d->p + 2, d->end, &low) && low >= 0xDC00 && low < 0xE000) {
		cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
		d->p += 6;
	}
	put_code_point(d, cp >= 0xD800 && cp < 0xE000 ? REPLACEMENT : cp);
	return true;
}

/* p is behind the backslash. */
static bool decode_escape(struct decoder *d)
{
	if (d->p == d->end)
		return false;
	char kind = *d->p++;
	if (kind == 'u')
		return decode_unicode(d);
	char c = simple_escape(kind);
	if (!c)
		return false;
	*d->o++ = c;
	return true;
}

static bool decode_wide(struct decoder *d)
{
	size_t n = json_utf8_sequence(d->p, d->end);

	if (n == 0) {
		d->p++;
		put_code_point(d, REPLACEMENT);
		return decoder_room(d);
	}
	memcpy(d->o, d->p, n);
	d->o += n;
	d->p += n;
	return true;
}

static bool decode_one(struct decoder *d)
{
	if ((unsigned char)*d->p >= 0x80)
		return decode_wide(d);
	char c = *d->p++;
	if (c == '\\')
		return decode_escape(d);
	*d->o++ = c;
	return true;
}

static bool decode(struct decoder *d)
{
	while (d->end - d->p >= JSON_WORD) {
		size_t plain = json_plain_bytes(d->p);
		memcpy(d->o, d->p, JSON_WORD);
		d->o += plain;
		d->p += plain;
		if (plain < JSON_WORD && !decode_one(d))
			return false;
	}
	while (d->p < d->end)
		if (!decode_one(d))
			return false;
	return true;
}

bool scan_string(struct jval val, struct str *out)
{
	struct sv inner = scan_inner(val);
	size_t before = out->len;

	if (val.type != J_STRING)
		return false;
	if (inner.n == 0)
		return true;
	struct decoder d = { inner.p, inner.p + inner.n, out, out->buf + out->len };
	if (!decoder_room(&d))
		return false;
	bool ok = decode(&d);
	out->len = ok ? (size_t)(d.o - out->buf) : before;
	out->buf[out->len] = '\0';
	return ok;
}

static bool is_verbatim(struct sv inner)
{
	return inner.n == 0 ||
		(!memchr(inner.p, '\\', inner.n) && json_utf8_prefix(inner) == inner.n);
}

struct sv scan_string_view(struct jval val, struct str *tmp)
{
	struct sv inner = scan_inner(val);

	if (is_verbatim(inner))
		return inner;
	str_clear(tmp);
	if (!scan_string(val, tmp))
		str_clear(tmp);
	return str_sv(tmp);
}

bool scan_string_eq(struct jval val, struct sv text)
{
	struct sv inner = scan_inner(val);

	if (val.type != J_STRING)
		return false;
	/* No spelling of a byte is longer than "\u0041", none shorter than itself but for bytes
	 * that are invalid and grow to U+FFFD. */
	if (text.n > inner.n * 3 || inner.n > text.n * 6)
		return false;
	AUTO_STR tmp = STR_INIT;
	if (is_verbatim(inner))
		return sv_eq(inner, text);
	return scan_string(val, &tmp) && sv_eq(str_sv(&tmp), text);
}

/* ---- other scalars ---- */

bool scan_true(struct jval val)
{
	return val.type == J_BOOL && val.raw.p[0] == 't';
}

static bool is_number(struct jval val)
{
	if (val.type != J_NUMBER)
		return false;
	const char *end = val.raw.p + val.raw.n;
	return json_number_end(val.raw.p, end) == end;
}

/* strtod() follows the locale; JSON does not. The C locale needs no memory and no release. */
static double to_double(const char *text)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	return strtod_l(text, NULL, c);
}

bool scan_double(struct jval val, double *ret)
{
	char small[64];

	if (!is_number(val))
		return false;
	AUTO_FREE char *large = NULL;
	if (val.raw.n < sizeof(small)) {
		memcpy(small, val.raw.p, val.raw.n);
		small[val.raw.n] = '\0';
	} else {
		large = xmemdup0(val.raw.p, val.raw.n);
	}
	double v = to_double(large ? large : small);
	if (!isfinite(v))
		return false;
	*ret = v;
	return true;
}

static bool whole_double(struct jval val, int64_t *ret)
{
	const double exact_max = 9007199254740992.0; /* 2^53 */
	double v;

	if (!scan_double(val, &v) || v != trunc(v) || fabs(v) > exact_max)
		return false;
	*ret = (int64_t)v;
	return true;
}

bool scan_i64(struct jval val, int64_t *ret)
{
	if (!is_number(val))
		return false;
	bool negative = val.raw.p[0] == '-';
	int64_t v = 0;
	for (size_t i = negative; i < val.raw.n; i++) {
		char c = val.raw.p[i];
		if (c < '0' || c > '9')
			return whole_double(val, ret);
		int64_t digit = negative ? -(c - '0') : c - '0';
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*ret = v;
	return true;
}

/* ---- checking ---- */

enum { WORD = 64 };

struct check {
	const char *p, *end;
	size_t depth;
	uint64_t objects[SCAN_DEPTH_MAX / WORD]; /* one bit a level: 1 object, 0 array */
};

enum state { STATE_VALUE, STATE_KEY, STATE_AFTER, STATE_DONE, STATE_BAD, STATE_DEEP };

/* p is behind the backslash. */
static bool check_escape(struct check *c)
{
	unsigned cp;

	if (c->p == c->end)
		return false;
	if (*c->p == 'u') {
		if (!hex4(c->p + 1, c->end, &cp))
			return false;
		c->p += 5;
		return true;
	}
	if (!memchr("\"\\/bfnrt", *c->p, 8))
		return false;
	c->p++;
	return true;
}

static bool check_wide(struct check *c)
{
	size_t n = json_utf8_sequence(c->p, c->end);

	c->p += n;
	return n > 0;
}

/* One character that is not the closing quote. */
static bool check_character(struct check *c)
{
	unsigned char ch = (unsigned char)*c->p;

	if (ch >= 0x80)
		return check_wide(c);
	if (ch < 0x20)
		return false;
	c->p++;
	return ch != '\\' || check_escape(c);
}

static bool check_string(struct check *c)
{
	if (c->p == c->end || *c->p != '"')
		return false;
	for (c->p++; c->p < c->end;) {
		if (c->end - c->p >= JSON_WORD) {
			size_t plain = json_plain_bytes(c->p);
			c->p += plain;
			if (plain == JSON_WORD)
				continue;
		}
		if (*c->p == '"') {
			c->p++;
			return true;
		}
		if (!check_character(c))
			return false;
	}
	return false;
}

static bool check_word(struct check *c, struct sv word)
{
	if (!sv_starts(sv_make(c->p, (size_t)(c->end - c->p)), word))
		return false;
	c->p += word.n;
	return true;
}

static bool check_number(struct check *c)
{
	const char *end = json_number_end(c->p, c->end);

	if (!end)
		return false;
	c->p = end;
	return true;
}

static bool in_object(const struct check *c)
{
	size_t top = c->depth - 1;

	return c->objects[top / WORD] >> (top % WORD) & 1;
}

static enum state close_container(struct check *c)
{
	c->p++;
	c->depth--;
	return STATE_AFTER;
}

static enum state open_container(struct check *c, bool object)
{
	if (c->depth == SCAN_DEPTH_MAX)
		return STATE_DEEP;
	uint64_t bit = UINT64_C(1) << (c->depth % WORD);
	uint64_t *word = &c->objects[c->depth / WORD];
	if (c->depth % WORD == 0)
		*word = 0; /* so that the stack need not be cleared as a whole */
	*word = object ? *word | bit : *word & ~bit;
	c->depth++;
	c->p = json_skip_space(c->p + 1, c->end);
	if (c->p < c->end && *c->p == (object ? '}' : ']'))
		return close_container(c);
	return object ? STATE_KEY : STATE_VALUE;
}

static enum state check_value(struct check *c)
{
	bool ok;

	c->p = json_skip_space(c->p, c->end);
	if (c->p == c->end)
		return STATE_BAD;
	switch (*c->p) {
	case '{':
		return open_container(c, true);
	case '[':
		return open_container(c, false);
	case '"':
		ok = check_string(c);
		break;
	case 't':
		ok = check_word(c, SV("true"));
		break;
	case 'f':
		ok = check_word(c, SV("false"));
		break;
	case 'n':
		ok = check_word(c, SV("null"));
		break;
	default:
		ok = check_number(c);
		break;
	}
	return ok ? STATE_AFTER : STATE_BAD;
}

static enum state check_key(struct check *c)
{
	c->p = json_skip_space(c->p, c->end);
	if (!check_string(c))
		return STATE_BAD;
	c->p = json_skip_space(c->p, c->end);
	if (c->p == c->end || *c->p != ':')
		return STATE_BAD;
	c->p++;
	return STATE_VALUE;
}

static enum state check_after(struct check *c)
{
	c->p = json_skip_space(c->p, c->end);
	if (c->depth == 0)
		return c->p == c->end ? STATE_DONE : STATE_BAD;
	if (c->p == c->end)
		return STATE_BAD;
	bool object = in_object(c);
	if (*c->p == (object ? '}' : ']'))
		return close_container(c);
	if (*c->p != ',')
		return STATE_BAD;
	c->p++;
	return object ? STATE_KEY : STATE_VALUE;
}

int scan_check(struct sv text, size_t *ret_at)
{
	struct check c;
	enum state state = STATE_VALUE;

	c.p = text.n ? text.p : "";
	c.end = c.p + text.n;
	c.depth = 0;
	const char *start = c.p;
	while (state < STATE_DONE) {
		if (state == STATE_VALUE)
			state = check_value(&c);
		else if (state == STATE_KEY)
			state = check_key(&c);
		else
			state = check_after(&c);
	}
	if (state == STATE_DONE)
		return 0;
	if (ret_at)
		*ret_at = (size_t)(c.p - start);
	return state == STATE_DEEP ? ERR_LIMIT : ERR_INPUT;
}
