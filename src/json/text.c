#include "json/text.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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
		unsigned high = (unsigned)_mm_movemask_epi8(
			_mm_loadu_si128((const __m128i *)(const void *)p));
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

bool json_hex4(const char *p, const char *end, unsigned *ret)
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
