#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "json/scan.h"

/* Texts are copied to a block of exactly their size, so that a sanitizer sees a read beyond. */
static char *exact(struct sv text)
{
	char *copy = malloc(text.n ? text.n : 1);

	assert_non_null(copy);
	if (text.n)
		memcpy(copy, text.p, text.n);
	return copy;
}

static int text_result(struct sv text)
{
	AUTO_FREE char *copy = exact(text);
	struct jval val;

	return scan_text(sv_make(copy, text.n), &val);
}

static int check_result(struct sv text)
{
	AUTO_FREE char *copy = exact(text);

	return scan_check(sv_make(copy, text.n), NULL);
}

static struct jval parsed(const char *text)
{
	struct jval val = { .type = J_NONE };

	assert_int_equal(scan_text(sv_of(text), &val), 0);
	return val;
}

static struct jval got(const char *text, const char *key)
{
	struct jval val = { .type = J_NONE };

	assert_int_equal(scan_get(parsed(text), sv_of(key), &val), 1);
	return val;
}

#define assert_raw(val, text) assert_true(sv_is((val).raw, text))

static void texts(void **state)
{
	static const struct {
		const char *text, *raw;
		enum jtype type;
	} good[] = {
		{ "{}", "{}", J_OBJECT },
		{ " [1, 2]\r\n", "[1, 2]", J_ARRAY },
		{ "\xEF\xBB\xBF{\"a\":1}", "{\"a\":1}", J_OBJECT },
		{ "\"a\\\"b\\\\\"", "\"a\\\"b\\\\\"", J_STRING },
		{ "\t-1.5e+3 ", "-1.5e+3", J_NUMBER },
		{ "true", "true", J_BOOL },
		{ "false", "false", J_BOOL },
		{ "null", "null", J_NULL },
		{ "\"}]{[\"", "\"}]{[\"", J_STRING },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct jval val = parsed(good[i].text);
		assert_raw(val, good[i].raw);
		assert_int_equal(val.type, good[i].type);
	}
	static const char *const bad[] = { "", " ", "{", "[", "\"", "\"abc", "\"abc\\\"",
		"{\"a\":", "tru", "nul", "NaN", "Infinity", "'a'", "{} {}", "1 2", "]", "}", ",",
		"[[]", "\xEF\xBB\xBF", "\xEF\xBB\xBF\xEF\xBB\xBF{}", "\xFF", "{\"a\":\"x",
		"[\"\\\\\\\"]" };
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(text_result(sv_of(bad[i])), ERR_INPUT);
}

static void every_prefix_of_a_line_is_refused(void **state)
{
	struct sv line =
		SV("{\"type\":\"user\",\"m\":{\"a\":[1,true,null,\"\\u00e9\\\"\"],\"b\":-0.5e1}}");

	(void)state;
	assert_int_equal(text_result(line), 0);
	assert_int_equal(check_result(line), 0);
	for (size_t n = 0; n < line.n; n++) {
		assert_int_equal(text_result(sv_head(line, n)), ERR_INPUT);
		assert_int_equal(check_result(sv_head(line, n)), ERR_INPUT);
	}
}

static void values_glued_together(void **state)
{
	struct sv rest = SV("{\"a\":1}{\"b\":2} 3 \"x\"{");
	const char *want[] = { "{\"a\":1}", "{\"b\":2}", "3", "\"x\"" };
	struct jval val;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(scan_value(&rest, &val), 1);
		assert_raw(val, want[i]);
	}
	assert_int_equal(scan_value(&rest, &val), ERR_INPUT);
	rest = SV(" \r");
	assert_int_equal(scan_value(&rest, &val), 0);
	rest = SV("");
	assert_int_equal(scan_value(&rest, &val), 0);
}

static void walks(void **state)
{
	struct jval val, obj = parsed("{ \"a\" : 1 , \"b\\n\":[ ], \"\":{\"x\":\"]\"}}");
	struct scan_iter it = scan_iter(obj);
	struct sv key;

	(void)state;
	assert_int_equal(scan_next(&it, &key, &val), 1);
	assert_true(sv_is(key, "\"a\""));
	assert_raw(val, "1");
	assert_int_equal(scan_next(&it, &key, &val), 1);
	assert_true(sv_is(key, "\"b\\n\""));
	assert_raw(val, "[ ]");
	assert_int_equal(scan_next(&it, NULL, &val), 1);
	assert_raw(val, "{\"x\":\"]\"}");
	assert_int_equal(scan_next(&it, &key, &val), 0);
	assert_int_equal(scan_next(&it, &key, &val), 0);

	it = scan_iter(parsed("[1,\"2\",[3]]"));
	const char *items[] = { "1", "\"2\"", "[3]" };
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		assert_int_equal(scan_next(&it, &key, &val), 1);
		assert_int_equal(key.n, 0);
		assert_raw(val, items[i]);
	}
	assert_int_equal(scan_next(&it, &key, &val), 0);

	it = scan_iter(parsed("\"text\""));
	assert_int_equal(scan_next(&it, &key, &val), 0);
	it = scan_iter((struct jval){ .type = J_NONE });
	assert_int_equal(scan_next(&it, &key, &val), 0);
}

