/* The first signal is told, the second ends the process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/interrupt.h"

static void test_first(void **state UNUSED)
{
	struct interrupt i;

	assert_int_equal(interrupt_begin(&i, NULL), 0);
	assert_int_equal(interrupt_came(&i), 0);
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	assert_int_equal(interrupt_came(&i), SIGTERM);
	assert_int_equal(interrupt_came(&i), SIGTERM);
	interrupt_end(&i);
	interrupt_end(&i);
}

/* One that nobody asked for is not lost: it ends the process as if nothing had held it. */
static int status_of(void (*child)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		child();
		_exit(7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void second(void)
{
	struct interrupt i;

	if (interrupt_begin(&i, NULL) < 0)
		_exit(1);
	(void)kill(getpid(), SIGINT);
	if (interrupt_came(&i) != SIGINT)
		_exit(2);
	(void)kill(getpid(), SIGINT);
}

static void late(void)
{
	struct interrupt i;

	if (interrupt_begin(&i, NULL) < 0)
		_exit(1);
	(void)kill(getpid(), SIGINT);
	interrupt_end(&i);
}

static void ignored(void)
{
	struct interrupt i;

	(void)signal(SIGHUP, SIG_IGN);
	if (interrupt_begin(&i, NULL) < 0)
		_exit(1);
	(void)kill(getpid(), SIGHUP);
	_exit(interrupt_came(&i) == 0 ? 0 : 3);
}

static void test_others(void **state UNUSED)
{
	int status = status_of(second);

	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	status = status_of(late);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	status = status_of(ignored);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
