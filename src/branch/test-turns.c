#include <string.h>

#include "branch/turns.h"
#include "transcript/test-session.h"

#define ID(n) "aaaaaaaa-0000-4000-8000-00000000000" n
#define TOOL(id, name, input) \
	"[{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name "\",\"input\":" input "}]"
#define QUEUED "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"sessionId\":\"s\"}\n"
#define LAST "{\"type\":\"last-prompt\",\"lastPrompt\":\"x\",\"sessionId\":\"s\"}\n"

struct world {
	char *folder;
};

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->folder = temp_folder();
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	temp_remove(w->folder);
	free(w);
	return 0;
}

/* Two turns; the second changes a file, and its last call has no result. */
static char *write_two(const struct world *w, const char *name, const char *result, const char *end)
{
	AUTO_STR text = STR_INIT;

	str_adds(&text, QUEUED);
	claude_user(&text, "u1", NULL, "one");
	claude_answer(&text, "a1", "u1", "m1", TEXT("first answer"));
	str_adds(&text, LAST QUEUED);
	claude_user(&text, "u2", "a1", "two");
	claude_answer(&text, "a2", "u2", "m2", TOOL("t1", "Edit", "{\"file_path\":\"/x/a.c\"}"));
	claude_result(&text, "r2", "a2", "t1", result);
	claude_answer(&text, "a3", "r2", "m3", TEXT("done"));
	claude_answer(&text, "a4", "a3", "m3", TOOL("t2", "Bash", "{\"command\":\"ls\"}"));
	str_adds(&text, end);
	return session_write(w->folder, name, str_sv(&text));
}

static void test_turns(void **state)
{
	const struct world *w = *state;
	AUTO_FREE char *path = write_two(w, ID("1") ".jsonl", "fine", "");
	AUTO_TURN_VIEWS turns = TURN_VIEWS_INIT;

	assert_int_equal(turn_views_read(path, TRANSCRIPT_CLAUDE, NULL, 0, &turns, NULL), 0);
	assert_int_equal(turns.v.n, 2);
	const struct turn_view *two = &turns.v.v[1];
	assert_int_equal(two->number, 2);
	assert_string_equal(two->head, "two");
	assert_int_equal(two->calls, 2);
	assert_int_equal(two->open, 1);
	assert_int_equal(two->answers, 1);
	assert_int_equal(two->files.n, 1);
	assert_string_equal(two->files.v[0], "/x/a.c");
	assert_int_equal(two->model_calls, 2);
	assert_int_equal(two->usage.output, 10);
	assert_false(two->left);
	/* What leads to a turn is its own, what ends one is not. */
	assert_int_equal(turns.v.v[0].offset, 0);
	assert_int_equal(turns.v.v[0].end, two->offset);
	AUTO_STR text = STR_INIT;
	assert_int_equal(file_read(path, 1 << 20, &text, NULL), 0);
	assert_true(sv_starts(sv_from(str_sv(&text), two->offset), SV(QUEUED)));
	assert_true(sv_ends(sv_head(str_sv(&text), two->offset), SV(LAST)));
}

static int count_items(void *data, const struct item *item, struct err *reterr UNUSED)
{
	int *n = data;

	n[item->kind]++;
	return 0;
}

static void test_items_of_a_turn(void **state)
{
	const struct world *w = *state;
	AUTO_FREE char *path = write_two(w, ID("1") ".jsonl", "fine", "");
	AUTO_TURN_VIEWS turns = TURN_VIEWS_INIT;
	int n[ITEM_KINDS] = { 0 };

	assert_int_equal(turn_views_read(path, TRANSCRIPT_CLAUDE, NULL, 0, &turns, NULL), 0);
	assert_int_equal(turn_view_items(&turns, &turns.v.v[0], count_items, n, NULL), 0);
	assert_int_equal(n[ITEM_USER], 1);
	assert_int_equal(n[ITEM_ASSISTANT], 1);
	assert_int_equal(n[ITEM_TOOL_CALL], 0);
}

/* A copy with a shorter result is the same; what came since is not. */
static void test_common_part(void **state)
{
	const struct world *w = *state;
	AUTO_STR more = STR_INIT;

	claude_user(&more, "u3", "a4", "three");
	claude_answer(&more, "a5", "u3", "m5", TEXT("third"));
	AUTO_FREE char *one = write_two(w, ID("1") ".jsonl", "a long result", "");
	AUTO_FREE char *two = write_two(w, ID("2") ".jsonl", "[trimmed]", more.buf);
	AUTO_TURN_VIEWS a = TURN_VIEWS_INIT;
	AUTO_TURN_VIEWS b = TURN_VIEWS_INIT;

	assert_int_equal(turn_views_read(one, TRANSCRIPT_CLAUDE, NULL, 0, &a, NULL), 0);
	assert_int_equal(turn_views_read(two, TRANSCRIPT_CLAUDE, NULL, 0, &b, NULL), 0);
	assert_int_equal(turn_views_common(&a, &b), 2);
	assert_true(turn_view_same(&a.v.v[0], &b.v.v[0]));
	assert_false(turn_view_same(&a.v.v[0], &b.v.v[1]));
	assert_int_equal(b.v.n, 3);
}

static void test_cut(void **state)
{
	const struct world *w = *state;
	AUTO_FREE char *path = write_two(w, ID("1") ".jsonl", "fine", "");
	AUTO_TURN_VIEWS turns = TURN_VIEWS_INIT;
	struct turn_cut cut = { .path = NULL };
	struct err err = ERR_INIT;

	assert_int_equal(turn_views_read(path, TRANSCRIPT_CLAUDE, NULL, 0, &turns, NULL), 0);
	assert_int_equal(turn_cut_find(path, TRANSCRIPT_CLAUDE, NULL, 1, &cut, NULL), 0);
	assert_int_equal(cut.end, turns.v.v[1].offset);
	assert_int_equal(cut.turn, 1);
	assert_int_equal(cut.open, 0);
	turn_cut_release(&cut);
	assert_int_equal(turn_cut_find(path, TRANSCRIPT_CLAUDE, NULL, 2, &cut, NULL), 0);
	assert_int_equal(cut.end, 0);
	assert_int_equal(cut.open, 1);
	turn_cut_release(&cut);
	assert_int_equal(turn_cut_find(path, TRANSCRIPT_CLAUDE, NULL, 3, &cut, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "has 2"));
}

/* The way that was left is numbered all the same. */
static void test_a_way_that_was_left(void **state)
{
	const struct world *w = *state;
	AUTO_STR text = STR_INIT;
	AUTO_TURN_VIEWS turns = TURN_VIEWS_INIT;

	claude_user(&text, "u1", NULL, "one");
	claude_answer(&text, "a1", "u1", "m1", TEXT("first"));
	claude_user(&text, "u2", "a1", "left");
	claude_answer(&text, "a2", "u2", "m2", TEXT("left too"));
	claude_user(&text, "u3", "a1", "taken");
	claude_answer(&text, "a3", "u3", "m3", TEXT("taken too"));
	AUTO_FREE char *path = session_write(w->folder, ID("1") ".jsonl", str_sv(&text));
	assert_int_equal(turn_views_read(path, TRANSCRIPT_CLAUDE, NULL, 0, &turns, NULL), 0);
	assert_int_equal(turns.v.n, 3);
	assert_false(turns.v.v[0].left);
	assert_true(turns.v.v[1].left);
	assert_false(turns.v.v[2].left);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_items_of_a_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(test_common_part, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_way_that_was_left, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
