#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "base/shell.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "base/vec.h"

static void test_err(void **state)
{
	(void)state;
	struct err err = ERR_INIT;

	assert_int_equal(err_set(&err, ERR_INPUT, "line %d", 3), ERR_INPUT);
	err_prefix(&err, "config.yaml");
	assert_string_equal(err.msg, "config.yaml: line 3");
	assert_int_equal(err_exit_status(err.code), 3);
	assert_int_equal(err_errno(&err, 2, "open %s", "x"), -2);
	assert_string_equal(err.msg, "open x: No such file or directory");
	assert_int_equal(err_exit_status(-2), 5);
	assert_int_equal(err_set(NULL, ERR_BUG, "nobody listens"), ERR_BUG);
}

static void test_err_cuts_at_a_character(void **state)
{
	(void)state;
	struct err err = ERR_INIT;
	AUTO_STR s = STR_INIT;

	for (int i = 0; i < 400; i++)
		str_adds(&s, "é");
	err_set(&err, ERR_INPUT, "x%s", s.buf);
	assert_true(utf8_valid(sv_of(err.msg)));
	err_prefix(&err, "yy");
	assert_true(utf8_valid(sv_of(err.msg)));
}

static void test_str(void **state)
{
	(void)state;
	AUTO_STR s = STR_INIT;

	assert_string_equal(s.buf, "");
	str_adds(&s, "ab");
	str_addf(&s, "%d", 12);
	str_drop(&s, 1);
	assert_string_equal(s.buf, "b12");
	char *owned = str_detach(&s);
	assert_string_equal(owned, "b12");
	free(owned);
	assert_int_equal(s.len, 0);
}

static void test_str_max_is_kept(void **state)
{
	(void)state;
	struct str s;

	str_init_max(&s, 4);
	str_adds(&s, "1234");
	assert_false(str_full(&s));
	str_adds(&s, "5");
	assert_true(str_full(&s));
	assert_string_equal(s.buf, "1234");
	str_release(&s);
}

static void test_sv(void **state)
{
	(void)state;
	struct sv rest = SV("a,,b");
	struct sv piece;
	size_t at;

	assert_true(sv_split(&rest, ',', &piece) && sv_is(piece, "a"));
	assert_true(sv_split(&rest, ',', &piece) && piece.n == 0);
	assert_true(sv_split(&rest, ',', &piece) && sv_is(piece, "b"));
	assert_false(sv_split(&rest, ',', &piece));
	assert_true(sv_find(SV("hello"), SV("lo"), &at) && at == 3);
	assert_false(sv_find(SV("hello"), SV("x"), NULL));
	assert_true(sv_among(SV("in"), "in|into") && sv_among(SV("into"), "in|into"));
	assert_true(sv_among(SV("on"), "over|on") && sv_among(SV("a"), "a"));
	assert_false(sv_among(SV("int"), "in|into") || sv_among(SV("i"), "in|into"));
	assert_false(sv_among(SV("in|into"), "in|into|x") || sv_among(SV(""), "in|into"));
	assert_false(sv_among(sv_make("in\0", 3), "in") || sv_among(SV("on"), ""));
	assert_true(sv_is(sv_trim(SV(" \t x\n")), "x"));
	long long n;
	assert_true(sv_parse_i64(SV("-42"), &n) && n == -42);
	assert_false(sv_parse_i64(SV("4 "), &n));
	assert_false(sv_parse_i64(SV("99999999999999999999"), &n));
	uint64_t bytes;
	assert_true(sv_parse_bytes(SV("1000"), &bytes) && bytes == 1000);
	assert_true(sv_parse_bytes(SV("64K"), &bytes) && bytes == 65536);
	assert_true(sv_parse_bytes(SV("2G"), &bytes) && bytes == (uint64_t)2 << 30);
	assert_true(sv_parse_bytes(SV("8589934591G"), &bytes));
	assert_false(sv_parse_bytes(SV("8589934592G"), &bytes));
	assert_false(sv_parse_bytes(SV("5Q"), &bytes));
	assert_false(sv_parse_bytes(SV("2GG"), &bytes));
	assert_false(sv_parse_bytes(SV("-1k"), &bytes));
	assert_false(sv_parse_bytes(SV("M"), &bytes));
	double d;
	assert_true(sv_parse_double(SV("0.45"), &d) && d > 0.44 && d < 0.46);
	assert_false(sv_parse_double(SV("nan"), &d));
}

