#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/test-temp.h"

enum { MAX = 1 << 20 };

static void check_content(const char *path, const char *want)
{
	AUTO_STR got = STR_INIT;

	assert_int_equal(file_read(path, MAX, &got, NULL), 0);
	assert_string_equal(got.buf, want);
}

static void test_read_limits(void **state)
{
	struct err err = ERR_INIT;
	AUTO_STR out = STR_INIT;
	AUTO_FREE char *path = temp_write(*state, "f", "12345678");

	str_adds(&out, "old");
	assert_int_equal(file_read(path, 8, &out, &err), 0);
	assert_string_equal(out.buf, "12345678");
	assert_int_equal(file_read(path, 7, &out, &err), ERR_LIMIT);
	assert_int_equal(out.len, 0);
	assert_non_null(strstr(err.msg, path));
}

static void test_read_at_a_place(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "f", "12345678");
	AUTO_CLOSE int fd = file_open(path, NULL, NULL);
	AUTO_STR out = STR_INIT;

	str_adds(&out, "old");
	assert_int_equal(file_read_at(fd, 2, 3, &out, NULL), 0);
	assert_string_equal(out.buf, "old345");
	assert_int_equal(file_read_at(fd, 6, 3, &out, NULL), 0);
	assert_string_equal(out.buf, "old34578");
	assert_int_equal(file_read_at(fd, 8, 1, &out, NULL), 0);
	assert_int_equal(file_read_at(-1, 0, 1, &out, NULL), -EBADF);
	assert_string_equal(out.buf, "old34578");
}

/* Nor where the folder is none. */
static void test_temp_has_no_name(void **state)
{
	AUTO_FREE char *none = path_join(*state, "none");
	const char *const folders[] = { *state, none };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		AUTO_CLOSE int fd = file_open_temp(folders[i], NULL);
		struct stat st;
		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_nlink, 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		assert_int_equal(file_write_all(fd, SV("x"), NULL), 0);
	}
}

static void test_read_errors(void **state)
{
	struct err err = ERR_INIT;
	AUTO_STR out = STR_INIT;
	AUTO_FREE char *none = path_join(*state, "none");

	assert_int_equal(file_read(none, MAX, &out, &err), -ENOENT);
	assert_non_null(strstr(err.msg, none));
	assert_int_equal(file_read(*state, MAX, &out, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "is a folder, not a file"));
}

/* None of them is waited for, and none is read. */
static void test_open_only_files(void **state)
{
	AUTO_FREE char *pipe = path_join(*state, "pipe");
	AUTO_FREE char *sock = path_join(*state, "sock");
	AUTO_FREE char *path = temp_write(*state, "regular", "1234");
	AUTO_STR out = STR_INIT;
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	AUTO_CLOSE int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	assert_int_equal(mkfifo(pipe, 0600), 0);
	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s", sock);
	assert_int_equal(bind(server, (struct sockaddr *)&name, sizeof(name)), 0);
	const struct {
		const char *path, *what;
	} others[] = {
		{ pipe, "is a pipe, not a file" },
		{ sock, "is a socket, not a file" },
		{ "/dev/zero", "is a device, not a file" },
		{ "/dev/tty0", NULL }, /* or not to be opened */
		{ *state, "is a folder, not a file" },
	};
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		struct err err = ERR_INIT;
		assert_true(file_open(others[i].path, NULL, &err) < 0);
		assert_non_null(strstr(err.msg, others[i].path));
		assert_true(!others[i].what || strstr(err.msg, others[i].what));
	}
	AUTO_CLOSE int fd = file_open(path, &st, NULL);
	assert_true(fd >= 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(file_read("/dev/null", MAX, &out, NULL), 0);
	assert_int_equal(out.len, 0);
}

static void test_read_unknown_size(void **state)
{
	AUTO_STR out = STR_INIT;

	(void)state;
	/* Says that it has 0 bytes. */
	assert_int_equal(file_read("/proc/self/status", MAX, &out, NULL), 0);
	assert_true(out.len > 100);
	assert_int_equal(out.len, strlen(out.buf));
}

