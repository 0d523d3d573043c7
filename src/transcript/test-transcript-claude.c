#include "transcript/test-session.h"

#define NAME "projects/-work-demo/11111111-2222-4333-8444-555555555555.jsonl"

/* Every kind of line in one file. */
static void write_all(struct str *out)
{
	str_adds(out,
		"{\"type\":\"queue-operation\",\"timestamp\":\"" T0 "\",\"content\":\"no\"}\n");
	claude_head(out, "user", "u0", NULL);
	str_adds(out, ",\"isMeta\":true,\"message\":{\"content\":\"not by a person\"}}\n");
	claude_user(out, "u1", "u0", "  first\n\twords  ");
	claude_answer(out, "a1", "u1", "m1", "[{\"type\":\"thinking\",\"thinking\":\"hm\"}]");
	claude_answer(out, "a2", "a1", "m1", TOOL_USE("t1"));
	claude_result(out, "r1", "a2", "t1", "done");
	str_adds(out, "{\"type\":\"custom-title\",\"customTitle\":\"old\"}\n");
	str_adds(out, "{\"type\":\"ai-title\",\"aiTitle\":\"never\"}\n");
	claude_user(out, "u2", "r1", "<command-name>/x</command-name>");
	claude_user(out, "u3", "u2", "second");
	claude_answer(out, "a3", "u3", "m2", TEXT("yes"));
	str_adds(out, "{\"type\":\"agent-name\",\"agentName\":\"new \\u00fc\"}\n");
	str_adds(out,
		"{\"type\":\"system\",\"uuid\":\"x\",\"parentUuid\":\"a3\",\"timestamp\":\"" T1
		"\",\"cwd\":\"/elsewhere\",\"gitBranch\":\"side\",\"content\":\"note\"}\n");
}

static void scan_text_of(struct session_info *info, const char *folder, struct sv text)
{
	AUTO_FREE char *path = session_write(folder, NAME, text);

	session_info_init(info, TRANSCRIPT_CLAUDE, path);
	session_scan(info);
}

static void test_summary_has_every_field(void **state)
{
	AUTO_STR text = STR_INIT;
	struct session_info info;

	write_all(&text);
	scan_text_of(&info, *state, str_sv(&text));
	assert_string_equal(info.id, "11111111-2222-4333-8444-555555555555");
	assert_string_equal(info.name, "new ü");
	assert_string_equal(info.cwd, "/work/demo");
	assert_string_equal(info.branch, "side");
	assert_string_equal(info.prompt, "first words");
	assert_string_equal(info.model, "model-a");
	assert_string_equal(info.root, "u0");
	assert_int_equal(info.turns, 2);
	assert_int_equal(info.first_ms, (int64_t)T0_S * 1000);
	assert_int_equal(info.last_ms, (int64_t)T0_S * 1000 + 300500);
	assert_int_equal(usage_context(&info.usage), 327);
	assert_int_equal(info.flags, 0);
	assert_int_equal(info.size, text.len);
	assert_int_equal(info.mark.offset, text.len);
	session_info_release(&info);
}

static void test_every_split(void **state)
{
	AUTO_STR text = STR_INIT;

	write_all(&text);
	check_every_split(*state, TRANSCRIPT_CLAUDE, NAME, str_sv(&text));
	/* no newline at the end, and two objects on one line */
	str_cut(&text, text.len - 1);
	claude_user(&text, "u9", "x", "glued");
	str_cut(&text, text.len - 1);
	check_every_split(*state, TRANSCRIPT_CLAUDE, NAME, str_sv(&text));
}

static void test_tail_counts_once(void **state)
{
	AUTO_STR text = STR_INIT;
	struct session_info info;

	claude_user(&text, "u1", NULL, "one");
	size_t whole = text.len;
	claude_user(&text, "u2", "u1", "two");
	str_cut(&text, text.len - 1);
	scan_text_of(&info, *state, str_sv(&text));
	assert_int_equal(info.turns, 2);
	assert_true(info.flags & SESSION_TORN);
	assert_int_equal(info.mark.offset, whole);
	str_adds(&text, "\n");
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	session_scan(&info);
	assert_int_equal(info.turns, 2);
	assert_false(info.flags & SESSION_TORN);
	session_info_release(&info);
}

static void test_other_file_under_the_name(void **state)
{
	AUTO_STR text = STR_INIT;
	struct session_info info;

	claude_user(&text, "u1", NULL, "old words");
	scan_text_of(&info, *state, str_sv(&text));
	str_clear(&text);
	claude_user(&text, "u1", NULL, "new words, and longer than the old");
	claude_user(&text, "u2", "u1", "more");
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	session_scan(&info);
	assert_int_equal(info.turns, 2);
	assert_string_equal(info.prompt, "new words, and longer than the old");
	/* shorter than before */
	str_clear(&text);
	claude_user(&text, "u1", NULL, "x");
	AUTO_FREE char *again = session_write(*state, NAME, str_sv(&text));
	session_scan(&info);
	assert_string_equal(info.prompt, "x");
	assert_int_equal(info.turns, 1);
	session_info_release(&info);
}