static void broken_containers(void **state)
{
	/* Balanced, so they pass while skipped; walking them finds the fault, each time. */
	static const char *const bad[] = { "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}",
		"{\"a\":1,}", "{a:1}", "{\"a\" 1}", "{1:2}", "[nil]", "{,}", "[1,,2]" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		AUTO_FREE char *copy = exact(sv_of(bad[i]));
		struct jval val, text;
		int r;
		assert_int_equal(scan_text(sv_make(copy, strlen(bad[i])), &text), 0);
		struct scan_iter it = scan_iter(text);
		while ((r = scan_next(&it, NULL, &val)) > 0)
			;
		assert_int_equal(r, ERR_INPUT);
		assert_int_equal(scan_next(&it, NULL, &val), ERR_INPUT);
		assert_int_equal(check_result(sv_of(bad[i])), ERR_INPUT);
	}
}

/* Brackets in the right number, of which one closes another kind: no value, however far from the
 * beginning it stands. Beyond the levels that are known they are counted, and walking finds it. */
static void brackets_of_the_wrong_kind(void **state)
{
	static const char *const bad[] = { "[1}", "{\"a\":1]", "{\"x\":[1}}", "[{]}", "[[],{},{]]",
		"{\"x\":{\"y\":[}]}" };
	enum { KNOWN = 64 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct sv text = sv_of(bad[i]);
		struct jval val, item, made = { text, text.p[0] == '{' ? J_OBJECT : J_ARRAY };
		int r;
		assert_int_equal(scan_text(text, &val), ERR_INPUT);
		struct scan_iter it = scan_iter(made);
		while ((r = scan_next(&it, NULL, &item)) > 0)
			;
		assert_int_equal(r, ERR_INPUT);
	}
	for (size_t depth = 1; depth <= 2 * KNOWN; depth++)
		for (size_t pad = 0; pad < 130; pad += 43) {
			AUTO_STR text = STR_INIT;
			struct jval val;
			for (size_t i = 0; i < depth; i++)
				str_adds(&text, i % 3 ? "[" : "{\"k\":");
			for (size_t i = 0; i < pad; i++)
				str_addc(&text, ' ');
			size_t close = text.len;
			str_adds(&text, "0");
			for (size_t i = depth; i-- > 0;)
				str_addc(&text, i % 3 ? ']' : '}');
			assert_int_equal(scan_text(str_sv(&text), &val), 0);
			char *innermost = &text.buf[close + 1];
			*innermost = *innermost == ']' ? '}' : ']';
			assert_int_equal(
				scan_text(str_sv(&text), &val), depth <= KNOWN ? ERR_INPUT : 0);
			assert_int_equal(check_result(str_sv(&text)), ERR_INPUT);
		}
}

static void keys_by_any_spelling(void **state)
{
	(void)state;
	assert_raw(got("{\"session\\u0049d\":\"x\"}", "sessionId"), "\"x\"");
	assert_raw(got("{\"a\\/b\":1}", "a/b"), "1");
	assert_raw(got("{\"\\ud83d\\ude00\":1}", "\xF0\x9F\x98\x80"), "1");
	assert_raw(got("{\"\":7}", ""), "7");
	assert_raw(got("{\"a\\\"b\":7}", "a\"b"), "7");

	struct jval val;
	assert_int_equal(scan_get(parsed("{\"a\\\\\":1}"), SV("a"), &val), 0);
	assert_int_equal(scan_get(parsed("{\"a\":{\"b\":1}}"), SV("b"), &val), 0);
	assert_int_equal(scan_get(parsed("[\"a\"]"), SV("a"), &val), 0);
	assert_int_equal(scan_get(parsed("{\"\\q\":1}"), SV("q"), &val), 0);
}