static void test_read_large(void **state)
{
	AUTO_STR in = STR_INIT;
	AUTO_STR out = STR_INIT;
	AUTO_FREE char *path = path_join(*state, "large");

	for (int i = 0; i < 100000; i++)
		str_addf(&in, "%d\n", i);
	assert_int_equal(file_replace(path, str_sv(&in), 0600, NULL), 0);
	assert_int_equal(file_read(path, MAX, &out, NULL), 0);
	assert_true(sv_eq(str_sv(&in), str_sv(&out)));
	assert_int_equal(file_read(path, in.len - 1, &out, NULL), ERR_LIMIT);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void test_replace_keeps_or_sets_the_mode(void **state)
{
	AUTO_FREE char *path = path_join(*state, "f");
	mode_t old = umask(077);

	assert_int_equal(file_replace(path, SV("one"), 0644, NULL), 0);
	check_content(path, "one");
	assert_int_equal(mode_of(path), 0644);
	assert_int_equal(file_replace(path, SV("two"), 0, NULL), 0);
	check_content(path, "two");
	assert_int_equal(mode_of(path), 0644);
	assert_int_equal(file_replace(path, SV(""), 0600, NULL), 0);
	check_content(path, "");
	assert_int_equal(mode_of(path), 0600);
	umask(old);
}

static void test_replace_makes_what_a_link_leads_to(void **state)
{
	struct stat st;
	AUTO_FREE char *near = path_join(*state, "near");
	AUTO_FREE char *far = path_join(*state, "far");
	AUTO_FREE char *folder = path_join(*state, "else");
	AUTO_FREE char *target = path_join(folder, "where");

	assert_int_equal(symlink("far", near), 0);
	assert_int_equal(symlink("else/where", far), 0);
	assert_true(file_replace(near, SV("new"), 0, NULL) < 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(file_replace(near, SV("new"), 0, NULL), 0);
	assert_int_equal(lstat(near, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat(far, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	check_content(target, "new");
}

static void test_replace_keeps_the_owner(void **state)
{
	struct stat st;
	AUTO_FREE char *path = temp_write(*state, "f", "old");

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(path, 4321, 8765), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(file_replace(path, SV("new"), 0, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 4321);
	assert_int_equal(st.st_gid, 8765);
	assert_int_equal(st.st_mode & 07777, 0640);
}

static void test_replace_keeps_links(void **state)
{
	struct stat st;
	AUTO_FREE char *target = temp_write(*state, "else/where", "old");
	AUTO_FREE char *link_path = path_join(*state, "link");

	assert_int_equal(symlink("else/where", link_path), 0);
	assert_int_equal(file_replace(link_path, SV("new"), 0600, NULL), 0);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	check_content(target, "new");
}

static void test_replace_in_no_folder(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *path = path_join(*state, "none/f");

	assert_int_equal(file_replace(path, SV("x"), 0600, &err), -ENOENT);
	assert_non_null(strstr(err.msg, path));
}

static void test_new_file_replaces_none(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *path = path_join(*state, "f");
	struct file_new f = FILE_NEW_INIT;

	assert_int_equal(file_new_open(&f, path, 0600, &err), 0);
	assert_int_equal(file_new_write(&f, SV("one"), &err), 0);
	assert_false(path_exists(path));
	assert_int_equal(file_new_commit_excl(&f, &err), 0);
	file_new_release(&f);
	check_content(path, "one");
	assert_int_equal(file_new_open(&f, path, 0600, &err), 0);
	assert_int_equal(file_new_write(&f, SV("two"), &err), 0);
	assert_int_equal(file_new_commit_excl(&f, &err), -EEXIST);
	file_new_release(&f);
	check_content(path, "one");
	/* Nothing but the file is left: the folder can be removed after it. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(*state), 0);
	assert_int_equal(mkdir(*state, 0700), 0);
}

static void test_unnamed_file_gets_its_name_at_the_end(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *path = path_join(*state, "f");
	AUTO_FREE char *link = path_join(*state, "link");
	struct file_new f = FILE_NEW_INIT;
	struct stat st;

	assert_int_equal(file_new_open_unnamed(&f, path, 0640, &err), 0);
	assert_int_equal(file_new_write(&f, SV("one"), &err), 0);
	/* Where the file system has such files, nothing is in the folder. */
	if (!f.temp) {
		assert_int_equal(rmdir(*state), 0);
		file_new_release(&f);
		assert_int_equal(mkdir(*state, 0700), 0);
		assert_int_equal(file_new_open_unnamed(&f, path, 0640, &err), 0);
		assert_int_equal(file_new_write(&f, SV("one"), &err), 0);
	}
	assert_int_equal(file_new_commit_excl(&f, &err), 0);
	file_new_release(&f);
	check_content(path, "one");
	assert_int_equal(file_new_open_unnamed(&f, path, 0600, &err), 0);
	assert_int_equal(file_new_commit_excl(&f, &err), -EEXIST);
	file_new_release(&f);
	assert_int_equal(symlink("f", link), 0);
	assert_int_equal(file_new_open_unnamed(&f, link, 0, &err), 0);
	assert_int_equal(file_new_write(&f, SV("two"), &err), 0);
	assert_int_equal(file_new_commit(&f, &err), 0);
	file_new_release(&f);
	check_content(path, "two");
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(*state), 0);
	assert_int_equal(mkdir(*state, 0700), 0);
}

static void check_pipe_stays(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
}

static void test_what_is_no_file_is_not_replaced(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *pipe = path_join(*state, "pipe");
	AUTO_FREE char *link = path_join(*state, "link");
	struct file_new f = FILE_NEW_INIT;

	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(symlink("pipe", link), 0);
	assert_int_equal(file_replace(pipe, SV("x"), 0600, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "is a pipe, not a file"));
	assert_int_equal(file_replace(link, SV("x"), 0, NULL), ERR_INPUT);
	assert_int_equal(file_new_open(&f, link, 0600, NULL), 0);
	assert_int_equal(file_new_commit(&f, NULL), ERR_INPUT);
	file_new_release(&f);
	assert_int_equal(file_new_open_unnamed(&f, pipe, 0600, NULL), 0);
	assert_int_equal(file_new_commit(&f, NULL), ERR_INPUT);
	file_new_release(&f);
	check_pipe_stays(pipe);
	/* Nothing else is left. */
	assert_int_equal(unlink(pipe), 0);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(*state), 0);
	assert_int_equal(mkdir(*state, 0700), 0);
}

static void test_what_is_no_file_is_written_into(void **state)
{
	AUTO_FREE char *pipe = path_join(*state, "pipe");
	AUTO_FREE char *link = path_join(*state, "link");
	AUTO_FREE char *none = path_join(*state, "none");
	AUTO_FREE char *file = temp_write(*state, "f", "old");
	AUTO_CLOSE int into = -1, null = -1;
	char got[8] = "";

	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(symlink("pipe", link), 0);
	AUTO_CLOSE int reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(file_open_into(link, &into, NULL), 1);
	assert_int_equal(file_write_all(into, SV("one"), NULL), 0);
	assert_int_equal(read(reader, got, sizeof(got)), 3);
	assert_memory_equal(got, "one", 3);
	check_pipe_stays(pipe);
	assert_int_equal(file_open_into("/dev/null", &null, NULL), 1);
	assert_int_equal(file_open_into(file, &into, NULL), 0);
	assert_int_equal(file_open_into(none, &into, NULL), 0);
	assert_int_equal(file_open_into(*state, &into, NULL), -EISDIR);
}

static void test_a_descriptor_is_written_into_where_it_is(void **state)
{
	AUTO_FREE char *file = temp_write(*state, "f", "old");
	AUTO_FREE char *link = path_join(*state, "link");
	AUTO_CLOSE int given = open(file, O_WRONLY);
	AUTO_CLOSE int own = open(file, O_WRONLY | O_CLOEXEC);
	AUTO_FREE char *path = xasprintf("/dev/fd/%d", given);
	AUTO_FREE char *own_path = xasprintf("/proc/self/fd/%d", own);
	int into = -1;

	assert_int_equal(file_write_all(given, SV("1"), NULL), 0);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(file_open_into(link, &into, NULL), 1);
	assert_int_equal(file_write_all(into, SV("2"), NULL), 0);
	assert_int_equal(close(into), 0);
	assert_int_equal(file_write_all(given, SV("345"), NULL), 0);
	check_content(file, "12345");
	/* What we opened ourselves is nobody else's. */
	assert_int_equal(file_open_into(own_path, &into, NULL), -EBADF);
	assert_int_equal(file_open_into("/dev/fd/99999", &into, NULL), -EBADF);
}

/* In place of the C library's. */
static unsigned syncs;
int fsync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fsync, fd);
}

static void test_only_a_lazy_file_does_not_wait_for_the_disk(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *path = path_join(*state, "f");
	AUTO_FREE char *copy = path_join(*state, "copy");
	struct file_new f = FILE_NEW_INIT;

	syncs = 0;
	assert_int_equal(file_replace(path, SV("one"), 0600, &err), 0);
	assert_int_equal(syncs, 2); /* the file and its folder */
	assert_int_equal(file_new_open_unnamed(&f, copy, 0600, &err), 0);
	f.lazy = true;
	assert_int_equal(file_new_write(&f, SV("two"), &err), 0);
	assert_int_equal(file_new_commit_excl(&f, &err), 0);
	file_new_release(&f);
	assert_int_equal(syncs, 2);
	check_content(copy, "two");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(copy), 0);
}

/* Room that is taken ahead is given back, and the size is never more than was written. */
static void test_large_file_takes_no_more_room_than_it_needs(void **state)
{
	enum { STEP = 1024 * 1024, STEPS = 20, SLACK = 64 * 1024 };
	AUTO_FREE char *path = path_join(*state, "f");
	AUTO_FREE char *data = xcalloc(STEP, 1);
	const struct sv pieces[] = { { data, 7 }, { data, STEP - 7 } };
	struct file_new f = FILE_NEW_INIT;
	struct stat st;
	struct statfs fs;

	memset(data, 'x', STEP);
	assert_int_equal(file_new_open_unnamed(&f, path, 0600, NULL), 0);
	for (int i = 0; i < STEPS; i += 2) {
		assert_int_equal(file_new_write(&f, sv_make(data, STEP), NULL), 0);
		assert_int_equal(file_new_writev(&f, pieces, 2, NULL), 0);
	}
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_size, STEPS * STEP);
	assert_int_equal(statfs(*state, &fs), 0);
	if (fs.f_type == EXT4_SUPER_MAGIC)
		assert_true(st.st_blocks * 512 > 2 * STEPS * STEP);
	assert_int_equal(pwrite(f.fd, "y", 1, 5), 1);
	assert_int_equal(file_new_commit_excl(&f, NULL), 0);
	file_new_release(&f);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, STEPS * STEP);
	assert_true(st.st_blocks * 512 <= STEPS * STEP + SLACK);
	AUTO_STR content = STR_INIT;
	assert_int_equal(file_read(path, STEPS * STEP, &content, NULL), 0);
	assert_int_equal(content.len, STEPS * STEP);
	assert_int_equal(content.buf[5], 'y');
	content.buf[5] = 'x';
	for (size_t at = 0; at < content.len; at += STEP)
		assert_memory_equal(content.buf + at, data, STEP);
	assert_int_equal(unlink(path), 0);
}

