#include "transcript/test-session.h"

#define NAME "p/s.jsonl"

/* One character a record: '1' live. */
static void check_live(const char *folder, struct sv text, const char *want, size_t healed)
{
	AUTO_FREE char *path = session_write(folder, NAME, text);
	struct transcript_live live;
	AUTO_STR got = STR_INIT;

	assert_int_equal(transcript_live(path, TRANSCRIPT_CLAUDE, &live, NULL), 0);
	size_t set = 0;
	for (size_t i = 0; i < live.records; i++) {
		set += transcript_is_live(&live, i);
		str_addc(&got, transcript_is_live(&live, i) ? '1' : '.');
	}
	assert_string_equal(got.buf, want);
	assert_int_equal(live.healed, healed);
	assert_int_equal(live.live, set);
	assert_false(transcript_is_live(&live, live.records));
	transcript_live_release(&live);
}

static void test_one_chain_is_all_live(void **state)
{
	AUTO_STR text = STR_INIT;

	str_adds(&text, "{\"type\":\"mode\"}\n");
	claude_user(&text, "u1", NULL, "a");
	claude_answer(&text, "a1", "u1", "m1", TEXT("b"));
	str_adds(&text, "{\"type\":\"last-prompt\",\"leafUuid\":\"u1\"}\n");
	check_live(*state, str_sv(&text), ".11.", 0);
}

static void test_empty_file_has_nothing_live(void **state)
{
	check_live(*state, SV(""), "", 0);
	check_live(*state, SV("\n\n"), "", 0);
	check_live(*state, SV("null\n{\"type\":\"mode\"}\n"), "..", 0);
}

/* Two answers to one prompt, as two processes make them: the last line wins. */
static void test_branch_that_was_left_is_dead(void **state)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u1", NULL, "a");
	claude_answer(&text, "a1", "u1", "m1", TEXT("lost"));
	claude_user(&text, "u2", "a1", "lost too");
	claude_answer(&text, "a2", "u1", "m2", TEXT("kept"));
	check_live(*state, str_sv(&text), "1..1", 0);
}

/* Three tools at once: only the last result is an ancestor of what follows. */
static void test_parallel_tools(void **state)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u1", NULL, "a");
	claude_answer(&text, "a1", "u1", "m1", "[{\"type\":\"thinking\",\"thinking\":\"x\"}]");
	claude_answer(&text, "a2", "a1", "m1", TOOL_USE("t1"));
	claude_answer(&text, "a3", "a2", "m1", TOOL_USE("t2"));
	claude_answer(&text, "a4", "a3", "m1", TOOL_USE("t3"));
	claude_result(&text, "r1", "a2", "t1", "one");
	claude_result(&text, "r3", "a4", "t3", "three");
	claude_result(&text, "r2", "a3", "t2", "two");
	claude_answer(&text, "a5", "r2", "m2", TEXT("done"));
	check_live(*state, str_sv(&text), "111111111", 0);
}

static void test_results_of_dead_calls_stay_dead(void **state)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u1", NULL, "a");
	claude_answer(&text, "a1", "u1", "m1", TOOL_USE("t1"));
	claude_result(&text, "r1", "a1", "t1", "lost");
	claude_user(&text, "u2", "u1", "rewound");
	check_live(*state, str_sv(&text), "1..1", 0);
}

static void test_broken_chain_goes_on_before_it(void **state)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u1", NULL, "a");
	claude_answer(&text, "a1", "u1", "m1", TEXT("b"));
	claude_user(&text, "u2", "missing", "c");
	check_live(*state, str_sv(&text), "111", 1);
	/* a circle */
	str_clear(&text);
	claude_user(&text, "u1", NULL, "a");
	claude_answer(&text, "a1", "a2", "m1", TEXT("b"));
	claude_answer(&text, "a2", "a1", "m2", TEXT("c"));
	check_live(*state, str_sv(&text), "111", 1);
	/* cut at the front */
	str_clear(&text);
	claude_answer(&text, "a1", "gone", "m1", TEXT("b"));
	claude_user(&text, "u2", "a1", "c");
	check_live(*state, str_sv(&text), "11", 1);
}

static void test_null_parent_cuts(void **state)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u1", NULL, "a");
	claude_user(&text, "u2", NULL, "b");
	claude_answer(&text, "a1", "u2", "m1", TEXT("c"));
	check_live(*state, str_sv(&text), ".11", 0);
}

static void test_compaction_keeps_what_it_lists(void **state)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u1", NULL, "a");
	claude_answer(&text, "a1", "u1", "m1", TEXT("b"));
	claude_user(&text, "u2", "a1", "kept");
	str_adds(&text,
		"{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"b1\","
		"\"parentUuid\":null,\"compactMetadata\":{\"preservedMessages\":{\"uuids\":[\"u2\"]"
		","
		"\"anchorUuid\":\"s1\"}}}\n");
	claude_head(&text, "user", "s1", "b1");
	str_adds(&text, ",\"isCompactSummary\":true,\"message\":{\"content\":\"in short\"}}\n");
	claude_answer(&text, "a2", "s1", "m2", TEXT("on"));
	check_live(*state, str_sv(&text), "..1.11", 0);
}

