#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "os/proc.h"
#include "os/test-temp.h"

/* A process that takes the lock, says so, and keeps it until our end of the pipe closes. */
static pid_t hold_lock(const char *path, int *ret_release)
{
	int ready[2], stop[2], fd;
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC) + pipe2(stop, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(stop[1]);
		if (file_lock(path, NULL, &fd, NULL) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		_exit(read(stop[0], &byte, 1) == 0 ? 0 : 1);
	}
	(void)close(ready[1]);
	(void)close(stop[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	*ret_release = stop[1];
	return pid;
}

static void test_lock_between_processes(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *path = path_join(*state, "lock");
	int stop, fd = -1, status;
	pid_t pid = hold_lock(path, &stop);

	assert_int_equal(file_lock(path, NULL, &fd, &err), ERR_BUSY);
	assert_int_equal(fd, -1);
	assert_non_null(strstr(err.msg, path));
	(void)close(stop);
	assert_int_equal(file_lock(path, LOCK_QUIETLY, &fd, &err), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(close(fd), 0);
}

static void test_lock_dies_with_its_process(void **state)
{
	AUTO_FREE char *path = path_join(*state, "lock");
	int stop, fd = -1;
	pid_t pid = hold_lock(path, &stop);

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(file_lock(path, NULL, &fd, NULL), 0);
	assert_int_equal(close(fd), 0);
	(void)close(stop);
}

static void test_lock_of_a_removed_file(void **state)
{
	AUTO_FREE char *path = path_join(*state, "lock");
	int stop, fd = -1, again = -1;
	pid_t pid = hold_lock(path, &stop);

	/* Whoever comes now must not be content with the file that has lost its name. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(file_lock(path, NULL, &fd, NULL), 0);
	assert_int_equal(file_lock(path, NULL, &again, NULL), ERR_BUSY);
	(void)close(stop);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(close(fd), 0);
}

/* ---- waiting ---- */

struct heard {
	size_t times;
	char whom[ERR_MSG_MAX];
	size_t asks; /* until it is cancelled; 0: never */
};

static void on_held(void *data, const char *whom)
{
	struct heard *h = data;

	h->times++;
	(void)snprintf(h->whom, sizeof(h->whom), "%s", whom);
}

static bool is_cancelled(void *data)
{
	struct heard *h = data;

	return h->asks > 0 && --h->asks == 0;
}

static void let_go(pid_t pid, int stop)
{
	(void)close(stop);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_wait_has_a_bound(void **state)
{
	struct err err = ERR_INIT;
	struct heard heard = { .times = 0 };
	const struct lock_wait wait = { 200, on_held, is_cancelled, &heard };
	AUTO_FREE char *path = path_join(*state, "lock");
	AUTO_STR who = STR_INIT;
	int stop, fd = -1;
	pid_t pid = hold_lock(path, &stop);
	int64_t begun_ms = clock_run_ms();

	assert_int_equal(file_lock(path, &wait, &fd, &err), ERR_BUSY);
	assert_true(clock_run_ms() - begun_ms >= 200);
	assert_int_equal(fd, -1);
	assert_non_null(strstr(err.msg, path));
	proc_describe(pid, &who);
	assert_non_null(strstr(err.msg, who.buf));
	assert_non_null(strstr(err.msg, "has done nothing for"));
	assert_int_equal(heard.times, 0);
	let_go(pid, stop);
	assert_int_equal(file_lock(path, &wait, &fd, &err), 0);
	assert_int_equal(close(fd), 0);
}

/* It is given up, says how it goes on, and costs nothing else; then it goes on. */
static void test_wait_for_a_stopped_one(void **state)
{
	struct err err = ERR_INIT;
	struct heard heard = { .times = 0 };
	const struct lock_wait wait = { 1500, on_held, is_cancelled, &heard };
	AUTO_FREE char *path = path_join(*state, "lock");
	AUTO_FREE char *how = NULL;
	int stop, fd = -1, status;
	pid_t pid = hold_lock(path, &stop);

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(file_lock(path, &wait, &fd, &err), ERR_BUSY);
	how = xasprintf("kill -CONT %ld", (long)pid);
	assert_non_null(strstr(err.msg, "which is stopped"));
	assert_non_null(strstr(err.msg, how));
	assert_int_equal(heard.times, 1);
	assert_non_null(strstr(heard.whom, "is stopped and holds"));
	assert_non_null(strstr(heard.whom, path));
	assert_int_equal(kill(pid, SIGCONT), 0);
	let_go(pid, stop);
	assert_int_equal(file_lock(path, &wait, &fd, &err), 0);
	assert_int_equal(close(fd), 0);
}

/* Who holds it for longer than the bound, and works, is waited for. */
static void test_wait_while_it_works(void **state)
{
	enum { WORK_MS = 1600 };
	struct err err = ERR_INIT;
	struct heard heard = { .times = 0 };
	const struct lock_wait wait = { 600, on_held, is_cancelled, &heard };
	AUTO_FREE char *path = path_join(*state, "lock");
	int ready[2], fd = -1;
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (file_lock(path, NULL, &fd, NULL) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (int64_t until = clock_run_ms() + WORK_MS; clock_run_ms() < until;)
			;
		_exit(0);
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	assert_int_equal(file_lock(path, &wait, &fd, &err), 0);
	assert_int_equal(heard.times, 1);
	assert_non_null(strstr(heard.whom, ", which holds "));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(close(fd), 0);
}

static void test_wait_is_cancelled(void **state)
{
	struct err err = ERR_INIT;
	struct heard heard = { .asks = 3 };
	const struct lock_wait wait = { LOCK_FOREVER, on_held, is_cancelled, &heard };
	AUTO_FREE char *path = path_join(*state, "lock");
	int stop, fd = -1;
	pid_t pid = hold_lock(path, &stop);

	assert_int_equal(file_lock(path, &wait, &fd, &err), ERR_CANCELLED);
	assert_int_equal(fd, -1);
	assert_non_null(strstr(err.msg, path));
	let_go(pid, stop);
}

/* One that has left the lock to its child is not named: neither is the one that waits. */
static void test_wait_for_one_unseen(void **state)
{
	struct err err = ERR_INIT;
	const struct lock_wait wait = { .idle_ms = 200 };
	AUTO_FREE char *path = path_join(*state, "lock");
	int stop[2], fd = -1, status;
	char byte;

	assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(stop[1]);
		if (file_lock(path, NULL, &fd, NULL) < 0)
			_exit(1);
		if (fork() != 0)
			_exit(0);
		_exit(read(stop[0], &byte, 1) == 0 ? 0 : 1);
	}
	(void)close(stop[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(file_lock(path, &wait, &fd, &err), ERR_BUSY);
	assert_non_null(strstr(err.msg, "cannot be seen from here"));
	(void)close(stop[1]);
	assert_int_equal(file_lock(path, LOCK_QUIETLY, &fd, &err), 0);
	assert_int_equal(close(fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_lock_between_processes),
		WITH_FOLDER(test_lock_dies_with_its_process),
		WITH_FOLDER(test_lock_of_a_removed_file),
		WITH_FOLDER(test_wait_has_a_bound),
		WITH_FOLDER(test_wait_for_a_stopped_one),
		WITH_FOLDER(test_wait_while_it_works),
		WITH_FOLDER(test_wait_is_cancelled),
		WITH_FOLDER(test_wait_for_one_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