static void test_released_file_leaves_nothing(void **state)
{
	AUTO_FREE char *path = path_join(*state, "f");
	struct file_new f = FILE_NEW_INIT;

	file_new_release(&f);
	assert_int_equal(file_new_open(&f, path, 0600, NULL), 0);
	assert_int_equal(file_new_write(&f, SV("one"), NULL), 0);
	file_new_release(&f);
	file_new_release(&f);
	assert_int_equal(rmdir(*state), 0);
	assert_int_equal(mkdir(*state, 0700), 0);
}

static void test_sweep_takes_old_temporaries_only(void **state)
{
	static const char temp[] = ".faden-00000000-0000-4000-8000-000000000000.tmp";
	AUTO_FREE char *left = temp_write(*state, temp, "half");
	AUTO_FREE char *other = temp_write(*state, ".faden-config", "mine");
	AUTO_FREE char *path = path_join(*state, "f");
	CLEANUP(file_new_release) struct file_new f = FILE_NEW_INIT;

	assert_int_equal(file_new_open(&f, path, 0600, NULL), 0);
	file_sweep_temps(*state, 60000);
	assert_true(path_exists(left));
	file_sweep_temps(*state, 0);
	assert_false(path_exists(left));
	assert_true(path_exists(other));
	assert_true(path_exists(f.temp));
	file_sweep_temps("/none", 0);
	assert_int_equal(file_new_commit(&f, NULL), 0);
}