static void test_side_chain_and_broken_lines(void **state)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u1", NULL, "a");
	str_adds(&text, "{\"type\":\"user\",\"uuid\":\"x\",\"isSidechain\":true}\n");
	str_add(&text,
		SV("{\"type\":\"user\",\"uuid\":\"n\",\"parentUuid\":\"u1\",\"x\":\"\0\"}\n"));
	claude_answer(&text, "a1", "n", "m1", TEXT("b"));
	str_adds(&text, "{\"type\":\"user\",\"uuid\":\"torn\",\"parentU");
	/* the line with a NUL is lost, its child goes on from the record before */
	check_live(*state, str_sv(&text), "1..1.", 1);
}

/* Only the first object of a line is read. */
static void test_glued_lines(void **state)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u1", NULL, "a");
	str_cut(&text, text.len - 1);
	claude_answer(&text, "a1", "u1", "m1", TEXT("lost"));
	claude_user(&text, "u2", "a1", "b");
	check_live(*state, str_sv(&text), "1.1", 1);
}

static void test_doubled_lines(void **state)
{
	AUTO_STR text = STR_INIT;

	for (int i = 0; i < 2; i++) {
		claude_user(&text, "u1", NULL, "a");
		claude_answer(&text, "a1", "u1", "m1", TEXT("b"));
	}
	check_live(*state, str_sv(&text), "..11", 0);
}

/* Every parent is missing or a circle: must end, and soon. */
static void test_many_broken_parents(void **state)
{
	enum { LINES = 20000 };
	AUTO_STR text = STR_INIT;

	for (int i = 0; i < LINES; i++) {
		char uuid[16], parent[16];
		(void)snprintf(uuid, sizeof(uuid), "u%d", i);
		(void)snprintf(parent, sizeof(parent), "u%d", (i * 7919 + 3) % LINES);
		claude_user(&text, uuid, i % 3 ? parent : "none", "x");
	}
	AUTO_FREE char *path = session_write(*state, NAME, str_sv(&text));
	struct transcript_live live;
	assert_int_equal(transcript_live(path, TRANSCRIPT_CLAUDE, &live, NULL), 0);
	assert_true(live.live > 0 && live.live <= LINES);
	transcript_live_release(&live);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

/* The note about the last prompt wins where it names another branch, but not what was compacted. */
static void test_noted_leaf(void **state)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u1", NULL, "a");
	claude_answer(&text, "a1", "u1", "m1", TEXT("old branch"));
	str_adds(&text, "{\"type\":\"last-prompt\",\"leafUuid\":\"a1\"}\n");
	claude_answer(&text, "a2", "u1", "m2", TEXT("newer words"));
	check_live(*state, str_sv(&text), "11..", 0);
	str_adds(&text, "{\"type\":\"last-prompt\",\"leafUuid\":\"a2\"}\n");
	check_live(*state, str_sv(&text), "1..1.", 0);
	str_adds(&text, "{\"type\":\"last-prompt\",\"leafUuid\":\"gone\"}\n");
	check_live(*state, str_sv(&text), "1..1..", 0);
	str_adds(&text, "{\"type\":\"last-prompt\",\"leafUuid\":\"a1\"}\n");
	claude_head(&text, "system", "c1", NULL);
	str_adds(&text, ",\"subtype\":\"compact_boundary\"}\n");
	claude_user(&text, "u2", "c1", "summary");
	check_live(*state, str_sv(&text), "........1", 0);
}

/* A parent in a side chain is followed there, but nothing else leads into one. */
static void test_side_parent(void **state)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u1", NULL, "a");
	str_adds(&text,
		"{\"parentUuid\":null,\"isSidechain\":true,\"type\":\"user\",\"uuid\":\"s1\","
		"\"message\":{\"role\":\"user\",\"content\":\"side\"}}\n");
	claude_answer(&text, "a1", "missing", "m1", TEXT("b"));
	check_live(*state, str_sv(&text), "1.1", 1);
	claude_user(&text, "u2", "s1", "c");
	check_live(*state, str_sv(&text), ".1.1", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_one_chain_is_all_live),
		CASE(test_empty_file_has_nothing_live),
		CASE(test_branch_that_was_left_is_dead),
		CASE(test_noted_leaf),
		CASE(test_side_parent),
		CASE(test_parallel_tools),
		CASE(test_results_of_dead_calls_stay_dead),
		CASE(test_broken_chain_goes_on_before_it),
		CASE(test_null_parent_cuts),
		CASE(test_compaction_keeps_what_it_lists),
		CASE(test_side_chain_and_broken_lines),
		CASE(test_glued_lines),
		CASE(test_doubled_lines),
		CASE(test_many_broken_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
