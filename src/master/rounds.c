#include "master/rounds.h"

#include <strings.h>

/* "[r+12]", "[r=12]" or "[compact]" at the beginning of *text, which goes on behind it. */
static bool take_marker(struct sv *text, char *ret_sign, int64_t *ret_n)
{
	static const char compact[] = "[compact]";
	struct sv s = *text;
	size_t i = 3;
	int64_t n = 0;

	if (s.n >= sizeof(compact) - 1 && strncasecmp(s.p, compact, sizeof(compact) - 1) == 0) {
		*ret_sign = 'c';
		*text = sv_from(s, sizeof(compact) - 1);
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
	return got;
}
