#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/repo.h"
#include "os/test-temp.h"

static void check_root(const char *dir, const char *below, const char *want)
{
	AUTO_FREE char *at = path_join(dir, below);
	AUTO_FREE char *root = repo_root(at);
	AUTO_FREE char *path = want ? path_join(dir, want) : NULL;

	if (!want) {
		assert_null(root);
		return;
	}
	assert_non_null(root);
	assert_string_equal(root, path);
}

static void test_git_root(void **state)
{
	const char *dir = *state;

	free(temp_write(dir, "main/.git/HEAD", "ref: refs/heads/main\n"));
	free(temp_write(dir, "main/src/deep/x", ""));
	free(temp_write(dir, "main/empty/.git/nothing", ""));
	free(temp_write(dir, "outside/x", ""));
	check_root(dir, "main", "main");
	check_root(dir, "main/src/deep", "main");
	check_root(dir, "main/src/folder/that/is/gone", "main");
	check_root(dir, "main/empty", "main");
	check_root(dir, "outside", NULL);
}

static void test_git_root_of_worktree(void **state)
{
	const char *dir = *state;
	AUTO_FREE char *absolute = xasprintf("gitdir: %s/main/.git/worktrees/wt\n", dir);

	free(temp_write(dir, "main/.git/HEAD", "ref: refs/heads/main\n"));
	free(temp_write(dir, "main/.git/worktrees/wt/commondir", "../..\n"));
	free(temp_write(dir, "wt/.git", absolute));
	free(temp_write(dir, "wt/src/x", ""));
	free(temp_write(dir, "rel/.git", "gitdir: ../main/.git/worktrees/wt\n"));
	check_root(dir, "wt/src", "main");
	check_root(dir, "rel", "main");
}

static void test_git_root_without_main(void **state)
{
	const char *dir = *state;

	free(temp_write(dir, "main/.git/HEAD", "ref: refs/heads/main\n"));
	free(temp_write(dir, "main/.git/modules/sub/HEAD", "x\n"));
	free(temp_write(dir, "main/sub/.git", "gitdir: ../.git/modules/sub\n"));
	free(temp_write(dir, "bare.git/worktrees/wt/commondir", "../..\n"));
	free(temp_write(dir, "bare-wt/.git", "gitdir: ../bare.git/worktrees/wt\n"));
	free(temp_write(dir, "lost/.git", "gitdir: /none/.git/worktrees/lost\n"));
	free(temp_write(dir, "odd/.git", "something else"));
	check_root(dir, "main/sub", "main/sub");
	check_root(dir, "bare-wt", "bare-wt");
	check_root(dir, "lost", "lost");
	check_root(dir, "odd", "odd");
}

/* ---- marks ---- */

static void read_at(const char *dir, const char *below, struct repo *ret)
{
	AUTO_FREE char *at = path_join(dir, below);

	assert_true(repo_read(at, ret));
}

static bool has(const struct strv *marks, const char *mark)
{
	for (size_t i = 0; i < marks->n; i++)
		if (strcmp(marks->v[i], mark) == 0)
			return true;
	return false;
}

/* A mark of the kind that both have. */
static bool share(const struct strv *a, const struct strv *b, const char *kind)
{
	for (size_t i = 0; i < a->n; i++)
		if (sv_starts(sv_of(a->v[i]), sv_of(kind)) && has(b, a->v[i]))
			return true;
	return false;
}

