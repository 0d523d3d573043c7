#include "master/rounds.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/suggest.h"

/* "[r+12]", "[r=12]" or "[compact]" at the beginning of *text, which goes on behind it. */
static bool take_marker(struct sv *text, char *ret_sign, int64_t *ret_n)
{
	static const char compact[] = "[compact]", unlimited[] = "[r=unlimited]";
	struct sv s = *text;
	size_t i = 3;
	int64_t n = 0;

	if (s.n >= sizeof(compact) - 1 && strncasecmp(s.p, compact, sizeof(compact) - 1) == 0) {
		*ret_sign = 'c';
		*text = sv_from(s, sizeof(compact) - 1);
		return true;
	}
	if (s.n >= sizeof(unlimited) - 1 &&
		strncasecmp(s.p, unlimited, sizeof(unlimited) - 1) == 0) {
		*ret_sign = '=';
		*ret_n = ROUNDS_UNLIMITED;
		*text = sv_from(s, sizeof(unlimited) - 1);
		return true;
	}
	if (s.n < 5 || s.p[0] != '[' || (s.p[1] != 'r' && s.p[1] != 'R') ||
		(s.p[2] != '+' && s.p[2] != '='))
		return false;
	for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
		n = n * 10 + (s.p[i] - '0');
		n = n > ROUNDS_MAX ? ROUNDS_MAX : n;
	}
	if (i == 3 || i == s.n || s.p[i] != ']')
		return false;
	*ret_sign = s.p[2];
	*ret_n = n;
	*text = sv_from(s, i + 1);
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "[r5]", "[r +5]", "[r+five]", "[rounds=5]", "[compct]": nobody begins a sentence so. */
static struct sv find_wrong(struct sv text)
{
	enum { SHOWN = 40 };
	static const struct sv words[] = { { "rounds", 6 }, { "round", 5 }, { "r", 1 } };
	const char *close = text.n > 0 ? memchr(text.p, ']', text.n) : NULL;
	size_t n = close ? (size_t)(close - text.p) + 1 : text.n;
	struct sv inside = sv_from(text, 1);

	if (text.n < 2 || text.p[0] != '[')
		return SV("");
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		struct sv w = words[i];
		if (inside.n >= w.n && strncasecmp(inside.p, w.p, w.n) == 0 &&
			(inside.n == w.n || !is_letter(inside.p[w.n])))
			return sv_head(text, n < SHOWN ? n : SHOWN);
	}
	struct sv word = sv_make(text.p + 1, close ? n - 2 : n - 1);
	return suggest_distance(word, SV("compact")) <= 1 ? sv_head(text, n) : SV("");
}

static struct sv find_late(struct sv text)
{
	char sign;
	int64_t n;

	for (size_t i = 0; i < text.n; i++) {
		struct sv rest = sv_from(text, i);
		if (take_marker(&rest, &sign, &n))
			return sv_make(text.p + i, text.n - i - rest.n);
	}
	return SV("");
}

struct rounds_line rounds_read(struct sv line, int64_t remaining)
{
	struct rounds_line got = { .remaining = remaining, .text = sv_trim(line) };
	char sign;
	int64_t n = 0;

	while (take_marker(&got.text, &sign, &n)) {
		got.compact |= sign == 'c';
		got.changed |= sign != 'c';
		if (sign == '=')
			got.remaining = n;
		else if (sign == '+' && got.remaining != ROUNDS_UNLIMITED)
			got.remaining =
				got.remaining > ROUNDS_MAX - n ? ROUNDS_MAX : got.remaining + n;
		got.text = sv_trim(got.text);
	}
	got.wrong = find_wrong(got.text);
	got.late = find_late(got.text);
	return got;
}
