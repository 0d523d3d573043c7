#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
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

/* p is behind "\u"; returns one past the escape (or pair of escapes), or NULL. */
static const char *decode_unicode(const char *p, const char *end, struct str *out)
{
	unsigned cp, low;

	if (!json_hex4(p, end, &cp))
		return NULL;
	p += 4;
	if (cp >= 0xD800 && cp < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
		json_hex4(p + 2, end, &low) && low >= 0xDC00 && low < 0xE000) {
		cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
		p += 6;
	}
	utf8_add(out, cp >= 0xD800 && cp < 0xE000 ? REPLACEMENT : cp);
	return p;
}

/* p is behind the backslash. */
static const char *decode_escape(const char *p, const char *end, struct str *out)
{
	if (p == end)
		return NULL;
	if (*p == 'u')
		return decode_unicode(p + 1, end, out);
	char c = simple_escape(*p);
	if (!c)
		return NULL;
	str_addc(out, c);
	return p + 1;
}

static bool decode(struct sv inner, struct str *out)
{
	const char *p = inner.p, *end = inner.p + inner.n;

	while (p < end) {
		const char *escape = memchr(p, '\\', (size_t)(end - p));
		const char *stop = escape ? escape : end;
		json_add_utf8(out, sv_make(p, (size_t)(stop - p)));
		if (!escape)
			return true;
		p = decode_escape(escape + 1, end, out);
		if (!p)
			return false;
	}
	return true;
}

bool scan_string(struct jval val, struct str *out)
{
	size_t before = out->len;

	if (val.type != J_STRING)
		return false;
	struct sv inner = scan_inner(val);
	if (inner.n == 0)
		return true;
	(void)str_reserve(out, inner.n);
	if (decode(inner, out))
		return true;
	str_cut(out, before);
	return false;
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

bool scan_bool(struct jval val, bool *ret)
{
	if (val.type != J_BOOL)
		return false;
	*ret = val.raw.p[0] == 't';
	return true;
}

bool scan_true(struct jval val)
{
	bool on;

	return scan_bool(val, &on) && on;
}

static bool is_number(struct jval val)
{
	const char *end = val.raw.p + val.raw.n;

	return val.type == J_NUMBER && json_number_end(val.raw.p, end) == end;
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
	char *text = small;
	if (val.raw.n < sizeof(small)) {
		memcpy(small, val.raw.p, val.raw.n);
		small[val.raw.n] = '\0';
	} else {
		text = large = xmemdup0(val.raw.p, val.raw.n);
	}
	double v = to_double(text);
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
