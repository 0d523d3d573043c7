/*
 * JSON as text, value after value, compact. What comes out is always valid UTF-8 and one line:
 * control characters are escaped, invalid bytes become U+FFFD.
 *
 *	struct jw w = JW_INIT(&out);
 *	jw_object(&w);
 *	jw_key(&w, "id");
 *	jw_string(&w, id);
 *	jw_end(&w);
 *
 * Members and elements get their commas here. Closing what was not opened, a key in an array and
 * the like are mistakes of the caller (asserted as far as one can see them).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { JW_DEPTH_MAX = 64 };

struct jw {
	struct str *out; /* borrowed; a maximum shows in str_full() as usual */
	uint64_t objects; /* one bit a level: 1 object, 0 array */
	unsigned depth;
	bool comma; /* the next item needs one before it */
	bool keyed; /* a key waits for its value */
};
#define JW_INIT(target)         \
	{                       \
		.out = (target) \
	}

void jw_object(struct jw *w);
void jw_array(struct jw *w);
void jw_end(struct jw *w); /* closes the innermost object or array */
void jw_key(struct jw *w, const char *key);

void jw_string(struct jw *w, struct sv s);
void jw_i64(struct jw *w, int64_t v);
/* Shortest decimal that reads back as the same double, any locale; not finite: null. */
void jw_double(struct jw *w, double v);
void jw_bool(struct jw *w, bool v);
void jw_null(struct jw *w);
/* A value that is JSON already, taken as it is. */
void jw_raw(struct jw *w, struct sv json);

/* Key and value at once. A NULL `s` is null. */
void jw_put_string(struct jw *w, const char *key, struct sv s);
void jw_put_cstr(struct jw *w, const char *key, const char *s);
void jw_put_i64(struct jw *w, const char *key, int64_t v);
void jw_put_double(struct jw *w, const char *key, double v);
void jw_put_bool(struct jw *w, const char *key, bool v);
void jw_put_raw(struct jw *w, const char *key, struct sv json);

/* The text of s as it stands between the quotes of a JSON string; and with the quotes. */
void json_escape(struct str *out, struct sv s);
void json_quote(struct str *out, struct sv s);
