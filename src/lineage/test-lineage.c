#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lineage/lineage.h"
#include "store/test-world.h"

#define ID(n) "aaaaaaaa-0000-4000-8000-00000000000" n
#define DEMO "claude/projects/-work-demo/"

static int setup(void **state)
{
	struct world *w = world_new(NULL);

	*state = w;
	return 0;
}

/* A session whose first line holds the member `note` (raw JSON; NULL: none). */
static void make(const struct world *w, const char *name, const char *note, const char *prompt)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u0", NULL, prompt);
	if (note) {
		str_cut(&text, text.len - 2);
		str_addf(&text, ",%s}\n", note);
	}
	AUTO_FREE char *path = session_write(w->folder, name, str_sv(&text));
}

static char *note(const struct world *w, const char *kind, const char *key, const char *parent)
{
	return xasprintf("\"%s\":{\"%s\":\"%s/%s\"}", kind, key, w->folder, parent);
}

static void refresh(const struct world *w)
{
	assert_int_equal(catalogue_refresh(w->store, w->homes, 2, NULL, NULL, NULL), 0);
}

static void trace(const struct world *w, const char *id, struct lineage *ret)
{
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;

	assert_int_equal(catalogue_resolve(w->store, w->homes, 2, id, &row, NULL, NULL), 0);
	assert_int_equal(lineage_trace(w->store, w->homes, 2, &row, ret, NULL), 0);
	assert_string_equal(ret->nodes.v[ret->focus].id, row.info.id);
}

/* 1 is the root; 2 trimmed from 1, 3 continued from 2, 4 trimmed from 1 too. */
static void make_family(const struct world *w)
{
	AUTO_FREE char *from1 = note(w, "trim_metadata", "parent_file", DEMO ID("1") ".jsonl");
	AUTO_FREE char *from2 =
		note(w, "continue_metadata", "parent_session_file", DEMO ID("2") ".jsonl");

	make(w, DEMO ID("1") ".jsonl", NULL, "first words");
	make(w, DEMO ID("2") ".jsonl", from1, "second");
	make(w, DEMO ID("3") ".jsonl", from2, "third");
	make(w, DEMO ID("4") ".jsonl", from1, "fourth");
	refresh(w);
}

/* The note may stand behind much else, but not behind everything. */
static void test_note_is_found_in_long_lines(void **state)
{
	static const size_t sizes[] = { 10, 70000, 3000000, 5000000 };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		AUTO_STR text = STR_INIT;
		str_adds(&text, "null\n{\"type\":\"x\",\"pad\":\"");
		for (size_t k = 0; k < sizes[i]; k++)
			str_addc(&text, 'x');
		str_adds(&text,
			"\",\"payload\":{\"trim_metadata\":{\"trimmed_at\":\"2026-03-08T10:00:"
			"00Z\","
			"\"trim_params\":{\"method\":\"smart-trim\"},"
			"\"stats\":{\"tokens_saved\":7}}}}");
		AUTO_FREE char *path = session_write(w->folder, "note.jsonl", str_sv(&text));
		struct lineage_node n = { .path = path, .relation = SESSION_TRIMMED, .saved = -1 };
		lineage_take_note(&n);
		bool far = sizes[i] > 4000000;
		assert_int_equal(n.saved, far ? -1 : 7);
		assert_int_equal(n.made_ms, far ? 0 : 1772964000000);
	}
	char nowhere[] = "/no/such/file";
	struct lineage_node none = { .path = nowhere, .relation = SESSION_TRIMMED, .saved = -1 };
	lineage_take_note(&none);
	assert_int_equal(none.saved, -1);
}

static void test_family_is_in_order(void **state)
{
	AUTO_LINEAGE l = LINEAGE_INIT;

	make_family(*state);
	trace(*state, ID("3"), &l);
	assert_int_equal(l.nodes.n, 4);
	assert_int_equal(l.focus, 2);
	static const char *const ids[] = { ID("1"), ID("2"), ID("3"), ID("4") };
	static const unsigned depths[] = { 0, 1, 2, 1 };
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(l.nodes.v[i].id, ids[i]);
		assert_int_equal(l.nodes.v[i].depth, depths[i]);
		assert_int_equal(l.nodes.v[i].state, LINEAGE_HERE);
	}
	assert_int_equal(l.nodes.v[0].relation, SESSION_ROOT);
	assert_int_equal(l.nodes.v[1].relation, SESSION_TRIMMED);
	assert_int_equal(l.nodes.v[2].relation, SESSION_CONTINUED);
	assert_int_equal(l.nodes.v[3].parent, 0);
	assert_string_equal(l.nodes.v[0].title, "first words");
}