static void test_map(void **state)
{
	(void)state;
	AUTO_MAP m = MAP_INIT;
	char key[16];

	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(key, sizeof(key), "k%u", i);
		assert_true(map_put(&m, sv_of(key), i));
	}
	uint64_t v;
	assert_true(map_get(&m, SV("k777"), &v) && v == 777);
	assert_false(map_get(&m, SV("none"), &v));
	*map_ref(&m, SV("none")) += 5;
	assert_true(map_get(&m, SV("none"), &v) && v == 5);
	assert_false(map_put(&m, SV("none"), 6));
	size_t at = 0;
	size_t count = 0;
	struct sv k;
	while (map_next(&m, &at, &k, &v))
		count++;
	assert_int_equal(count, 1001);
}

/* Two ids that a hash of which nobody knows the seed must tell apart as any others. They differ in
 * high bits only, which a product of 64 bits does not spread. */
static void test_maps_by_prepared_ids(void **state)
{
	(void)state;
	const struct sv a = SV("aaaaaaaaaaaaaaaa"),
			b = SV("aaaaaaa\xe1"
			       "aaa\xe1"
			       "aaa\xe1");
	struct idmap ids = IDMAP_INIT;
	uint32_t v;

	idmap_put(&ids, a, 1);
	assert_false(idmap_get(&ids, b, &v));
	idmap_put(&ids, b, 2);
	assert_true(idmap_get(&ids, a, &v) && v == 1);
	idmap_release(&ids);
	assert_int_not_equal(hash_bytes(7, a), hash_bytes(7, b));
	assert_int_not_equal(hash_bytes(7, a), hash_bytes(8, a));
	assert_int_not_equal(hash_bytes(7, SV("a")), hash_bytes(7, SV("a\0")));
}

static void test_idmap(void **state)
{
	(void)state;
	struct idmap m = IDMAP_INIT;
	char id[16];
	uint32_t v = 0;

	assert_false(idmap_get(&m, SV(""), &v));
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < 1000; i++) {
			(void)snprintf(id, sizeof(id), "k%u", i);
			idmap_put(&m, sv_of(id), i + round);
		}
	assert_int_equal(m.n, 1000);
	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(id, sizeof(id), "k%u", i);
		assert_true(idmap_get(&m, sv_of(id), &v) && v == i + 1);
	}
	assert_false(idmap_get(&m, SV("none"), &v));
	idmap_put(&m, SV(""), 7);
	assert_true(idmap_get(&m, SV(""), &v) && v == 7);
	idmap_release(&m);
}

static void test_vec(void **state)
{
	(void)state;
	VEC(int) v = VEC_INIT;
	int sum = 0;

	vec_each (&v, p)
		sum += *p;
	vec_cut(&v, 0, 0);
	for (int i = 0; i < 100; i++)
		vec_push(&v, i);
	vec_each (&v, p)
		sum += *p;
	assert_int_equal(sum, 4950);
	vec_cut(&v, 10, 80);
	vec_cut(&v, v.n, 0);
	assert_int_equal(v.n, 20);
	assert_int_equal(v.v[9], 9);
	assert_int_equal(v.v[10], 90);
	vec_cut(&v, 0, v.n);
	assert_int_equal(v.n, 0);
	vec_release(&v);
}

static void test_clock(void **state)
{
	(void)state;
	char text[CLOCK_TEXT_MAX];
	int64_t ms;

	assert_true(clock_parse_iso(SV("2026-11-15T20:00:59.142Z"), &ms));
	clock_format_iso(ms, text);
	assert_string_equal(text, "2026-11-15T20:00:59.142Z");
	assert_true(clock_parse_iso(SV("2026-11-15T21:00:59+01:00"), &ms));
	clock_format_iso(ms, text);
	assert_string_equal(text, "2026-11-15T20:00:59.000Z");
	clock_format_iso(-1, text);
	assert_string_equal(text, "1969-12-31T23:59:59.999Z");
	assert_false(clock_parse_iso(SV("2026-13-01"), &ms));
	assert_false(clock_parse_iso(SV("yesterday"), &ms));
	assert_true(clock_parse_span(SV("15m"), &ms) && ms == 900000);
	assert_true(clock_parse_span(SV("90s"), &ms) && ms == 90000);
	assert_true(clock_parse_span(SV("2h"), &ms) && ms == 7200000);
	assert_true(clock_parse_span(SV("7d"), &ms) && ms == 604800000);
	assert_true(clock_parse_span(SV("3w"), &ms) && ms == 1814400000);
	assert_false(clock_parse_span(SV("7y"), &ms));
	assert_false(clock_parse_span(SV("15"), &ms));
	assert_false(clock_parse_span(SV("99999999999999999w"), &ms));
	clock_format_ago(12 * 60000, text);
	assert_string_equal(text, "12 min ago");
}

