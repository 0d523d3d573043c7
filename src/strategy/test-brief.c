#include <string.h>

#include "strategy/brief.h"
#include "transcript/test-session.h"

/* ---- words ---- */

struct found {
	struct str text;
};

static void on_mark(void *data, enum brief_mark mark, struct sv line)
{
	static const char names[] = { [BRIEF_MARK_DECISION] = 'd',
		[BRIEF_MARK_OPEN] = 'o',
		[BRIEF_MARK_NEXT] = 'n',
		[BRIEF_MARK_DONE] = 'x' };
	struct found *f = data;

	str_addf(&f->text, "%c:%.*s;", names[mark], SV_ARG(line));
}

static void check_marks(const char *text, const char *want)
{
	struct found f = { STR_INIT };

	brief_marks(sv_of(text), on_mark, &f);
	assert_string_equal(f.text.buf, want);
	str_release(&f.text);
}

static void test_marked_lines_are_facts(void **state)
{
	(void)state;
	check_marks("Decision: use SQLite", "d:use SQLite;");
	check_marks("- **Decision:** use SQLite", "d:use SQLite;");
	check_marks("1. __Decided__: no cloud", "d:no cloud;");
	check_marks("> Entscheidung: nur lokal", "d:nur lokal;");
	check_marks("## Decisions\n\n- one\n- **two**\n\nplain\n- three", "d:one;d:two;");
	check_marks("Next steps:\n1. a\n2. b", "n:a;n:b;");
	check_marks("Nächste Schritte: testen", "n:testen;");
	check_marks("- [ ] open\n- [x] done", "o:open;x:done;");
	check_marks("Todo:\n- [X] done\n- [ ] open", "x:done;o:open;");
	check_marks("TODO: fix rounding\n**Remaining:** docs", "o:fix rounding;o:docs;");
	check_marks("TODO fix rounding\n- FIXME the end", "o:fix rounding;o:the end;");
	check_marks("# TODO list of a file\nTodo is a word\nTODOs", "");
	check_marks("Noch zu erledigen:\n- Doku\nAusstehend: Tests", "o:Doku;o:Tests;");
	check_marks("```\nDecision: in code\n```\nDecision: out", "d:out;");
	check_marks("The decision: was hard", "");
	check_marks("Decisionmaking: x", "");
	check_marks("I read both. Decision: use SQLite.", "d:use SQLite.;");
	check_marks("So (Decision: no cloud", "d:no cloud;");
	check_marks("It works. **Decision:** one file. **Next:** the tests",
		"d:one file.;n:the tests;");
	check_marks("Decision: one. Next step: two", "d:one.;n:two;");
	check_marks("- kept as it is, Decision: no tree", "d:no tree;");
	check_marks("Undecision: x MyDecision: y", "");
	check_marks("see the Next: button", "");
	check_marks("Alles gut. Entscheidung: nur lokal", "d:nur lokal;");
	check_marks("a Decision:", "");
	check_marks("We decided nothing", "");
	check_marks("## Decisions", "");
	check_marks("", "");
}

/* ---- sessions ---- */

#define BASH(id, command)                      \
	"[{\"type\":\"tool_use\",\"id\":\"" id \
	"\",\"name\":\"Bash\",\"input\":{\"command\":\"" command "\"}}]"
#define TOOL(id, name, key, value)                                                          \
	"[{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name "\",\"input\":{\"" key \
	"\":\"" value "\"}}]"