static void last_duplicate_wins(void **state)
{
	(void)state;
	assert_raw(got("{\"a\":1,\"b\":2,\"a\":3}", "a"), "3");
	assert_raw(got("{\"a\":1,\"\\u0061\":4}", "a"), "4");
	assert_raw(got("{\"\\u0061\":4,\"a\":1}", "a"), "1");

	static const struct scan_key keys[] = {
		SCAN_KEY("m", SCAN_TOP),
		SCAN_KEY("x", 0),
		SCAN_KEY("y", 0),
		SCAN_KEY("z", 2),
	};
	struct jval vals[4];
	assert_int_equal(
		scan_keys(SV("{\"m\":{\"x\":1,\"y\":{\"z\":2}},\"m\":{\"y\":5}}"), keys, 4, vals),
		2);
	assert_raw(vals[0], "{\"y\":5}");
	assert_int_equal(vals[1].type, J_NONE);
	assert_raw(vals[2], "5");
	assert_int_equal(vals[3].type, J_NONE);
	assert_int_equal(scan_keys(SV("{\"m\":{\"x\":1},\"m\":null}"), keys, 4, vals), 1);
	assert_raw(vals[0], "null");
}

static void paths(void **state)
{
	struct jval val,
		line = parsed("{\"message\":{\"usage\":{\"input_tokens\":12}},\"n\":null}");

	(void)state;
	assert_int_equal(scan_path(line, "message.usage.input_tokens", &val), 1);
	assert_raw(val, "12");
	assert_int_equal(scan_path(line, "message.usage", &val), 1);
	assert_raw(val, "{\"input_tokens\":12}");
	assert_int_equal(scan_path(line, "message.content", &val), 0);
	assert_int_equal(scan_path(line, "n.x", &val), 0);
	assert_int_equal(scan_path(line, "message.usage.input_tokens.x", &val), 0);
}

enum { K_TYPE, K_MESSAGE, K_ID, K_CONTENT, K_UUID, K_N };
static const struct scan_key line_keys[] = {
	[K_TYPE] = SCAN_KEY("type", SCAN_TOP),
	[K_MESSAGE] = SCAN_KEY("message", SCAN_TOP),
	[K_ID] = SCAN_KEY("id", K_MESSAGE),
	[K_CONTENT] = SCAN_KEY("content", K_MESSAGE),
	[K_UUID] = SCAN_KEY("uuid", SCAN_TOP),
};

static void many_keys_in_one_pass(void **state)
{
	struct jval vals[K_N];
	struct sv line =
		SV("{\"id\":\"top\",\"type\":\"assistant\",\"message\":{\"type\":\"message\","
		   "\"content\":[{\"id\":\"in\"}],\"id\":\"msg\"},\"uuid\":\"u\"}\r");

	(void)state;
	assert_int_equal(scan_keys(line, line_keys, K_N, vals), 5);
	assert_raw(vals[K_TYPE], "\"assistant\"");
	assert_raw(vals[K_ID], "\"msg\"");
	assert_raw(vals[K_CONTENT], "[{\"id\":\"in\"}]");
	assert_raw(vals[K_UUID], "\"u\"");

	assert_int_equal(scan_keys(SV("{\"message\":\"id\"}"), line_keys, K_N, vals), 1);
	assert_int_equal(vals[K_ID].type, J_NONE);
	assert_int_equal(scan_keys(SV("{}"), line_keys, K_N, vals), 0);
	assert_int_equal(scan_keys(SV("[{\"type\":1}]"), line_keys, K_N, vals), 0);
	assert_int_equal(scan_keys(SV("42"), line_keys, K_N, vals), 0);
	assert_int_equal(scan_keys(SV(""), line_keys, K_N, vals), ERR_INPUT);
	assert_int_equal(scan_keys(SV("garbage"), line_keys, K_N, vals), ERR_INPUT);
	assert_int_equal(scan_keys(SV("{\"type\":1}{"), line_keys, K_N, vals), ERR_INPUT);
}

/* ---- lists ---- */

enum { L_LIST, L_OTHER, L_N };
enum { R_ID, R_LIST, R_N };

struct lists {
	struct scan_table keys, row_keys;
	struct jval vals[L_N];
	struct scan_rows rows;
};

static int lists_read(struct lists *l, struct sv text)
{
	static const struct scan_key keys[] = {
		[L_LIST] = SCAN_KEY("list", SCAN_TOP),
		[L_OTHER] = SCAN_KEY("other", SCAN_TOP),
	};
	static const struct scan_key row_keys[] = {
		[R_ID] = SCAN_KEY("id", SCAN_TOP),
		[R_LIST] = SCAN_KEY("list", SCAN_TOP),
	};

	scan_table_init(&l->keys, keys, L_N);
	scan_table_init(&l->row_keys, row_keys, R_N);
	l->keys.rows = l->row_keys.rows = &l->row_keys;
	l->keys.lists = 1 << L_LIST | 1 << L_OTHER;
	l->row_keys.lists = 1 << R_LIST;
	return scan_table_read(&l->keys, text, l->vals, &l->rows);
}

