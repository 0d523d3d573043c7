#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>

#include "json/scan.h"
#include "json/write.h"

static void structure(void **state)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	(void)state;
	jw_object(&w);
	jw_put_string(&w, "s", SV("a\"b"));
	jw_put_cstr(&w, "none", NULL);
	jw_put_i64(&w, "i", INT64_MIN);
	jw_put_bool(&w, "t", true);
	jw_put_raw(&w, "raw", SV("[1, 2]"));
	jw_key(&w, "list");
	jw_array(&w);
	jw_bool(&w, false);
	jw_array(&w);
	jw_end(&w);
	jw_object(&w);
	jw_end(&w);
	jw_null(&w);
	jw_end(&w);
	jw_key(&w, "a\x01\n");
	jw_i64(&w, 0);
	jw_end(&w);
	assert_string_equal(out.buf,
		"{\"s\":\"a\\\"b\",\"none\":null,\"i\":-9223372036854775808,\"t\":true,"
		"\"raw\":[1, 2],\"list\":[false,[],{},null],\"a\\u0001\\n\":0}");
	assert_int_equal(scan_check(str_sv(&out), NULL), 0);
}

static void escapes(void **state)
{
	AUTO_STR out = STR_INIT;

	(void)state;
	json_escape(&out, SV("\"\\/\b\f\n\r\t\x01\x1f\x7f"));
	assert_string_equal(out.buf, "\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f");
	str_clear(&out);
	json_quote(&out, SV("\xC3\xA9\xFFz\xED\xA0\x80"));
	assert_string_equal(
		out.buf, "\"\xC3\xA9\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

static void every_byte_survives_the_way_back(void **state)
{
	AUTO_STR out = STR_INIT, back = STR_INIT, all = STR_INIT;
	struct jval val;

	(void)state;
	for (int c = 0; c < 128; c++)
		str_addc(&all, (char)c);
	str_adds(&all, "\xC2\x80\xE2\x80\xA8\xF4\x8F\xBF\xBF");
	json_quote(&out, str_sv(&all));
	assert_int_equal(scan_check(str_sv(&out), NULL), 0);
	assert_int_equal(scan_text(str_sv(&out), &val), 0);
	assert_true(scan_string(val, &back));
	assert_true(sv_eq(str_sv(&back), str_sv(&all)));
}

static void assert_double(double v, const char *want)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	struct jval val;
	double back;

	jw_double(&w, v);
	assert_string_equal(out.buf, want);
	assert_int_equal(scan_text(str_sv(&out), &val), 0);
	assert_true(scan_double(val, &back));
	assert_true(back == v);
}

static void doubles(void **state)
{
	(void)state;
	assert_double(0.1, "0.1");
	assert_double(1, "1");
	assert_double(300, "300");
	assert_double(-123456789012345, "-123456789012345");
	assert_double(1e15, "1e+15");
	assert_double(-2.5, "-2.5");
	assert_double(1e300, "1e+300");
	assert_double(5e-324, "5e-324");
	assert_double(1.0 / 3, "0.3333333333333333");
	assert_double(0.1 + 0.2, "0.30000000000000004");

	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	jw_array(&w);
	jw_double(&w, (double)NAN);
	jw_double(&w, (double)INFINITY);
	jw_end(&w);
	assert_string_equal(out.buf, "[null,null]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structure),
		cmocka_unit_test(escapes),
		cmocka_unit_test(every_byte_survives_the_way_back),
		cmocka_unit_test(doubles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
