#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/clip.h"
#include "os/test-temp.h"

/* A stand-in that notes its arguments and what it was given. */
static void make_tool(const char *dir, const char *name, const char *end)
{
	AUTO_FREE char *script =
		xasprintf("#!/bin/sh\n{ echo %s \"$@\"; cat; } >> %s/log\n%s\n", name, dir, end);
	AUTO_FREE char *path = temp_write(dir, name, script);

	assert_int_equal(chmod(path, 0700), 0);
}

static void check_log(const char *dir, const char *want)
{
	AUTO_FREE char *path = path_join(dir, "log");
	AUTO_STR text = STR_INIT;

	assert_int_equal(file_read(path, 1000, &text, NULL), 0);
	assert_string_equal(text.buf, want);
	assert_int_equal(remove(path), 0);
}

static void test_programs_are_tried_in_order(void **state)
{
	const char *used = NULL;
	struct clip_desktop desktop = { .envp = (const char *const *)environ,
		.search = *state,
		.wayland_display = "w",
		.display = ":0" };

	make_tool(*state, "wl-copy", "");
	make_tool(*state, "xclip", "");
	make_tool(*state, "pbcopy", "");
	assert_int_equal(clip_put(SV("text"), &desktop, &used, NULL), 0);
	assert_string_equal(used, "wl-copy");
	check_log(*state, "wl-copy\ntext");
	desktop.wayland_display = NULL;
	assert_int_equal(clip_put(SV("text"), &desktop, &used, NULL), 0);
	assert_string_equal(used, "xclip");
	check_log(*state, "xclip -selection clipboard\ntext");
	desktop.display = "";
	assert_int_equal(clip_put(SV("text"), &desktop, NULL, NULL), 0);
	check_log(*state, "pbcopy\ntext");
}

static void test_the_next_is_tried(void **state)
{
	const char *used = NULL;
	struct err err = ERR_INIT;
	const struct clip_desktop desktop = {
		.envp = (const char *const *)environ, .search = *state, .display = ":0"
	};

	make_tool(*state, "xclip", "exit 3");
	assert_int_equal(clip_put(SV("x"), &desktop, &used, &err), -EIO);
	assert_non_null(strstr(err.msg, "xclip: exit status 3"));
	assert_null(used);
	make_tool(*state, "xsel", "");
	err = (struct err)ERR_INIT;
	assert_int_equal(clip_put(SV(""), &desktop, &used, &err), 0);
	assert_string_equal(used, "xsel");
	assert_int_equal(err.code, 0);
}

static void test_without_a_program_it_is_not_found(void **state)
{
	struct err err = ERR_INIT;
	struct clip_desktop desktop = { .envp = (const char *const *)environ,
		.search = *state,
		.wayland_display = "w",
		.display = ":0" };

	assert_int_equal(clip_put(SV("x"), &desktop, NULL, &err), ERR_NOTFOUND);
	make_tool(*state, "xclip", "");
	desktop.display = NULL;
	assert_int_equal(clip_put(SV("x"), &desktop, NULL, &err), ERR_NOTFOUND);
	desktop.display = ":0";
	desktop.search = NULL;
	assert_int_equal(clip_put(SV("x"), &desktop, NULL, &err), ERR_NOTFOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_programs_are_tried_in_order),
		WITH_FOLDER(test_the_next_is_tried),
		WITH_FOLDER(test_without_a_program_it_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
