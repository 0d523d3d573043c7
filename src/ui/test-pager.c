#include "ui/test-pty.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "ui/pager.h"

struct fixture {
	struct test_pty pty;
	struct term screen;
	char folder[64];
	char file[96];
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	test_pty_open(&f->pty);
	term_init(&f->screen, &(struct term_opts){ .fd = f->pty.slave, .term_name = "xterm" });
	assert_true(f->screen.tty);
	assert_int_equal(f->screen.cols, 40);
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
	term_release(&f->screen);
	test_pty_close(&f->pty);
	free(f);
	return 0;
}

static const char *const environment[] = { "PATH=/usr/bin:/bin", "LESS=-S", "WORD=x", NULL };

static void run(struct fixture *f, const char *command, bool works, const char *text, size_t times)
{
	struct pager p;
	struct err err = ERR_INIT;
	struct pager_opts opts = {
		.command = command, .path = "/usr/bin:/bin", .envp = environment
	};

	pager_open(&p, &f->screen, &opts);
	assert_int_equal(p.running, works);
	for (size_t i = 0; i < times; i++) {
		term_puts(pager_term(&p), text);
		assert_int_equal(term_flush(pager_term(&p), &err), 0);
	}
	assert_int_equal(pager_close(&p, &err), 0);
}

static void test_text_reaches_the_pager(void **state)
{
	struct fixture *f = *state;
	AUTO_STR got = STR_INIT;
	AUTO_STR command = STR_INIT;

	str_addf(&command, "cat >'%s'", f->file);
	run(f, command.buf, true, "0123456789\n", 20000);
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
	run(f, "true", true, "a line that nobody reads\n", 50000);
	(void)pthread_sigmask(SIG_BLOCK, NULL, &after);
	assert_int_equal(sigismember(&after, SIGPIPE), sigismember(&before, SIGPIPE));
	assert_int_equal(sigismember(&after, SIGINT), 0);
}

static void test_no_pager(void **state)
{
	static const char *const commands[] = { "", " ", "cat", "no-such-pager-here -x" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		AUTO_STR got = STR_INIT;
		run(f, commands[i], false, "plain\n", 1);
		test_pty_drain(&f->pty, &got);
		assert_string_equal(got.buf, "plain\r\n");
	}
}

static void test_environment(void **state)
{
	struct fixture *f = *state;
	AUTO_STR got = STR_INIT;

	run(f, "env", true, "", 0);
	test_pty_drain(&f->pty, &got);
	assert_non_null(strstr(got.buf, "WORD=x"));
	assert_non_null(strstr(got.buf, "LESS=-S"));
}

static void test_not_a_terminal(void **state)
{
	(void)state;
	struct term t;
	struct pager p;
	struct err err = ERR_INIT;

	term_init_capture(&t, 0, 0, false);
	pager_open(&p, &t, &(struct pager_opts){ .path = "/usr/bin:/bin" });
	assert_ptr_equal(pager_term(&p), &t);
	term_puts(pager_term(&p), "x");
	assert_int_equal(pager_close(&p, &err), 0);
	assert_string_equal(t.buf.buf, "x");
	term_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text_reaches_the_pager, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pager_left_early, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_pager, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_environment, set_up, tear_down),
		cmocka_unit_test(test_not_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
