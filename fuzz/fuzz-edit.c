/*
 * Edits: the first bytes of the input say what to change, the rest is the text. Splices are
 * compared with a plain copy; changes of members with the same changes done by jansson, and the
 * members that were not changed must be the same bytes as before.
 */
#include <jansson.h>
#include <string.h>

#include "fuzz.h"
#include "json/edit.h"

enum { HEAD = 8, SIZE_MAX_HERE = 8 * 1024 };

/* ---- splices ---- */

static void compare_splices(const uint8_t *head, struct sv text)
{
	CLEANUP(edit_release) struct edit e = EDIT_INIT(text);
	AUTO_STR want = STR_INIT;
	AUTO_STR got = STR_INIT;
	size_t at = 0, n = 0;
	struct sv spans[HEAD / 2];

	for (size_t i = 0; i + 1 < HEAD; i += 2) {
		size_t from = at + head[i] % (text.n - at + 1);
		size_t size = head[i + 1] % (text.n - from + 1);
		str_add(&want, sv_make(text.p + at, from - at));
		str_addf(&want, "<%zu>", n);
		spans[n++] = sv_make(text.p + from, size);
		at = from + size;
	}
	str_add(&want, sv_from(text, at));
	/* Given last first, but for those at one place, whose order counts. */
	for (size_t i = n; i-- > 0;) {
		size_t low = i;
		while (low > 0 && spans[low - 1].p == spans[i].p)
			low--;
		for (size_t k = low; k <= i; k++) {
			AUTO_STR mark = STR_INIT;
			str_addf(&mark, "<%zu>", k);
			edit_replace(&e, spans[k], str_sv(&mark));
		}
		i = low;
	}
	REQUIRE(edit_apply(&e, &got) == 0);
	REQUIRE(sv_eq(str_sv(&got), str_sv(&want)));
}

/* ---- members ---- */

static const char *const names[] = { "a", "b", "\xC3\xA9", "" };
static const char *const values[] = { "1", "\"x\\\"\"", "{\"a\":[]}", "null" };

/* Two bits what, two bits the value, two bits where. */
static struct edit_member change_of(uint8_t byte, size_t i)
{
	struct edit_member c = { .key = sv_of(names[i]) };

	if (byte & 1)
		c.json = sv_of(values[byte >> 2 & 3]);
	c.absent = (enum edit_absent)((byte >> 4 & 3) % 3);
	return c;
}

static bool is_changed(const struct edit_member *changes, size_t n, struct sv key)
{
	for (size_t i = 0; i < n; i++)
		if (scan_string_eq((struct jval){ key, J_STRING }, changes[i].key))
			return true;
	return false;
}

/* Next member whose key is not among the changes; false at the end. */
static bool next_unchanged(struct scan_iter *it, const struct edit_member *changes, size_t n,
	struct sv *key, struct jval *val)
{
	int r;

	while ((r = scan_next(it, key, val)) > 0)
		if (!is_changed(changes, n, *key))
			return true;
	REQUIRE(r == 0);
	return false;
}

static void compare_unchanged(
	struct jval before, struct jval after, const struct edit_member *changes, size_t n)
{
	struct scan_iter a = scan_iter(before), b = scan_iter(after);
	struct sv key_a, key_b;
	struct jval val_a, val_b;

	while (next_unchanged(&a, changes, n, &key_a, &val_a)) {
		REQUIRE(next_unchanged(&b, changes, n, &key_b, &val_b));
		REQUIRE(sv_eq(key_a, key_b) && sv_eq(val_a.raw, val_b.raw));
	}
	REQUIRE(!next_unchanged(&b, changes, n, &key_b, &val_b));
}

static json_t *load(struct sv text)
{
	return json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

static void change_tree(json_t *tree, const struct edit_member *changes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *key = changes[i].key.p;
		if (!changes[i].json.p)
			(void)json_object_del(tree, key);
		else if (json_object_get(tree, key) || changes[i].absent != EDIT_SKIP)
			json_object_set_new(tree, key, load(changes[i].json));
	}
}

static void compare_trees(
	struct sv before, struct sv after, const struct edit_member *changes, size_t n)
{
	json_t *want = load(before), *got = load(after);

	if (want) {
		REQUIRE(got);
		change_tree(want, changes, n);
		REQUIRE(json_equal(want, got));
	}
	json_decref(want);
	json_decref(got);
}

static void compare_members(const uint8_t *head, struct sv text, struct jval obj)
{
	CLEANUP(edit_release) struct edit e = EDIT_INIT(text);
	struct edit_member changes[ARRAY_LEN(names)];
	size_t n = head[0] % (ARRAY_LEN(names) + 1);
	AUTO_STR out = STR_INIT;
	struct jval after;

	for (size_t i = 0; i < n; i++)
		changes[i] = change_of(head[i + 1], i);
	int places = edit_members(&e, obj, changes, n);
	REQUIRE(places >= 0 && (places == 0) == edit_empty(&e));
	REQUIRE(edit_apply(&e, &out) == 0);
	REQUIRE(scan_check(str_sv(&out), NULL) == 0);
	REQUIRE(scan_text(str_sv(&out), &after) == 0);
	compare_unchanged(obj, after, changes, n);
	compare_trees(text, str_sv(&out), changes, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jval val;

	if (size < HEAD || size > SIZE_MAX_HERE)
		return 0;
	struct sv text = { (const char *)data + HEAD, size - HEAD };
	compare_splices(data, text);
	if (scan_text(text, &val) == 0 && val.type == J_OBJECT) {
		CLEANUP(edit_release) struct edit e = EDIT_INIT(text);
		const struct edit_member set = { .key = SV("a"), .json = SV("0") };
		(void)edit_members(&e, val, &set, 1);
		if (scan_check(text, NULL) == 0)
			compare_members(data, text, val);
	}
	return 0;
}
