/*
 * Values of one JSON text by key, without a tree and without a copy.
 *
 * Everything here works on a slice that the caller keeps alive, and answers with slices of it. No
 * byte after the slice is read. What is passed over is balanced (strings, brackets; which kind
 * closes which down to 64 levels) but not checked: `[1,,2]` may pass as a skipped value, `\q` and
 * invalid UTF-8 in a string do. Use scan_check() where validity itself is the question. Nothing
 * recurses over the input, so nesting is limited by its length alone.
 *
 * When a key occurs twice in an object, the last one counts, also when one of the two is spelt
 * with escapes. Keys are given decoded and match any spelling ("session\u0049d" is sessionId).
 *
 * Results: negative (ERR_INPUT) for text that is not JSON, without a message.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "base/vec.h"

enum jtype {
	J_NONE = 0, /* absent */
	J_NULL,
	J_BOOL,
	J_NUMBER,
	J_STRING,
	J_ARRAY,
	J_OBJECT,
};

/* One value as it stands in the text: strings with their quotes, containers with their brackets,
 * no white space around. */
struct jval {
	struct sv raw;
	enum jtype type; /* by the first byte */
};

/* A text that is one value with white space around it, and one byte order mark before it. */
int scan_text(struct sv text, struct jval *ret) MUST_USE;
/* The first of several values that follow each other, as a crash may leave them on one line: 1
 * and *rest is what stands behind it, 0 when only white space is left, or negative. */
int scan_value(struct sv *rest, struct jval *ret) MUST_USE;

/*
 * The head of a text that was cut off within the string of a value: that string and all that is
 * open around it are closed, so that what stands before the cut can be read. False, and nothing is
 * changed, when it was cut off elsewhere or was no such text.
 */
bool scan_close(struct str *text);

/*
 * Walks the members of an object or the elements of an array; any other value has none.
 *
 *	struct scan_iter it = scan_iter(val);
 *	while ((r = scan_next(&it, &key, &item)) > 0)
 */
struct scan_iter {
	const char *p, *end;
	bool object;
	bool started;
};
struct scan_iter scan_iter(struct jval container);
/* 1 and the next item, 0 at the closing bracket, or negative (and again on the next call).
 * ret_key is the key as it stands, with quotes (empty for arrays); it may be NULL. */
int scan_next(struct scan_iter *it, struct sv *ret_key, struct jval *ret) MUST_USE;

/* 1 and the value, 0 when obj is no object or has no such key, or negative. */
int scan_get(struct jval obj, struct sv key, struct jval *ret) MUST_USE;
/* The same through nested objects, keys joined by dots: "message.usage.input_tokens". */
int scan_path(struct jval obj, const char *path, struct jval *ret) MUST_USE;

/*
 * Several keys, also nested ones, in one pass: the way to read a session line.
 *
 *	static const struct scan_key keys[] = {
 *		[K_TYPE] = SCAN_KEY("type", SCAN_TOP),
 *		[K_MESSAGE] = SCAN_KEY("message", SCAN_TOP),
 *		[K_ROLE] = SCAN_KEY("role", K_MESSAGE),
 *	};
 *	struct jval vals[ARRAY_LEN(keys)];
 *	int r = scan_keys(line, keys, ARRAY_LEN(keys), vals);
 *
 * A key lies at the top, or under an earlier key of the table whose value is an object. `text` is
 * as for scan_text(); a text that is no object has no keys and is no error unless it is broken.
 * Returns how many were found, or negative. vals is always written: a key that was not found is
 * J_NONE, and after an error it holds what was complete before the fault, so the head of a line
 * that is cut off can be read (last-wins then means the last one seen).
 */
struct scan_key {
	struct sv name;
	int under; /* index in the table, or SCAN_TOP */
};
enum { SCAN_TOP = -1, SCAN_KEYS_MAX = 64 };
#define SCAN_KEY(text, parent)                                           \
	{                                                                \
		.name = { "" text, sizeof(text) - 1 }, .under = (parent) \
	}
