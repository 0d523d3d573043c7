/*
 * Small readings of JSON values that both adapters need.
 */
#include "transcript/adapter.h"

/* How many raw bytes the character or escape at p takes; a surrogate pair counts as one. */
static size_t step(const char *p, size_t n)
{
	if (p[0] != '\\')
		return 1;
	if (n < 2 || p[1] != 'u')
		return 2;
	bool high = n >= 12 && (p[2] | 0x20) == 'd' &&
		(p[3] == '8' || p[3] == '9' || (p[3] | 0x20) == 'a' || (p[3] | 0x20) == 'b');
	return high && p[6] == '\\' ? 12 : 6;
}

void value_head(struct jval val, size_t max_raw, struct str *out)
{
	struct sv inner = scan_inner(val);

	if (inner.n <= max_raw) {
		(void)scan_string(val, out);
		return;
	}
	size_t n = 0;
	for (;;) {
		size_t more = step(inner.p + n, inner.n - n);
		if (n + more > max_raw)
			break;
		n += more;
	}
	/* A character of several bytes may be cut: its first bytes would become U+FFFD. */
	while (n > 0 && ((unsigned char)inner.p[n] & 0xc0) == 0x80)
		n--;
	AUTO_STR cut = STR_INIT;
	str_addc(&cut, '"');
	str_add(&cut, sv_head(inner, n));
	str_addc(&cut, '"');
	(void)scan_string((struct jval){ str_sv(&cut), J_STRING }, out);
}

struct jval value_member(struct jval obj, const char *key)
{
	struct jval val;

	if (scan_get(obj, sv_of(key), &val) <= 0)
		return (struct jval){ .type = J_NONE };
	return val;
}

bool value_is_type(struct jval block, const char *name)
{
	return scan_string_eq(value_member(block, "type"), sv_of(name));
}

int64_t value_tokens(struct jval val)
{
	int64_t n;

	if (!scan_i64(val, &n) || n < 0)
		return 0;
	/* Sums of three must not overflow. */
	return n > INT64_MAX / 4 ? INT64_MAX / 4 : n;
}
