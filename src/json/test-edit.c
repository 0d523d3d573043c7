#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "json/edit.h"

static struct jval object(const char *text)
{
	struct jval val = { .type = J_NONE };

	assert_int_equal(scan_text(sv_of(text), &val), 0);
	return val;
}

static void assert_members(
	const char *text, const struct edit_member *changes, size_t n, int places, const char *want)
{
	CLEANUP(edit_release) struct edit e = EDIT_INIT(sv_of(text));
	AUTO_STR out = STR_INIT;

	assert_int_equal(edit_members(&e, object(text), changes, n), places);
	assert_int_equal(edit_empty(&e), places == 0);
	assert_int_equal(edit_apply(&e, &out), 0);
	assert_string_equal(out.buf, want);
	assert_int_equal(scan_check(str_sv(&out), NULL), 0);
}

static void nothing_changes_nothing(void **state)
{
	const char *text = " {\"a\" : 1.0 ,\t\"\\u0062\":\"\\/\"}\r";
	CLEANUP(edit_release) struct edit e = EDIT_INIT(sv_of(text));
	AUTO_STR out = STR_INIT;

	(void)state;
	assert_true(edit_empty(&e));
	assert_int_equal(edit_apply(&e, &out), 0);
	assert_string_equal(out.buf, text);
}

static void values(void **state)
{
	const char *text = "{\"id\": \"old\", \"n\": 1E5, \"k\":[1,2]}";
	CLEANUP(edit_release) struct edit e = EDIT_INIT(sv_of(text));
	AUTO_STR out = STR_INIT;
	struct jval id, k;

	(void)state;
	assert_int_equal(scan_get(object(text), SV("id"), &id), 1);
	assert_int_equal(scan_get(object(text), SV("k"), &k), 1);
	/* given last to first: the order does not matter */
	edit_value(&e, k, SV("null"));
	edit_string(&e, id, SV("n\"ew"));
	assert_int_equal(edit_apply(&e, &out), 0);
	assert_string_equal(out.buf, "{\"id\": \"n\\\"ew\", \"n\": 1E5, \"k\":null}");

	edit_reset(&e, sv_of(text));
	str_clear(&out);
	assert_int_equal(edit_apply(&e, &out), 0);
	assert_string_equal(out.buf, text);
}

static void insertions_at_one_place_keep_their_order(void **state)
{
	struct sv text = SV("ab");
	CLEANUP(edit_release) struct edit e = EDIT_INIT(text);
	AUTO_STR out = STR_INIT;

	(void)state;
	edit_replace(&e, sv_make(text.p + 1, 1), SV("B"));
	edit_replace(&e, sv_make(text.p + 1, 0), SV("1"));
	edit_replace(&e, sv_make(text.p + 1, 0), SV("2"));
	edit_replace(&e, sv_make(text.p + 2, 0), SV("3"));
	assert_int_equal(edit_apply(&e, &out), 0);
	assert_string_equal(out.buf, "a12B3");
}

static void overlaps_are_refused(void **state)
{
	struct sv text = SV("abcdef");
	CLEANUP(edit_release) struct edit e = EDIT_INIT(text);
	AUTO_STR out = STR_INIT;

	(void)state;
	str_adds(&out, "kept");
	edit_replace(&e, sv_make(text.p + 2, 3), SV("x"));
	edit_replace(&e, sv_make(text.p, 3), SV("y"));
	assert_int_equal(edit_apply(&e, &out), ERR_INPUT);
	assert_string_equal(out.buf, "kept");
	edit_reset(&e, text);
	edit_replace(&e, sv_make(text.p + 3, 3), SV("x"));
	edit_replace(&e, sv_make(text.p, 3), SV("y"));
	assert_int_equal(edit_apply(&e, &out), 0);
	assert_string_equal(out.buf, "keptyx");
}