static void test_append_makes_and_extends(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *path = path_join(*state, "log");

	assert_int_equal(file_append(path, SV("one\n"), true, &err), 0);
	assert_int_equal(file_append(path, SV("two\n"), false, &err), 0);
	check_content(path, "one\ntwo\n");
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(file_append(*state, SV("x"), false, &err), -EISDIR);
	assert_non_null(strstr(err.msg, *state));
}

static void test_append_to_a_full_device(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(file_append("/dev/full", SV("x"), false, &err), -ENOSPC);
}

static void test_write_all_waits(void **state)
{
	int ends[2], status;
	AUTO_STR data = STR_INIT;

	(void)state;
	for (int i = 0; i < 50000; i++)
		str_adds(&data, "0123456789");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char buf[4096];
		size_t sum = 0;
		ssize_t n;
		(void)close(ends[1]);
		while ((n = read(ends[0], buf, sizeof(buf))) > 0)
			sum += (size_t)n;
		_exit(sum == 500000 ? 0 : 1);
	}
	(void)close(ends[0]);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(file_write_all(ends[1], str_sv(&data), NULL), 0);
	(void)close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_mkdirs_makes_all_of_them(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *deep = path_join(*state, "a/b//c/");
	AUTO_FREE char *file = temp_write(*state, "file", "x");
	AUTO_FREE char *below = path_join(file, "sub");

	assert_int_equal(file_mkdirs(deep, &err), 0);
	assert_int_equal(file_mkdirs(deep, &err), 0);
	assert_int_equal(mode_of(deep), 0700);
	assert_int_equal(file_mkdirs(file, &err), -ENOTDIR);
	assert_int_equal(file_mkdirs(below, &err), -ENOTDIR);
	assert_int_equal(file_mkdirs("/", &err), 0);
}

