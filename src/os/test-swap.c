#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "os/proc.h"
#include "os/swap.h"
#include "os/test-temp.h"

enum { MAX = 1 << 20, SWAPS = 60 };

static void check_content(const char *path, const char *want)
{
	AUTO_STR got = STR_INIT;

	assert_int_equal(file_read(path, MAX, &got, NULL), 0);
	assert_string_equal(got.buf, want);
}

/* The first `at` bytes of the file become `text`. */
static int swap(const char *path, uint64_t at, struct sv text, uint64_t *late, struct err *err)
{
	CLEANUP(file_new_release) struct file_new f = FILE_NEW_INIT;
	AUTO_CLOSE int old = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(old >= 0);
	assert_int_equal(file_new_open_unnamed(&f, path, 0, NULL), 0);
	assert_int_equal(file_new_write(&f, text, NULL), 0);
	return file_new_swap(&f, old, at, late, err);
}

static void test_swap_replaces_and_brings_over(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "f", "one\ntwo\nthree\n");
	uint64_t late = 0;
	struct stat st;

	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(swap(path, 8, SV("1\n2\n"), &late, NULL), 0);
	check_content(path, "1\n2\nthree\n");
	assert_int_equal(late, 6);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_nlink, 1);
}

static void test_swap_keeps_a_link(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "f", "one\n");
	AUTO_FREE char *name = path_join(*state, "link");
	uint64_t late = 0;
	struct stat st;

	assert_int_equal(symlink("f", name), 0);
	assert_int_equal(swap(name, 4, SV("1\n"), &late, NULL), 0);
	assert_int_equal(lstat(name, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	check_content(path, "1\n");
}

static void test_an_open_file_is_refused(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "f", "one\n");
	AUTO_STR who = STR_INIT;
	struct err err = ERR_INIT;
	struct stat st;
	uint64_t late = 0;
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		int fd = open(path, O_WRONLY | O_APPEND);
		(void)!write(ready[1], fd >= 0 ? "+" : "-", 1);
		(void)pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, '+');
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(proc_writer_of(&st, &who), child);
	assert_int_equal(swap(path, 4, SV("1\n"), &late, &err), ERR_BUSY);
	assert_non_null(strstr(err.msg, who.buf));
	check_content(path, "one\n");
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	assert_int_equal(swap(path, 4, SV("1\n"), &late, &err), 0);
	check_content(path, "1\n");
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static void test_a_reader_is_no_writer(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "f", "one\n");
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint64_t late = 0;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(proc_writer_of(&st, NULL), 0);
	assert_int_equal(swap(path, 4, SV("1\n"), &late, NULL), 0);
}

static void test_another_file_of_the_name_is_refused(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "f", "one\n");
	CLEANUP(file_new_release) struct file_new f = FILE_NEW_INIT;
	AUTO_CLOSE int old = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t late = 0;

	assert_int_equal(file_new_open(&f, path, 0, NULL), 0);
	assert_int_equal(file_replace(path, SV("theirs\n"), 0, NULL), 0);
	assert_int_equal(file_new_swap(&f, old, 4, &late, NULL), ERR_BUSY);
	check_content(path, "theirs\n");
}

/* Appends 0, 1, 2 … by name until it is killed; each line is told through the pipe when it is
 * written. */
static void append_for_ever(const char *path, int told)
{
	char line[32];

	for (unsigned n = 0;; n++) {
		int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
		int len = snprintf(line, sizeof(line), "%u\n", n);
		if (fd < 0 || write(fd, line, (size_t)len) != len || write(told, "+", 1) != 1)
			_exit(1);
		(void)close(fd);
		(void)usleep(n % 7 * 100);
	}
}

/* One that opens the file for each line is either in the way, which is told, or loses nothing. */
static void test_no_line_of_another_is_lost(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "f", "");
	AUTO_STR text = STR_INIT;
	AUTO_FREE bool *seen = xcalloc(MAX, sizeof(*seen));
	unsigned done = 0, n = 0;
	char buf[4096];
	ssize_t got;
	int told[2];

	assert_int_equal(pipe2(told, O_NONBLOCK), 0);
	pid_t child = fork();
	if (child == 0)
		append_for_ever(path, told[1]);
	(void)close(told[1]);
	for (int i = 0; i < SWAPS; i++) {
		uint64_t late = 0;
		assert_int_equal(file_read(path, MAX, &text, NULL), 0);
		int r = swap(path, text.len, str_sv(&text), &late, NULL);
		assert_true(r == 0 || r == ERR_BUSY);
		done += r == 0;
	}
	(void)kill(child, SIGKILL);
	int status;
	(void)waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status));
	assert_true(done > 0);
	assert_int_equal(file_read(path, MAX, &text, NULL), 0);
	struct sv rest = str_sv(&text), line;
	size_t written = 0;
	while ((got = read(told[0], buf, sizeof(buf))) > 0)
		written += (size_t)got;
	for (; sv_split(&rest, '\n', &line) && line.n > 0; n++) {
		long long number;
		assert_true(sv_parse_i64(line, &number));
		assert_true(number < MAX && !seen[number]);
		seen[number] = true;
	}
	assert_true(n >= written);
	for (unsigned i = 0; i < n; i++)
		assert_true(seen[i]);
	(void)close(told[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_swap_replaces_and_brings_over),
		WITH_FOLDER(test_swap_keeps_a_link),
		WITH_FOLDER(test_an_open_file_is_refused),
		WITH_FOLDER(test_a_reader_is_no_writer),
		WITH_FOLDER(test_another_file_of_the_name_is_refused),
		WITH_FOLDER(test_no_line_of_another_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
