#include "search/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "search/vocabulary.h"

static struct query_context context(void)
{
	struct query_context c = { .home = "/home/me", .cwd = "/work/x" };

	assert_true(clock_parse_iso(SV("2026-11-17T09:30:00Z"), &c.now_ms));
	return c;
}

/* The parts as text: sign, then the terms with their distances, `~` for weak, `*` for a prefix,
 * `|N` for a group; fields with their byte as tool: and file:. */
static void write_parts(const struct query *q, struct str *out)
{
	vec_each (&q->parts, part) {
		str_adds(out, out->len > 0 ? " " : "");
		str_adds(out,
			part->demand == QUERY_MUST	    ? "+"
				: part->demand == QUERY_NOT ? "-"
							    : "");
		vec_each (&part->terms, term) {
			for (uint32_t i = term == part->terms.v ? term->offset : term[-1].offset;
				i < term->offset; i++)
				str_adds(out, "_");
			str_adds(out,
				term->text[0] == TERM_TOOL	     ? "tool:"
					: term->text[0] == TERM_FILE ? "file:"
								     : "");
			str_adds(out, term->text + ((unsigned char)term->text[0] < ' ' ? 1 : 0));
		}
		str_addf(out, "%s%s", part->prefix ? "*" : "", part->weak ? "~" : "");
		if (part->group)
			str_addf(out, "|%u", part->group);
	}
}

static void parts(const char *typed, const char *want)
{
	const struct query_context c = context();
	struct query q = QUERY_INIT;
	struct err err = ERR_INIT;
	AUTO_STR got = STR_INIT;

	if (query_parse(sv_of(typed), &c, &q, &err) < 0)
		fail_msg("%s: %s", typed, err.msg);
	write_parts(&q, &got);
	if (strcmp(got.buf, want) != 0)
		fail_msg("%s: %s", typed, got.buf);
	query_release(&q);
}

static void test_words(void **state)
{
	(void)state;
	parts("", "");
	parts("  \t\n ", "");
	parts("Where did we change the retry limit?", "where~ did~ we~ change the~ retry limit");
	parts("STRASSE Straße", "strasse");
	parts("parseRetryLimit", "parseretrylimit parse retry limit");
	parts("error: cannot open 'x'", "error cannot open x");
	parts("https://example.org/a", "https example.org example org a~");
	parts("日本語", "日本 本語");
	parts("語", "語*");
	parts("--dry-run - -- +", "dry-run dry run");
	parts("a \"b", "a~ b");
	parts("say\"hello\"", "say hello");
	parts("* ** ?*", "");
}

static void test_exact(void **state)
{
	(void)state;
	parts("\"Retry Limit\" x", "+retry_limit x");
	parts("+retries", "+retries");
	parts("+parseRetryLimit", "+parse_retry_limit");
	parts("-retry -\"no such file\" x", "-retry -no_such_file x");
	parts("pars* pa", "pars* pa");
	parts("+pars*", "+pars*");
	parts("parse_re*", "parse_re*");
	parts("\"日本語\"", "+日本_本語");
	parts("\"\" x", "x");
	parts("tool:Bash -file:src/Main.c file:\"a b\"", "+tool:bash -file:src/main.c +file:a b");
}

static void test_or(void **state)
{
	(void)state;
	parts("a1 OR b1 c1", "+a1|1 +b1|1 c1");
	parts("a1 OR \"b c\" OR tool:Bash d1 OR e1", "+a1|1 +b_c|1 +tool:bash|1 +d1|2 +e1|2");
	parts("OR a1", "or~ a1");
	parts("a1 OR", "a1 or~");
	parts("a1 or b1", "a1 or~ b1");
	parts("a1 OR -b1 c1", "+a1|1 -b1 c1");
}

