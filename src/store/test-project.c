#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/test-temp.h"
#include "store/project.h"
#include "store/sql.h"

struct world {
	char *dir;
	struct store *store;
};

static int set_up(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->dir = temp_folder();
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &w->store, NULL), 0);
	assert_int_equal(chdir(w->dir), 0);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	assert_int_equal(chdir("/"), 0);
	store_close(w->store);
	temp_remove(w->dir);
	free(w);
	return 0;
}

/* A repository, with a remote unless that is NULL. */
static void make_repo(const struct world *w, const char *name, const char *remote)
{
	AUTO_FREE char *head = xasprintf("%s/.git/HEAD", name);
	AUTO_FREE char *config = xasprintf("%s/.git/config", name);
	AUTO_FREE char *text = xasprintf("[remote \"origin\"]\n\turl = %s\n", remote);
	AUTO_FREE char *src = xasprintf("%s/src/x", name);

	free(temp_write(w->dir, head, "ref: refs/heads/main\n"));
	free(temp_write(w->dir, config, remote ? text : ""));
	free(temp_write(w->dir, src, ""));
}

static void note(const struct world *w, const char *name)
{
	AUTO_FREE char *dir = path_join(w->dir, name);

	assert_int_equal(project_note(w->store, dir, NULL), 0);
}

/* What project_find() says of name: the names of the other places with ' ' between. */
static void expect_places(const struct world *w, const char *name, const char *want)
{
	AUTO_FREE char *dir = path_join(w->dir, name);
	AUTO_PROJECT project = PROJECT_INIT;
	AUTO_STR got = STR_INIT;

	assert_int_equal(project_find(w->store, dir, &project, NULL), 0);
	vec_each (&project.places, place) {
		assert_true(path_within(sv_of(place->dir), sv_of(w->dir)));
		str_addf(&got, "%s%s", got.len ? " " : "", place->dir + strlen(w->dir) + 1);
	}
	assert_string_equal(got.buf ? got.buf : "", want);
}

static bool without_birth(const struct world *w)
{
	AUTO_SQL q = SQL_INIT;

	return sql_prepare(&q, w->store, "SELECT 1 FROM place_mark WHERE mark LIKE 'node:%'",
		       NULL) < 0 ||
		sql_step(&q, NULL) <= 0;
}

static void test_moved(void **state)
{
	const struct world *w = *state;

	make_repo(w, "old", NULL);
	free(temp_write(w->dir, "plain/x", ""));
	note(w, "old/src");
	note(w, "plain");
	if (without_birth(w))
		skip();
	expect_places(w, "old", "");
	assert_int_equal(rename("old", "new"), 0);
	assert_int_equal(rename("plain", "simple"), 0);
	expect_places(w, "new", "old");
	expect_places(w, "new/src", "old/src");
	expect_places(w, "simple", "plain");
	note(w, "new");
	assert_int_equal(rename("new", "newer"), 0);
	expect_places(w, "newer", "old new");
}

static void test_clones_and_strangers(void **state)
{
	const struct world *w = *state;

	make_repo(w, "one/app", "https://example.org/me/app");
	make_repo(w, "two/app", "git@example.org:me/app.git");
	make_repo(w, "three/app", "https://example.org/you/app");
	make_repo(w, "four/app", NULL);
	note(w, "one/app");
	note(w, "two/app");
	note(w, "three/app");
	note(w, "four/app");
	expect_places(w, "one/app", "two/app");
	expect_places(w, "two/app/src", "one/app/src");
	expect_places(w, "three/app", "");
	expect_places(w, "four/app", "");
}

/* What lay at a place before is not what lies there now. */
static void test_another_at_the_same_place(void **state)
{
	const struct world *w = *state;
	AUTO_PROJECT project = PROJECT_INIT;
	AUTO_FREE char *moved = path_join(w->dir, "away");

	make_repo(w, "app", "https://example.org/me/app");
	note(w, "app");
	if (without_birth(w))
		skip();
	assert_int_equal(rename("app", "away"), 0);
	make_repo(w, "app", "https://example.org/you/other");
	expect_places(w, "app", "");
	note(w, "app");
	expect_places(w, "app", "");
	assert_int_equal(project_find(w->store, moved, &project, NULL), 0);
	assert_int_equal(project.places.n, 1);
	assert_int_equal(project.places.v[0].since_ms, 0);
	assert_true(project.places.v[0].until_ms > 0 && project.places.v[0].until_ms < INT64_MAX);
	note(w, "away");
	expect_places(w, "away", "app");
	expect_places(w, "app", "");
}

static void test_a_remote_that_changes(void **state)
{
	const struct world *w = *state;

	make_repo(w, "one", "https://example.org/me/app");
	make_repo(w, "two", "https://example.org/me/app");
	note(w, "one");
	note(w, "two");
	if (without_birth(w))
		skip();
	make_repo(w, "one", "https://example.net/me/app");
	note(w, "one");
	expect_places(w, "one", "two");
	expect_places(w, "two", "one");
}

static void test_work_tree_that_is_gone(void **state)
{
	const struct world *w = *state;
	AUTO_FREE char *gitdir = xasprintf("%s/tree/.git\n", w->dir);
	AUTO_FREE char *back = xasprintf("gitdir: %s/main/.git/worktrees/t\n", w->dir);

	make_repo(w, "main", "https://example.org/me/app");
	free(temp_write(w->dir, "main/.git/worktrees/t/gitdir", gitdir));
	free(temp_write(w->dir, "main/.git/worktrees/t/commondir", "../..\n"));
	free(temp_write(w->dir, "tree/.git", back));
	note(w, "tree");
	expect_places(w, "main", "tree");
	assert_int_equal(unlink("tree/.git"), 0);
	assert_int_equal(rmdir("tree"), 0);
	assert_int_equal(unlink("main/.git/worktrees/t/gitdir"), 0);
	expect_places(w, "main", "tree");
	expect_places(w, "main/src", "tree/src");

	AUTO_PROJECT project = PROJECT_INIT;
	AUTO_FREE char *dir = path_join(w->dir, "main");
	make_repo(w, "clone", "https://example.org/me/app");
	note(w, "clone");
	assert_int_equal(project_find(w->store, dir, &project, NULL), 0);
	assert_int_equal(project.places.n, 2);
	project_keep_gone(&project);
	assert_int_equal(project.places.n, 1);
}

/* Looking writes nothing, and noting twice writes nothing more. */
static void test_nothing_new_is_not_written(void **state)
{
	const struct world *w = *state;

	make_repo(w, "main", "https://example.org/me/app");
	int64_t before = sql_changes(w->store);
	expect_places(w, "main", "");
	assert_int_equal(sql_changes(w->store), before);
	assert_true(project_noted(w->store));
	note(w, "main");
	note(w, "gone");
	expect_places(w, "gone", "");
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(test_moved),
		CASE(test_clones_and_strangers),
		CASE(test_another_at_the_same_place),
		CASE(test_a_remote_that_changes),
		CASE(test_work_tree_that_is_gone),
		CASE(test_nothing_new_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
