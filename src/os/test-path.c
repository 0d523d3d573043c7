#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/test-temp.h"

static void check_text(char *got, const char *want)
{
	assert_string_equal(got, want);
	free(got);
}

static void check_sv(struct sv got, const char *want)
{
	AUTO_FREE char *text = xmemdup0(got.p, got.n);

	assert_string_equal(text, want);
}

static void test_join_has_one_slash(void **state)
{
	(void)state;
	check_text(path_join("a", "b"), "a/b");
	check_text(path_join("a/", "b"), "a/b");
	check_text(path_join("/", "b"), "/b");
	check_text(path_join("a", "/b"), "/b");
	check_text(path_join("", "b"), "b");
	check_text(path_join("a", ""), "a");
}

static void test_base_and_parent(void **state)
{
	(void)state;
	static const struct {
		const char *path, *base, *parent;
	} cases[] = {
		{ "/a/b", "b", "/a" },
		{ "/a/b/", "b", "/a" },
		{ "/a//b//", "b", "/a" },
		{ "/a", "a", "/" },
		{ "//a", "a", "/" },
		{ "a", "a", "." },
		{ "a/", "a", "." },
		{ "a/b", "b", "a" },
		{ "/", "/", "/" },
		{ "//", "/", "/" },
		{ "", "", "." },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		check_sv(path_base(sv_of(cases[i].path)), cases[i].base);
		check_sv(path_parent(sv_of(cases[i].path)), cases[i].parent);
	}
}

static void test_within_goes_by_whole_names(void **state)
{
	(void)state;
	assert_true(path_within(SV("/a"), SV("/a")));
	assert_true(path_within(SV("/a/b"), SV("/a")));
	assert_true(path_within(SV("/a/b"), SV("/a/")));
	assert_true(path_within(SV("/a/"), SV("/a")));
	assert_true(path_within(SV("/a"), SV("/")));
	assert_false(path_within(SV("/ab"), SV("/a")));
	assert_false(path_within(SV("/"), SV("/a")));
	assert_false(path_within(SV("/a"), SV("")));
}

static void test_home_is_expanded_and_shown(void **state)
{
	(void)state;
	check_text(path_expand_home("~", "/h/u"), "/h/u");
	check_text(path_expand_home("~/x", "/h/u"), "/h/u/x");
	check_text(path_expand_home("~//x", "/h/u"), "/h/u/x");
	check_text(path_expand_home("~v/x", "/h/u"), "~v/x");
	check_text(path_expand_home("a~", "/h/u"), "a~");
	check_text(path_expand_home("~/x", NULL), "~/x");
	check_text(path_show("/h/u/x", "/h/u"), "~/x");
	check_text(path_show("/h/u/x", "/h/u/"), "~/x");
	check_text(path_show("/h/u", "/h/u"), "~");
	check_text(path_show("/h/ux", "/h/u"), "/h/ux");
	check_text(path_show("/x", "/"), "/x");
	check_text(path_show("/x", NULL), "/x");
}

static void test_real_and_cwd(void **state)
{
	char *dir = *state, *real = NULL;
	struct err err = ERR_INIT;
	AUTO_FREE char *file = temp_write(dir, "file", "x");
	AUTO_FREE char *link_path = path_join(dir, "link");

	assert_int_equal(symlink("file", link_path), 0);
	assert_int_equal(path_real(link_path, &real, &err), 0);
	check_text(real, file);
	assert_true(path_exists(file));
	AUTO_FREE char *none = path_join(dir, "none");
	assert_false(path_exists(none));
	assert_int_equal(path_real(none, &real, &err), -ENOENT);
	assert_non_null(strstr(err.msg, none));
}

static void test_real_of_what_is_gone(void **state)
{
	char *dir = *state, *real = NULL;
	AUTO_FREE char *link_path = path_join(dir, "link");
	AUTO_FREE char *below = path_join(link_path, "gone/too/file");
	AUTO_FREE char *beside = path_join(link_path, "file");

	assert_int_equal(symlink(".", link_path), 0);
	assert_int_equal(path_real(dir, &real, NULL), 0);
	AUTO_FREE char *below_real = path_join(real, "gone/too/file");
	AUTO_FREE char *beside_real = path_join(real, "file");
	check_text(path_real_gone(below), below_real);
	check_text(path_real_gone(beside), beside_real);
	check_text(path_real_gone("/no-such-folder/file"), "/no-such-folder/file");
	free(real);
}

static void test_cwd_that_is_gone(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *before = path_cwd(&err);
	AUTO_FREE char *dir = path_join(*state, "gone");

	assert_non_null(before);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(chdir(dir), 0);
	check_text(path_cwd(&err), dir);
	assert_int_equal(rmdir(dir), 0);
	assert_null(path_cwd(&err));
	assert_int_equal(err.code, -ENOENT);
	assert_int_equal(chdir(before), 0);
}

static void test_find_program(void **state)
{
	const char *dir = *state;
	AUTO_FREE char *plain = temp_write(dir, "one/tool", "#!/bin/sh\n");
	AUTO_FREE char *tool = temp_write(dir, "two/tool", "#!/bin/sh\n");
	AUTO_FREE char *folder = path_join(dir, "one/folder");
	AUTO_FREE char *search = xasprintf("%s/none::%s/one:%s/two", dir, dir, dir);

	assert_int_equal(chmod(tool, 0700), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	check_text(path_find_program("tool", search), tool);
	assert_null(path_find_program("folder", search));
	assert_null(path_find_program("", search));
	assert_null(path_find_program("tool", ""));
	assert_null(path_find_program("tool", NULL));
	check_text(path_find_program(tool, NULL), tool);
	assert_null(path_find_program(plain, search));
}

static void test_find_program_not_in_cwd(void **state)
{
	const char *dir = *state;
	AUTO_FREE char *before = path_cwd(NULL);
	AUTO_FREE char *tool = temp_write(dir, "here", "#!/bin/sh\n");

	assert_int_equal(chmod(tool, 0700), 0);
	assert_int_equal(chdir(dir), 0);
	assert_null(path_find_program("here", ":."));
	assert_int_equal(chdir(before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join_has_one_slash),
		cmocka_unit_test(test_base_and_parent),
		cmocka_unit_test(test_within_goes_by_whole_names),
		cmocka_unit_test(test_home_is_expanded_and_shown),
		WITH_FOLDER(test_real_and_cwd),
		WITH_FOLDER(test_real_of_what_is_gone),
		WITH_FOLDER(test_cwd_that_is_gone),
		WITH_FOLDER(test_find_program),
		WITH_FOLDER(test_find_program_not_in_cwd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
