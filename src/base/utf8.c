#include "base/utf8.h"

#include <stdlib.h>
#include <utf8proc.h>

enum { REPLACEMENT = 0xFFFD };

size_t utf8_decode(struct sv s, uint32_t *ret_cp)
{
	unsigned char c = (unsigned char)s.p[0];

	if (c < 0x80) {
		*ret_cp = c;
		return 1;
	}
	utf8proc_int32_t cp;
	size_t most = s.n < 4 ? s.n : 4;
	utf8proc_ssize_t n =
		utf8proc_iterate((const utf8proc_uint8_t *)s.p, (utf8proc_ssize_t)most, &cp);
	if (n <= 0) {
		*ret_cp = REPLACEMENT;
		return 1;
	}
	*ret_cp = (uint32_t)cp;
	return (size_t)n;
}

size_t utf8_expect(unsigned char lead)
{
	if (lead >= 0xC2 && lead < 0xE0)
		return 2;
	if (lead >= 0xE0 && lead < 0xF0)
		return 3;
	return lead >= 0xF0 && lead < 0xF5 ? 4 : 1;
}

void utf8_add(struct str *out, uint32_t cp)
{
	utf8proc_uint8_t tmp[4];
	utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)cp, tmp);

	str_add(out, sv_make((const char *)tmp, n > 0 ? (size_t)n : 0));
}

bool utf8_valid(struct sv s)
{
	while (s.n) {
		uint32_t cp;
		size_t n = utf8_decode(s, &cp);
		if (cp == REPLACEMENT && n == 1)
			return false;
		s = sv_from(s, n);
	}
	return true;
}

size_t utf8_length(struct sv s)
{
	size_t count = 0;

	for (; s.n; count++) {
		uint32_t cp;
		s = sv_from(s, utf8_decode(s, &cp));
	}
	return count;
}

struct sv utf8_cut(struct sv s, size_t max_bytes)
{
	if (s.n <= max_bytes)
		return s;
	size_t n = max_bytes;
	while (n > 0 && max_bytes - n < 3 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
		n--;
	return sv_head(s, n);
}

static bool is_ascii(struct sv s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80)
			return false;
	return true;
}

void utf8_normalise(struct str *out, struct sv s, bool fold)
{
	if (is_ascii(s)) {
		for (size_t i = 0; i < s.n; i++)
			str_addc(out,
				fold && s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32)
								       : s.p[i]);
		return;
	}
	AUTO_STR valid = STR_INIT; /* utf8proc refuses what is not */
	while (s.n) {
		uint32_t cp;
		size_t len = utf8_decode(s, &cp);
		utf8_add(&valid, cp);
		s = sv_from(s, len);
	}
	utf8proc_uint8_t *mapped = NULL;
	utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
	if (fold)
		options |= UTF8PROC_CASEFOLD;
	utf8proc_ssize_t n = utf8proc_map(
		(const utf8proc_uint8_t *)valid.buf, (utf8proc_ssize_t)valid.len, &mapped, options);
	if (n < 0)
		str_add(out, str_sv(&valid));
	else
		str_add(out, sv_make((const char *)mapped, (size_t)n));
	free(mapped);
}

size_t utf8_cluster(struct sv s, size_t *ret_width)
{
	utf8proc_int32_t state = 0;
	uint32_t cp;

	/* Nearly all text: a printable ASCII character that nothing is added to. */
	if (s.p[0] >= 0x20 && s.p[0] < 0x7F && (s.n == 1 || (unsigned char)s.p[1] < 0x80)) {
		*ret_width = 1;
		return 1;
	}
	size_t n = utf8_decode(s, &cp);
	int width = cp < 0x20 || cp == 0x7F ? 0 : utf8proc_charwidth((utf8proc_int32_t)cp);

	while (n < s.n) {
		uint32_t next;
		size_t len = utf8_decode(sv_from(s, n), &next);
		if (utf8proc_grapheme_break_stateful(
			    (utf8proc_int32_t)cp, (utf8proc_int32_t)next, &state))
			break;
		/* A variation selector 16 asks for the wide emoji form; regional pairs are wide. */
		if (next == 0xFE0F || (next >= 0x1F1E6 && next <= 0x1F1FF))
			width = 2;
		n += len;
		cp = next;
	}
	*ret_width = width > 0 ? (size_t)width : 0;
	return n;
}

