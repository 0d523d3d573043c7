#include "transcript/test-session.h"

#define ID "01a00000-0000-7000-8000-0000000000aa"
#define NAME "sessions/2026/03/01/rollout-2026-03-01T10-00-00-" ID ".jsonl"
#define META(more) "{\"id\":\"" ID "\",\"cwd\":\"/work/demo\",\"git\":{\"branch\":\"b\"}" more "}"

static void write_all(struct str *out)
{
	codex_line(out, "session_meta", META(",\"source\":\"exec\""));
	codex_line(out, "session_meta", "{\"id\":\"an-ancestor\",\"cwd\":\"/elsewhere\"}");
	codex_message(out, "developer", "rules");
	codex_message(out, "user", "<environment_context>\n<cwd>/x</cwd>");
	codex_line(out, "turn_context", "{\"cwd\":\"/work/demo\",\"model\":\"model-c\"}");
	codex_message(out, "user", "first words");
	codex_line(out, "response_item",
		"{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm\"}]"
		"}");
	codex_line(out, "response_item",
		"{\"type\":\"function_call\",\"name\":\"exec\",\"arguments\":\"{\\\"cmd\\\":"
		"\\\"ls\\\"}\","
		"\"call_id\":\"c1\"}");
	codex_line(out, "response_item",
		"{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"out\"}");
	codex_message(out, "assistant", "an answer");
	codex_line(out, "event_msg",
		"{\"type\":\"token_count\",\"info\":{\"last_token_usage\":{\"input_tokens\":100,"
		"\"cached_input_tokens\":30,\"output_tokens\":4},\"model_context_window\":1000}}");
	codex_line(out, "event_msg",
		"{\"type\":\"token_count\",\"info\":{\"last_token_usage\":{\"input_tokens\":0,"
		"\"total_tokens\":9}}}");
	codex_message(out, "user", "second words");
}

static void scan_text_of(struct session_info *info, const char *folder, struct sv text)
{
	AUTO_FREE char *path = session_write(folder, NAME, text);

	session_info_init(info, TRANSCRIPT_CODEX, path);
	session_scan(info);
}

static void test_summary_has_every_field(void **state)
{
	AUTO_STR text = STR_INIT;
	struct session_info info;

	write_all(&text);
	scan_text_of(&info, *state, str_sv(&text));
	assert_string_equal(info.id, ID);
	assert_string_equal(info.cwd, "/work/demo");
	assert_string_equal(info.branch, "b");
	assert_string_equal(info.model, "model-c");
	assert_string_equal(info.prompt, "first words");
	assert_int_equal(info.turns, 2);
	assert_int_equal(info.flags, SESSION_EXEC);
	assert_int_equal(info.relation, SESSION_ROOT);
	assert_int_equal(info.window, 1000);
	assert_int_equal(usage_context(&info.usage), 100);
	assert_int_equal(info.usage.cache_read, 30);
	session_info_release(&info);
}

static void test_every_split(void **state)
{
	AUTO_STR text = STR_INIT;

	write_all(&text);
	check_every_split(*state, TRANSCRIPT_CODEX, NAME, str_sv(&text));
	str_cut(&text, text.len - 1);
	codex_message(&text, "user", "glued");
	str_adds(&text, "{\"timestamp\":\"" T1 "\",\"type\":\"response_item\",\"payl");
	check_every_split(*state, TRANSCRIPT_CODEX, NAME, str_sv(&text));
}

static void test_own_header_counts(void **state)
{
	AUTO_STR text = STR_INIT;
	struct session_info info;

	codex_line(&text, "session_meta", "{\"id\":\"parent\",\"cwd\":\"/p\"}");
	codex_line(&text, "session_meta", META(",\"forked_from_id\":\"parent\""));
	scan_text_of(&info, *state, str_sv(&text));
	assert_string_equal(info.cwd, "/work/demo");
	assert_string_equal(info.parent_id, "parent");
	assert_int_equal(info.relation, SESSION_FORKED);
	session_info_release(&info);
}

