#include "base/unicode.h"

#include <utf8proc.h>

#include "base/utf8.h"

enum {
	CAPITAL_I_DOT = 0x130,
	DOT_ABOVE = 0x307,
	CAPITAL_SIGMA = 0x3a3,
	SMALL_SIGMA = 0x3c3,
	FINAL_SIGMA = 0x3c2,
};

bool unicode_space(uint32_t cp)
{
	return (cp >= 0x09 && cp <= 0x0d) || (cp >= 0x1c && cp <= 0x20) || cp == 0x85 ||
		cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 ||
		cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000;
}

bool unicode_word(uint32_t cp)
{
	if (cp == '_')
		return true;
	utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
	return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO) ||
		(c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO);
}

static bool cased(uint32_t cp)
{
	utf8proc_int32_t c = (utf8proc_int32_t)cp;

	return utf8proc_islower(c) || utf8proc_isupper(c) ||
		utf8proc_category(c) == UTF8PROC_CATEGORY_LT;
}

/* Skipped when looking for the letters around a sigma. */
static bool case_ignorable(uint32_t cp)
{
	static const uint16_t inside_words[] = { 0x27, 0x2e, 0x3a, 0xb7, 0x387, 0x55f, 0x5f4,
		0x2018, 0x2019, 0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a };

	for (size_t i = 0; i < ARRAY_LEN(inside_words); i++)
		if (cp == inside_words[i])
			return true;
	utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
	return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_ME ||
		c == UTF8PROC_CATEGORY_CF || c == UTF8PROC_CATEGORY_LM || c == UTF8PROC_CATEGORY_SK;
}

static bool cased_follows(struct sv rest)
{
	while (rest.n > 0) {
		uint32_t cp;
		rest = sv_from(rest, utf8_decode(rest, &cp));
		if (!case_ignorable(cp))
			return cased(cp);
	}
	return false;
}

void unicode_lower(struct str *out, struct sv s)
{
	bool after_cased = false;

	while (s.n > 0) {
		uint32_t cp;
		s = sv_from(s, utf8_decode(s, &cp));
		if (cp == CAPITAL_I_DOT) {
			utf8_add(out, 'i');
			utf8_add(out, DOT_ABOVE);
		} else if (cp == CAPITAL_SIGMA) {
			bool final = after_cased && !cased_follows(s);
			utf8_add(out, final ? FINAL_SIGMA : SMALL_SIGMA);
		} else {
			utf8_add(out, (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp));
		}
		if (!case_ignorable(cp))
			after_cased = cased(cp);
	}
}
