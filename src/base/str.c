#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

char str_empty_buf[1] = "";

enum { NUMBER_MAX = 64 }; /* longest number text accepted */

int sv_cmp(struct sv a, struct sv b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int r = n ? memcmp(a.p, b.p, n) : 0;

	return r ? r : (a.n > b.n) - (a.n < b.n);
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct sv sv_trim(struct sv s)
{
	while (s.n && is_space(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool sv_among(struct sv s, const char *list)
{
	for (const char *p = list;; p++) {
		size_t same = 0;

		while (same < s.n && p[same] == s.p[same] && p[same] && p[same] != '|')
			same++;
		p += same;
		if (same == s.n && (*p == '|' || !*p))
			return true;
		while (*p && *p != '|')
			p++;
		if (!*p)
			return false;
	}
}

bool sv_find(struct sv hay, struct sv needle, size_t *ret_at)
{
	const char *hit;

	if (needle.n == 0)
		hit = hay.p;
	else if (hay.n < needle.n)
		return false;
	else
		hit = memmem(hay.p, hay.n, needle.p, needle.n);
	if (!hit && needle.n)
		return false;
	if (ret_at)
		*ret_at = needle.n ? (size_t)(hit - hay.p) : 0;
	return true;
}

bool sv_split(struct sv *rest, char sep, struct sv *ret_piece)
{
	if (!rest->p)
		return false;
	const char *hit = rest->n ? memchr(rest->p, sep, rest->n) : NULL;
	if (!hit) {
		*ret_piece = *rest;
		*rest = (struct sv){ NULL, 0 };
		return true;
	}
	*ret_piece = (struct sv){ rest->p, (size_t)(hit - rest->p) };
	*rest = sv_from(*rest, ret_piece->n + 1);
	return true;
}

bool sv_parse_i64(struct sv s, long long *ret)
{
	char tmp[NUMBER_MAX];
	char *end;

	if (s.n == 0 || s.n >= sizeof(tmp) || is_space(s.p[0]) || s.p[0] == '+')
		return false;
	memcpy(tmp, s.p, s.n);
	tmp[s.n] = '\0';
	errno = 0;
	long long v = strtoll(tmp, &end, 10);
	if (errno || *end || end != tmp + s.n)
		return false;
	*ret = v;
	return true;
}

bool sv_parse_bytes(struct sv s, uint64_t *ret)
{
	static const char units[] = "kMG";
	unsigned shift = 0;
	long long n;

	for (size_t i = 0; units[i] && s.n > 0 && shift == 0; i++)
		if ((s.p[s.n - 1] | 0x20) == (units[i] | 0x20)) {
			shift = 10 * (unsigned)(i + 1);
			s = sv_head(s, s.n - 1);
		}
	if (!sv_parse_i64(s, &n) || n < 0 || n > INT64_MAX >> shift)
		return false;
	*ret = (uint64_t)n << shift;
	return true;
}

bool sv_parse_double(struct sv s, double *ret)
{
	char tmp[NUMBER_MAX];
	char *end;

	if (s.n == 0 || s.n >= sizeof(tmp) || is_space(s.p[0]))
		return false;
	memcpy(tmp, s.p, s.n);
	tmp[s.n] = '\0';
	errno = 0;
	double v = strtod(tmp, &end);
	if (errno || end != tmp + s.n || !isfinite(v))
		return false;
	*ret = v;
	return true;
}

void str_init_max(struct str *s, size_t max)
{
	*s = (struct str){ .buf = str_empty_buf, .max = max };
}

void str_release(struct str *s)
{
	if (s->cap)
		free(s->buf);
	*s = (struct str){ .buf = str_empty_buf, .max = s->max };
}

void str_clear(struct str *s)
{
	s->len = 0;
	s->full = false;
	if (s->cap)
		s->buf[0] = '\0';
}

char *str_detach(struct str *s)
{
	char *out = s->cap ? s->buf : xstrdup("");

	*s = (struct str){ .buf = str_empty_buf, .max = s->max };
	return out;
}

bool str_reserve(struct str *s, size_t extra)
{
	if (s->full || (s->max && (extra > s->max || s->len > s->max - extra))) {
		s->full = true;
		return false;
	}
	size_t need;
	if (__builtin_add_overflow(s->len, extra, &need) || need >= SIZE_MAX / 2)
		abort();
	need++;
	if (need <= s->cap)
		return true;
	size_t cap = s->cap ? s->cap : 64;
	while (cap < need)
		cap *= 2;
	s->buf = xrealloc(s->cap ? s->buf : NULL, cap);
	if (!s->cap)
		s->buf[0] = '\0';
	s->cap = cap;
	return true;
}

/* In pieces: for larger ones the C library may use an instruction that on some processors is ten
 * times slower when the two places differ by a few bytes within a cache line. */
static void copy(char *to, const char *from, size_t n)
{
	enum { PIECE = 2048 };

	for (; n > PIECE; n -= PIECE, to += PIECE, from += PIECE)
		memcpy(to, from, PIECE);
	memcpy(to, from, n);
}

void str_add(struct str *s, struct sv more)
{
	bool fits = more.n < s->cap - s->len && !s->max; /* as it does nearly always */

	if (!more.n || (!fits && !str_reserve(s, more.n)))
		return;
	copy(s->buf + s->len, more.p, more.n);
	s->len += more.n;
	s->buf[s->len] = '\0';
}

void str_adds(struct str *s, const char *more)
{
	str_add(s, sv_of(more));
}

void str_addc(struct str *s, char c)
{
	if (s->len + 1 >= s->cap || s->max) {
		str_add(s, (struct sv){ &c, 1 });
		return;
	}
	s->buf[s->len++] = c;
	s->buf[s->len] = '\0';
}

void str_addvf(struct str *s, const char *fmt, va_list ap)
{
	size_t room = s->cap - s->len;
	va_list again;

	/* Mostly there is room, and once is enough. */
	va_copy(again, ap);
	int n = vsnprintf(room ? s->buf + s->len : NULL, room, fmt, again);
	va_end(again);
	if (n < 0)
		abort();
	if (n == 0)
		return;
	if (!str_reserve(s, (size_t)n)) {
		if (room)
			s->buf[s->len] = '\0';
		return;
	}
	if ((size_t)n >= room)
		(void)vsnprintf(s->buf + s->len, (size_t)n + 1, fmt, ap);
	s->len += (size_t)n;
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_addvf(s, fmt, ap);
	va_end(ap);
}

void str_cut(struct str *s, size_t len)
{
	if (len >= s->len)
		return;
	s->len = len;
	s->buf[len] = '\0';
}

void str_drop(struct str *s, size_t n)
{
	if (n == 0 || s->len == 0)
		return;
	if (n > s->len)
		n = s->len;
	memmove(s->buf, s->buf + n, s->len - n);
	s->len -= n;
	s->buf[s->len] = '\0';
}

void strv_release(struct strv *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->v[i]);
	free(v->v);
	*v = (struct strv)STRV_INIT;
}

void strv_take(struct strv *v, char *owned)
{
	if (v->n + 2 > v->cap) {
		v->cap = v->cap ? v->cap * 2 : 8;
		v->v = xreallocarray(v->v, v->cap, sizeof(*v->v));
	}
	v->v[v->n++] = owned;
	v->v[v->n] = NULL;
}

void strv_add(struct strv *v, const char *s)
{
	strv_take(v, xstrdup(s));
}

void strv_addsv(struct strv *v, struct sv s)
{
	strv_take(v, xmemdup0(s.p, s.n));
}

void strv_addf(struct strv *v, const char *fmt, ...)
{
	AUTO_STR s = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_addvf(&s, fmt, ap);
	va_end(ap);
	strv_take(v, str_detach(&s));
}