static void test_origins_and_relations(void **state)
{
	static const struct {
		const char *meta;
		uint32_t flags;
		enum session_relation relation;
		const char *parent;
	} cases[] = {
		{ META(",\"source\":\"cli\""), 0, SESSION_ROOT, "" },
		{ META(",\"originator\":\"faden\",\"source\":\"vscode\""), SESSION_EXEC,
			SESSION_ROOT, "" },
		{ META(",\"thread_source\":\"subagent\",\"parent_thread_id\":\"p\""),
			SESSION_SUBAGENT, SESSION_ROOT, "p" },
		{ META(",\"source\":{\"subagent\":{\"x\":1}}"), SESSION_SUBAGENT, SESSION_ROOT,
			"" },
		{ META(",\"history_base\":{\"thread_id\":\"h\",\"end_byte_offset\":5}"), 0,
			SESSION_FORKED, "h" },
		{ META(",\"faden_metadata\":{\"relation\":\"continued\",\"parent_id\":\"q\"}"), 0,
			SESSION_CONTINUED, "q" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_STR text = STR_INIT;
		struct session_info info;
		codex_line(&text, "session_meta", cases[i].meta);
		scan_text_of(&info, *state, str_sv(&text));
		assert_int_equal(info.flags, cases[i].flags);
		assert_int_equal(info.relation, cases[i].relation);
		assert_string_equal(info.parent_id, cases[i].parent);
		session_info_release(&info);
	}
}

/* Before its second year Codex wrote items without the outer object. */
static void test_old_rollout(void **state)
{
	static const char text[] =
		"{\"id\":\"" ID "\",\"timestamp\":\"" T0 "\",\"git\":{\"branch\":\"b\"}}\n"
		"{\"record_type\":\"state\"}\n"
		"{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
		"\"text\":\"old words\"}]}\n"
		"{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_"
		"text\","
		"\"text\":\"old answer\"}]}\n";
	struct session_info info;
	const struct transcript_format *format;

	scan_text_of(&info, *state, sv_of(text));
	assert_string_equal(info.prompt, "old words");
	assert_string_equal(info.branch, "b");
	assert_int_equal(info.turns, 1);
	assert_int_equal(transcript_probe(info.path, &format, NULL), 0);
	assert_int_equal(format, TRANSCRIPT_CODEX);
	session_info_release(&info);
}

static void test_hostile_lines(void **state)
{
	static const char bad[] =
		"null\n[]\n{\"type\":\"session_meta\",\"payload\":7}\n"
		"{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\"}}"
		"\n"
		"{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\","
		"\"content\":[null,1,\"x\",{\"text\":{}}]}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":null}}\n"
		"{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\","
		"\"content\":\"\xff\0\"}}\n";
	struct session_info info;

	check_every_split(*state, TRANSCRIPT_CODEX, NAME, sv_make(bad, sizeof(bad) - 1));
	scan_text_of(&info, *state, sv_make(bad, sizeof(bad) - 1));
	assert_int_equal(info.first_ms, 0);
	session_info_release(&info);
}

/* ---- items ---- */

struct want {
	enum item_kind kind;
	uint32_t flags;
	const char *text;
};

