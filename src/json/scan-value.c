#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "json/scan.h"
#include "json/text.h"

enum { REPLACEMENT = 0xFFFD };

/* ---- strings ---- */

struct sv scan_inner(struct jval val)
{
	if (val.type != J_STRING || val.raw.n < 2)
		return (struct sv){ val.raw.p, 0 };
	return (struct sv){ val.raw.p + 1, val.raw.n - 2 };
}

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

	if (!json_hex4(d->p, d->end, &cp))
		return false;
	d->p += 4;
	if (cp >= 0xD800 && cp < 0xDC00 && d->end - d->p >= 6 && d->p[0] == '\\' &&
		d->p[1] == 'u' && json_hex4(d->p + 2, d->end, &low) && low >= 0xDC00 &&
		low < 0xE000) {
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