/* The agent loses such a line: a turn in it is none. */
static void test_lines_with_nul(void **state)
{
	AUTO_STR text = STR_INIT;
	struct session_info info;

	claude_user(&text, "u1", NULL, "one");
	size_t one = text.len;
	claude_user(&text, "u2", "u1", "two");
	char *two = strstr(text.buf + one, "two");
	assert_non_null(two);
	two[1] = '\0';
	claude_user(&text, "u3", "u1", "three");
	scan_text_of(&info, *state, str_sv(&text));
	assert_int_equal(info.turns, 2);
	assert_int_equal(info.mark.offset, text.len);
	assert_false(info.flags & SESSION_TORN);
	session_info_release(&info);
}

static void test_shrinks_while_read(void **state)
{
	AUTO_STR text = STR_INIT;
	struct session_info info;

	claude_user(&text, "u1", NULL, "one");
	size_t one = text.len;
	claude_user(&text, "u2", "u1", "two");
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	session_info_init(&info, TRANSCRIPT_CLAUDE, path);
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, (off_t)one), 0);
	/* the caller's size is of before */
	assert_int_equal(transcript_scan(fd, text.len, &info, NULL), 0);
	assert_int_equal(info.turns, 1);
	assert_int_equal(info.mark.offset, one);
	session_info_release(&info);
}

static void test_hostile_lines(void **state)
{
	static const char bad[] =
		"\xef\xbb\xbf{\"type\":\"mode\"}\r\n"
		"null\n[1,2]\n7\n\"s\"\n{}\n\n   \n{\"type\":1,\"message\":[]}\n"
		"{\"type\":\"user\",\"message\":{\"content\":{\"a\":1}}}\n"
		"{\"type\":\"user\",\"message\":null,\"uuid\":[],\"cwd\":{}}\n"
		"{\"type\":\"assistant\",\"message\":{\"content\":\"text\",\"usage\":7}}\n"
		"{\"type\":\"user\",\"uuid\":\"b\xff\xfe\",\"message\":{\"content\":\"bad "
		"\xff\"}}\n"
		"{\"type\":\"user\",\"uuid\":\"n\",\"message\":{\"content\":\"nul \0 in\"}}\n"
		"{\"type\":\"user\",\"timestamp\":\"not a "
		"time\",\"message\":{\"content\":\"\\ud800\"}}\n"
		"}{\n{\"type\":\"user\"\n{\"a\":}\n";
	AUTO_STR text = STR_INIT;
	struct session_info info;

	str_add(&text, sv_make(bad, sizeof(bad) - 1));
	claude_user(&text, "u1", NULL, "good");
	str_adds(&text, "{\"type\":\"user\",\"message\":{\"content\":\"half");
	check_every_split(*state, TRANSCRIPT_CLAUDE, NAME, str_sv(&text));
	scan_text_of(&info, *state, str_sv(&text));
	assert_string_equal(info.prompt, "bad \xef\xbf\xbd");
	assert_true(info.flags & SESSION_TORN);
	assert_int_equal(info.first_ms, (int64_t)T0_S * 1000);
	session_info_release(&info);
}

static void test_late_cwd(void **state)
{
	AUTO_STR text = STR_INIT;
	struct session_info info;

	for (int i = 0; i < 25; i++)
		str_adds(&text, "{\"type\":\"mode\",\"sessionId\":\"other\"}\n");
	str_adds(&text, "{\"type\":\"system\",\"uuid\":\"s\",\"cwd\":\"/first/seen\"}\n");
	claude_user(&text, "u1", NULL, "hello");
	scan_text_of(&info, *state, str_sv(&text));
	/* the one the folder is named after, not the first one */
	assert_string_equal(info.cwd, "/work/demo");
	session_info_release(&info);
}

