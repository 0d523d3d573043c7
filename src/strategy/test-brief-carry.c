/*
 * A brief of a session that began with one.
 */
#include <string.h>

#include "strategy/brief.h"
#include "transcript/test-session.h"

#define REF "0123456789abcdef"
#define BASH(id, command)                      \
	"[{\"type\":\"tool_use\",\"id\":\"" id \
	"\",\"name\":\"Bash\",\"input\":{\"command\":\"" command "\"}}]"
#define PLAN(id, steps)                        \
	"[{\"type\":\"tool_use\",\"id\":\"" id \
	"\",\"name\":\"TodoWrite\",\"input\":{\"todos\":[" steps "]}}]"
#define STEP(text, status) "{\"content\":\"" text "\",\"status\":\"" status "\"}"

static void work(struct str *t)
{
	claude_user(t, "u1", NULL, "please build the parser for session files\nand its tests");
	claude_answer(t, "a1", "u1", "m1",
		PLAN("t1", STEP("write tests", "pending") "," STEP("parse quotes", "in_progress")));
	claude_result(t, "r1", "a1", "t1", "ok");
	claude_answer(t, "a2", "r1", "m2", BASH("t2", "make"));
	claude_failed(t, "r2", "a2", "t2", "Exit code 2\nparser.c:3: no such thing\nmore");
	claude_answer(t, "a3", "r2", "m3", BASH("t3", "make"));
	claude_failed(t, "r3", "a3", "t3", "Exit code 2\nparser.c:3: no such thing\nmore");
	claude_answer(t, "a4", "r3", "m4",
		"[{\"type\":\"tool_use\",\"id\":\"t4\",\"name\":\"Edit\",\"input\":"
		"{\"file_path\":\"/w/parser.c\"}}]");
	claude_result(t, "r4", "a4", "t4", "ok");
	claude_answer(t, "a5", "r4", "m5",
		TEXT("Half done. Decision: no tree.\\nDecision: No tree\\n\\n- one\\n- two"));
	claude_user(t, "u2", "a5", "every date has to be in UTC");
	claude_answer(t, "a7", "u2", "m7", TEXT("Half done.\\n\\n- one\\n- two"));
	claude_user(t, "u3", "a7", "no new dependencies");
	claude_user(t, "u4", "u3", "and now the quotes of the parser");
	claude_user(t, "u5", "u4", "yes");
	claude_answer(t, "a6", "u5", "m6", BASH("t6", "sleep 9"));
}

static void make(void **state, const struct str *text, struct brief *ret)
{
	AUTO_FREE char *path = session_write(*state, "s.jsonl", str_sv(text));

	assert_int_equal(brief_make(path, TRANSCRIPT_CLAUDE, ret, NULL), 0);
}

/* A session that begins with that brief, as a rollover makes it. */
static void begin_with(const struct brief *b, const char *tail, struct str *out)
{
	AUTO_STR message = STR_INIT;

	str_adds(&message,
		"Continue: x\n\n" BRIEF_LINEAGE_BEGIN "\n1. a\n" BRIEF_LINEAGE_END
		"\n\n" BRIEF_STANDS "\nFacts from session x.\n\n");
	brief_render(b, 16384, &message);
	str_adds(&message, tail);
	claude_user(out, "u1", NULL, message.buf);
	claude_answer(out, "a1", "u1", "m1", TEXT(BRIEF_OWN_ANSWER));
}

static void refer(struct brief *b)
{
	vec_each (&b->facts, fact)
		memcpy(fact->ref, REF, sizeof(fact->ref));
}

static const struct brief_fact *fact_of(const struct brief *b, enum brief_kind kind, size_t nth)
{
	vec_each (&b->facts, fact)
		if (fact->kind == kind && nth-- == 0)
			return fact;
	return NULL;
}

static void check_fact(const struct brief *b, enum brief_kind kind, size_t nth, const char *text)
{
	const struct brief_fact *fact = fact_of(b, kind, nth);

	if (!text) {
		assert_null(fact);
		return;
	}
	assert_non_null(fact);
	assert_string_equal(fact->text, text);
}

static struct brief_fact first_of(const struct brief *b, enum brief_kind kind)
{
	vec_each (&b->facts, fact)
		if (fact->kind == kind)
			return *fact;
	fail_msg("no %s", brief_kind_name(kind));
	return (struct brief_fact){ .text = NULL };
}

static void check_same(const struct brief *a, const struct brief *b)
{
	assert_int_equal(a->facts.n, b->facts.n);
	for (size_t i = 0; i < a->facts.n; i++) {
		const struct brief_fact *x = &a->facts.v[i], *y = &b->facts.v[i];
		assert_int_equal(x->kind, y->kind);
		assert_string_equal(x->text, y->text);
		assert_int_equal(x->cut, y->cut);
		assert_int_equal(x->times, y->times);
		assert_int_equal(x->end, y->end);
		assert_int_equal(x->status, y->status);
		assert_int_equal(x->past, y->past);
	}
}