static void test_from_the_root(void **state)
{
	AUTO_LINEAGE l = LINEAGE_INIT;

	make_family(*state);
	trace(*state, ID("1"), &l);
	assert_int_equal(l.nodes.n, 4);
	assert_int_equal(l.focus, 0);
}

static void test_chain_leads_from_the_root(void **state)
{
	const struct world *w = *state;
	AUTO_LINEAGE l = LINEAGE_INIT;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;

	make_family(w);
	assert_int_equal(catalogue_resolve(w->store, w->homes, 2, ID("3"), &row, NULL, NULL), 0);
	assert_int_equal(lineage_chain(w->store, w->homes, 2, &row, &l, NULL), 0);
	assert_int_equal(l.nodes.n, 3);
	assert_int_equal(l.focus, 2);
	assert_string_equal(l.nodes.v[0].id, ID("1"));
}

static void test_missing_parent(void **state)
{
	const struct world *w = *state;
	AUTO_LINEAGE l = LINEAGE_INIT;

	make(w, DEMO ID("2") ".jsonl", "\"trim_metadata\":{\"parent_file\":\"/no/where.jsonl\"}",
		"words");
	refresh(w);
	trace(w, ID("2"), &l);
	assert_int_equal(l.nodes.n, 2);
	assert_int_equal(l.nodes.v[0].state, LINEAGE_MISSING);
	assert_string_equal(l.nodes.v[0].path, "/no/where.jsonl");
	assert_int_equal(l.focus, 1);
}

static void test_moved_parent(void **state)
{
	const struct world *w = *state;
	AUTO_LINEAGE l = LINEAGE_INIT;

	make(w, DEMO ID("1") ".jsonl", NULL, "words");
	make(w, DEMO ID("2") ".jsonl",
		"\"trim_metadata\":{\"parent_file\":\"/old/" ID("1") ".jsonl\"}", "words");
	refresh(w);
	trace(w, ID("2"), &l);
	assert_int_equal(l.nodes.n, 2);
	assert_int_equal(l.nodes.v[0].state, LINEAGE_MOVED);
	assert_string_equal(l.nodes.v[0].named, "/old/" ID("1") ".jsonl");
	AUTO_LINEAGE down = LINEAGE_INIT;
	trace(w, ID("1"), &down);
	assert_int_equal(down.nodes.n, 2);
}

/* What a moved file left in the catalogue is no session of its own, whoever is asked. */
static void test_moved_between(void **state)
{
	static const char *const asked[] = { ID("1"), ID("2"), ID("3") };
	const struct world *w = *state;

	make_family(w);
	AUTO_FREE char *from = path_join(w->folder, DEMO ID("2") ".jsonl");
	AUTO_FREE char *folder = path_join(w->folder, "claude/projects/-other");
	AUTO_FREE char *to = path_join(folder, ID("2") ".jsonl");
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(rename(from, to), 0);
	refresh(w);
	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		AUTO_LINEAGE l = LINEAGE_INIT;
		trace(w, asked[i], &l);
		assert_int_equal(l.nodes.n, 4);
		assert_string_equal(l.nodes.v[1].id, ID("2"));
		assert_string_equal(l.nodes.v[1].path, to);
		assert_string_equal(l.nodes.v[2].id, ID("3"));
		assert_int_equal(l.nodes.v[2].depth, 2);
	}
	assert_int_equal(unlink(to), 0);
	refresh(w);
	AUTO_LINEAGE l = LINEAGE_INIT;
	trace(w, ID("1"), &l);
	assert_int_equal(l.nodes.n, 4);
	assert_int_equal(l.nodes.v[1].state, LINEAGE_GONE);
	assert_string_equal(l.nodes.v[2].id, ID("3"));
}

static void test_gone_parent(void **state)
{
	const struct world *w = *state;
	AUTO_LINEAGE l = LINEAGE_INIT;

	make_family(w);
	AUTO_FREE char *path = path_join(w->folder, DEMO ID("1") ".jsonl");
	assert_int_equal(unlink(path), 0);
	trace(w, ID("2"), &l);
	assert_int_equal(l.nodes.v[0].state, LINEAGE_GONE);
	assert_string_equal(l.nodes.v[0].title, "first words");
	assert_int_equal(l.nodes.n, 4);
}