static void test_remotes_are_one(void **state)
{
	static const struct {
		const char *url, *mark;
	} cases[] = {
		{ "git@example.org:a/b.git", "remote:example.org/a/b" },
		{ "https://example.org/a/b", "remote:example.org/a/b" },
		{ "https://me:secret@EXAMPLE.org/a/b.git/", "remote:example.org/a/b" },
		{ "ssh://git@example.org:2222/a/b.git", "remote:example.org/a/b" },
		{ "git://example.org//a/b", "remote:example.org/a/b" },
		{ "\"https://example.org/a/b\"", "remote:example.org/a/b" },
		{ "example.org:A/b", "remote:example.org/A/b" },
		{ "/srv/git/x.git", "remote:/srv/git/x" },
		{ "file:///srv/git/x.git", "remote:/srv/git/x" },
		{ "https://example.org/", NULL },
		{ "", NULL },
	};

	free(temp_write(*state, "a/.git/HEAD", "ref: refs/heads/main\n"));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_FREE char *config = xasprintf(
			"[core]\n\turl = no\n[remote \"up\"]\n\turl = https://example.org/up\n"
			"[remote \"origin\"]\n\tfetch = x\n\turl = %s\n[branch \"main\"]\n",
			cases[i].url);
		AUTO_REPO repo = REPO_INIT;
		free(temp_write(*state, "a/.git/config", config));
		read_at(*state, "a", &repo);
		if (cases[i].mark && !has(&repo.marks, cases[i].mark))
			fail_msg("%s is not %s", cases[i].url, cases[i].mark);
		if (!cases[i].mark)
			assert_false(share(&repo.marks, &repo.marks, "remote:example.org/a"));
		for (size_t k = 0; k < repo.marks.n; k++)
			assert_null(strstr(repo.marks.v[k], "secret"));
	}
	free(temp_write(*state, "a/.git/config", "[remote \"up\"]\n url=https://example.org/up\n"));
	AUTO_REPO repo = REPO_INIT;
	read_at(*state, "a", &repo);
	assert_true(has(&repo.marks, "remote:example.org/up"));
}

#define ZEROS "0000000000000000000000000000000000000000"
#define FIRST "1234567890abcdef1234567890abcdef12345678"

static void test_first_commit(void **state)
{
	static const struct {
		const char *log;
		bool known;
	} cases[] = {
		{ ZEROS " " FIRST " A B <a@b> 1700000000 +0000\tcommit (initial): x\nmore\n",
			true },
		{ ZEROS " " FIRST " A B <a@b> 1700000000 +0000\tclone: from y\n", false },
		{ FIRST " " FIRST " A B <a@b> 1700000000 +0000\tcommit (initial): x\n", false },
		{ ZEROS " " FIRST "\n", false },
		{ ZEROS " short A\tcommit (initial): x\n", false },
		{ "", false },
	};

	free(temp_write(*state, "a/.git/HEAD", "ref: refs/heads/main\n"));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_REPO repo = REPO_INIT;
		free(temp_write(*state, "a/.git/logs/HEAD", cases[i].log));
		read_at(*state, "a", &repo);
		assert_int_equal(has(&repo.marks, "root:" FIRST), cases[i].known);
	}
}

/* A clone says where it is from, also when it has no remote any more; what that began with counts.
 */
