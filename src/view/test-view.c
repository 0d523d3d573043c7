#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "view/json.h"
#include "view/report.h"

static struct session_row make_row(const char *name, const char *prompt)
{
	struct session_row row = { .agent = xstrdup("claude"), .own_name = xstrdup(name) };

	session_info_init(
		&row.info, TRANSCRIPT_CLAUDE, "/p/aaaaaaaa-0000-4000-8000-000000000001.jsonl");
	free(row.info.prompt);
	row.info.prompt = xstrdup(prompt);
	free(row.info.cwd);
	row.info.cwd = xstrdup("/work");
	return row;
}

static int collect(void *data, struct sv bytes, struct err *reterr)
{
	(void)reterr;
	str_add(data, bytes);
	return 0;
}

/* What is shown need not go to a terminal. */
static void test_text_goes_to_a_sink(void **state)
{
	AUTO_SESSION_ROW row = make_row("", "first words");
	AUTO_STR got = STR_INIT;
	struct term t;

	(void)state;
	term_init_capture(&t, 80, 24, false);
	t.sink = (struct term_sink){ collect, &got };
	view_session(&t, &row);
	assert_int_equal(got.len, 0);
	assert_int_equal(term_flush(&t, NULL), 0);
	assert_true(sv_starts(str_sv(&got), SV("first words\nclaude  aaaaaaaa-0000-")));
	assert_int_equal(t.buf.len, 0);
	term_release(&t);
}

static void test_title_is_name_or_prompt_or_id(void **state)
{
	AUTO_SESSION_ROW named = make_row("mine", "first words");
	AUTO_SESSION_ROW said = make_row("", "first words");
	AUTO_SESSION_ROW bare = make_row("", "");

	(void)state;
	assert_string_equal(session_title(&named), "mine");
	assert_string_equal(session_title(&said), "first words");
	assert_string_equal(session_title(&bare), "aaaaaaaa-0000-4000-8000-000000000001");
}

static void test_failures_have_one_shape(void **state)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	struct err err = ERR_INIT;

	(void)state;
	(void)err_set(&err, ERR_BUSY, "it is \"open\"");
	view_json_failure(&w, &err, NULL);
	assert_string_equal(
		out.buf, "{\"error\":{\"code\":\"busy\",\"message\":\"it is \\\"open\\\"\"}}");
}

static void test_a_report_says_where_it_went(void **state)
{
	AUTO_SESSION_ROW row = make_row("", "x");
	const struct figure before = { 1000, SURE_EXACT }, saved = { 400, SURE_FITTED };
	struct made m = {
		.parent = &row,
		.relation = SESSION_TRIMMED,
		.id = "new-id",
		.path = "/p/new-id.jsonl",
		.agent = "claude",
		.before = &before,
		.saved = &saved,
		.unseen = true,
	};
	struct term t;

	(void)state;
	m.place = xstrdup("/no/where\n/x.jsonl");
	term_init_capture(&t, 0, 0, false);
	view_made(&t, &m, "/home/me", "It");
	view_next(&t, &m, NULL);
	assert_string_equal(t.buf.buf,
		"New session new-id\n"
		"  from     aaaaaaaa-0000-4000-8000-000000000001\n"
		"  file     /p/new-id.jsonl\n"
		"  saved    400 of 1,000 tokens (fitted), leaving 600\n"
		"claude does not look for sessions where this file lies.\n"
		"To go on with it, move it first:\n"
		"  mkdir -p $'/no/where\\012' && mv '/p/new-id.jsonl' "
		"$'/no/where\\012/x.jsonl'\n");
	term_release(&t);
	made_release(&m);
}

/* An id is whatever a file is called. */
static void test_a_report_trusts_no_id(void **state)
{
	AUTO_SESSION_ROW row = make_row("", "x");
	struct made m = {
		.parent = &row,
		.relation = SESSION_TRIMMED,
		.id = "x; touch pwn\x1b[2J",
		.path = "/p/x.jsonl",
		.agent = "claude",
		.in_place = true,
		.backup = xstrdup("x.0123abcd"),
		.resume = STRV_INIT,
	};
	struct term t;

	(void)state;
	strv_add(&m.resume, "claude");
	strv_add(&m.resume, "--resume");
	strv_add(&m.resume, m.id);
	term_init_capture(&t, 80, 24, false);
	view_made(&t, &m, "/home/me", "It");
	view_next(&t, &m, NULL);
	assert_null(strchr(t.buf.buf, '\x1b'));
	assert_non_null(strstr(t.buf.buf, "  faden ask --in $'x; touch pwn\\033[2J' TEXT\n"));
	assert_non_null(strstr(t.buf.buf, "  faden resume $'x; touch pwn\\033[2J'\n"));
	assert_non_null(strstr(t.buf.buf, "  claude --resume $'x; touch pwn\\033[2J'\n"));
	term_release(&t);
	made_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_goes_to_a_sink),
		cmocka_unit_test(test_title_is_name_or_prompt_or_id),
		cmocka_unit_test(test_failures_have_one_shape),
		cmocka_unit_test(test_a_report_says_where_it_went),
		cmocka_unit_test(test_a_report_trusts_no_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