int scan_keys(struct sv text, const struct scan_key *keys, size_t n, struct jval *vals);

/*
 * The same for many texts: the table is made ready once. Keys stay the caller's.
 *
 * A key may also be a list of objects: when `rows` is set, each element of those that have a bit in
 * `lists` becomes a row with values by a table of its own, whose lists are walked in turn. So a
 * text is passed over once, however much is wanted of it.
 */
enum { SCAN_SLOTS = 128, SCAN_ROW_KEYS = 14, SCAN_ROWS_MAX = 256 * 1024, SCAN_LEVELS = 3 };
struct scan_table {
	const struct scan_key *keys;
	size_t n;
	uint64_t parents; /* keys that others lie under */
	uint8_t slots[SCAN_SLOTS]; /* by a hash of the name: index + 1 */
	const struct scan_table *rows; /* at most SCAN_ROW_KEYS keys; NULL: none */
	uint64_t lists;
};
void scan_table_init(struct scan_table *t, const struct scan_key *keys, size_t n);

struct scan_row {
	struct jval item; /* the element */
	uint8_t under; /* its list: a key of the table, from level 1 on of that of the rows */
	uint8_t level; /* 0: of the text itself, then of the row before it that has a lower one */
	struct jval vals[SCAN_ROW_KEYS]; /* none when it is no object */
};
struct scan_rows {
	VEC(struct scan_row) v; /* an element stands before those of its own lists */
	bool cut; /* more than SCAN_ROWS_MAX in all: there are none, walk the lists instead */
	bool repeated; /* for the pass itself: a list came again */
};
/* Results and vals as scan_keys(); rows, which may be NULL, is overwritten, and empty after an
 * error. A row takes far more memory than the few bytes an element may have, hence the limit. */
int scan_table_read(
	const struct scan_table *t, struct sv text, struct jval *vals, struct scan_rows *rows);

/* ---- strings ---- */
/* What is between the quotes, still escaped; empty for other types. */
static inline struct sv scan_inner(struct jval val)
{
	if (val.type != J_STRING || val.raw.n < 2)
		return (struct sv){ val.raw.p, 0 };
	return (struct sv){ val.raw.p + 1, val.raw.n - 2 };
}
/*
 * Appends the decoded text, which is always valid UTF-8: lone surrogates and invalid bytes become
 * U+FFFD (the original is in val.raw), \u0000 a NUL byte. False for other types and for broken
 * escapes (\q, \u12); then out is as before. The same when out has a maximum and no room for the
 * escaped length and a few bytes more; str_full() then tells.
 */
bool scan_string(struct jval val, struct str *out);
/* The same text without copying when nothing needs decoding: a slice of val, or of *tmp, which is
 * overwritten. Empty for other types and broken escapes. */
struct sv scan_string_view(struct jval val, struct str *tmp);
/* Whether val is a string whose decoded text is `text`. */
bool scan_string_eq(struct jval val, struct sv text);

/* ---- other scalars; false when val is of another type or out of range ---- */
/* Whole numbers in any spelling: 12, -0, 12.0, 1.2e1. */
bool scan_i64(struct jval val, int64_t *ret);
/* The nearest double; overflow is false, underflow is 0 or a denormal. */
bool scan_double(struct jval val, double *ret);

/* True for a bool that is true; everything else, also J_NONE, is false. */
bool scan_true(struct jval val);

/*
 * Whether text is JSON by RFC 8259, UTF-8 included: one value, no byte order mark, nothing after
 * it. Lone surrogates spelt as escapes are allowed, as the grammar does; numbers have no range.
 * 0; ERR_INPUT; or ERR_LIMIT for nesting beyond SCAN_DEPTH_MAX. On failure *ret_at (may be NULL)
 * is the offset of the character, escape, word or number that does not fit; text.n when the text
 * ends between two of them.
 */
enum { SCAN_DEPTH_MAX = 128 * 1024 };
int scan_check(struct sv text, size_t *ret_at) MUST_USE;
