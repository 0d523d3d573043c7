/*
 * Strings.
 *
 * struct sv is a borrowed slice: pointer and length, passed by value, no NUL promised, may hold
 * any bytes. Whoever made it says how long it lives.
 *
 * struct str is an owned buffer: buf is never NULL and always NUL-terminated at buf[len], so it
 * can be handed to C functions (mind NULs inside). Initialise with STR_INIT or str_init_max();
 * str_release() leaves it as new. A maximum, once given, makes the appending calls fail softly:
 * they set `full` and append nothing; check str_full() at the end. Without one, only memory ends
 * it.
 *
 * struct strv is a vector of owned strings, NULL-terminated, ready for exec.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"

struct sv {
	const char *p;
	size_t n;
};

struct str {
	char *buf;
	size_t len;
	size_t cap; /* allocated bytes; 0 while buf is the shared empty string */
	size_t max; /* 0: no limit */
	bool full;
};

struct strv {
	char **v; /* NULL while empty, else v[n] == NULL */
	size_t n;
	size_t cap;
};

extern char str_empty_buf[1]; /* never written */

#define STR_INIT                     \
	{                            \
		.buf = str_empty_buf \
	}
#define STRV_INIT         \
	{                 \
		.v = NULL \
	}
#define AUTO_STR CLEANUP(str_release) struct str
#define AUTO_STRV CLEANUP(strv_release) struct strv

/* ---- slices ---- */
#define SV(literal) ((struct sv){ "" literal, sizeof(literal) - 1 })
/* For printf: printf("%.*s", SV_ARG(s)). Lengths above INT_MAX are cut. */
#define SV_ARG(s) ((s).n > 0x7fffffff ? 0x7fffffff : (int)(s).n), ((s).p ? (s).p : "")

static inline struct sv sv_of(const char *s)
{
	return (struct sv){ s, s ? strlen(s) : 0 };
}
static inline struct sv sv_make(const char *p, size_t n)
{
	return (struct sv){ p, n };
}
static inline bool sv_eq(struct sv a, struct sv b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool sv_is(struct sv a, const char *b)
{
	return sv_eq(a, sv_of(b));
}
static inline bool sv_starts(struct sv s, struct sv prefix)
{
	return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}
static inline bool sv_ends(struct sv s, struct sv suffix)
{
	return s.n >= suffix.n &&
		(suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}
/* The part from byte `from` on; empty when from is beyond the end. */
static inline struct sv sv_from(struct sv s, size_t from)
{
	return from >= s.n ? (struct sv){ s.p ? s.p + s.n : NULL, 0 }
			   : (struct sv){ s.p + from, s.n - from };
}
static inline struct sv sv_head(struct sv s, size_t n)
{
	return (struct sv){ s.p, n < s.n ? n : s.n };
}
int sv_cmp(struct sv a, struct sv b); /* bytewise, like strcmp */
struct sv sv_trim(struct sv s); /* ASCII white space off both ends */
/* One of the words that stand in list with '|' between them. */
bool sv_among(struct sv s, const char *list);
bool sv_find(struct sv hay, struct sv needle, size_t *ret_at); /* first occurrence */
/* Cuts the next piece off *rest at `sep`; false when nothing is left. "a,,b" gives a, "", b. */
bool sv_split(struct sv *rest, char sep, struct sv *ret_piece);
bool sv_parse_i64(struct sv s, long long *ret); /* whole slice, decimal, range-checked */
/* "500M", "2G", "64k", "1000": k, M and G are 1024, its square and its cube. */
bool sv_parse_bytes(struct sv s, uint64_t *ret);
bool sv_parse_double(struct sv s, double *ret); /* whole slice, finite, C locale spelling */

/* ---- owned string ---- */
void str_init_max(struct str *s, size_t max);
void str_release(struct str *s);
void str_clear(struct str *s); /* empties, keeps the memory */
/* Hands the buffer over (caller frees); s becomes empty. Never NULL. */
char *str_detach(struct str *s);
static inline struct sv str_sv(const struct str *s)
{
	return (struct sv){ s->buf, s->len };
}
static inline bool str_full(const struct str *s)
{
	return s->full;
}
/* Room for `extra` more bytes plus the NUL; false when the maximum forbids it. */
bool str_reserve(struct str *s, size_t extra);
void str_add(struct str *s, struct sv more);
void str_adds(struct str *s, const char *more);
void str_addc(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) PRINTF(2, 3);
void str_addvf(struct str *s, const char *fmt, va_list ap) PRINTF(2, 0);
void str_cut(struct str *s, size_t len); /* shortens to len, no-op when already shorter */
/* Removes the first n bytes. */
void str_drop(struct str *s, size_t n);

/* ---- vector of owned strings ---- */
void strv_release(struct strv *v);
void strv_add(struct strv *v, const char *s);
void strv_addsv(struct strv *v, struct sv s);
void strv_addf(struct strv *v, const char *fmt, ...) PRINTF(2, 3);
void strv_take(struct strv *v, char *owned); /* takes ownership */