static void check_items(const char *path, bool expand, const struct want *want, size_t n)
{
	const struct transcript_read_opts opts = { .expand = expand };
	struct transcript_reader *r = NULL;
	struct item item;

	assert_int_equal(transcript_open(path, TRANSCRIPT_CODEX, &opts, &r, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		AUTO_STR text = STR_INIT;
		assert_int_equal(transcript_next(r, &item, NULL), 1);
		transcript_text(&item, &text);
		assert_int_equal(item.kind, want[i].kind);
		assert_int_equal(item.flags & ~(uint32_t)ITEM_USAGE, want[i].flags);
		assert_string_equal(text.buf, want[i].text);
	}
	assert_int_equal(transcript_next(r, &item, NULL), 0);
	transcript_close(r);
}

static void test_items_in_order(void **state)
{
	static const struct want want[] = {
		{ ITEM_META, 0, "" },
		{ ITEM_META, 0, "" },
		{ ITEM_SYSTEM, 0, "rules" },
		{ ITEM_USER, ITEM_INJECTED, "<environment_context>\n<cwd>/x</cwd>" },
		{ ITEM_META, 0, "" },
		{ ITEM_USER, ITEM_PROMPT, "first words" },
		{ ITEM_THINKING, 0, "hm" },
		{ ITEM_TOOL_CALL, 0, "{\"cmd\":\"ls\"}" },
		{ ITEM_TOOL_RESULT, 0, "out" },
		{ ITEM_ASSISTANT, 0, "an answer" },
		{ ITEM_META, 0, "" },
		{ ITEM_META, 0, "" },
		{ ITEM_USER, ITEM_PROMPT, "second words" },
	};
	AUTO_STR text = STR_INIT;

	write_all(&text);
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	check_items(path, false, want, ARRAY_LEN(want));
}

/* The id that a prompt was sent with stands in the event that repeats it. */
static void test_prompt_id(void **state)
{
	AUTO_STR text = STR_INIT;
	struct transcript_reader *reader = NULL;
	struct item item;
	int found = 0;

	codex_line(&text, "session_meta", META(""));
	codex_message(&text, "user", "words");
	codex_line(&text, "event_msg",
		"{\"type\":\"item_completed\",\"item\":{\"type\":\"UserMessage\",\"id\":\"i\","
		"\"client_id\":\"" ID "\",\"content\":[{\"type\":\"text\",\"text\":\"words\"}]}}");
	codex_line(&text, "event_msg",
		"{\"type\":\"item_completed\",\"item\":{\"type\":\"UserMessage\",\"id\":\"j\","
		"\"client_id\":null,\"content\":[]}}");
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	assert_int_equal(transcript_open(path, TRANSCRIPT_CODEX, NULL, &reader, NULL), 0);
	while (transcript_next(reader, &item, NULL) > 0) {
		if (item.prompt_id.n == 0)
			continue;
		found++;
		assert_int_equal(item.kind, ITEM_META);
		assert_true(sv_is(item.prompt_id, ID));
	}
	assert_int_equal(found, 1);
	transcript_close(reader);
}

static void test_outputs_of_every_shape(void **state)
{
	static const struct want want[] = {
		{ ITEM_TOOL_RESULT, 0, "inner\ntext" },
		{ ITEM_TOOL_RESULT, 0, "a\nb" },
		{ ITEM_TOOL_RESULT, 0, "plain" },
	};
	AUTO_STR text = STR_INIT;

	codex_line(&text, "response_item",
		"{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":"
		"\"{\\\"output\\\":\\\"inner\\\\ntext\\\",\\\"metadata\\\":{}}\"}");
	codex_line(&text, "response_item",
		"{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":"
		"[{\"type\":\"input_text\",\"text\":\"a\"},{\"type\":\"input_text\",\"text\":\"b\"}"
		"]}");
	codex_line(&text, "response_item",
		"{\"type\":\"custom_tool_call_output\",\"call_id\":\"c\",\"output\":\"plain\"}");
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	check_items(path, false, want, ARRAY_LEN(want));
}

static void write_compacted(struct str *out)
{
	codex_line(out, "session_meta", META(""));
	codex_message(out, "user", "before");
	codex_line(out, "compacted",
		"{\"message\":\"in short\",\"replacement_history\":[{\"type\":\"message\","
		"\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"kept\"}]}]}");
	codex_message(out, "user", "after");
}

static void test_compacted_history_replaces(void **state)
{
	static const struct want want[] = {
		{ ITEM_META, 0, "" },
		{ ITEM_USER, ITEM_PROMPT, "before" },
		{ ITEM_COMPACTION, ITEM_SUMMARY, "in short" },
		{ ITEM_USER, ITEM_PROMPT | ITEM_REPLACEMENT, "kept" },
		{ ITEM_USER, ITEM_PROMPT, "after" },
	};
	AUTO_STR text = STR_INIT;

	write_compacted(&text);
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	check_items(path, true, want, ARRAY_LEN(want));
}

/* ---- live history ---- */

static void check_live(const char *path, const char *want)
{
	struct transcript_live live;
	AUTO_STR got = STR_INIT;

	assert_int_equal(transcript_live(path, TRANSCRIPT_CODEX, &live, NULL), 0);
	for (size_t i = 0; i < live.records; i++)
		str_addc(&got, transcript_is_live(&live, i) ? '1' : '.');
	assert_string_equal(got.buf, want);
	transcript_live_release(&live);
}

static void test_live_after_compaction_and_rollback(void **state)
{
	AUTO_STR text = STR_INIT;

	write_compacted(&text);
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	check_live(path, "..11");
	str_clear(&text);
	codex_message(&text, "user", "one");
	codex_message(&text, "assistant", "a");
	codex_message(&text, "user", "two");
	codex_message(&text, "assistant", "b");
	codex_line(&text, "event_msg", "{\"type\":\"thread_rolled_back\",\"num_turns\":1}");
	codex_message(&text, "user", "three");
	AUTO_FREE char *other = session_write(*state, NAME, str_sv(&text));
	check_live(other, "11...1");
}

static void test_live_base(void **state)
{
	AUTO_STR text = STR_INIT;
	struct transcript_live live;

	codex_line(&text, "session_meta",
		META(",\"history_base\":{\"thread_id\":\"h\",\"end_byte_offset\":77}"));
	codex_message(&text, "user", "x");
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	assert_int_equal(transcript_live(path, TRANSCRIPT_CODEX, &live, NULL), 0);
	assert_string_equal(live.base_id, "h");
	assert_int_equal(live.base_offset, 77);
	transcript_live_release(&live);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_summary_has_every_field),
		CASE(test_every_split),
		CASE(test_own_header_counts),
		CASE(test_origins_and_relations),
		CASE(test_old_rollout),
		CASE(test_hostile_lines),
		CASE(test_items_in_order),
		CASE(test_prompt_id),
		CASE(test_outputs_of_every_shape),
		CASE(test_compacted_history_replaces),
		CASE(test_live_after_compaction_and_rollback),
		CASE(test_live_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