static void claude_work(struct str *t)
{
	claude_user(t, "u1", NULL, "please build the parser for session files");
	claude_answer(t, "a1", "u1", "m1", BASH("t1", "make"));
	claude_failed(t, "r1", "a1", "t1", "Exit code 2\nparser.c:3: no such thing\nmore");
	claude_answer(t, "a2", "r1", "m2", TOOL("t2", "Edit", "file_path", "/w/parser.c"));
	claude_result(t, "r2", "a2", "t2", "ok");
	claude_answer(t, "a3", "r2", "m3", BASH("t3", "make"));
	claude_result(t, "r3", "a3", "t3", "built");
	claude_answer(t, "a4", "r3", "m4", TEXT("Decision: no tree.\\nNext: the tests"));
	claude_user(t, "u2", "a4", "now write the tests for all of it");
	claude_answer(t, "a5", "u2", "m5", TOOL("t5", "Read", "file_path", "/w/README"));
	claude_result(t, "r5", "a5", "t5", "words");
	claude_answer(t, "a6", "r5", "m6", TEXT("Shall I?\\n- [ ] fuzz target"));
	claude_user(t, "u3", "a6", "yes");
	claude_answer(t, "a7", "u3", "m7", BASH("t7", "sleep 9"));
}

static void make(void **state, const struct transcript_format *format, const struct str *text,
	struct brief *ret)
{
	AUTO_FREE char *path = session_write(*state, "s.jsonl", str_sv(text));

	assert_int_equal(brief_make(path, format, ret, NULL), 0);
	/* every place holds the value it says */
	AUTO_STR bytes = STR_INIT;
	assert_int_equal(file_read(path, 1 << 20, &bytes, NULL), 0);
	vec_each (&ret->facts, fact) {
		struct jval val;
		struct sv rest =
			sv_head(sv_from(str_sv(&bytes), fact->place.offset), fact->place.size);
		assert_true(fact->place.line > 0);
		assert_true(fact->place.size > 0);
		assert_int_equal(scan_text(rest, &val), 0);
		assert_int_equal(val.type, fact->place.type);
	}
}

static const struct brief_fact *fact_of(const struct brief *b, enum brief_kind kind, size_t nth)
{
	vec_each (&b->facts, fact)
		if (fact->kind == kind && nth-- == 0)
			return fact;
	return NULL;
}

