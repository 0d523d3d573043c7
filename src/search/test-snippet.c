#include "search/snippet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

/* The line with its hits in brackets. */
static void shows(const char *typed, const char *text, size_t columns, const char *want)
{
	const struct query_context context = { .now_ms = 0 };
	struct query q = QUERY_INIT;
	struct map marks = MAP_INIT;
	struct snippet s = SNIPPET_INIT;
	AUTO_STR got = STR_INIT;
	size_t at = 0;

	assert_int_equal(query_parse(sv_of(typed), &context, &q, NULL), 0);
	for (size_t i = 0; i < q.parts.n; i++)
		vec_each (&q.parts.v[i].terms, term)
			if (!q.parts.v[i].prefix)
				(void)map_put(&marks, sv_of(term->text), i);
	(void)snippet_make(sv_of(text), &q, &marks, NULL, columns, &s);
	vec_each (&s.marks, mark) {
		str_add(&got, sv_make(s.line.buf + at, mark->from - at));
		str_addf(&got, "[%.*s]", (int)mark->size, s.line.buf + mark->from);
		at = mark->from + mark->size;
	}
	str_adds(&got, s.line.buf + at);
	if (strcmp(got.buf, want) != 0)
		fail_msg("%s: %s", typed, got.buf);
	assert_true(utf8_width(str_sv(&s.line)) <= columns);
	snippet_release(&s);
	map_release(&marks);
	query_release(&q);
}

static void test_marks(void **state)
{
	(void)state;
	shows("retry limit", "raise the Retry Limit now", 80, "raise the [Retry] [Limit] now");
	shows("retry limit", "call parseRetryLimit()", 80, "call parse[Retry][Limit]()");
	shows("parseRetryLimit", "call parseRetryLimit()", 80, "call [parseRetryLimit]()");
	shows("lim*", "no limits, limiter", 80, "no [limits], [limiter]");
	shows("where is the cat", "where is the cat", 80, "where is the [cat]");
	shows("the", "where is the cat", 80, "where is [the] cat");
	shows("日本語", "これは日本語です", 80, "これは[日本語]です");
	shows("x1 -cat", "x1 cat", 80, "[x1] cat");
	shows("zebra", "nothing of it\nhere", 80, "nothing of it here");
	shows("zebra", "", 80, "");
}

static void test_place(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR want = STR_INIT;

	(void)state;
	for (int i = 0; i < 1000; i++)
		str_adds(&text, "word ");
	str_adds(&text, "alone limit ");
	for (int i = 0; i < 1000; i++)
		str_adds(&text, "word ");
	str_adds(&text, "both retry limit end");
	/* Where most of the words are, not where the first of them is. */
	shows("retry limit", text.buf, 60, "…both [retry] [limit] end");
	shows("\"the limit\"", "the rest of the limits: the limit", 80,
		"the rest of the limits: [the limit]");
	shows("\"retry limits\" limit", "retry it, limit, retry limits", 80,
		"retry it, [limit], [retry limits]");
	shows("\"the end\"", "the cat", 80, "[the] cat");
	shows("zebra", text.buf, 20, "word word word wor…");
	shows("end", "\x1b[31mred\x1b[0m\x07 \xff end", 60, "red\xef\xbf\xbd \xef\xbf\xbd [end]");
	/* Wide characters take two columns. */
	shows("端末", "端末端末端末端末端末端末端末端末端末端末", 20,
		"[端末][端末][端末][端末][端…]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