/* The rows as their levels and ids. */
static void assert_rows(const char *text, const char *want)
{
	struct lists l = { .rows = { .v = VEC_INIT } };
	AUTO_STR got_rows = STR_INIT;

	(void)lists_read(&l, sv_of(text));
	vec_each (&l.rows.v, row) {
		str_addf(&got_rows, "%u", row->level);
		str_add(&got_rows, row->vals[R_ID].raw);
		str_addc(&got_rows, ' ');
	}
	assert_string_equal(got_rows.buf, want);
	assert_false(l.rows.cut);
	vec_release(&l.rows.v);
}

static void rows_of_lists(void **state)
{
	(void)state;
	assert_rows("{\"list\":[{\"id\":1,\"list\":[{\"id\":2},3]},4],\"other\":[{\"id\":5}]}",
		"01 12 1 0 05 ");
	/* The last of a list that comes twice counts, at every level. */
	assert_rows(
		"{\"list\":[{\"id\":1}],\"other\":[{\"id\":2}],\"list\":[{\"id\":3}]}", "02 03 ");
	assert_rows("{\"list\":[{\"list\":[{\"id\":1}],\"id\":2,\"list\":[{\"id\":3}]},"
		    "{\"id\":4,\"list\":[{\"id\":5}],\"list\":6}]}",
		"02 13 04 ");
	assert_rows("{\"list\":[{\"id\":1,\"list\":[{\"id\":2}]}],\"list\":null}", "");
	/* What is broken has none. */
	assert_rows("{\"list\":[{\"id\":1}]", "");
}

static void rows_are_limited(void **state)
{
	struct lists l = { .rows = { .v = VEC_INIT } };
	AUTO_STR text = STR_INIT;

	(void)state;
	str_adds(&text, "{\"list\":[{\"id\":1,\"list\":[0");
	for (size_t i = 2; i < SCAN_ROWS_MAX; i++)
		str_adds(&text, ",0");
	size_t most = text.len;
	str_adds(&text, "]}]}");
	assert_int_equal(lists_read(&l, str_sv(&text)), 1);
	assert_false(l.rows.cut);
	assert_int_equal(l.rows.v.n, SCAN_ROWS_MAX);

	str_cut(&text, most);
	str_adds(&text, ",0]},{\"id\":2}],\"other\":[1]}");
	assert_int_equal(lists_read(&l, str_sv(&text)), 2);
	assert_true(l.rows.cut);
	assert_int_equal(l.rows.v.n, 0);
	assert_int_equal(l.vals[L_LIST].type, J_ARRAY);
	assert_raw(l.vals[L_OTHER], "[1]");

	assert_int_equal(lists_read(&l, SV("{\"list\":[1]}")), 1);
	assert_false(l.rows.cut);
	assert_int_equal(l.rows.v.n, 1);
	vec_release(&l.rows.v);
}

/* Quadratic work would take minutes here. */
static void keys_that_come_again_and_again(void **state)
{
	struct lists l = { .rows = { .v = VEC_INIT } };
	AUTO_STR text = STR_INIT;

	(void)state;
	str_adds(&text, "{\"list\":[0");
	for (int i = 0; i < 100 * 1000; i++)
		str_adds(&text, ",0");
	str_adds(&text, "]");
	for (int i = 0; i < 100 * 1000; i++)
		str_adds(&text, ",\"other\":[1]");
	str_adds(&text, "}");
	assert_int_equal(lists_read(&l, str_sv(&text)), 2);
	assert_int_equal(l.rows.v.n, 100 * 1000 + 2);
	vec_release(&l.rows.v);
}

static void head_of_a_truncated_line(void **state)
{
	struct jval vals[K_N];

	(void)state;
	assert_int_equal(
		scan_keys(SV("{\"type\":\"user\",\"message\":{\"id\":\"m\",\"content\":\"abc"),
			line_keys, K_N, vals),
		ERR_INPUT);
	assert_raw(vals[K_TYPE], "\"user\"");
	assert_raw(vals[K_ID], "\"m\"");
	assert_int_equal(vals[K_MESSAGE].type, J_NONE);
	assert_int_equal(vals[K_CONTENT].type, J_NONE);
	assert_int_equal(vals[K_UUID].type, J_NONE);
}