static void test_parents_of_every_relation(void **state)
{
	static const struct {
		const char *line;
		enum session_relation relation;
		const char *id, *path;
	} cases[] = {
		{ "{\"trim_metadata\":{\"parent_file\":\"/p/a1.jsonl\"}}\n", SESSION_TRIMMED, "a1",
			"/p/a1.jsonl" },
		{ "{\"continue_metadata\":{\"parent_session_id\":\"b\",\"parent_session_file\":"
		  "\"/p/b.jsonl\"},\"trim_metadata\":{\"parent_file\":\"/no\"}}\n",
			SESSION_CONTINUED, "b", "/p/b.jsonl" },
		{ "{\"continue_metadata\":{\"parent_file\":\"/p/c.jsonl\"}}\n", SESSION_CONTINUED,
			"c", "/p/c.jsonl" },
		{ "{\"continue_metadata\":{\"parent_session_id\":\"d\",\"ported_from\":\"codex\"}}"
		  "\n",
			SESSION_PORTED, "d", "" },
		{ "{\"faden_metadata\":{\"relation\":\"forked\",\"parent_id\":\"e\"}}\n",
			SESSION_FORKED, "e", "" },
		{ "{\"trim_metadata\":[]}\n", SESSION_ROOT, "", "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct session_info info;
		scan_text_of(&info, *state, sv_of(cases[i].line));
		assert_int_equal(info.relation, cases[i].relation);
		assert_string_equal(info.parent_id, cases[i].id);
		assert_string_equal(info.parent_path, cases[i].path);
		session_info_release(&info);
	}
}

static void test_flags_of_sub_agent_exec_and_helper(void **state)
{
	struct session_info info;

	scan_text_of(&info, *state,
		SV("{\"type\":\"user\",\"uuid\":\"a\",\"isSidechain\":true,\"entrypoint\":\"sdk-"
		   "cli\","
		   "\"sessionType\":\"helper\",\"message\":{\"content\":\"task\"}}\n"));
	assert_int_equal(info.flags, SESSION_SUBAGENT | SESSION_EXEC | SESSION_HELPER);
	/* in a file of its own it is the conversation */
	assert_int_equal(info.turns, 1);
	session_info_release(&info);
}

static void test_long_prompt_is_cut_between_characters(void **state)
{
	AUTO_STR words = STR_INIT;
	AUTO_STR text = STR_INIT;
	struct session_info info;

	for (int i = 0; i < 4000; i++)
		str_adds(&words, "\xc3\xa4");
	claude_user(&text, "u1", NULL, words.buf);
	scan_text_of(&info, *state, str_sv(&text));
	assert_int_equal(strlen(info.prompt), SESSION_PROMPT_MAX);
	assert_memory_equal(info.prompt, words.buf, SESSION_PROMPT_MAX);
	session_info_release(&info);
}

/* ---- items ---- */

struct want {
	enum item_kind kind;
	uint32_t flags;
	const char *text;
};

static void check_items(
	const char *folder, struct sv bytes, const struct want *want, size_t n, uint32_t mask)
{
	AUTO_FREE char *path = session_write(folder, NAME, bytes);
	struct transcript_reader *r = NULL;
	struct item item;

	assert_int_equal(transcript_open(path, TRANSCRIPT_CLAUDE, NULL, &r, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		AUTO_STR text = STR_INIT;
		assert_int_equal(transcript_next(r, &item, NULL), 1);
		transcript_text(&item, &text);
		assert_int_equal(item.kind, want[i].kind);
		assert_int_equal(item.flags & mask, want[i].flags);
		assert_string_equal(text.buf, want[i].text);
	}
	assert_int_equal(transcript_next(r, &item, NULL), 0);
	transcript_close(r);
}

static void test_items_in_order(void **state)
{
	static const struct want want[] = {
		{ ITEM_META, 0, "" },
		{ ITEM_USER, ITEM_INJECTED, "not by a person" },
		{ ITEM_USER, ITEM_PROMPT, "  first\n\twords  " },
		{ ITEM_THINKING, 0, "hm" },
		{ ITEM_TOOL_CALL, 0, "{}" },
		{ ITEM_TOOL_RESULT, 0, "done" },
		{ ITEM_META, 0, "" },
		{ ITEM_META, 0, "" },
		{ ITEM_USER, ITEM_INJECTED, "<command-name>/x</command-name>" },
		{ ITEM_USER, ITEM_PROMPT, "second" },
		{ ITEM_ASSISTANT, 0, "yes" },
		{ ITEM_META, 0, "" },
		{ ITEM_SYSTEM, 0, "note" },
	};
	AUTO_STR text = STR_INIT;

	write_all(&text);
	check_items(*state, str_sv(&text), want, ARRAY_LEN(want), ITEM_PROMPT | ITEM_INJECTED);
}

static void test_items_of_one_line(void **state)
{
	static const struct want want[] = {
		{ ITEM_USER, ITEM_INJECTED, "<system-reminder>x</system-reminder>" },
		{ ITEM_USER, ITEM_IMAGE, "[image]" },
		{ ITEM_USER, ITEM_PROMPT, "look" },
		{ ITEM_TOOL_RESULT, ITEM_FAILED | ITEM_GLUED, "a\n[image]\nb" },
		{ ITEM_META, ITEM_BROKEN, "" },
		{ ITEM_META, ITEM_BROKEN | ITEM_UNTERMINATED, "" },
	};

	check_items(*state,
		SV("{\"type\":\"user\",\"message\":{\"content\":["
		   "{\"type\":\"text\",\"text\":\"<system-reminder>x</system-reminder>\"},"
		   "{\"type\":\"image\",\"source\":{}},{\"type\":\"text\",\"text\":\"look\"}]}}"
		   "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\","
		   "\"tool_use_id\":\"t\",\"is_error\":true,\"content\":[{\"type\":\"text\","
		   "\"text\":\"a\"},{\"type\":\"image\"},{\"type\":\"text\",\"text\":\"b\"}]}]}}\n"
		   "null\n{\"type\":"),
		want, ARRAY_LEN(want), ~0u);
}

/* Typed while the agent worked: no user line is ever written for it. */
static void test_queued_prompts(void **state)
{
	static const char text[] =
		"{\"type\":\"attachment\",\"attachment\":{\"type\":\"queued_command\","
		"\"commandMode\":\"prompt\",\"origin\":{\"kind\":\"human\"},\"prompt\":\"and "
		"now\"}}\n"
		"{\"type\":\"attachment\",\"attachment\":{\"type\":\"queued_command\","
		"\"commandMode\":\"task-notification\",\"prompt\":\"done\"}}\n"
		"{\"type\":\"attachment\",\"attachment\":{\"type\":\"queued_command\","
		"\"prompt\":[{\"type\":\"text\",\"text\":\"<task-notification>x\"}]}}\n"
		"{\"type\":\"attachment\",\"attachment\":{\"type\":\"other\",\"content\":\"c\"}}\n";
	static const struct want want[] = {
		{ ITEM_USER, ITEM_PROMPT, "and now" },
		{ ITEM_SYSTEM, 0, "" },
		{ ITEM_USER, ITEM_INJECTED, "<task-notification>x" },
		{ ITEM_SYSTEM, 0, "c" },
	};
	struct session_info info;

	scan_text_of(&info, *state, sv_of(text));
	assert_int_equal(info.turns, 1);
	assert_string_equal(info.prompt, "and now");
	session_info_release(&info);
	check_items(*state, sv_of(text), want, ARRAY_LEN(want), ~0u);
}

static void test_item_places(void **state)
{
	AUTO_STR text = STR_INIT;
	struct transcript_reader *r = NULL;
	struct item item;

	str_adds(&text, "\n");
	claude_answer(&text, "a1", "u1", "m1", TOOL_USE("t1"));
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	assert_int_equal(transcript_open(path, TRANSCRIPT_CLAUDE, NULL, &r, NULL), 0);
	assert_int_equal(transcript_next(r, &item, NULL), 1);
	assert_int_equal(item.record, 0);
	assert_int_equal(item.line, 2);
	assert_int_equal(item.offset, 1);
	assert_int_equal(item.size, text.len - 1);
	assert_true(sv_is(item.uuid, "a1") && sv_is(item.parent, "u1"));
	assert_true(sv_is(item.message_id, "m1") && sv_is(item.tool, "Bash"));
	assert_true(sv_is(item.tool_id, "t1") && item.flags & ITEM_USAGE);
	assert_int_equal(usage_context(&item.usage), 327);
	assert_int_equal(transcript_time(&item), (int64_t)T0_S * 1000);
	transcript_close(r);
}

static void test_probe_knows_the_format(void **state)
{
	const struct transcript_format *format = TRANSCRIPT_CODEX;
	AUTO_STR text = STR_INIT;

	str_adds(&text, "{\"trim_metadata\":{}}\nnull\n");
	claude_user(&text, "u1", NULL, "x");
	AUTO_FREE char *path = session_write(*state, "a.jsonl", str_sv(&text));
	assert_int_equal(transcript_probe(path, &format, NULL), 0);
	assert_int_equal(format, TRANSCRIPT_CLAUDE);
	AUTO_FREE char *other = temp_write(*state, "b.jsonl", "{\"name\":\"x\"}\n");
	assert_int_equal(transcript_probe(other, &format, NULL), ERR_INPUT);
	assert_int_equal(transcript_probe("/nowhere/at.all", &format, NULL), -2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_summary_has_every_field, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_every_split, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(
			test_tail_counts_once, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(
			test_other_file_under_the_name, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(
			test_shrinks_while_read, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_hostile_lines, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_lines_with_nul, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_late_cwd, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(
			test_parents_of_every_relation, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(
			test_flags_of_sub_agent_exec_and_helper, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(
			test_long_prompt_is_cut_between_characters, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_items_in_order, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(
			test_items_of_one_line, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_queued_prompts, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(test_item_places, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(
			test_probe_knows_the_format, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