static void test_circle_has_every_session_once(void **state)
{
	const struct world *w = *state;
	AUTO_LINEAGE l = LINEAGE_INIT;
	AUTO_FREE char *from1 = note(w, "trim_metadata", "parent_file", DEMO ID("1") ".jsonl");
	AUTO_FREE char *from2 = note(w, "trim_metadata", "parent_file", DEMO ID("2") ".jsonl");

	make(w, DEMO ID("1") ".jsonl", from2, "one");
	make(w, DEMO ID("2") ".jsonl", from1, "two");
	refresh(w);
	trace(w, ID("1"), &l);
	assert_int_equal(l.nodes.n, 2);
	assert_string_equal(l.nodes.v[0].id, ID("2"));
	assert_true(l.nodes.v[0].circle);
	assert_false(l.nodes.v[1].circle);
}

static void test_own_parent(void **state)
{
	const struct world *w = *state;
	AUTO_LINEAGE l = LINEAGE_INIT;
	AUTO_FREE char *from1 = note(w, "trim_metadata", "parent_file", DEMO ID("1") ".jsonl");

	make(w, DEMO ID("1") ".jsonl", from1, "one");
	refresh(w);
	trace(w, ID("1"), &l);
	assert_int_equal(l.nodes.n, 1);
	assert_true(l.nodes.v[0].circle);
}

/* A file outside of every home still hangs on its parent. */
static void test_stray_focus(void **state)
{
	const struct world *w = *state;
	AUTO_LINEAGE l = LINEAGE_INIT;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;

	make_family(w);
	AUTO_FREE char *from2 = note(w, "trim_metadata", "parent_file", DEMO ID("2") ".jsonl");
	make(w, "stray/x.jsonl", from2, "stray words");
	AUTO_FREE char *path = path_join(w->folder, "stray/x.jsonl");
	assert_int_equal(catalogue_resolve(w->store, w->homes, 2, path, &row, NULL, NULL), 0);
	assert_int_equal(lineage_trace(w->store, w->homes, 2, &row, &l, NULL), 0);
	assert_int_equal(l.nodes.n, 5);
	assert_int_equal(l.focus, 2);
	assert_string_equal(l.nodes.v[2].title, "stray words");
	assert_string_equal(l.nodes.v[3].id, ID("3"));
}

/* Forks of Claude Code begin with the same record and a later time of their own. */
static void test_forks_by_beginning(void **state)
{
	const struct world *w = *state;

	for (int i = 2; i < 4; i++) {
		AUTO_STR text = STR_INIT;
		AUTO_FREE char *name =
			xasprintf(DEMO "aaaaaaaa-0000-4000-8000-00000000000%d.jsonl", i);
		AUTO_FREE char *first =
			xasprintf("{\"type\":\"queue-operation\",\"operation\":\"enqueue\","
				  "\"timestamp\":\"2026-03-0%dT11:00:00Z\"}\n",
				i);
		str_adds(&text, first);
		claude_user(&text, "u0", NULL, "same words");
		AUTO_FREE char *path = session_write(w->folder, name, str_sv(&text));
	}
	make(w, DEMO ID("1") ".jsonl", NULL, "same words");
	refresh(w);
	for (int focus = 1; focus < 4; focus++) {
		AUTO_LINEAGE l = LINEAGE_INIT;
		AUTO_FREE char *id = xasprintf("aaaaaaaa-0000-4000-8000-00000000000%d", focus);
		trace(w, id, &l);
		assert_int_equal(l.nodes.n, 3);
		assert_string_equal(l.nodes.v[0].id, ID("1"));
		assert_int_equal(l.nodes.v[0].relation, SESSION_ROOT);
		for (size_t i = 1; i < 3; i++) {
			assert_int_equal(l.nodes.v[i].relation, SESSION_FORKED);
			assert_true(l.nodes.v[i].guessed);
			assert_int_equal(l.nodes.v[i].parent, 0);
		}
	}
}

static void test_dot_is_quoted(void **state)
{
	const struct world *w = *state;
	AUTO_LINEAGE l = LINEAGE_INIT;
	AUTO_STR out = STR_INIT;

	make(w, DEMO ID("1") ".jsonl", NULL, "a \"quote\" and \\ a\nnewline");
	refresh(w);
	trace(w, ID("1"), &l);
	lineage_dot(&l, &out);
	assert_non_null(strstr(out.buf, "a \\\"quote\\\" and \\\\ a newline"));
	assert_non_null(strstr(out.buf, "peripheries=2"));
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_family_is_in_order),
		CASE(test_note_is_found_in_long_lines),
		CASE(test_from_the_root),
		CASE(test_chain_leads_from_the_root),
		CASE(test_missing_parent),
		CASE(test_moved_parent),
		CASE(test_moved_between),
		CASE(test_gone_parent),
		CASE(test_circle_has_every_session_once),
		CASE(test_own_parent),
		CASE(test_stray_focus),
		CASE(test_forks_by_beginning),
		CASE(test_dot_is_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
