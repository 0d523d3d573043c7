#include <errno.h>
#include <string.h>

#include "branch/native.h"
#include "transcript/test-session.h"

#define ID "aaaaaaaa-0000-4000-8000-000000000001"

struct world {
	char *folder, *root;
	struct transcript_home homes[2];
	struct clock clock;
};

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->folder = temp_folder();
	w->root = path_join(w->folder, "home");
	w->homes[0] = (struct transcript_home){
		.agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = w->root
	};
	w->homes[1] = (struct transcript_home){
		.agent = "codex", .format = TRANSCRIPT_CODEX, .root = w->root
	};
	w->clock = (struct clock){ true, (int64_t)T0_S * 1000 };
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	free(w->root);
	temp_remove(w->folder);
	free(w);
	return 0;
}

static void put_note(void *data UNUSED, struct jw *w)
{
	jw_put_cstr(w, "relation", "ported");
	jw_put_cstr(w, "parent_id", ID);
}

static struct native *begin(const struct world *w, size_t home)
{
	const struct native_opts opts = {
		.home = &w->homes[home],
		.dir = "/work/demo",
		.note = put_note,
		.clock = &w->clock,
	};
	struct native *n = NULL;

	assert_int_equal(native_open(&opts, &n, NULL), 0);
	return n;
}

static void say(struct native *n, enum item_kind kind, const char *text)
{
	const struct native_item item = { .kind = kind, .text = sv_of(text) };

	assert_int_equal(native_add(n, &item, NULL), 0);
}

static void tool(struct native *n, enum item_kind kind, const char *id, const char *text)
{
	const struct native_item item = {
		.kind = kind, .text = sv_of(text), .tool = SV("Look"), .tool_id = sv_of(id)
	};

	assert_int_equal(native_add(n, &item, NULL), 0);
}

/* What the new session holds by our own reader: a letter an item, and its text. */
static void finish(const struct world *w, size_t home, struct native *n,
	struct native_report *report, struct str *out)
{
	static const char letters[ITEM_KINDS] = { [ITEM_USER] = 'u',
		[ITEM_ASSISTANT] = 'a',
		[ITEM_TOOL_CALL] = 'c',
		[ITEM_TOOL_RESULT] = 'r' };
	struct transcript_reader *reader = NULL;
	struct item item;

	assert_int_equal(native_finish(n, report, NULL), 0);
	native_close(n);
	assert_int_equal(
		transcript_open(report->path, w->homes[home].format, NULL, &reader, NULL), 0);
	while (transcript_next(reader, &item, NULL) > 0) {
		assert_false(item.flags & ITEM_BROKEN);
		if (!letters[item.kind])
			continue;
		str_addf(out, "%s%c:", out->len ? " " : "", letters[item.kind]);
		if (item.tool_id.n)
			str_addf(out, "%.*s:", SV_ARG(item.tool_id));
		transcript_text(&item, out);
	}
	transcript_close(reader);
}

static void test_words_calls_and_results(void **state)
{
	const struct world *w = *state;

	for (size_t home = 0; home < 2; home++) {
		struct native *n = begin(w, home);
		CLEANUP(native_report_release) struct native_report report = NATIVE_REPORT_INIT;
		AUTO_STR got = STR_INIT;
		say(n, ITEM_USER, "look\n\"twice\"");
		say(n, ITEM_ASSISTANT, "I do");
		tool(n, ITEM_TOOL_CALL, "t1", "{\"a\": 1,\n \"b\": \"x\"}");
		tool(n, ITEM_TOOL_CALL, "t2", "no object");
		tool(n, ITEM_TOOL_RESULT, "t2", "two");
		tool(n, ITEM_TOOL_RESULT, "t1", "one");
		say(n, ITEM_ASSISTANT, "  ");
		say(n, ITEM_ASSISTANT, "done");
		finish(w, home, n, &report, &got);
		assert_string_equal(got.buf,
			"u:look\n\"twice\" a:I do c:t1:{\"a\": 1,  \"b\": \"x\"} "
			"c:t2:{\"input\":\"no object\"} r:t2:two r:t1:one a:done");
		assert_int_equal(report.prompts, 1);
		assert_int_equal(report.answers, 2);
		assert_int_equal(report.calls, 2);
		assert_int_equal(report.results, 2);
		assert_int_equal(report.unanswered, 0);
		struct session_info info;
		struct stat st;
		AUTO_CLOSE int fd = open(report.path, O_RDONLY | O_CLOEXEC);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal((uint64_t)st.st_size, report.bytes);
		assert_int_equal(st.st_mode & 0777, 0600);
		session_info_init(&info, w->homes[home].format, report.path);
		assert_int_equal(transcript_scan(fd, (uint64_t)st.st_size, &info, NULL), 0);
		assert_int_equal(info.relation, SESSION_PORTED);
		assert_string_equal(info.parent_id, ID);
		assert_string_equal(info.cwd, "/work/demo");
		assert_int_equal(info.turns, 1);
		session_info_release(&info);
	}
}