static void check_end(const struct brief *b, enum brief_kind kind, enum brief_end end, int status)
{
	const struct brief_fact *fact = fact_of(b, kind, 0);

	assert_true(fact && fact->end == end && fact->status == status);
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

static void test_brief_of_claude(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	claude_work(&text);
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	assert_int_equal(b.turns, 3);
	check_fact(&b, BRIEF_FIRST, 0, "please build the parser for session files");
	check_fact(&b, BRIEF_TASK, 0, "now write the tests for all of it");
	check_fact(&b, BRIEF_SINCE, 0, "yes");
	check_fact(&b, BRIEF_DECISION, 0, "no tree.");
	check_fact(&b, BRIEF_CHANGED, 0, "/w/parser.c");
	check_fact(&b, BRIEF_CHANGED, 1, NULL);
	check_fact(&b, BRIEF_READ, 0, "/w/README");
	check_fact(&b, BRIEF_COMMAND, 0, "make");
	check_fact(&b, BRIEF_COMMAND, 1, NULL);
	check_end(&b, BRIEF_COMMAND, BRIEF_EXIT, 0);
	check_fact(&b, BRIEF_ERROR, 0, "Bash (make): parser.c:3: no such thing");
	check_end(&b, BRIEF_ERROR, BRIEF_EXIT, 2);
	check_fact(&b, BRIEF_OPEN, 0, "fuzz target");
	check_fact(&b, BRIEF_OPEN, 1, "Bash was called and has no result: sleep 9");
	check_fact(&b, BRIEF_OPEN, 2, "the last prompt has no answer");
	check_fact(&b, BRIEF_OPEN, 3, NULL);
	check_fact(&b, BRIEF_ANSWER, 0, "Shall I?\n- [ ] fuzz target");
}

static void test_open_points_of_the_last_answer(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	claude_user(&text, "u1", NULL, "please build the parser for session files");
	claude_answer(&text, "a1", "u1", "m1", TEXT("Next: this is old"));
	claude_user(&text, "u2", "a1", "go on with all that is left now");
	claude_answer(&text, "a2", "u2", "m2", TEXT("Next: this is new"));
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	check_fact(&b, BRIEF_OPEN, 0, "this is new");
	check_fact(&b, BRIEF_OPEN, 1, NULL);
}

static void talk(struct str *t, int n, const char *prompt, const char *answer)
{
	AUTO_FREE char *before = xasprintf("a%d", n - 1);
	AUTO_FREE char *user = xasprintf("u%d", n);
	AUTO_FREE char *uuid = xasprintf("a%d", n);
	AUTO_FREE char *content = xasprintf("[{\"type\":\"text\",\"text\":\"%s\"}]", answer);

	claude_user(t, user, n > 1 ? before : NULL, prompt);
	claude_answer(t, uuid, user, uuid, content);
}

/* Open points outlive the prompts that follow, until they are done or grow old. */
static void test_open_points_stay(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	talk(&text, 1, "please build the parser for session files", "TODO: too old by now");
	talk(&text, 2, "yes",
		"TODO: fix rounding\\nRemaining: the docs\\n- [ ] write tests\\n- [ ] one "
		"more");
	talk(&text, 3, "yes", "- [x] write tests\\n- [ ] one more");
	talk(&text, 4, "yes", "fine");
	talk(&text, 5, "- [ ] what the user wants", "fine");
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	check_fact(&b, BRIEF_OPEN, 0, "fix rounding");
	check_fact(&b, BRIEF_OPEN, 1, "the docs");
	check_fact(&b, BRIEF_OPEN, 2, "one more");
	check_fact(&b, BRIEF_OPEN, 3, "what the user wants");
	check_fact(&b, BRIEF_OPEN, 4, NULL);
}

static void test_open_points_of_a_plan(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	talk(&text, 1, "please build the parser for session files", "TODO: one\\nTODO: two");
	claude_answer(&text, "b", "a1", "m9",
		"[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"TodoWrite\",\"input\":{\"todos\":"
		"[{\"content\":\"One.\",\"status\":\"completed\"}]}}]");
	claude_result(&text, "r1", "b", "t1", "ok");
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	check_fact(&b, BRIEF_OPEN, 0, "two");
	check_fact(&b, BRIEF_OPEN, 1, NULL);
}

static void test_branch_that_was_left_is_left_out(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	claude_user(&text, "u1", NULL, "please build the parser for session files");
	claude_answer(&text, "a1", "u1", "m1", TEXT("Decision: left"));
	claude_user(&text, "u2", "a1", "abandoned words that nobody wants any more");
	claude_answer(&text, "a2", "u2", "m2", TEXT("Decision: lost"));
	claude_user(&text, "u3", "a1", "the words of the branch that is alive");
	claude_answer(&text, "a3", "u3", "m3", TEXT("done"));
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	assert_int_equal(b.turns, 2);
	check_fact(&b, BRIEF_DECISION, 0, "left");
	check_fact(&b, BRIEF_DECISION, 1, NULL);
	check_fact(&b, BRIEF_TASK, 0, "the words of the branch that is alive");
}

static void test_brief_has_the_open_plan(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	claude_user(&text, "u1", NULL, "please build the parser for session files");
	claude_answer(&text, "a1", "u1", "m1",
		"[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"TodoWrite\",\"input\":{\"todos\":"
		"["
		"{\"content\":\"one\",\"status\":\"completed\"},"
		"{\"content\":\"two\",\"status\":\"in_progress\"},"
		"{\"content\":\"three\",\"status\":\"pending\"}]}}]");
	claude_result(&text, "r1", "a1", "t1", "ok");
	claude_answer(&text, "a2", "r1", "m2", TEXT("so far"));
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	check_fact(&b, BRIEF_OPEN, 0, "two (begun)");
	check_fact(&b, BRIEF_OPEN, 1, "three");
	check_fact(&b, BRIEF_OPEN, 2, NULL);
}

static void test_brief_of_codex(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	codex_line(&text, "session_meta", "{\"id\":\"x\",\"cwd\":\"/w\"}");
	codex_message(&text, "user", "please mend the build of this thing");
	codex_line(&text, "response_item",
		"{\"type\":\"function_call\",\"name\":\"exec_command\",\"call_id\":\"c1\","
		"\"arguments\":\"{\\\"cmd\\\":\\\"make\\\"}\"}");
	codex_line(&text, "response_item",
		"{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"Chunk ID: 1\\n"
		"Wall time: 0.1 seconds\\nProcess exited with code 7\\nOutput:\\n1\\n2\\nbroken "
		"here\\n\\n\"}");
	codex_line(&text, "response_item",
		"{\"type\":\"custom_tool_call\",\"name\":\"apply_patch\",\"call_id\":\"c2\","
		"\"input\":"
		"\"*** Begin Patch\\n*** Update File: a.c\\n@@\\n*** Add File: b.c\\n*** End "
		"Patch\"}");
	codex_line(&text, "response_item",
		"{\"type\":\"custom_tool_call_output\",\"call_id\":\"c2\",\"output\":\"Done\"}");
	codex_line(&text, "response_item",
		"{\"type\":\"function_call\",\"name\":\"update_plan\",\"call_id\":\"c3\","
		"\"arguments\":"
		"\"{\\\"plan\\\":[{\\\"step\\\":\\\"test "
		"it\\\",\\\"status\\\":\\\"pending\\\"}]}\"}");
	codex_line(&text, "response_item",
		"{\"type\":\"function_call_output\",\"call_id\":\"c3\",\"output\":\"Plan "
		"updated\"}");
	codex_message(&text, "assistant", "patched");
	make(state, TRANSCRIPT_CODEX, &text, &b);
	check_fact(&b, BRIEF_TASK, 0, "please mend the build of this thing");
	check_fact(&b, BRIEF_COMMAND, 0, "make");
	check_end(&b, BRIEF_COMMAND, BRIEF_EXIT, 7);
	check_fact(&b, BRIEF_ERROR, 0, "exec_command (make): broken here");
	check_fact(&b, BRIEF_CHANGED, 0, "a.c");
	check_fact(&b, BRIEF_CHANGED, 1, "b.c");
	check_fact(&b, BRIEF_OPEN, 0, "test it");
	check_fact(&b, BRIEF_OPEN, 1, NULL);
}

static void test_hostile_lines_make_no_facts(void **state)
{
	static const char *const lines[] = {
		"null\n[]\n5\n\"x\"\n",
		"{\"type\":\"user\",\"message\":null}\n",
		"{\"type\":\"assistant\",\"uuid\":\"a\",\"message\":{\"content\":42}}\n",
		"{\"type\":\"assistant\",\"uuid\":\"b\",\"message\":{\"content\":[{\"type\":"
		"\"tool_use\",\"id\":{},\"name\":7,\"input\":[]}]}}\n",
		"{\"type\":\"assistant\",\"uuid\":\"c\",\"message\":{\"content\":[{\"type\":"
		"\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{\"command\":{}}}]}}\n",
		"{\"type\":\"assistant\",\"uuid\":\"d\",\"message\":{\"content\":[{\"type\":"
		"\"tool_use\",\"id\":\"t\",\"name\":\"TodoWrite\",\"input\":{\"todos\":[1,{}]}}]}}"
		"\n",
		"{\"type\":\"user\"",
	};
	AUTO_STR text = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		str_adds(&text, lines[i]);
	AUTO_FREE char *path = session_write(*state, "s.jsonl", str_sv(&text));
	assert_int_equal(brief_make(path, TRANSCRIPT_CLAUDE, &b, NULL), 0);
	AUTO_BRIEF again = BRIEF_INIT;
	assert_int_equal(brief_make(path, TRANSCRIPT_CODEX, &again, NULL), 0);
}

/* As a repair leaves it: the lines stay where they are, and a note names the latest entry. */
static void test_order_is_that_of_the_chain(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR said = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	claude_user(&text, "u1", NULL, "build the parser of this program");
	claude_answer(&text, "a1", "u1", "m1", "[{\"type\":\"text\",\"text\":\"built\"}]");
	claude_user(&text, "u3", "a2", "and last");
	claude_answer(&text, "a3", "u3", "m3", "[{\"type\":\"text\",\"text\":\"the end\"}]");
	claude_user(&text, "u2", "a1", "then this");
	claude_answer(&text, "a2", "u2", "m2", "[{\"type\":\"text\",\"text\":\"midway\"}]");
	str_adds(&text, "{\"type\":\"last-prompt\",\"leafUuid\":\"a3\",\"sessionId\":\"s\"}\n");
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	vec_each (&b.facts, fact)
		str_addf(&said, "%s: %s; ", brief_kind_name(fact->kind), fact->text);
	assert_string_equal(said.buf,
		"task: build the parser of this program; said_since: then this; "
		"said_since: and last; last_answer: the end; ");
}

/* ---- the text ---- */

static void test_brief_is_rendered_with_lines(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR out = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	claude_work(&text);
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	brief_render(&b, 16384, &out);
	assert_non_null(strstr(out.buf,
		"## Task\n- At first: please build the parser for session files [line 1]\n"));
	assert_non_null(strstr(out.buf, "## Commands\n- exit 0: make (2 times) [line 7]\n"));
	assert_non_null(strstr(out.buf,
		"- exit 2: Bash (make): parser.c:3: no such thing (succeeded since) [line 3]"));
}

#define LONG "cd /somewhere/far/away/in/a/folder/with/a/long/name/and/a/longer/one && pytest -q "

/* An error is past when the very same call went well later, and no longer when it failed again. */
static void test_past_errors(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;

	claude_user(&text, "u1", NULL, "please build the parser for session files");
	claude_answer(&text, "a1", "u1", "m1", BASH("t1", LONG "a"));
	claude_failed(&text, "r1", "a1", "t1", "Exit code 1\n3 failed");
	claude_answer(&text, "a2", "r1", "m2", BASH("t2", LONG "b"));
	claude_result(&text, "r2", "a2", "t2", "2 passed");
	claude_answer(&text, "a3", "r2", "m3", BASH("t3", "make"));
	claude_failed(&text, "r3", "a3", "t3", "Exit code 2\nerror: one");
	claude_answer(&text, "a4", "r3", "m4", BASH("t4", "make"));
	claude_result(&text, "r4", "a4", "t4", "built");
	claude_answer(&text, "a5", "r4", "m5", BASH("t5", "make"));
	claude_failed(&text, "r5", "a5", "t5", "Exit code 2\nerror: two");
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	check_fact(&b, BRIEF_ERROR, 1, "Bash (make): error: one");
	for (size_t i = 0; i < 3; i++) {
		const struct brief_fact *fact = fact_of(&b, BRIEF_ERROR, i);
		assert_true(fact && fact->past == (i == 1));
	}
}

static void test_render_is_bounded(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;
	char uuid[16], parent[16] = "u0";

	claude_user(&text, "u0", NULL, "please build the parser for session files");
	for (int i = 1; i <= 400; i++) {
		AUTO_FREE char *content = xasprintf("[{\"type\":\"text\",\"text\":"
						    "\"Decision: number %d of a great many\"}]",
			i);
		(void)snprintf(uuid, sizeof(uuid), "u%d", i);
		claude_answer(&text, uuid, parent, uuid, content);
		memcpy(parent, uuid, sizeof(uuid));
	}
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	assert_int_equal(b.more[BRIEF_DECISION], 400 - BRIEF_FACTS_MAX);
	for (size_t max = 0; max < 4000; max += 400) {
		AUTO_STR out = STR_INIT;
		brief_render(&b, max, &out);
		/* the task always stays */
		assert_non_null(strstr(out.buf, "please build the parser"));
		assert_true(out.len < max + 400);
		if (max > 1000)
			assert_non_null(strstr(out.buf, "number 400 of"));
	}
}

/* What the user asked for between the first words and the last is as binding as these. */
static void test_all_that_was_asked_for(void **state)
{
	static const char *const said[] = { "build the importer for the old files",
		"no new dependencies", "yes", "every date has to be in UTC,\nalso in the log",
		"Ok, go on!", "Now write the manual page for it.", "use tabs",
		"refuse files above one gigabyte please", "now write the manual page for it",
		"thanks" };
	AUTO_STR text = STR_INIT;
	AUTO_STR out = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;
	char user[16], answer[16] = "";

	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		(void)snprintf(user, sizeof(user), "u%zu", i);
		claude_user(&text, user, i ? answer : NULL, said[i]);
		(void)snprintf(answer, sizeof(answer), "a%zu", i);
		claude_answer(&text, answer, user, answer, TEXT("done"));
	}
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	vec_each (&b.facts, fact)
		str_addf(&out, "%s: %s; ", brief_kind_name(fact->kind), fact->text);
	assert_string_equal(out.buf,
		"first_task: build the importer for the old files; "
		"said_between: no new dependencies; "
		"said_between: every date has to be in UTC, also in the log; "
		"said_between: use tabs; "
		"said_between: refuse files above one gigabyte please; "
		"task: now write the manual page for it; said_since: thanks; last_answer: done; ");
	str_clear(&out);
	brief_render(&b, 16384, &out);
	assert_non_null(strstr(out.buf,
		"- Asked for in between: use tabs [line 13]\n"
		"- Asked for in between: refuse files above one gigabyte please [line 15]\n"
		"- As last stated: now write the manual page for it [line 17]\n"));
}

