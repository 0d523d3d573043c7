/*
 * The scanner beside jansson: what jansson accepts, the scanner accepts, with the same values;
 * and whatever the bytes are, nothing is read beyond them.
 */
#include <jansson.h>
#include <string.h>

#include "fuzz.h"
#include "json/scan.h"

enum { SIZE_MAX_HERE = 16 * 1024, WALK_DEPTH = 40 };

/* ---- any bytes ---- */

static void touch_scalar(struct jval val)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR tmp = STR_INIT;
	int64_t i;
	double d;

	bool decoded = scan_string(val, &text);
	struct sv view = scan_string_view(val, &tmp);
	REQUIRE(decoded ? sv_eq(view, str_sv(&text)) : view.n == 0);
	REQUIRE(!decoded || scan_string_eq(val, str_sv(&text)));
	REQUIRE(text.buf[text.len] == '\0');
	if (scan_i64(val, &i))
		REQUIRE(scan_double(val, &d));
}

static void touch(struct jval val, unsigned depth)
{
	struct scan_iter it = scan_iter(val);
	struct sv key;
	struct jval item;

	touch_scalar(val);
	while (depth < WALK_DEPTH && scan_next(&it, &key, &item) > 0) {
		REQUIRE(item.raw.p >= val.raw.p &&
			item.raw.p + item.raw.n <= val.raw.p + val.raw.n);
		if (key.n)
			touch_scalar((struct jval){ key, J_STRING });
		touch(item, depth + 1);
	}
}

/* ---- what jansson accepts ---- */

static void compare(const json_t *want, struct jval val);

static size_t distinct_keys(struct jval obj, const json_t *want)
{
	struct scan_iter it = scan_iter(obj);
	struct sv key;
	struct jval item;
	json_t *seen = json_object();
	int r;

	while ((r = scan_next(&it, &key, &item)) > 0) {
		AUTO_STR name = STR_INIT;
		REQUIRE(scan_string((struct jval){ key, J_STRING }, &name));
		REQUIRE(json_object_get(want, name.buf));
		json_object_set_new(seen, name.buf, json_true());
	}
	REQUIRE(r == 0);
	size_t n = json_object_size(seen);
	json_decref(seen);
	return n;
}

static void compare_object(const json_t *want, struct jval val)
{
	const char *key;
	const json_t *member;

	REQUIRE(val.type == J_OBJECT);
	REQUIRE(distinct_keys(val, want) == json_object_size(want));
	/* the macro wants an object it may change */
	json_t *object = json_incref((json_t *)(uintptr_t)want);
	json_t *found;
	json_object_foreach (object, key, found) {
		struct jval item;
		member = found;
		REQUIRE(scan_get(val, sv_of(key), &item) == 1);
		compare(member, item);
	}
	json_decref(object);
}

static void compare_array(const json_t *want, struct jval val)
{
	struct scan_iter it = scan_iter(val);
	struct jval item;

	REQUIRE(val.type == J_ARRAY);
	for (size_t i = 0; i < json_array_size(want); i++) {
		REQUIRE(scan_next(&it, NULL, &item) == 1);
		compare(json_array_get(want, i), item);
	}
	REQUIRE(scan_next(&it, NULL, &item) == 0);
}

static void compare_string(const json_t *want, struct jval val)
{
	AUTO_STR text = STR_INIT;

	REQUIRE(scan_string(val, &text));
	REQUIRE(sv_eq(str_sv(&text), sv_make(json_string_value(want), json_string_length(want))));
}

static void compare_number(const json_t *want, struct jval val)
{
	int64_t i;
	double d;

	if (json_is_integer(want)) {
		REQUIRE(scan_i64(val, &i) && i == json_integer_value(want));
	} else {
		double expected = json_real_value(want);
		REQUIRE(scan_double(val, &d) && memcmp(&d, &expected, sizeof(d)) == 0);
	}
}

static void compare(const json_t *want, struct jval val)
{
	switch (json_typeof(want)) {
	case JSON_OBJECT:
		compare_object(want, val);
		break;
	case JSON_ARRAY:
		compare_array(want, val);
		break;
	case JSON_STRING:
		compare_string(want, val);
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		compare_number(want, val);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		REQUIRE(val.type == J_BOOL && scan_true(val) == json_is_true(want));
		break;
	case JSON_NULL:
		REQUIRE(val.type == J_NULL);
		break;
	}
}

/* ---- several keys against one at a time ---- */

static const struct scan_key keys[] = {
	SCAN_KEY("a", SCAN_TOP),
	SCAN_KEY("b", SCAN_TOP),
	SCAN_KEY("a", 0),
	SCAN_KEY("b", 0),
	SCAN_KEY("c", 2),
};
static const char *const paths[] = { "a", "b", "a.a", "a.b", "a.a.c" };

/* Blanks before a text move every byte to another place of its block, and nothing else. */
static void compare_moved(struct sv text, const struct jval *want, int found)
{
	enum { BLANKS = 37 };
	struct jval vals[ARRAY_LEN(keys)];
	AUTO_STR moved = STR_INIT;

	for (int i = 0; i < BLANKS; i++)
		str_addc(&moved, ' ');
	str_add(&moved, text);
	if (sv_starts(text, SV("\xEF\xBB\xBF")))
		return;
	REQUIRE(scan_keys(str_sv(&moved), keys, ARRAY_LEN(keys), vals) == found);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		REQUIRE(vals[i].type == want[i].type && vals[i].raw.n == want[i].raw.n);
		if (want[i].type != J_NONE)
			REQUIRE(vals[i].raw.p - moved.buf - BLANKS == want[i].raw.p - text.p);
	}
}

static void compare_keys(struct sv text, struct jval val, bool valid)
{
	struct jval vals[ARRAY_LEN(keys)], item;
	int found = scan_keys(text, keys, ARRAY_LEN(keys), vals), n = 0;

	compare_moved(text, vals, found);
	if (!valid)
		return;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		int r = scan_path(val, paths[i], &item);
		REQUIRE(r >= 0 && (r > 0) == (vals[i].type != J_NONE));
		if (r > 0)
			REQUIRE(item.raw.p == vals[i].raw.p && item.raw.n == vals[i].raw.n);
		n += r;
	}
	REQUIRE(found == n);
}

/* The head of a text that can be closed can be read; any bytes may be asked about. */
static void close_heads(struct sv text, bool valid)
{
	enum { HEADS = 256 };
	size_t step = text.n / HEADS + 1;

	for (size_t n = 0; n <= text.n; n += step) {
		AUTO_STR head = STR_INIT;
		struct jval val;
		str_add(&head, sv_head(text, n));
		bool closed = scan_close(&head);
		REQUIRE(closed || head.len == n);
		REQUIRE(!closed || !valid || scan_text(str_sv(&head), &val) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv text = { (const char *)data, size };
	struct jval val = { .type = J_NONE };

	if (size > SIZE_MAX_HERE)
		return 0;
	bool scanned = scan_text(text, &val) == 0;
	bool valid = scan_check(text, NULL) == 0;
	REQUIRE(!valid || scanned);
	if (scanned)
		touch(val, 0);
	compare_keys(text, val, valid);
	close_heads(text, valid);
	/* jansson drops a NUL byte that follows a number */
	if (size == 0 || memchr(data, '\0', size))
		return 0;
	json_t *want = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	if (want) {
		REQUIRE(valid);
		compare(want, val);
	}
	json_decref(want);
	return 0;
}
