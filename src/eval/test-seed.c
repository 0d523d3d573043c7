/* Profile seed: words, patterns, figures and texts to the last digit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/unicode.h"
#include "eval/memstore.h"
#include "route/seed.h"

static void check_keywords(const char *text, const char *const *want, size_t n)
{
	AUTO_MAP words = MAP_INIT;
	uint64_t unused;

	seed_keywords(&words, sv_of(text));
	assert_int_equal(words.n, n);
	for (size_t i = 0; i < n; i++)
		if (!map_get(&words, sv_of(want[i]), &unused))
			fail_msg("%s: no '%s'", text, want[i]);
}

static void test_keywords(void **state)
{
	(void)state;
	static const char *const plain[] = { "tune", "engine" };
	static const char *const marks[] = { "low-level", "what's", "…odd", "it's" };
	static const char *const greek[] = { "\u03bf\u03b4\u03cc\u03c2" };
	check_keywords("Tune the ENGINE!", plain, 2);
	check_keywords("'low-level' (what's) --…odd-- it's? öl", marks, 4);
	check_keywords("\u039f\u0394\u038c\u03a3", greek, 1); /* final sigma */
	check_keywords("", NULL, 0);
	check_keywords("it\u00a0is\u3000to\xc2\x85"
		       "be",
		NULL, 0);
}

static void test_lower_case(void **state)
{
	(void)state;
	AUTO_STR out = STR_INIT;
	unicode_lower(&out, sv_of("\u0130\u03a3\u03a3 \u03a3. \u1e9e"));
	assert_string_equal(out.buf, "i\u0307\u03c3\u03c2 \u03c3. \u00df");
}

static void test_patterns(void **state)
{
	(void)state;
	static const char *const yes[] = { "ALSO", "and\u2003then go", "x, also-ran", "follow up",
		"followup", "While youre at it", "in that same file", "al\u017fo", "oh  and",
		"wa\u0131t" };
	static const char *const no[] = { "", "calso", "alsoö", "oh, and", "follow-up",
		"in this file", "while you\u2019re at it", "andthen", "_wait" };
	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (!seed_continuation(sv_of(yes[i])))
			fail_msg("missed: %s", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (seed_continuation(sv_of(no[i])))
			fail_msg("found: %s", no[i]);
}

static struct route_decision decide(
	struct memstore *s, const struct route_opts *opts, const char *text, int64_t now)
{
	struct route_query q = { .text = sv_of(text), .now_ms = now };
	struct route_decision d;
	size_t n;
	const struct route_conv *convs = memstore_view(s, &n);

	seed_decide(opts, &q, convs, n, NULL, &d);
	return d;
}

static void test_figures(void **state)
{
	(void)state;
	struct route_opts opts = route_opts_default(ROUTE_SEED);
	CLEANUP(memstore_release) struct memstore s;
	memstore_init(&s, &opts);
	struct route_decision d = decide(&s, &opts, "polish the lens", 0);
	assert_string_equal(d.reason, "No active conversations to resume");

	memstore_seed_register(&s, SV("A"), SV("polish the lens"), SV("/w"), 0);
	d = decide(&s, &opts, "polish the lens", 180000);
	assert_int_equal(d.action, ROUTE_RESUME);
	assert_string_equal(d.reason, "keyword overlap=1.00; very recent");
	assert_true(d.confidence > 0.6999 && d.confidence < 0.7001);

	/* 0.3 * 0.5 + 0.3 is not 0.45 in binary, and that decides. */
	d = decide(&s, &opts, "also this", 780000);
	assert_int_equal(d.action, ROUTE_NEW);
	assert_string_equal(d.reason, "Best match score 0.45 below threshold 0.45");
	d = decide(&s, &opts, "also this", 779999);
	assert_string_equal(d.reason, "recency=0.50; continuation signal");
	d = decide(&s, &opts, "also this", -5);
	assert_string_equal(
		d.reason, "very recent; continuation signal; strong continuation match");
	opts.threshold = 0.125;
	d = decide(&s, &opts, "grind glass", 3600000 / 2 - 1);
	assert_string_equal(d.reason, "Best match score 0.05 below threshold 0.125");
}

static void test_store_semantics(void **state)
{
	(void)state;
	struct route_opts opts = route_opts_default(ROUTE_SEED);
	opts.max = 2;
	CLEANUP(memstore_release) struct memstore s;
	memstore_init(&s, &opts);
	memstore_seed_register(&s, SV("A"), SV("lens"), SV("/w"), 0);
	memstore_mark(&s, SV("A"), ROUTE_ACTIVE);
	memstore_seed_register(&s, SV("B"), SV("lens"), SV("/w"), 1);
	memstore_seed_register(&s, SV("C"), SV("lens"), SV("/w"), 2); /* evicts even what runs */
	assert_null(memstore_get(&s, SV("A")));
	memstore_seed_update(&s, SV("A"), SV("more"), 3);
	assert_null(memstore_get(&s, SV("A")));
	struct route_decision d = decide(&s, &opts, "also the lens", 10);
	size_t n;
	assert_true(sv_is(memstore_view(&s, &n)[d.index].id, "B")); /* first registered of equals */
	assert_int_equal(n, 2);

	memstore_seed_register(&s, SV("D"), SV("x"), SV("/w"), opts.expiry_ms + 1); /* B stays */
	assert_null(memstore_get(&s, SV("B")));
	assert_non_null(memstore_get(&s, SV("D")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keywords),
		cmocka_unit_test(test_lower_case),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_store_semantics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
