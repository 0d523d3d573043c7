#include <errno.h>
#include <string.h>

#include "store/test-world.h"
#include "strategy/rollover.h"

#define ID(n) "aaaaaaaa-0000-4000-8000-00000000000" n
#define DEMO "claude/projects/-work-demo/"

static int setup(void **state)
{
	struct world *w = world_new(NULL);

	AUTO_STR text = STR_INIT;
	claude_user(&text, "u1", NULL, "please build the parser for session files");
	claude_answer(&text, "a1", "u1", "m1", TEXT("Decision: no tree"));
	AUTO_FREE char *path = session_write(w->folder, DEMO ID("1") ".jsonl", str_sv(&text));
	*state = w;
	return 0;
}

static void find(struct world *w, const char *id, struct session_row *ret)
{
	assert_int_equal(catalogue_resolve(w->store, w->homes, 2, id, ret, NULL, NULL), 0);
}

static struct rollover_opts opts_of(
	const struct world *w, const struct session_row *parent, size_t target)
{
	return (struct rollover_opts){
		.store = w->store,
		.homes = w->homes,
		.n_homes = 2,
		.parent = parent,
		.target = &w->homes[target],
		.dir = "/work/demo",
		.clock = &w->clock,
	};
}

/* Rolls `id` over; the new id in ret. */
static void roll(struct world *w, const char *id, size_t target, const char *prompt,
	char ret[static UUID_TEXT], struct str *message)
{
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_ROLLOVER plan = ROLLOVER_INIT;

	find(w, id, &row);
	struct rollover_opts opts = opts_of(w, &row, target);
	opts.prompt = prompt;
	assert_int_equal(rollover_plan(&opts, &plan, NULL), 0);
	assert_false(path_exists(plan.path));
	assert_int_equal(rollover_apply(&opts, &plan, NULL), 0);
	assert_true(path_exists(plan.path));
	assert_int_equal(rollover_apply(&opts, &plan, NULL), -EEXIST);
	memcpy(ret, plan.id, UUID_TEXT);
	str_add(message, str_sv(&plan.message));
}

static void test_lineage_block(void **state)
{
	struct world *w = *state;
	AUTO_STR message = STR_INIT;
	char id[UUID_TEXT];

	roll(w, ID("1"), 0, NULL, id, &message);
	AUTO_FREE char *want =
		xasprintf("[SESSION LINEAGE]\n"
			  "This session continues from previous work:\n"
			  "1. " ID("1") ".jsonl (original)\n"
					"2. %s.jsonl (current)\n"
					"\n"
					"Context from parent sessions may be relevant.\n"
					"[/SESSION LINEAGE]\n",
			id);
	assert_non_null(strstr(message.buf, want));
}

static void test_new_session_is_read_as_such(void **state)
{
	struct world *w = *state;

	for (size_t target = 0; target < 2; target++) {
		AUTO_STR message = STR_INIT;
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		char id[UUID_TEXT];
		roll(w, ID("1"), target, NULL, id, &message);
		find(w, id, &row);
		assert_int_equal(
			row.info.relation, target == 0 ? SESSION_CONTINUED : SESSION_PORTED);
		assert_string_equal(row.info.parent_id, ID("1"));
		assert_string_equal(row.info.cwd, "/work/demo");
		assert_int_equal(row.info.turns, 1);
		assert_string_equal(
			row.info.prompt, "Continue: please build the parser for session files");
	}
}

