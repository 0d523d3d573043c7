#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "branch/diff.h"

/* Letters stand for hashes: what both have, in order, as letters. */
static void expect(const char *a, const char *b, const char *common)
{
	uint64_t left[64], right[64];
	diff_matches same = VEC_INIT;
	struct sv x = sv_of(a), y = sv_of(b);
	AUTO_STR got = STR_INIT;

	for (size_t i = 0; i < x.n; i++)
		left[i] = (unsigned char)a[i];
	for (size_t i = 0; i < y.n; i++)
		right[i] = (unsigned char)b[i];
	diff_lists(left, x.n, right, y.n, &same);
	for (size_t i = 0; i < same.n; i++) {
		assert_int_equal(left[same.v[i].a], right[same.v[i].b]);
		if (i > 0)
			assert_true(same.v[i].a > same.v[i - 1].a && same.v[i].b > same.v[i - 1].b);
		str_addc(&got, a[same.v[i].a]);
	}
	vec_release(&same);
	assert_string_equal(got.buf ? got.buf : "", common);
}

static void test_lists(void **state UNUSED)
{
	expect("", "", "");
	expect("abc", "", "");
	expect("", "abc", "");
	expect("abc", "abc", "abc");
	expect("abc", "abxc", "abc");
	expect("axbyc", "abc", "abc");
	expect("aaaa", "aa", "aa");
	expect("abcde", "xbydz", "bd");
	expect("ab", "ba", "b");
}

/* More than are compared: what they begin and end with is found, and nothing is read beyond. */
static void test_long_lists(void **state UNUSED)
{
	enum { N = 70000 };
	AUTO_FREE uint64_t *a = xcalloc(N, sizeof(*a));
	AUTO_FREE uint64_t *b = xcalloc(N, sizeof(*b));
	diff_matches same = VEC_INIT;

	for (size_t i = 0; i < N; i++) {
		a[i] = i;
		b[i] = i < 10 || i >= N - 5 ? i : N + i;
	}
	diff_lists(a, N, b, N, &same);
	assert_int_equal(same.n, 15);
	vec_release(&same);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_long_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