static void removing(void **state)
{
	const struct edit_member a = { .key = SV("a") };
	const struct edit_member ab[] = { { .key = SV("a") }, { .key = SV("b") } };

	(void)state;
	assert_members("{\"a\":1}", &a, 1, 1, "{}");
	assert_members("{ \"a\":1 }", &a, 1, 1, "{  }");
	assert_members("{\"a\":1, \"b\":2}", &a, 1, 1, "{\"b\":2}");
	assert_members("{\"b\":2 , \"a\":1 }", &a, 1, 1, "{\"b\":2 }");
	assert_members("{\"b\":2, \"a\":1, \"c\":3}", &a, 1, 1, "{\"b\":2, \"c\":3}");
	assert_members("{\"a\":2, \"a\":1, \"c\":3}", &a, 1, 2, "{\"c\":3}");
	assert_members("{\"a\":2, \"c\":3,\"\\u0061\":1}", &a, 1, 2, "{\"c\":3}");
	assert_members("{\"a\":2, \"c\":3, \"a\":5, \"a\":1}", &a, 1, 3, "{\"c\":3}");
	assert_members("{\"a\":1 , \"b\":2}", ab, 2, 2, "{}");
	assert_members("{\"a\":1,\"x\":0,\"b\":2}", ab, 2, 2, "{\"x\":0}");
	assert_members("{\"x\":{\"a\":1}}", &a, 1, 0, "{\"x\":{\"a\":1}}");
	assert_members("{}", &a, 1, 0, "{}");
}

static void setting_and_inserting(void **state)
{
	const struct edit_member set[] = {
		{ SV("f"), SV("1"), EDIT_FIRST },
		{ SV("l"), SV("[2]"), EDIT_LAST },
		{ SV("s"), SV("3"), EDIT_SKIP },
		{ SV("g\n"), SV("4"), EDIT_FIRST },
		{ .key = SV("r"), .absent = EDIT_LAST },
	};
	size_t n = ARRAY_LEN(set);

	(void)state;
	assert_members("{}", set, n, 3, "{\"f\":1,\"g\\n\":4,\"l\":[2]}");
	assert_members("{ }", set, n, 3, "{\"f\":1,\"g\\n\":4,\"l\":[2] }");
	assert_members("{\"x\":0 }", set, n, 3, "{\"f\":1,\"g\\n\":4,\"x\":0,\"l\":[2] }");
	assert_members("{\"l\":0, \"f\":0}", set, n, 3, "{\"g\\n\":4,\"l\":[2], \"f\":1}");
	assert_members("{\"s\":0,\"r\":1}", set, n, 5, "{\"f\":1,\"g\\n\":4,\"s\":3,\"l\":[2]}");
	assert_members("{\"r\":1}", set, n, 4, "{\"f\":1,\"g\\n\":4,\"l\":[2]}");
	assert_members(
		"{\"r\":1,\"r\":2,\"s\":0}", set, n, 6, "{\"f\":1,\"g\\n\":4,\"s\":3,\"l\":[2]}");
	assert_members("{\"l\":0}", set + 1, 1, 1, "{\"l\":[2]}");
	assert_members("{\"a\":0}", set + 1, 1, 1, "{\"a\":0,\"l\":[2]}");
	assert_members("{\"a\":0}", set, 1, 1, "{\"f\":1,\"a\":0}");
}

static void one_member(void **state)
{
	const char *text = "{\"m\":{\"a\":1},\"z\":2}";
	const struct edit_member set = {
		.key = SV("b"), .json = SV("\"x\\\"\""), .absent = EDIT_LAST
	};
	CLEANUP(edit_release) struct edit e = EDIT_INIT(sv_of(text));
	AUTO_STR out = STR_INIT;
	struct jval inner;

	(void)state;
	assert_int_equal(scan_get(object(text), SV("m"), &inner), 1);
	assert_int_equal(edit_members(&e, inner, &set, 1), 1);
	assert_int_equal(edit_remove(&e, object(text), SV("z")), 1);
	assert_int_equal(edit_apply(&e, &out), 0);
	assert_string_equal(out.buf, "{\"m\":{\"a\":1,\"b\":\"x\\\"\"}}");
}

static void broken_objects_record_nothing(void **state)
{
	static const char *const bad[] = { "{\"a\":1,}", "{\"a\":1]", "{\"a\":1 \"b\":2}", "[1]",
		"null" };

	const struct edit_member set = { .key = SV("a"), .json = SV("2") };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(edit_release) struct edit e = EDIT_INIT(sv_of(bad[i]));
		/* As it would be if nobody had looked at its end. */
		struct jval whole = { sv_of(bad[i]),
			bad[i][0] == '{'	   ? J_OBJECT
				: bad[i][0] == '[' ? J_ARRAY
						   : J_NULL };
		assert_int_equal(edit_members(&e, whole, &set, 1), ERR_INPUT);
		assert_true(edit_empty(&e));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changes_nothing),
		cmocka_unit_test(values),
		cmocka_unit_test(insertions_at_one_place_keep_their_order),
		cmocka_unit_test(overlaps_are_refused),
		cmocka_unit_test(removing),
		cmocka_unit_test(setting_and_inserting),
		cmocka_unit_test(one_member),
		cmocka_unit_test(broken_objects_record_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