static void test_fields(void **state)
{
	const struct query_context c = context();
	struct query q = QUERY_INIT;
	struct err err = ERR_INIT;
	int64_t ms;

	(void)state;
	assert_int_equal(query_parse(SV("agent:codex -branch:main dir:~/src/ dir:. dir:faden "
					"role:user role:tool -role:thinking after:2026-01-31 "
					"before:\"last week\" word file: x"),
				 &c, &q, &err),
		0);
	static const struct query_filter want[] = { { QUERY_AGENT, false,
							    (char *)(uintptr_t) "codex" },
		{ QUERY_BRANCH, true, (char *)(uintptr_t) "main" },
		{ QUERY_DIR, false, (char *)(uintptr_t) "/home/me/src" },
		{ QUERY_DIR, false, (char *)(uintptr_t) "/work/x" },
		{ QUERY_DIR, false, (char *)(uintptr_t) "faden" } };
	assert_int_equal(q.filters.n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(q.filters.v[i].field, want[i].field);
		assert_int_equal(q.filters.v[i].negated, want[i].negated);
		assert_string_equal(q.filters.v[i].value, want[i].value);
	}
	assert_int_equal(q.roles, 1u << DOC_USER | 1u << DOC_CALL | 1u << DOC_RESULT);
	assert_int_equal(q.not_roles, 1u << DOC_THINKING);
	assert_true(clock_parse_iso(SV("2026-01-31"), &ms));
	assert_int_equal(q.after_ms, ms);
	assert_true(clock_parse_iso(SV("2026-11-09"), &ms));
	assert_int_equal(q.before_ms, ms);
	/* "file:" without a value is a word. */
	assert_string_equal(q.words.buf, "word file: x");
	assert_false(query_empty(&q));
	query_release(&q);
}

static void test_refused(void **state)
{
	static const struct {
		const char *typed, *says;
	} bad[] = {
		{ "agent:foo x", "agent:foo: there are sessions of " },
		{ "role:usr", "(did you mean 'user'?)" },
		{ "after:soon", "after:soon: no date" },
		{ "x before:2026-13-01", "before:2026-13-01: no date" },
		{ "-after:2d", "-after:2d: write before:2d instead" },
		{ "a*", "a*: too short" },
		{ "dir:\"\"", "nothing in the quotes" },
	};
	const struct query_context c = context();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct query q = QUERY_INIT;
		struct err err = ERR_INIT;
		assert_int_equal(query_parse(sv_of(bad[i].typed), &c, &q, &err), ERR_USAGE);
		if (!strstr(err.msg, bad[i].says))
			fail_msg("%s: %s", bad[i].typed, err.msg);
	}
}

static void test_limits(void **state)
{
	const struct query_context c = context();
	struct query q = QUERY_INIT;
	AUTO_STR many = STR_INIT;

	(void)state;
	for (int i = 0; i < QUERY_PARTS_MAX; i++)
		str_addf(&many, "w%dx ", i);
	assert_int_equal(query_parse(str_sv(&many), &c, &q, NULL), 0);
	assert_int_equal(q.parts.n, QUERY_PARTS_MAX);
	assert_int_equal(q.passed, 0);
	query_release(&q);
	str_adds(&many, "more words");
	assert_int_equal(query_parse(str_sv(&many), &c, &q, NULL), 0);
	assert_int_equal(q.parts.n, QUERY_PARTS_MAX);
	assert_int_equal(q.passed, 2);
	query_release(&q);
	str_adds(&many, " +must");
	assert_int_equal(query_parse(str_sv(&many), &c, &q, NULL), ERR_USAGE);
}

static void test_empty(void **state)
{
	static const char *const empty[] = { "", "-x", "-\"a b\" -tool:Bash", "??" };
	static const char *const full[] = { "x", "the", "agent:claude", "after:2d", "-role:user" };
	const struct query_context c = context();
	struct query q = QUERY_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(empty) + ARRAY_LEN(full); i++) {
		bool want = i < ARRAY_LEN(empty);
		const char *typed = want ? empty[i] : full[i - ARRAY_LEN(empty)];
		assert_int_equal(query_parse(sv_of(typed), &c, &q, NULL), 0);
		if (query_empty(&q) != want)
			fail_msg("%s", typed);
		query_release(&q);
	}
}

static void test_irregular(void **state)
{
	AUTO_STRV forms = STRV_INIT;

	(void)state;
	vocabulary_forms(SV("retry"), &forms);
	assert_int_equal(forms.n, 0);
	vocabulary_forms(SV("wrote"), &forms);
	assert_int_equal(forms.n, 3);
	assert_string_equal(forms.v[0], "write");
	assert_true(vocabulary_weak(SV("wir")));
	assert_false(vocabulary_weak(SV("wi")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_or),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_irregular),
	};

	(void)setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