/* A call is answered right behind it, by whatever there is. */
static void test_calls_are_answered(void **state)
{
	const struct world *w = *state;
	struct native *n = begin(w, 0);
	CLEANUP(native_report_release) struct native_report report = NATIVE_REPORT_INIT;
	AUTO_STR got = STR_INIT;

	tool(n, ITEM_TOOL_RESULT, "t0", "of nothing");
	tool(n, ITEM_TOOL_CALL, "t1", "{}");
	tool(n, ITEM_TOOL_CALL, "t2", "{}");
	tool(n, ITEM_TOOL_RESULT, "t1", "one");
	tool(n, ITEM_TOOL_CALL, "t3", "{}");
	say(n, ITEM_ASSISTANT, "between");
	tool(n, ITEM_TOOL_RESULT, "t3", "three");
	tool(n, ITEM_TOOL_RESULT, "t2", "two");
	tool(n, ITEM_TOOL_CALL, "t4", "{}");
	say(n, ITEM_USER, "stop");
	tool(n, ITEM_TOOL_RESULT, "t4", "late");
	tool(n, ITEM_TOOL_CALL, "t5", "{}");
	finish(w, 0, n, &report, &got);
	assert_string_equal(got.buf,
		"u:[the session begins here, with an answer] c:t1:{} c:t2:{} r:t1:one r:t2:two "
		"c:t3:{} r:t3:three a:between c:t4:{} r:t4:[no result was recorded] u:stop c:t5:{} "
		"r:t5:[no result was recorded]");
	assert_int_equal(report.unanswered, 2);
	assert_int_equal(report.orphans, 2);
}

/* No model takes every name, and no name may break a line. */
static void test_hostile_names(void **state)
{
	const struct world *w = *state;

	for (size_t home = 0; home < 2; home++) {
		struct native *n = begin(w, home);
		CLEANUP(native_report_release) struct native_report report = NATIVE_REPORT_INIT;
		AUTO_STR text = STR_INIT;
		AUTO_STR got = STR_INIT;
		const struct native_item call = { .kind = ITEM_TOOL_CALL,
			.text = SV("{\"x\":\"\xff\"}"),
			.tool = SV("a b\"\n\x1b[2J\xff"),
			.tool_id = SV("x\"}\n{") };
		say(n, ITEM_USER, "\x1b[2J\xff\n{\"type\":\"user\"}");
		assert_int_equal(native_add(n, &call, NULL), 0);
		tool(n, ITEM_TOOL_RESULT, "x\"}\n{", "\xff");
		finish(w, home, n, &report, &got);
		assert_int_equal(file_read(report.path, 1 << 20, &text, NULL), 0);
		assert_null(memchr(text.buf, '\x1b', text.len));
		assert_non_null(strstr(text.buf, "\"a_b____2J_\""));
		assert_int_equal(report.calls, 1);
		assert_int_equal(report.results, 1);
	}
}

static void test_nothing_is_no_session(void **state)
{
	const struct world *w = *state;
	struct native *n = begin(w, 0);
	struct native_report report = NATIVE_REPORT_INIT;

	say(n, ITEM_USER, "\n");
	assert_int_equal(native_finish(n, &report, NULL), ERR_NOTFOUND);
	native_close(n);
	assert_null(report.path);
}

/* A thousand items that wait for a result are not all held. */
static void test_waiting_is_bounded(void **state)
{
	const struct world *w = *state;
	struct native *n = begin(w, 1);
	CLEANUP(native_report_release) struct native_report report = NATIVE_REPORT_INIT;
	AUTO_STR got = STR_INIT;

	say(n, ITEM_USER, "go");
	tool(n, ITEM_TOOL_CALL, "t1", "{}");
	for (int i = 0; i < 1000; i++)
		say(n, ITEM_ASSISTANT, "word");
	tool(n, ITEM_TOOL_RESULT, "t1", "late");
	finish(w, 1, n, &report, &got);
	assert_int_equal(report.unanswered, 1);
	assert_int_equal(report.orphans, 1);
	assert_int_equal(report.answers, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_words_calls_and_results, setup, teardown),
		cmocka_unit_test_setup_teardown(test_calls_are_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_no_session, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waiting_is_bounded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
