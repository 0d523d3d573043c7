#include "ui/test-pty.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "ui/pager.h"

struct fixture {
	struct test_pty pty;
	char folder[64];
	char file[96];
	const char *term_name;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	test_pty_open(&f->pty);
	f->term_name = "xterm";
	(void)snprintf(f->folder, sizeof(f->folder), "/tmp/faden-pager-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	(void)snprintf(f->file, sizeof(f->file), "%s/out", f->folder);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	(void)unlink(f->file);
	(void)rmdir(f->folder);
	test_pty_close(&f->pty);
	free(f);
	return 0;
}

static const char *const environment[] = { "PATH=/usr/bin:/bin", "LESS=-S", "WORD=x", "TERM=xterm",
	NULL };

/* True when the pager ran and took it all. */
static bool run(struct fixture *f, const char *command, const char *text, size_t times)
{
	struct pager p;
	int fd = -1;
	bool all = true;
	struct pager_opts opts = {
		.command = command,
		.path = "/usr/bin:/bin",
		.envp = environment,
		.out_fd = f->pty.slave,
		.term_name = f->term_name,
	};

	if (!pager_open(&p, &opts, &fd))
		return false;
	for (size_t i = 0; i < times && all; i++)
		all = file_write_all(fd, sv_of(text), NULL) == 0;
	(void)close(fd);
	pager_close(&p);
	pager_close(&p);
	return all;
}

static void test_text_reaches_the_pager(void **state)
{
	struct fixture *f = *state;
	AUTO_STR got = STR_INIT;
	AUTO_STR command = STR_INIT;

	str_addf(&command, "cat >'%s'", f->file);
	assert_true(run(f, command.buf, "0123456789\n", 20000));
	assert_int_equal(file_read(f->file, 1 << 20, &got, NULL), 0);
	assert_int_equal(got.len, 11 * 20000);
	str_clear(&got);
	test_pty_drain(&f->pty, &got);
	assert_string_equal(got.buf, "");
}

static void test_pager_left_early(void **state)
{
	struct fixture *f = *state;
	sigset_t before, after;

	(void)pthread_sigmask(SIG_BLOCK, NULL, &before);
	assert_false(run(f, "true", "a line that nobody reads\n", 50000));
	(void)pthread_sigmask(SIG_BLOCK, NULL, &after);
	assert_int_equal(sigismember(&after, SIGPIPE), sigismember(&before, SIGPIPE));
	assert_int_equal(sigismember(&after, SIGINT), 0);
}

static void test_no_pager(void **state)
{
	static const char *const commands[] = { "", " ", "cat", "no-such-pager-here -x" };
	struct fixture *f = *state;

	AUTO_STR got = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		assert_false(run(f, commands[i], "plain\n", 1));
	/* A pager would ask there before it shows anything. */
	static const char *const names[] = { NULL, "", "dumb" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		f->term_name = names[i];
		assert_false(run(f, NULL, "plain\n", 1));
		assert_false(run(f, "wc -c", "plain\n", 1));
	}
	test_pty_drain(&f->pty, &got);
	assert_string_equal(got.buf, "");
}

static void test_environment(void **state)
{
	struct fixture *f = *state;
	AUTO_STR got = STR_INIT;

	assert_true(run(f, "env", "", 0));
	test_pty_drain(&f->pty, &got);
	assert_non_null(strstr(got.buf, "WORD=x"));
	assert_non_null(strstr(got.buf, "LESS=-S"));
}

static void test_default(void **state)
{
	struct fixture *f = *state;
	AUTO_STR got = STR_INIT;

	assert_true(run(f, NULL, "\033[1mshort\033[0m\n", 1));
	test_pty_drain(&f->pty, &got);
	assert_non_null(strstr(got.buf, "\033[1mshort"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text_reaches_the_pager, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pager_left_early, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_pager, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_environment, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_default, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