/* Every fact, with its reference, through two generations in which nothing happened. */
static void test_all_kinds(void **state)
{
	AUTO_STR one = STR_INIT;
	AUTO_STR two = STR_INIT;
	AUTO_STR three = STR_INIT;
	AUTO_BRIEF a = BRIEF_INIT;
	AUTO_BRIEF b = BRIEF_INIT;
	AUTO_BRIEF c = BRIEF_INIT;

	work(&one);
	make(state, &one, &a);
	check_fact(&a, BRIEF_OPEN, 0, "write tests");
	check_fact(&a, BRIEF_OPEN, 1, "parse quotes (begun)");
	check_fact(&a, BRIEF_DECISION, 0, "No tree");
	check_fact(&a, BRIEF_DECISION, 1, NULL);
	check_fact(&a, BRIEF_ERROR, 1, NULL);
	assert_int_equal(first_of(&a, BRIEF_ERROR).times, 2);
	check_fact(&a, BRIEF_BETWEEN, 1, "no new dependencies");
	a.more[BRIEF_DECISION] = 12;
	a.more[BRIEF_BETWEEN] = 5;
	refer(&a);
	begin_with(&a, "", &two);
	make(state, &two, &b);
	check_same(&a, &b);
	assert_int_equal(b.more[BRIEF_DECISION], 12);
	assert_int_equal(b.more[BRIEF_BETWEEN], 5);
	check_fact(&b, BRIEF_ANSWER, 0, "Half done.\n\n- one\n- two");
	vec_each (&b.facts, fact)
		if (strcmp(fact->text, "the last prompt has no answer") != 0)
			assert_string_equal(fact->ref, REF);
	assert_true(first_of(&b, BRIEF_OPEN).before);
	assert_false(first_of(&b, BRIEF_DECISION).before);
	refer(&b);
	begin_with(&b, "", &three);
	assert_null(strstr(three.buf, "before) (from before"));
	make(state, &three, &c);
	check_same(&a, &c);
}

static void test_newer_facts_replace(void **state)
{
	AUTO_STR one = STR_INIT;
	AUTO_STR two = STR_INIT;
	AUTO_BRIEF a = BRIEF_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	work(&one);
	make(state, &one, &a);
	begin_with(&a, "\n" BRIEF_WISH "\nnow do the quotes and nothing else\n", &two);
	claude_answer(&two, "a2", "a1", "m2", BASH("t2", "make"));
	claude_result(&two, "r2", "a2", "t2", "built");
	claude_answer(&two, "a3", "r2", "m3", PLAN("t3", STEP("parse quotes", "pending")));
	claude_result(&two, "r3", "a3", "t3", "ok");
	claude_answer(&two, "a4", "r3", "m4", TEXT("On it."));
	make(state, &two, &b);
	check_fact(&b, BRIEF_TASK, 0, "now do the quotes and nothing else");
	check_fact(&b, BRIEF_SINCE, 0, NULL);
	check_fact(&b, BRIEF_FIRST, 0, "please build the parser for session files\nand its tests");
	check_fact(&b, BRIEF_BETWEEN, 1, "no new dependencies");
	check_fact(&b, BRIEF_BETWEEN, 2, "and now the quotes of the parser");
	check_fact(&b, BRIEF_BETWEEN, 3, NULL);
	check_fact(&b, BRIEF_OPEN, 0, "parse quotes");
	check_fact(&b, BRIEF_OPEN, 1, NULL);
	check_fact(&b, BRIEF_COMMAND, 0, "make");
	assert_int_equal(first_of(&b, BRIEF_COMMAND).times, 3);
	assert_int_equal(first_of(&b, BRIEF_COMMAND).status, 0);
	assert_false(first_of(&b, BRIEF_COMMAND).before);
	check_fact(&b, BRIEF_ANSWER, 0, "On it.");
	assert_false(first_of(&b, BRIEF_ANSWER).before);
	assert_true(first_of(&b, BRIEF_ERROR).before);
	assert_true(first_of(&b, BRIEF_ERROR).past);
	AUTO_STR three = STR_INIT;
	AUTO_BRIEF c = BRIEF_INIT;
	begin_with(&b, "", &three);
	make(state, &three, &c);
	check_fact(&c, BRIEF_ERROR, 0, "Bash (make): parser.c:3: no such thing");
	assert_true(first_of(&c, BRIEF_ERROR).past);
}

/* Words that only look like marks of a brief. */
static void test_hostile(void **state)
{
	static const char *const sections[] = {
		"## Commands\n- exit 99999999999999: x\n- exit : y\n- exit -1: z\n- exit 1\n- "
		"\n-\n",
		"## Errors\n- (1,2,,3 times)\n- x ( times)\n- (99999999999999999 times) [] [\n",
		"## Unfinished\n- and -3 earlier\n- and  earlier\n- and 99999999999999999999 "
		"earlier\n",
		"## Last answer\n- \n  \n  [" REF "]\n## Task\n- As last stated:\n- Said since: \n",
		"# Summary by an agent\n## Unfinished\n- of the summary\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		AUTO_STR text = STR_INIT;
		AUTO_STR out = STR_INIT;
		AUTO_BRIEF none = BRIEF_INIT;
		AUTO_BRIEF b = BRIEF_INIT;
		begin_with(&none, sections[i], &text);
		make(state, &text, &b);
		brief_render(&b, 16384, &out);
		assert_null(strstr(out.buf, "of the summary"));
	}
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, folder_setup, folder_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_all_kinds),
		CASE(test_newer_facts_replace),
		CASE(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