/* Where room is scarce each of them is shortened, and all else is thinned out before one goes. */
static void test_what_was_asked_for_is_shortened_first(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR out = STR_INIT;
	AUTO_BRIEF b = BRIEF_INIT;
	AUTO_STR filling = STR_INIT;
	char user[16], answer[16] = "", mark[48];

	for (int i = 0; i < 300; i++)
		str_adds(&filling, "filling ");
	for (int i = 0; i < BRIEF_FACTS_MAX + 2; i++) {
		AUTO_FREE char *asked = xasprintf("demand number %d is about %s", i, filling.buf);
		AUTO_FREE char *content = xasprintf("[{\"type\":\"text\",\"text\":"
						    "\"Decision: number %d %.150s\"}]",
			i, filling.buf);
		(void)snprintf(user, sizeof(user), "u%d", i);
		claude_user(&text, user, i ? answer : NULL, asked);
		(void)snprintf(answer, sizeof(answer), "a%d", i);
		claude_answer(&text, answer, user, answer, content);
	}
	make(state, TRANSCRIPT_CLAUDE, &text, &b);
	brief_render(&b, 16384, &out);
	assert_true(out.len < 16384 + 400);
	for (int i = 0; i < BRIEF_FACTS_MAX + 2; i++) {
		(void)snprintf(mark, sizeof(mark), ": demand number %d is", i);
		assert_non_null(strstr(out.buf, mark));
	}
	assert_non_null(strstr(out.buf,
		"filling"
		"\xe2\x80\xa6 [line "));
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, folder_setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marked_lines_are_facts),
		CASE(test_brief_of_claude),
		CASE(test_open_points_of_the_last_answer),
		CASE(test_open_points_stay),
		CASE(test_open_points_of_a_plan),
		CASE(test_branch_that_was_left_is_left_out),
		CASE(test_brief_has_the_open_plan),
		CASE(test_brief_of_codex),
		CASE(test_hostile_lines_make_no_facts),
		CASE(test_past_errors),
		CASE(test_order_is_that_of_the_chain),
		CASE(test_brief_is_rendered_with_lines),
		CASE(test_render_is_bounded),
		CASE(test_all_that_was_asked_for),
		CASE(test_what_was_asked_for_is_shortened_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