static void test_uuid(void **state)
{
	(void)state;
	char a[UUID_TEXT];
	char b[UUID_TEXT];

	uuid_new(a);
	uuid_new(b);
	assert_true(uuid_valid(sv_of(a)));
	assert_string_not_equal(a, b);
	assert_false(uuid_valid(SV("notauuid")));
}

static void check_scrub(const char *in, size_t n, const char *want, bool line)
{
	AUTO_STR out = STR_INIT;

	(line ? utf8_scrub_line : utf8_scrub)(&out, sv_make(in, n));
	assert_string_equal(out.buf, want);
}

static void test_scrub(void **state)
{
	(void)state;
	check_scrub("a\033[2Jb\n", 7, "ab\n", false);
	check_scrub("\033]0;title\aok", 12, "ok", false);
	check_scrub("\033]0;title\033\\ok", 13, "ok", false);
	check_scrub("x\302\233y", 4, "x\357\277\275y", false);
	check_scrub("one\r\n\ttwo", 9, "one two", true);
	check_scrub("bad\xff", 4, "bad\357\277\275", false);
	check_scrub("\xe2\x80\xaeltr", 6, "\357\277\275ltr", false);
	/* all that Unicode calls controls of the direction, marks among them */
	check_scrub("a\xd8\x9c", 3, "a\357\277\275", true);
	check_scrub("a\xe2\x80\x8e", 4, "a\357\277\275", true);
	check_scrub("a\xe2\x80\x8f", 4, "a\357\277\275", false);
	check_scrub("a\xe2\x80\x8d", 4, "a\xe2\x80\x8d", false);
	check_scrub("\033", 1, "", false);
}

static void test_width(void **state)
{
	(void)state;
	assert_int_equal(utf8_width(SV("abc")), 3);
	assert_int_equal(utf8_width(SV("日本")), 4);
	assert_int_equal(utf8_width(SV("e\xcc\x81")), 1);
	assert_int_equal(utf8_width(SV("👨‍👩‍👧")), 2);
	AUTO_STR out = STR_INIT;
	utf8_fit(&out, SV("hello world"), 6);
	assert_string_equal(out.buf, "hello…");
	str_clear(&out);
	utf8_fit(&out, SV("hello"), 5);
	assert_string_equal(out.buf, "hello");
}

static void test_normalise(void **state)
{
	(void)state;
	AUTO_STR a = STR_INIT;
	AUTO_STR b = STR_INIT;

	utf8_normalise(&a, SV("Fu\xcc\x88R"), true);
	utf8_normalise(&b, SV("f\xc3\xbcr"), true);
	assert_string_equal(a.buf, b.buf);
	assert_true(utf8_cut(SV("aé"), 2).n == 1);
}

static void test_shell_words(void **state)
{
	(void)state;
	AUTO_STR out = STR_INIT;

	shell_word(&out, "it's here");
	assert_string_equal(out.buf, "'it'\\''s here'");
	str_clear(&out);
	shell_word(&out, "ü");
	assert_string_equal(out.buf, "'ü'");
	str_clear(&out);
	shell_word(&out, "a\nb\x1b[201~'\\");
	assert_string_equal(out.buf, "$'a\\012b\\033[201~\\'\\\\'");
	str_clear(&out);
	shell_word(&out, "ü\xff\xc2\x9b\xe2\x80\xae");
	assert_string_equal(out.buf, "$'ü\\377\\302\\233\\342\\200\\256'");
	str_clear(&out);
	shell_shown(&out, "/it's ü");
	shell_shown(&out, "/\t");
	assert_string_equal(out.buf, "/it's ü$'/\\011'");
	str_clear(&out);
	shell_operand(&out, "-rf x");
	assert_string_equal(out.buf, "-- '-rf x'");
	str_clear(&out);
	shell_operand(&out, "a-b");
	assert_string_equal(out.buf, "a-b");
	str_clear(&out);
	shell_text(&out, "a\nb");
	assert_string_equal(out.buf, "'a\nb'");
	str_clear(&out);
	shell_id(&out, "0af3-B_c.d");
	assert_string_equal(out.buf, "0af3-B_c.d");
	str_clear(&out);
	shell_id(&out, "x; touch pwn");
	assert_string_equal(out.buf, "'x; touch pwn'");
	str_clear(&out);
	shell_id(&out, "");
	assert_string_equal(out.buf, "''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_err),
		cmocka_unit_test(test_err_cuts_at_a_character),
		cmocka_unit_test(test_str),
		cmocka_unit_test(test_str_max_is_kept),
		cmocka_unit_test(test_sv),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_idmap),
		cmocka_unit_test(test_maps_by_prepared_ids),
		cmocka_unit_test(test_vec),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_uuid),
		cmocka_unit_test(test_scrub),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_normalise),
		cmocka_unit_test(test_shell_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