static void test_clones(void **state)
{
	AUTO_FREE char *here = xasprintf(
		ZEROS " " FIRST " A <a@b> 1700000000 +0000\tclone: from %s/a\n", (char *)*state);
	AUTO_FREE char *again =
		xasprintf(ZEROS " " FIRST " A <a@b> 1700000000 +0000\tclone: from file://%s/b\n",
			(char *)*state);
	AUTO_FREE char *circle = xasprintf(
		ZEROS " " FIRST " A <a@b> 1700000000 +0000\tclone: from %s/d\n", (char *)*state);
	const struct {
		const char *name, *log;
		bool known;
	} cases[] = {
		{ "a", ZEROS " " FIRST " A <a@b> 1700000000 +0000\tcommit (initial): x\n", true },
		{ "b", here, true },
		{ "c", again, true },
		{ "d", circle, false },
		{ "e",
			ZEROS " " FIRST
			      " A <a@b> 1700000000 +0000\tclone: from git@example.org:e.git\n",
			false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_REPO repo = REPO_INIT;
		AUTO_FREE char *head = xasprintf("%s/.git/HEAD", cases[i].name);
		AUTO_FREE char *log = xasprintf("%s/.git/logs/HEAD", cases[i].name);
		free(temp_write(*state, head, "ref: refs/heads/main\n"));
		free(temp_write(*state, log, cases[i].log));
		read_at(*state, cases[i].name, &repo);
		assert_int_equal(has(&repo.marks, "root:" FIRST), cases[i].known);
		assert_int_equal(has(&repo.marks, "remote:example.org/e"), i == 4);
	}
}

static void test_a_renamed_folder_keeps_its_node(void **state)
{
	const char *dir = *state;
	AUTO_REPO git = REPO_INIT, plain = REPO_INIT, git_after = REPO_INIT,
		  plain_after = REPO_INIT;
	AUTO_REPO other = REPO_INIT;

	free(temp_write(dir, "git/.git/HEAD", "ref: refs/heads/main\n"));
	free(temp_write(dir, "git/src/x", ""));
	free(temp_write(dir, "plain/x", ""));
	read_at(dir, "git/src", &git);
	read_at(dir, "plain", &plain);
	if (plain.own.n == 0)
		skip(); /* the file system knows no time of birth */
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(rename("git", "git2"), 0);
	assert_int_equal(rename("plain", "plain2"), 0);
	free(temp_write(dir, "plain/x", ""));
	read_at(dir, "git2", &git_after);
	read_at(dir, "plain2", &plain_after);
	read_at(dir, "plain", &other);
	assert_true(share(&git.marks, &git_after.marks, "node:"));
	assert_true(share(&git.own, &git_after.own, "node:"));
	assert_true(share(&plain.own, &plain_after.own, "node:"));
	assert_false(share(&plain.own, &other.own, "node:"));
	assert_true(sv_ends(sv_of(git_after.top), SV("/git2")));
	assert_true(other.born_ms >= plain.born_ms);
	assert_int_equal(chdir("/"), 0);
}

static void test_work_trees(void **state)
{
	const char *dir = *state;
	AUTO_FREE char *to_main = xasprintf("gitdir: %s/main/.git/worktrees/wt\n", dir);
	AUTO_FREE char *to_tree = xasprintf("%s/wt/.git\n", dir);
	AUTO_FREE char *to_gone = xasprintf("%s/gone/.git\n", dir);
	AUTO_FREE char *to_other = xasprintf("%s/other/.git\n", dir);
	AUTO_REPO repo = REPO_INIT, tree = REPO_INIT;

	free(temp_write(dir, "main/.git/HEAD", "ref: refs/heads/main\n"));
	free(temp_write(dir, "main/.git/worktrees/wt/commondir", "../..\n"));
	free(temp_write(dir, "main/.git/worktrees/wt/gitdir", to_tree));
	free(temp_write(dir, "main/.git/worktrees/gone/gitdir", to_gone));
	free(temp_write(dir, "main/.git/worktrees/other/gitdir", to_other));
	free(temp_write(dir, "other/.git/HEAD", "ref: refs/heads/main\n"));
	free(temp_write(dir, "wt/.git", to_main));
	read_at(dir, "main", &repo);
	read_at(dir, "wt", &tree);
	AUTO_FREE char *main_top = path_join(dir, "main");
	AUTO_FREE char *wt = path_join(dir, "wt");
	AUTO_FREE char *gone = path_join(dir, "gone");
	assert_string_equal(tree.top, wt);
	assert_string_equal(tree.main, main_top);
	assert_int_equal(repo.trees.n, 2);
	assert_true(has(&repo.trees, wt) && has(&repo.trees, gone));
	assert_true(has(&tree.trees, main_top) && has(&tree.trees, gone));
	assert_int_equal(tree.marks.n, repo.marks.n);
}

static void test_no_folder(void **state)
{
	AUTO_FREE char *file = temp_write(*state, "x", "");
	AUTO_FREE char *none = path_join(*state, "none");
	struct repo repo;

	assert_false(repo_read(file, &repo));
	assert_false(repo_read(none, &repo));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_git_root),
		WITH_FOLDER(test_git_root_of_worktree),
		WITH_FOLDER(test_git_root_without_main),
		WITH_FOLDER(test_remotes_are_one),
		WITH_FOLDER(test_first_commit),
		WITH_FOLDER(test_clones),
		WITH_FOLDER(test_a_renamed_folder_keeps_its_node),
		WITH_FOLDER(test_work_trees),
		WITH_FOLDER(test_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
