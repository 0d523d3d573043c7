#include "assist/resolve.h"
#include "transcript/test-session.h"

#define ID_A "aaaaaaaa-0000-4000-8000-000000000001"
#define ID_B "aaaabbbb-0000-4000-8000-000000000002"
#define GONE "dddddddd-0000-4000-8000-000000000004"
#define DEMO "claude/projects/-work-demo/"

struct world {
	char *folder, *claude, *archive;
	struct transcript_home home;
	struct store *store;
	struct clock clock;
	struct resolve_opts opts;
};

static void write_session(const struct world *w, const char *name, const char *prompt)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u0", NULL, prompt);
	AUTO_FREE char *path = session_write(w->folder, name, str_sv(&text));
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->folder = temp_folder();
	w->claude = path_join(w->folder, "claude");
	w->archive = path_join(w->folder, "archive");
	w->home = (struct transcript_home){
		.agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = w->claude
	};
	write_session(w, DEMO ID_A ".jsonl", "alpha words");
	write_session(w, DEMO ID_B ".jsonl", "beta words");
	w->clock = (struct clock){ true, 1000000000000 };
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &w->store, NULL), 0);
	w->opts = (struct resolve_opts){
		.store = w->store,
		.homes = &w->home,
		.n_homes = 1,
		.clock = &w->clock,
		.archive_dir = w->archive,
		.here = "/work/demo",
		.home = "/home/me",
	};
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	store_close(w->store);
	temp_remove(w->folder);
	free(w->claude);
	free(w->archive);
	free(w);
	return 0;
}

static void test_names_and_fragments(void **state)
{
	const struct world *w = *state;
	AUTO_RESOLVED one = RESOLVED_INIT;
	AUTO_RESOLVED several = RESOLVED_INIT;
	AUTO_RESOLVED none = RESOLVED_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(resolve_session(&w->opts, "aaaabbbb", 0, &one, &err), 0);
	assert_string_equal(one.row.info.prompt, "beta words");
	assert_false(one.last_here);
	assert_int_equal(resolve_session(&w->opts, "aaaa", 0, &several, &err), ERR_AMBIGUOUS);
	assert_int_equal(several.candidates.rows.n, 2);
	assert_int_equal(resolve_session(&w->opts, "nobody", 0, &none, &err), ERR_NOTFOUND);
	assert_non_null(strstr(err.msg, "faden list --all"));
	assert_int_equal(resolve_session(&w->opts, NULL, 0, &none, &err), ERR_USAGE);
}

static void test_nothing_named_is_the_last_here_until_something_goes_on(void **state)
{
	struct world *w = *state;
	AUTO_RESOLVED last = RESOLVED_INIT;
	AUTO_RESOLVED taken = RESOLVED_INIT;
	AUTO_RESOLVED current = RESOLVED_INIT;
	AUTO_RESOLVED by_id = RESOLVED_INIT;

	assert_int_equal(resolve_session(&w->opts, NULL, RESOLVE_HERE, &last, NULL), 0);
	assert_true(last.last_here);
	assert_int_equal(resolve_session(&w->opts, ID_A, RESOLVE_CONVERSATION, &taken, NULL), 0);
	assert_string_equal(taken.row.info.id, ID_A);
	assert_null(taken.conv.session); /* asking makes none */
	assert_int_equal(resolve_conversation(&w->opts, &taken.row, &taken.conv, NULL), 0);
	resolved_release(&taken);
	assert_int_equal(resolve_session(&w->opts, ID_A, RESOLVE_CONVERSATION, &taken, NULL), 0);
	assert_string_equal(taken.conv.session, ID_A);
	assert_int_equal(
		conv_set_current(w->store, "/work/demo", taken.conv.id, &w->clock, NULL), 0);
	assert_int_equal(resolve_session(&w->opts, NULL, RESOLVE_HERE, &current, NULL), 0);
	assert_false(current.last_here);
	assert_string_equal(current.row.info.id, ID_A);
	/* A conversation is named by our own id too. */
	assert_int_equal(resolve_session(&w->opts, taken.conv.id, RESOLVE_FILE, &by_id, NULL), 0);
	assert_string_equal(by_id.row.info.id, ID_A);
	w->opts.here = NULL;
	resolved_release(&current);
	assert_int_equal(
		resolve_session(&w->opts, NULL, RESOLVE_HERE, &current, NULL), ERR_NOTFOUND);
}

static void test_a_file_in_which_nothing_is_left(void **state)
{
	const struct world *w = *state;
	AUTO_FREE char *path = session_write(w->folder, DEMO GONE ".jsonl", SV("???\n"));
	AUTO_RESOLVED ruin = RESOLVED_INIT;

	assert_int_equal(resolve_session(&w->opts, path, RESOLVE_FILE, &ruin, NULL), ERR_INPUT);
	assert_int_equal(
		resolve_session(&w->opts, path, RESOLVE_FILE | RESOLVE_DAMAGED, &ruin, NULL), 0);
	assert_string_equal(ruin.row.info.id, GONE);
	assert_string_equal(ruin.row.agent, "claude");
}

static void test_one_that_is_gone(void **state)
{
	const struct world *w = *state;
	AUTO_FREE char *path = path_join(w->folder, DEMO ID_B ".jsonl");
	AUTO_RESOLVED there = RESOLVED_INIT;
	AUTO_RESOLVED gone = RESOLVED_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(resolve_session(&w->opts, "beta", 0, &there, NULL), ERR_NOTFOUND);
	assert_int_equal(resolve_session(&w->opts, ID_B, 0, &there, NULL), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(resolve_session(&w->opts, ID_B, 0, &gone, &err), ERR_NOTFOUND);
	assert_non_null(strstr(err.msg, "is gone"));
	assert_int_equal(resolve_session(&w->opts, ID_B, RESOLVE_GONE, &gone, &err), 0);
	assert_true(gone.row.gone);
	assert_null(gone.kept);
}

static void test_a_name_goes_before_a_path(void **state)
{
	const struct world *w = *state;
	AUTO_FREE char *path = path_join(w->folder, DEMO ID_A ".jsonl");
	AUTO_RESOLVED named = RESOLVED_INIT;
	AUTO_RESOLVED file = RESOLVED_INIT;
	AUTO_RESOLVED part = RESOLVED_INIT;

	assert_int_equal(resolve_session(&w->opts, path, RESOLVE_FILE, &file, NULL), 0);
	assert_string_equal(file.row.info.id, ID_A);
	assert_int_equal(catalogue_refresh(w->store, &w->home, 1, NULL, NULL, NULL), 0);
	assert_int_equal(catalogue_rename(w->store, "claude", ID_B, path, NULL), 0);
	resolved_release(&file);
	assert_int_equal(resolve_session(&w->opts, path, RESOLVE_FILE, &file, NULL), 0);
	assert_string_equal(file.row.info.id, ID_B);
	assert_int_equal(resolve_session(&w->opts, path, 0, &named, NULL), 0);
	assert_string_equal(named.row.info.id, ID_B);
	assert_int_equal(resolve_session(&w->opts, DEMO, RESOLVE_FILE, &part, NULL), 0);
	assert_string_equal(part.row.info.id, ID_B);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names_and_fragments, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_nothing_named_is_the_last_here_until_something_goes_on, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_a_file_in_which_nothing_is_left, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_that_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_name_goes_before_a_path, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