/* Task, decisions and the user's wish survive a second rollover. */
static void test_second_generation(void **state)
{
	struct world *w = *state;
	AUTO_STR one = STR_INIT;
	AUTO_STR two = STR_INIT;
	AUTO_STR three = STR_INIT;
	char id[UUID_TEXT], next[UUID_TEXT], last[UUID_TEXT];

	roll(w, ID("1"), 0, NULL, id, &one);
	roll(w, id, 1, "now the tests\nand the docs", next, &two);
	assert_non_null(strstr(two.buf, "As last stated: please build the parser"));
	assert_null(strstr(two.buf, "At first:"));
	assert_non_null(strstr(two.buf, "## Decisions\n- no tree"));
	assert_non_null(
		strstr(two.buf, "# What to do in this session\nnow the tests\nand the docs\n"));
	roll(w, next, 0, NULL, last, &three);
	assert_non_null(strstr(three.buf, "At first: please build the parser"));
	assert_non_null(strstr(three.buf, "As last stated: now the tests\n  and the docs"));
	assert_non_null(strstr(three.buf, "- no tree"));
	assert_non_null(strstr(three.buf, "4. "));
	assert_non_null(strstr(three.buf, "## Last answer\n- Decision: no tree (from before)"));
	assert_null(strstr(three.buf, BRIEF_OWN_ANSWER));
}

/* A session in which nobody said anything has nothing to go on from. */
static void test_empty(void **state)
{
	struct world *w = *state;
	static const char line[] = "{\"type\":\"file-history-snapshot\",\"messageId\":\"x\"}\n";

	for (size_t i = 0; i < 2; i++) {
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		AUTO_ROLLOVER plan = ROLLOVER_INIT;
		struct err err = ERR_INIT;
		AUTO_FREE char *path =
			session_write(w->folder, DEMO ID("2") ".jsonl", i ? sv_of(line) : SV(""));
		find(w, path, &row);
		struct rollover_opts opts = opts_of(w, &row, 0);
		opts.prompt = "do it";
		assert_int_equal(rollover_plan(&opts, &plan, &err), ERR_NOTFOUND);
		assert_non_null(strstr(err.msg, path));
	}
}

static void test_prompt_limit(void **state)
{
	struct world *w = *state;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_ROLLOVER plan = ROLLOVER_INIT;
	AUTO_FREE char *prompt = xcalloc(ROLLOVER_PROMPT_MAX + 2, 1);

	memset(prompt, 'x', ROLLOVER_PROMPT_MAX);
	find(w, ID("1"), &row);
	struct rollover_opts opts = opts_of(w, &row, 0);
	opts.prompt = prompt;
	assert_int_equal(rollover_plan(&opts, &plan, NULL), 0);
	assert_non_null(strstr(plan.message.buf, "xxx…\n\n[SESSION")); /* a title is cut visibly */
	prompt[ROLLOVER_PROMPT_MAX] = 'x';
	AUTO_ROLLOVER refused = ROLLOVER_INIT;
	assert_int_equal(rollover_plan(&opts, &refused, NULL), ERR_LIMIT);
}

/* Every reference of the message gives its original back, also when the parent is gone. */
static void test_references(void **state)
{
	struct world *w = *state;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_ROLLOVER plan = ROLLOVER_INIT;
	AUTO_FREE char *dir = path_join(w->folder, "archive");
	const struct archive archive = { .store = w->store, .dir = dir, .clock = &w->clock };

	find(w, ID("1"), &row);
	struct rollover_opts opts = opts_of(w, &row, 0);
	opts.archive = &archive;
	assert_int_equal(rollover_plan(&opts, &plan, NULL), 0);
	assert_int_equal(plan.places.n, plan.brief.facts.n);
	assert_false(path_exists(dir));
	assert_int_equal(rollover_apply(&opts, &plan, NULL), 0);
	assert_int_equal(unlink(row.info.path), 0);
	vec_each (&plan.brief.facts, fact) {
		AUTO_STR raw = STR_INIT;
		assert_non_null(strstr(plan.message.buf, fact->ref));
		assert_int_equal(recall_get(&archive, sv_of(fact->ref), &raw, NULL, NULL), 0);
		assert_int_equal(raw.len, fact->place.size);
	}
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_lineage_block),
		CASE(test_new_session_is_read_as_such),
		CASE(test_second_generation),
		CASE(test_empty),
		CASE(test_prompt_limit),
		CASE(test_references),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
