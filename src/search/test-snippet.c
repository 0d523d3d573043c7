#include "search/snippet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "os/test-temp.h"

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
		"[端末][端末][端末][端末]端…");
	/* A hit that is cut is none, and the dots are of no hit. */
	const char *two = "call it again with another function";
	shows("call function", two, 36, "[call] it again with another [function]");
	shows("call function", two, 30, "[call] it again with another f…");
	shows("call function", two, 29, "[call] it again with another …");
	shows("call function", two, 28, "[call] it again with another …");
}

/* A line of a megabyte is read to its end only when it must be, and shows the same. */
static void test_long_line(void **state)
{
	static const char *const heads[] = {
		"{\"parentUuid\":null,\"isSidechain\":false,\"message\":{\"role\":\"user\","
		"\"content\":"
		"[{\"tool_use_id\":\"t\",\"type\":\"tool_result\",\"content\":\"",
		"{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"response_item\",\"payload\":"
		"{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"",
		/* What it is stands behind it: all of it is read. */
		"{\"message\":{\"role\":\"user\",\"content\":[{\"content\":\"",
	};
	static const char *const tails[] = {
		"\"}]},\"toolUseResult\":\"x\",\"type\":\"user\",\"uuid\":\"u\"}\n",
		"\"}}\n",
		"\",\"type\":\"tool_result\"}]},\"type\":\"user\"}\n",
	};
	static const char *const wants[][3] = {
		{ "near", "…\\ the near one w \\ w \\ w \\ w \\ w \\ w …", "near" },
		{ "far", "…\\ the far one", "far" },
		{ "one", "…near one w \\ w \\ w \\ w \\ w \\ w \\ w \\ …", "one" },
	};
	char *dir = temp_folder();

	(void)state;
	for (size_t f = 0; f < ARRAY_LEN(heads); f++)
		for (size_t i = 0; i < ARRAY_LEN(wants); i++) {
			const struct query_context context = { .now_ms = 0 };
			const struct hit hit = { .at = { .kind = DOC_RESULT } };
			struct query q = QUERY_INIT;
			struct map marks = MAP_INIT;
			struct snippet s = SNIPPET_INIT;
			struct err err = ERR_INIT;
			AUTO_STR line = STR_INIT;
			str_adds(&line, heads[f]);
			for (int k = 0; k < 10000; k++)
				str_adds(&line, k == 200 ? "the near one " : "w \\\\ ");
			str_addf(&line, "the far one%s{\"type\":\"other\"}\n", tails[f]);
			AUTO_FREE char *path = temp_write(dir, "session.jsonl", line.buf);
			assert_int_equal(query_parse(sv_of(wants[i][0]), &context, &q, NULL), 0);
			(void)map_put(&marks, sv_of(wants[i][2]), 0);
			if (snippet_read(path, f == 1 ? TRANSCRIPT_CODEX : TRANSCRIPT_CLAUDE, &hit,
				    NULL, &q, &marks, 256 * 1024, 40, &s, NULL, &err) < 0)
				fail_msg("%s", err.msg);
			if (strcmp(s.line.buf, wants[i][1]) != 0 || s.marks.n != 1)
				fail_msg("%zu: %s: %s", f, wants[i][0], s.line.buf);
			snippet_release(&s);
			map_release(&marks);
			query_release(&q);
		}
	temp_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_long_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