static void assert_decoded(const char *raw, struct sv want)
{
	AUTO_STR out = STR_INIT;
	AUTO_STR tmp = STR_INIT;
	struct jval val = parsed(raw);

	str_adds(&out, "=");
	assert_true(scan_string(val, &out));
	assert_true(sv_eq(sv_from(str_sv(&out), 1), want));
	assert_true(sv_eq(scan_string_view(val, &tmp), want));
	assert_true(scan_string_eq(val, want));
	assert_false(scan_string_eq(val, SV("something else")));
}

static void strings(void **state)
{
	(void)state;
	assert_decoded("\"\"", SV(""));
	assert_decoded("\"plain\"", SV("plain"));
	assert_decoded("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", SV("\"\\/\b\f\n\r\t"));
	assert_decoded("\"\\u00e9\\u20AC\"", SV("\xC3\xA9\xE2\x82\xAC"));
	assert_decoded("\"\\ud83d\\ude00!\"", SV("\xF0\x9F\x98\x80!"));
	assert_decoded("\"a\\u0000b\"", SV("a\0b"));
	assert_decoded("\"\xC3\xA9 raw \\n\"", SV("\xC3\xA9 raw \n"));
	/* lone surrogates, in every place they can stand */
	assert_decoded("\"\\ud800\"", SV("\xEF\xBF\xBD"));
	assert_decoded("\"\\udc00x\"", SV("\xEF\xBF\xBDx"));
	assert_decoded("\"\\ud800\\ud83d\\ude00\"", SV("\xEF\xBF\xBD\xF0\x9F\x98\x80"));
	assert_decoded("\"\\ud800\\n\"", SV("\xEF\xBF\xBD\n"));
	assert_decoded("\"\\ud800\\u0041\"",
		SV("\xEF\xBF\xBD"
		   "A"));
	/* invalid UTF-8: one replacement a byte */
	assert_decoded("\"a\xFF"
		       "b\"",
		SV("a\xEF\xBF\xBD"
		   "b"));
	assert_decoded("\"\xC0\x80\"", SV("\xEF\xBF\xBD\xEF\xBF\xBD"));
	assert_decoded("\"\xED\xA0\x80\"", SV("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
	assert_decoded("\"\xE2\x82\"", SV("\xEF\xBF\xBD\xEF\xBF\xBD"));
	assert_decoded("\"12345678\xF4\x90\x80\x80\"",
		SV("12345678\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
}

static void broken_strings(void **state)
{
	static const char *const bad[] = { "\"\\q\"", "\"\\u12\"", "\"\\u12g4\"", "\"abc\\x41\"",
		"\"\\ud800\\u12\"", "1", "null" };
	AUTO_STR out = STR_INIT;
	AUTO_STR tmp = STR_INIT;

	(void)state;
	str_adds(&out, "kept");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct jval val = parsed(bad[i]);
		assert_false(scan_string(val, &out));
		assert_string_equal(out.buf, "kept");
		assert_int_equal(scan_string_view(val, &tmp).n, 0);
		assert_false(scan_string_eq(val, SV("q")));
	}
}

static void decoding_respects_a_maximum(void **state)
{
	CLEANUP(str_release) struct str out;

	(void)state;
	str_init_max(&out, 64);
	assert_true(scan_string(parsed("\"12345678\""), &out));
	assert_false(str_full(&out));
	str_adds(&out, "012345678901234567890123456789012345678901234567");
	size_t before = out.len;
	assert_false(scan_string(parsed("\"123456789\""), &out));
	assert_true(str_full(&out));
	assert_int_equal(out.len, before);
	/* room for the text but not for the replacements of its bytes */
	str_clear(&out);
	assert_false(scan_string(
		parsed("\"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
		       "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\""),
		&out));
	assert_true(str_full(&out));
	assert_int_equal(out.len, 0);
}

static void numbers(void **state)
{
	int64_t i = 7;
	double d = 7;

	(void)state;
	assert_true(scan_i64(parsed("9223372036854775807"), &i) && i == INT64_MAX);
	assert_true(scan_i64(parsed("-9223372036854775808"), &i) && i == INT64_MIN);
	assert_true(scan_i64(parsed("-0"), &i) && i == 0);
	assert_true(scan_i64(parsed("1.0"), &i) && i == 1);
	assert_true(scan_i64(parsed("12e2"), &i) && i == 1200);
	i = 7;
	static const char *const bad[] = { "9223372036854775808", "-9223372036854775809", "1.5",
		"123456789012345678901234567890", "1e30", "01", "-", "1.", "1e", "--1", "\"1\"",
		"1-1", "9007199254740993.5" };
	for (size_t k = 0; k < ARRAY_LEN(bad); k++)
		assert_false(scan_i64(parsed(bad[k]), &i));
	assert_int_equal(i, 7);

	assert_true(scan_double(parsed("0.1"), &d) && d == 0.1);
	assert_true(scan_double(parsed("1E5"), &d) && d == 1e5);
	assert_true(scan_double(parsed("123456789012345678901234567890"), &d) &&
		d == 123456789012345678901234567890.0);
	assert_true(scan_double(parsed("1e-999"), &d) && d == 0);
	assert_true(scan_double(parsed("0.00000000000000000000000000000000000000000000000000000000"
				       "0000000000000000000001"),
			    &d) &&
		d == 1e-78);
	d = 7;
	assert_false(scan_double(parsed("1e999"), &d));
	assert_false(scan_double(parsed("1e"), &d));
	assert_true(d == 7);
}

static void booleans(void **state)
{
	(void)state;
	assert_false(scan_true(parsed("null")));
	assert_true(scan_true(parsed("true")));
	assert_false(scan_true(parsed("false")));
	assert_false(scan_true(parsed("1")));
	assert_false(scan_true((struct jval){ .type = J_NONE }));
}

static void checks(void **state)
{
	static const char *const good[] = { "0", "-0", "1.5E-3", "123456789012345678901234567890",
		"\"\\ud800\"", "\"\xF4\x8F\xBF\xBF\"", " [ ] ",
		"{\"a\":[{},[],\"\",true,false,null]}", "\"\xC3\xA9\xC3\xA9\xE2\x82\xAC\"",
		"\"\\/\\u00Ff\"", "\"\x7F\"" };
	static const char *const bad[] = { "01", "+1", ".5", "1.", "1e", "-", "0x10", "tru", "nan",
		"\"\\q\"", "\"\\u12g4\"", "\"a\nb\"", "\"\t\"", "\"\xFF\"", "\"\xC0\x80\"",
		"\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"", "\"\xE2\x82\"", "\xEF\xBB\xBF{}",
		"[1]]", "{}}", "[}", "{]", "{\"a\":1,\"b\"}", "[1 ,, 2]", "{\"a\":1 \"b\":2}",
		"\x0b[]", "'a'", "[1,2", "// c\n1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_int_equal(check_result(sv_of(good[i])), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(check_result(sv_of(bad[i])), ERR_INPUT);
	assert_int_equal(check_result(SV("\"a\0b\"")), ERR_INPUT);
	assert_int_equal(check_result(SV("{}\0")), ERR_INPUT);

	size_t at = 0;
	assert_int_equal(scan_check(SV("{\"a\":[1,x]}"), &at), ERR_INPUT);
	assert_int_equal(at, 8);
	assert_int_equal(scan_check(SV("{\"a\":"), &at), ERR_INPUT);
	assert_int_equal(at, 5);
}

static void nul_bytes(void **state)
{
	struct jval val;

	(void)state;
	assert_int_equal(text_result(SV("\0")), ERR_INPUT);
	assert_int_equal(text_result(SV("{}\0")), ERR_INPUT);
	assert_int_equal(scan_text(SV("{\"a\0b\":\"x\0y\",\"c\":1}"), &val), 0);
	struct jval text = val;
	assert_int_equal(scan_get(text, SV("a\0b"), &val), 1);
	assert_true(scan_string_eq(val, SV("x\0y")));
	assert_int_equal(scan_get(text, SV("c"), &val), 1);
}

static void nest(struct str *s, size_t depth, const char *open, const char *close)
{
	str_clear(s);
	for (size_t i = 0; i < depth; i++)
		str_adds(s, open);
	str_adds(s, "1");
	for (size_t i = 0; i < depth; i++)
		str_adds(s, close);
}

static void deep_nesting(void **state)
{
	AUTO_STR text = STR_INIT;
	struct jval val;

	(void)state;
	nest(&text, 100000, "[", "]");
	assert_int_equal(scan_text(str_sv(&text), &val), 0);
	assert_int_equal(scan_check(str_sv(&text), NULL), 0);
	nest(&text, 100000, "{\"a\":", "}");
	assert_int_equal(scan_text(str_sv(&text), &val), 0);
	assert_int_equal(scan_check(str_sv(&text), NULL), 0);
	assert_int_equal(scan_path(val, "a.a.a", &val), 1);
	nest(&text, 100000, "[{\"a\":", "}]");
	assert_int_equal(scan_text(str_sv(&text), &val), 0);
	nest(&text, SCAN_DEPTH_MAX, "[", "]");
	assert_int_equal(scan_check(str_sv(&text), NULL), 0);
	nest(&text, SCAN_DEPTH_MAX + 1, "[", "]");
	assert_int_equal(scan_check(str_sv(&text), NULL), ERR_LIMIT);
	nest(&text, 100000, "[", "");
	assert_int_equal(scan_text(str_sv(&text), &val), ERR_INPUT);
}

static void huge_string(void **state)
{
	const size_t size = 200u * 1024 * 1024;
	AUTO_FREE char *text = xmalloc(size);
	struct jval vals[K_N];
	struct sv head = SV("{\"type\":\"user\",\"message\":{\"id\":\"m\",\"content\":\"");
	struct sv tail = SV("\"},\"uuid\":\"u\"}");

	(void)state;
	memcpy(text, head.p, head.n);
	memset(text + head.n, '\\', size - head.n - tail.n);
	if ((size - head.n - tail.n) % 2)
		text[head.n] = 'x';
	memcpy(text + size - tail.n, tail.p, tail.n);
	assert_int_equal(scan_keys(sv_make(text, size), line_keys, K_N, vals), 5);
	assert_raw(vals[K_UUID], "\"u\"");
	assert_int_equal(vals[K_CONTENT].raw.n, size - head.n - tail.n + 2);
	/* all quotes escaped: the dense case of the search for the end */
	for (size_t i = head.n; i + 1 < size - tail.n; i += 2) {
		text[i] = '\\';
		text[i + 1] = '"';
	}
	assert_int_equal(scan_keys(sv_make(text, size), line_keys, K_N, vals), 5);
}

/* A line with a long string twice, with escapes, and one that only begins like it. */
static void long_line(struct str *out)
{
	AUTO_STR text = STR_INIT;

	for (int i = 0; i < 100; i++)
		str_adds(&text, "say \\\"x\\\" \\\\");
	str_addf(out, "{\"a\":{\"b\":[{\"c\":\"%s\"}]},\"d\":\"%s\",\"e\":\"%s more\",\"f\":1}",
		text.buf, text.buf, text.buf);
}

/* Escapes, quotes and brackets at every place of a block, and across two. */
static void blocks_begin_anywhere(void **state)
{
	static const char *const tails[] = { "", "\\\\", "\\\"", "\\\\\\\"", "}]", "\\\\\\\\",
		"\\n{[" };

	(void)state;
	for (size_t n = 0; n < 200; n++) {
		for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
			AUTO_STR text = STR_INIT;
			struct jval vals[2];
			static const struct scan_key keys[] = { SCAN_KEY("d", SCAN_TOP),
				SCAN_KEY("f", SCAN_TOP) };
			str_adds(&text, "{\"a\":{\"b\":[\"");
			for (size_t k = 0; k < n; k++)
				str_addc(&text, 'x');
			str_addf(&text, "%s\",[{}],\"]\"]},\"d\":\"", tails[i]);
			for (size_t k = 0; k < n; k++)
				str_adds(&text, k % 3 ? "\\\\" : "\\\"");
			str_addf(&text, "%s\",\"f\":[%zu]}", tails[i], n);
			AUTO_FREE char *copy = exact(str_sv(&text));
			struct sv whole = sv_make(copy, text.len);
			assert_int_equal(scan_check(whole, NULL), 0);
			assert_int_equal(scan_keys(whole, keys, 2, vals), 2);
			assert_int_equal(vals[0].raw.n, 2 + 2 * n + strlen(tails[i]));
			assert_true(vals[1].raw.p[0] == '[');
			assert_true(scan_keys(sv_head(whole, whole.n - 1), keys, 2, vals) < 0);
		}
	}
}

/* What would be a quote behind one must not hang on where a block begins. */
static void a_backslash_outside_of_strings_is_refused(void **state)
{
	(void)state;
	for (size_t n = 0; n < 200; n++) {
		AUTO_STR text = STR_INIT;
		struct jval val;
		str_adds(&text, "[");
		for (size_t k = 0; k < n; k++)
			str_addc(&text, ' ');
		str_adds(&text, "\"a\"c\\\":\\\"\\\"}\",\"b\"]");
		AUTO_FREE char *copy = exact(str_sv(&text));
		assert_int_equal(scan_text(sv_make(copy, text.len), &val), ERR_INPUT);
	}
	struct sv rest = SV("[[1],\"\\\"\"]\\");
	struct jval val;
	assert_int_equal(scan_value(&rest, &val), 1);
	assert_true(sv_is(rest, "\\"));
}

static void a_long_line_is_read_whole(void **state)
{
	static const struct scan_key keys[] = {
		SCAN_KEY("a", SCAN_TOP),
		SCAN_KEY("b", 0),
		SCAN_KEY("d", SCAN_TOP),
		SCAN_KEY("e", SCAN_TOP),
		SCAN_KEY("f", SCAN_TOP),
	};
	struct jval vals[ARRAY_LEN(keys)];
	AUTO_STR line = STR_INIT;

	(void)state;
	long_line(&line);
	AUTO_FREE char *copy = exact(str_sv(&line));
	struct sv text = sv_make(copy, line.len);
	assert_int_equal(scan_keys(text, keys, ARRAY_LEN(keys), vals), ARRAY_LEN(keys));
	assert_int_equal(vals[3].raw.n, vals[2].raw.n + strlen(" more"));
	assert_int_equal(vals[1].raw.n, vals[2].raw.n + strlen("[{\"c\":}]"));
}

/* Wherever a line is cut off within the string of a value it can be closed and read as far as it
 * goes; elsewhere it is left as it is. */
static void the_head_of_a_line_is_closed(void **state)
{
	static const char line[] =
		"{\"a\": \"x\\\"\\\\\", \"list\" :[1, "
		"{\"k\":\"v]}\\u00e9\\ud83d\\ude00\\n\\\\\\\\\"},\"s\"],"
		"\"long\":"
		"\"0123456789012345678901234567890123456789012345678901234567890123456789\"}";
	size_t closed = 0;

	(void)state;
	for (size_t n = 0; n <= sizeof(line) - 1; n++) {
		AUTO_STR text = STR_INIT;
		struct jval val, item;
		bool inside = false, key = false;
		size_t quote = 0;
		for (size_t i = 0; i < n; i++) {
			if (inside && line[i] == '\\')
				i++;
			else if (line[i] == '"')
				quote = (inside = !inside) ? i : quote;
		}
		/* A key is followed by a colon, a value by none. */
		if (inside) {
			size_t end = quote + 1;
			while (line[end] != '"')
				end += line[end] == '\\' ? 2 : 1;
			key = line[end + 1] == ':' || line[end + 2] == ':';
		}
		str_add(&text, sv_make(line, n));
		bool done = scan_close(&text);
		assert_int_equal(done, inside && !key);
		closed += done;
		if (!done) {
			assert_int_equal(text.len, n);
			continue;
		}
		assert_true(scan_text(str_sv(&text), &val) >= 0);
		assert_true(scan_check(str_sv(&text), NULL) >= 0);
		AUTO_STR got = STR_INIT;
		assert_true(scan_get(val, SV("a"), &item) > 0 && scan_string(item, &got));
		assert_true(sv_starts(SV("x\"\\"), str_sv(&got)));
	}
	assert_true(closed > 80);
	AUTO_STR glued = STR_INIT;
	str_adds(&glued, "{\"a\":1}{\"b\":[\"c");
	assert_true(scan_close(&glued));
	assert_string_equal(glued.buf, "{\"a\":1}{\"b\":[\"c\"]}");
	static const char *const others[] = { "", "\"only", "{\"a\":1", "{\"a\":[1}\"x", "]\"x",
		"x" };
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		AUTO_STR text = STR_INIT;
		str_adds(&text, others[i]);
		assert_false(scan_close(&text));
		assert_string_equal(text.buf, others[i]);
	}
	AUTO_STR deep = STR_INIT;
	for (int i = 0; i < 100; i++)
		str_addc(&deep, '[');
	str_addc(&deep, '"');
	assert_false(scan_close(&deep));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_line_is_read_whole),
		cmocka_unit_test(blocks_begin_anywhere),
		cmocka_unit_test(a_backslash_outside_of_strings_is_refused),
		cmocka_unit_test(texts),
		cmocka_unit_test(every_prefix_of_a_line_is_refused),
		cmocka_unit_test(values_glued_together),
		cmocka_unit_test(walks),
		cmocka_unit_test(broken_containers),
		cmocka_unit_test(brackets_of_the_wrong_kind),
		cmocka_unit_test(keys_by_any_spelling),
		cmocka_unit_test(last_duplicate_wins),
		cmocka_unit_test(paths),
		cmocka_unit_test(many_keys_in_one_pass),
		cmocka_unit_test(rows_of_lists),
		cmocka_unit_test(rows_are_limited),
		cmocka_unit_test(keys_that_come_again_and_again),
		cmocka_unit_test(head_of_a_truncated_line),
		cmocka_unit_test(the_head_of_a_line_is_closed),
		cmocka_unit_test(strings),
		cmocka_unit_test(broken_strings),
		cmocka_unit_test(decoding_respects_a_maximum),
		cmocka_unit_test(numbers),
		cmocka_unit_test(booleans),
		cmocka_unit_test(checks),
		cmocka_unit_test(nul_bytes),
		cmocka_unit_test(deep_nesting),
		cmocka_unit_test(huge_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
