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
	parts("see https://example.org/a", "see https example.org example org a~");
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
	/* An address alone */
	parts("https://example.org/a", "+https_example_org_a");
	parts("https://example.org/a tool:Bash", "+https_example_org_a +tool:bash");
	parts("://x", "x");
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

/* Where there is nothing but a date it is a span of time. */
static void test_dated(void **state)
{
	static const struct {
		const char *typed, *from, *to; /* NULL: it is not */
	} cases[] = {
		{ "yesterday", "2026-11-16", "2026-11-17" },
		{ "What did we do last week?", "2026-11-09", "2026-11-16" },
		{ "was haben wir gestern", "2026-11-16", "2026-11-17" },
		{ "in march agent:codex", "2026-03-01", "2026-04-01" },
		{ "2026-01-31", "2026-01-31", "2026-02-01" },
		{ "was haben wir im März 2025 gemacht?", "2025-03-01", "2025-04-01" },
		{ "was haben wir im Maerz 2025 getan", "2025-03-01", "2025-04-01" },
		{ "woran haben wir im März 2025 gearbeitet?", "2025-03-01", "2025-04-01" },
		{ "was haben wir am 5. Mai 2025 gemacht?", "2025-05-05", "2025-05-06" },
		{ "was haben wir vor 400 Tagen gemacht", "2025-10-13", "2025-10-14" },
		{ "was ist gestern Abend passiert?", "2026-11-16", "2026-11-17" },
		{ "zeig mir die Sitzungen vom 31.1.2026", "2026-01-31", "2026-02-01" },
		{ "Gespräche von letzter Woche", "2026-11-09", "2026-11-16" },
		{ "what happened in March 2025?", "2025-03-01", "2025-04-01" },
		{ "what have we been working on in March 2025", "2025-03-01", "2025-04-01" },
		{ "show me the sessions of March 2025", "2025-03-01", "2025-04-01" },
		{ "list all conversations of last week", "2026-11-09", "2026-11-16" },
		{ "what went on the day before yesterday", "2026-11-15", "2026-11-16" },
		{ "since yesterday", "2026-11-16", "2026-11-18" },
		{ "seit gestern", "2026-11-16", "2026-11-18" },
		{ "what have we done since last week", "2026-11-09", "2026-11-18" },
		{ "was hab ich am Sonntag gemacht", "2026-11-15", "2026-11-16" },
		{ "worüber sprachen wir letzte Woche", "2026-11-09", "2026-11-16" },
		{ "im Jahr 2024", "2024-01-01", "2025-01-01" },
		{ "05/05/2025", "2025-05-05", "2025-05-06" },
		{ "03/04/2025", NULL, NULL },
		{ "was haben wir im März 2025 repariert?", NULL, NULL },
		{ "what happened", NULL, NULL },
		{ "seit dem Umzug gestern", NULL, NULL },
		{ "retry limit yesterday", NULL, NULL },
		{ "\"yesterday\"", NULL, NULL },
		{ "+yesterday", NULL, NULL },
		{ "yester*", NULL, NULL },
		{ "yesterday after:2w", NULL, NULL },
		{ "monday or friday", NULL, NULL },
		{ "may", NULL, NULL },
		{ "3d", NULL, NULL },
		{ "what did we do", NULL, NULL },
		{ "", NULL, NULL },
	};
	const struct query_context c = context();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct query q = QUERY_INIT;
		int64_t from = 0, to = 0;
		assert_int_equal(query_parse(sv_of(cases[i].typed), &c, &q, NULL), 0);
		if (q.dated != (cases[i].from != NULL))
			fail_msg("%s: dated %d", cases[i].typed, q.dated);
		if (q.dated) {
			assert_true(clock_parse_iso(sv_of(cases[i].from), &from));
			assert_true(clock_parse_iso(sv_of(cases[i].to), &to));
			assert_int_equal(q.after_ms, from);
			assert_int_equal(q.before_ms, to);
			assert_int_equal(q.parts.n, 0);
			assert_int_equal(q.words.len, 0);
		}
		query_release(&q);
	}
}

/* Beside what is looked for, the words of a date only say when. */
static void test_date_words(void **state)
{
	static const struct {
		const char *typed, *ranks; /* those that do */
	} cases[] = {
		{ "what did we do about retries in March 2025", "retries" },
		{ "retries vor 400 Tagen", "retries" },
		{ "retries on May 5th, 2025.", "retries" },
		{ "+walrus zebra gestern", "walrus zebra" },
		{ "port 2025 in March 2025", "port 2025" },
		{ "rename log-2026-01-31.txt", "rename log-2026-01-31.txt log 2026 01 31 txt" },
		{ "look in /var/2026-01-31/x", "look var 2026-01-31 2026 01 31 x" },
		{ "from monday to friday", "monday friday" },
		{ "port 2025", "port 2025" },
		{ "retries of last year", "retries last year" },
	};
	const struct query_context c = context();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct query q = QUERY_INIT;
		AUTO_STR got = STR_INIT;
		assert_int_equal(query_parse(sv_of(cases[i].typed), &c, &q, NULL), 0);
		vec_each (&q.parts, part)
			if (!part->weak)
				str_addf(&got, "%s%s", got.len > 0 ? " " : "",
					part->terms.v[0].text);
		if (strcmp(got.buf, cases[i].ranks) != 0)
			fail_msg("%s: %s", cases[i].typed, got.buf);
		query_release(&q);
	}
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
		{ "dir: x", "dir: has no value" },
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
		cmocka_unit_test(test_dated),
		cmocka_unit_test(test_date_words),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_irregular),
	};

	(void)setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