static int64_t time_of(int64_t seconds, long nanoseconds)
{
	return file_time_ns((struct timespec){ .tv_sec = seconds, .tv_nsec = nanoseconds });
}

static void test_times_of_any_year(void **state)
{
	(void)state;
	assert_int_equal(time_of(7, 123456789), 7123456789);
	assert_int_equal(time_of(-1, 250000000), -750000000);
	/* 0 stands for a time that is not known. */
	assert_int_equal(time_of(0, 0), 1);
	assert_int_equal(time_of(-1, 999999999), -1);
	assert_int_equal(time_of(FILE_TIME_MAX_S, 999999999),
		FILE_TIME_MAX_S * INT64_C(1000000000) + 999999999);
	assert_int_equal(time_of(FILE_TIME_MAX_S + 1, 5), time_of(FILE_TIME_MAX_S, 5));
	assert_int_equal(time_of(INT64_MAX, 999999999), time_of(FILE_TIME_MAX_S, 999999999));
	assert_int_equal(time_of(-FILE_TIME_MAX_S - 1, 5), time_of(-FILE_TIME_MAX_S, 5));
	assert_int_equal(time_of(INT64_MIN, 0), time_of(-FILE_TIME_MAX_S, 0));
	assert_true(time_of(INT64_MIN, 0) < time_of(-1, 0));
	assert_true(time_of(INT64_MAX, 0) > time_of(1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_read_limits),
		WITH_FOLDER(test_read_at_a_place),
		WITH_FOLDER(test_temp_has_no_name),
		WITH_FOLDER(test_read_errors),
		WITH_FOLDER(test_open_only_files),
		WITH_FOLDER(test_read_unknown_size),
		WITH_FOLDER(test_read_large),
		WITH_FOLDER(test_replace_keeps_or_sets_the_mode),
		WITH_FOLDER(test_replace_keeps_links),
		WITH_FOLDER(test_replace_makes_what_a_link_leads_to),
		WITH_FOLDER(test_replace_keeps_the_owner),
		WITH_FOLDER(test_replace_in_no_folder),
		WITH_FOLDER(test_new_file_replaces_none),
		WITH_FOLDER(test_unnamed_file_gets_its_name_at_the_end),
		WITH_FOLDER(test_what_is_no_file_is_not_replaced),
		WITH_FOLDER(test_what_is_no_file_is_written_into),
		WITH_FOLDER(test_a_descriptor_is_written_into_where_it_is),
		WITH_FOLDER(test_only_a_lazy_file_does_not_wait_for_the_disk),
		WITH_FOLDER(test_large_file_takes_no_more_room_than_it_needs),
		WITH_FOLDER(test_released_file_leaves_nothing),
		cmocka_unit_test(test_times_of_any_year),
		WITH_FOLDER(test_sweep_takes_old_temporaries_only),
		WITH_FOLDER(test_append_makes_and_extends),
		cmocka_unit_test(test_append_to_a_full_device),
		cmocka_unit_test(test_write_all_waits),
		WITH_FOLDER(test_mkdirs_makes_all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