size_t utf8_width(struct sv s)
{
	size_t total = 0;

	while (s.n) {
		size_t width;
		s = sv_from(s, utf8_cluster(s, &width));
		total += width;
	}
	return total;
}

void utf8_fit(struct str *out, struct sv s, size_t columns)
{
	size_t total = 0;
	size_t keep = 0; /* bytes that still leave room for the ellipsis */
	struct sv rest = s;

	while (rest.n) {
		size_t width;
		size_t n = utf8_cluster(rest, &width);
		if (total + width > columns) {
			str_add(out, sv_head(s, keep));
			if (columns)
				str_adds(out, "…");
			return;
		}
		total += width;
		rest = sv_from(rest, n);
		if (total + 1 <= columns)
			keep = s.n - rest.n;
	}
	str_add(out, s);
}

/* Bytes of the escape sequence at the start of s (s.p[0] is ESC, or a C1 introducer was read). */
static size_t escape_length(struct sv s)
{
	if (s.n < 2)
		return 1;
	size_t i = 2;
	switch (s.p[1]) {
	case '[': /* CSI: parameters, then a final byte */
		while (i < s.n && (unsigned char)s.p[i] >= 0x20 && (unsigned char)s.p[i] < 0x40)
			i++;
		return i < s.n && (unsigned char)s.p[i] >= 0x40 && (unsigned char)s.p[i] < 0x7F
			? i + 1
			: i;
	case ']': /* OSC, DCS, SOS, PM, APC: up to BEL or ESC \ on the same line */
	case 'P':
	case 'X':
	case '^':
	case '_':
		while (i < s.n && s.p[i] != '\a' && s.p[i] != '\033' && s.p[i] != '\n')
			i++;
		if (i < s.n && s.p[i] == '\a')
			return i + 1;
		return i + 1 < s.n && s.p[i] == '\033' && s.p[i + 1] == '\\' ? i + 2 : i;
	default:
		return (unsigned char)s.p[1] >= 0x20 && (unsigned char)s.p[1] < 0x7F ? 2 : 1;
	}
}

bool utf8_unsafe(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || cp == 0x061C || cp == 0x200E ||
		cp == 0x200F || (cp >= 0x2028 && cp <= 0x202E) || (cp >= 0x2066 && cp <= 0x2069);
}

/* How much at its front stays as it is: nearly all of it. */
static size_t plain_length(struct sv s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] >= 0x20 && s.p[n] < 0x7F)
		n++;
	return n;
}

static void scrub(struct str *out, struct sv s, bool one_line)
{
	bool in_blank = false;

	while (s.n) {
		uint32_t cp;
		size_t n = plain_length(s);
		if (n > 0) {
			str_add(out, sv_head(s, n));
			s = sv_from(s, n);
			in_blank = false;
			continue;
		}
		n = utf8_decode(s, &cp);
		bool blank = cp == '\n' || cp == '\t' || cp == '\r';
		if (cp == 0x1B) {
			n = escape_length(s);
		} else if (blank && one_line) {
			if (!in_blank)
				str_addc(out, ' ');
		} else if (cp == '\n' || cp == '\t') {
			str_addc(out, (char)cp);
		} else if (cp != '\r' || (s.n > 1 && s.p[1] != '\n')) {
			utf8_add(out, utf8_unsafe(cp) ? REPLACEMENT : cp);
		}
		in_blank = blank;
		s = sv_from(s, n);
	}
}

void utf8_scrub(struct str *out, struct sv s)
{
	scrub(out, s, false);
}

void utf8_scrub_line(struct str *out, struct sv s)
{
	scrub(out, s, true);
}

void utf8_scrub_json(struct str *out, struct sv s)
{
	while (s.n) {
		uint32_t cp;
		size_t n = plain_length(s);
		str_add(out, sv_head(s, n));
		s = sv_from(s, n);
		if (s.n == 0)
			break;
		n = utf8_decode(s, &cp);
		if (cp == '\n') /* between values */
			str_addc(out, '\n');
		else if (utf8_unsafe(cp))
			str_addf(out, "\\u%04x", (unsigned)cp);
		else
			utf8_add(out, cp);
		s = sv_from(s, n);
	}
}
