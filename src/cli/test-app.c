#include "cli/app.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "assist/kit.h"
#include "base/mem.h"
#include "cli/env.h"
#include "os/file.h"
#include "os/path.h"

static const char *const variables[] = { "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME",
	"XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "FADEN_CLOCK",
	"LC_ALL", "LC_MESSAGES", "LANG", "NO_COLOR" };

static int clean_environment(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		(void)unsetenv(variables[i]);
	return setenv("HOME", "/home/me", 1);
}

static void start(struct app *app)
{
	struct err err = ERR_INIT;

	if (app_init(app, 0, NULL, &err) < 0)
		fail_msg("%s", err.msg);
}

static void paths_below_home(void **state)
{
	(void)state;
	struct app app;
	start(&app);
	assert_string_equal(app.paths.config_file, "/home/me/.config/faden/config.yaml");
	assert_string_equal(app.paths.state_dir, "/home/me/.local/state/faden");
	assert_string_equal(app.paths.data_dir, "/home/me/.local/share/faden");
	assert_string_equal(app.paths.cache_dir, "/home/me/.cache/faden");
	assert_string_equal(app_home(&app, "claude")->root, "/home/me/.claude");
	assert_string_equal(app_home(&app, "codex")->root, "/home/me/.codex");
	app_release(&app);
}

static void paths_from_the_environment(void **state)
{
	(void)state;
	(void)setenv("XDG_CONFIG_HOME", "/c", 1);
	(void)setenv("XDG_STATE_HOME", "relative", 1);
	(void)setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	(void)setenv("CLAUDE_CONFIG_DIR", "/claude", 1);
	(void)setenv("CODEX_HOME", "", 1);
	struct app app;
	start(&app);
	assert_string_equal(app.paths.config_file, "/c/faden/config.yaml");
	/* The specification has relative paths ignored. */
	assert_string_equal(app.paths.state_dir, "/home/me/.local/state/faden");
	assert_string_equal(app.paths.runtime_dir, "/run/user/7/faden");
	assert_string_equal(app_home(&app, "claude")->root, "/claude");
	assert_string_equal(app_home(&app, "codex")->root, "/home/me/.codex");
	app_release(&app);
}

static void clock_from_the_environment(void **state)
{
	(void)state;
	struct clock c;
	assert_int_equal(env_clock(&c, NULL), 0);
	assert_false(c.fixed);
	(void)setenv("FADEN_CLOCK", "1700000000123", 1);
	assert_int_equal(env_clock(&c, NULL), 0);
	assert_true(c.fixed && c.fixed_ms == 1700000000123);
	(void)setenv("FADEN_CLOCK", "1970-01-01T00:00:01Z", 1);
	assert_int_equal(env_clock(&c, NULL), 0);
	assert_true(c.fixed && c.fixed_ms == 1000);
	(void)setenv("FADEN_CLOCK", "later", 1);
	assert_int_equal(env_clock(&c, NULL), ERR_INPUT);
}

static void language(void **state)
{
	(void)state;
	char out[3];
	assert_string_equal(env_language(out), "en");
	(void)setenv("LANG", "de_AT.UTF-8", 1);
	assert_string_equal(env_language(out), "de");
	struct settings *s = settings_new("/home/me");
	assert_int_equal(kit_language(s, out), TEXT_GERMAN);
	(void)setenv("LC_ALL", "C.UTF-8", 1);
	assert_string_equal(env_language(out), "en");
	(void)setenv("LC_ALL", "fr_FR", 1);
	assert_string_equal(env_language(out), "fr");
	assert_int_equal(kit_language(s, out), TEXT_ENGLISH);
	assert_int_equal(settings_set(s, SETTING_ID_assistant_language, SV("de"),
				 (struct setting_origin){ .source = SETTING_FILE }, NULL),
		0);
	assert_int_equal(kit_language(s, out), TEXT_GERMAN);
	settings_free(s);
}

/* ---- state folder and log ---- */

struct state_dir {
	char *top;
	struct app app;
};

static void state_begin(struct state_dir *s)
{
	char template[] = "/tmp/faden-test-app-XXXXXX";

	assert_non_null(mkdtemp(template));
	s->top = xstrdup(template);
	start(&s->app);
	free(s->app.paths.state_dir);
	s->app.paths.state_dir = path_join(s->top, "a/b");
}

static void state_end(struct state_dir *s)
{
	app_release(&s->app);
	static const char *const names[] = { "a/b/faden.log", "a/b/faden.log.1", "a/b", "a", "" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *path = path_join(s->top, names[i]);
		(void)remove(path);
	}
	free(s->top);
}

static void state_folder_is_private(void **state)
{
	(void)state;
	struct state_dir s;
	state_begin(&s);
	assert_false(path_exists(s.app.paths.state_dir));
	assert_int_equal(app_state(&s.app, NULL), 0);
	assert_int_equal(app_state(&s.app, NULL), 0);
	struct stat st;
	assert_int_equal(stat(s.app.paths.state_dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(fstat(s.app.log.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	state_end(&s);
}

static void log_does_not_grow_for_ever(void **state)
{
	(void)state;
	struct state_dir s;
	state_begin(&s);
	AUTO_FREE char *path = path_join(s.app.paths.state_dir, "faden.log");
	AUTO_FREE char *old = path_join(s.app.paths.state_dir, "faden.log.1");
	assert_int_equal(file_mkdirs(s.app.paths.state_dir, NULL), 0);
	assert_int_equal(file_append(path, SV("x"), false, NULL), 0);
	assert_int_equal(truncate(path, 4 * 1024 * 1024), 0);
	assert_int_equal(app_state(&s.app, NULL), 0);
	log_write(&s.app.log, LOG_INFO, "new");
	struct stat st;
	assert_int_equal(stat(old, &st), 0);
	assert_int_equal(st.st_size, 4 * 1024 * 1024);
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, 1, 100);
	state_end(&s);
}

/* Like /dev/stderr, where that leads to a large file. */
static void log_behind_a_link_keeps_the_link(void **state)
{
	(void)state;
	struct state_dir s;
	state_begin(&s);
	AUTO_FREE char *file = path_join(s.top, "file");
	AUTO_FREE char *old = path_join(s.top, "file.1");
	AUTO_FREE char *path = path_join(s.app.paths.state_dir, "faden.log");
	struct stat st;
	assert_int_equal(file_mkdirs(s.app.paths.state_dir, NULL), 0);
	assert_int_equal(file_append(file, SV("x"), false, NULL), 0);
	assert_int_equal(truncate(file, 4 * 1024 * 1024), 0);
	assert_int_equal(symlink(file, path), 0);
	assert_int_equal(app_state(&s.app, NULL), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(old, &st), 0);
	assert_int_equal(st.st_size, 4 * 1024 * 1024);
	assert_int_equal(unlink(old), 0);
	assert_int_equal(unlink(file), 0);
	state_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(paths_below_home, clean_environment),
		cmocka_unit_test_setup(paths_from_the_environment, clean_environment),
		cmocka_unit_test_setup(clock_from_the_environment, clean_environment),
		cmocka_unit_test_setup(language, clean_environment),
		cmocka_unit_test_setup(state_folder_is_private, clean_environment),
		cmocka_unit_test_setup(log_does_not_grow_for_ever, clean_environment),
		cmocka_unit_test_setup(log_behind_a_link_keeps_the_link, clean_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
