#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/loop.h"
#include "os/proc.h"
#include "os/test-temp.h"

enum { MAX = 1 << 20, PATIENCE_MS = 20000 };

#define SHELL(script) ((const char *const[]){ "/bin/sh", "-c", (script), NULL })

#define RUN_SHELL(script) (&(struct proc_opts){ .argv = SHELL(script), .envp = environment() })

static const char *const *environment(void)
{
	return (const char *const *)environ;
}

static const struct sv nothing = { NULL, 0 };

/* Runs a script that must succeed; its output is compared. */
static void check_output(const struct proc_opts *opts, const char *want)
{
	int status = -1;
	struct err err = ERR_INIT;
	AUTO_STR out = STR_INIT;

	assert_int_equal(proc_run(opts, nothing, PATIENCE_MS, MAX, &out, NULL, &status, &err), 0);
	assert_int_equal(status, 0);
	assert_string_equal(out.buf, want);
}

static void pause_ms(long ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	(void)nanosleep(&t, NULL);
}

/* Waits for something another process does; the figure only bounds a failing test. */
static bool comes_true(bool (*test)(const void *), const void *arg)
{
	for (int i = 0; i < PATIENCE_MS / 10; i++) {
		if (test(arg))
			return true;
		pause_ms(10);
	}
	return false;
}

static bool is_gone(const void *pid)
{
	return proc_start_time(*(const pid_t *)pid) == 0;
}

static bool is_id_gone(const void *id)
{
	return proc_id_check(id) == PROC_GONE;
}

static bool is_written(const void *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_size > 0;
}

static pid_t read_pid(const char *path)
{
	long long pid = 0;
	AUTO_STR text = STR_INIT;

	assert_true(comes_true(is_written, path));
	assert_int_equal(file_read(path, 100, &text, NULL), 0);
	assert_true(sv_parse_i64(sv_trim(str_sv(&text)), &pid));
	return (pid_t)pid;
}

/* ---- spawn ---- */

static void test_missing_program(void **state)
{
	struct err err = ERR_INIT;
	struct proc p = PROC_INIT;
	const char *const argv[] = { "/none/agent", NULL };
	const struct proc_opts opts = { .argv = argv,
		.envp = environment(),
		.in = PROC_PIPE,
		.out = PROC_PIPE,
		.err = PROC_PIPE };

	(void)state;
	assert_int_equal(proc_spawn(&p, &opts, &err), -ENOENT);
	assert_string_equal(err.msg, "run /none/agent: No such file or directory");
	assert_int_equal(p.pid, 0);
	assert_int_equal(p.in, -1);
	proc_release(&p);
}

static void test_unfit_programs(void **state)
{
	struct err err = ERR_INIT;
	struct proc p = PROC_INIT;
	AUTO_FREE char *lost = temp_write(*state, "lost", "#!/none/interpreter\n");
	AUTO_FREE char *text = temp_write(*state, "text", "hello\n");
	AUTO_FREE char *plain = temp_write(*state, "plain", "#!/bin/sh\n");

	assert_int_equal(chmod(lost, 0700) + chmod(text, 0700), 0);
	struct proc_opts opts = { .envp = environment(),
		.argv = (const char *const[]){ lost, NULL } };
	assert_int_equal(proc_spawn(&p, &opts, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "interpreter"));
	opts.argv = (const char *const[]){ text, NULL };
	assert_int_equal(proc_spawn(&p, &opts, &err), -ENOEXEC);
	opts.argv = (const char *const[]){ plain, NULL };
	assert_int_equal(proc_spawn(&p, &opts, &err), -EACCES);
}

static void test_child_runs_in_its_folder(void **state)
{
	struct err err = ERR_INIT;
	struct proc p = PROC_INIT;
	AUTO_FREE char *want = xasprintf("%s\n", (const char *)*state);
	struct proc_opts opts = { .envp = environment(), .argv = SHELL("pwd -P"), .cwd = *state };

	check_output(&opts, want);
	opts.cwd = "/none";
	assert_int_equal(proc_spawn(&p, &opts, &err), -ENOENT);
	assert_string_equal(err.msg, "enter folder /none: No such file or directory");
}

static void test_child_gets_only_its_environment(void **state)
{
	const char *const envp[] = { "ONLY=this", NULL };
	const struct proc_opts opts = { .argv = SHELL("echo \"$ONLY,$HOME\""), .envp = envp };

	(void)state;
	check_output(&opts, "this,\n");
}

/* Signals 32 and 33 are the C library's own and not looked at. */
static const char signals_script[] =
	"while read -r name value; do case $name in SigBlk:|SigIgn:)"
	" echo $name $((0x$value & 0x7fffffff));; esac; done < /proc/self/status;"
	"ls /proc/self/fd | wc -l";

static void test_child_starts_clean(void **state)
{
	sigset_t set, old;
	const struct proc_opts opts = { .envp = environment(), .argv = SHELL(signals_script) };
	int leak = open("/dev/null", O_RDONLY); /* without close-on-exec on purpose */

	(void)state;
	assert_true(leak >= 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, &old), 0);
	assert_ptr_not_equal(signal(SIGINT, SIG_IGN), SIG_ERR);
	/* ls itself opens the fourth. */
	check_output(&opts, "SigBlk: 0\nSigIgn: 0\n4\n");
	assert_ptr_not_equal(signal(SIGINT, SIG_DFL), SIG_ERR);
	assert_int_equal(sigprocmask(SIG_SETMASK, &old, NULL), 0);
	(void)close(leak);
}

static void test_interrupt_reaches_the_child(void **state)
{
	int status;
	struct proc p = PROC_INIT;
	const struct proc_opts opts = { .envp = environment(),
		.argv = SHELL("exec sleep 100"),
		.in = PROC_NULL,
		.out = PROC_NULL,
		.err = PROC_NULL };

	(void)state;
	assert_ptr_not_equal(signal(SIGINT, SIG_IGN), SIG_ERR);
	assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
	assert_false(proc_reap(&p, false, &status));
	proc_signal(&p, SIGINT);
	assert_true(proc_reap(&p, true, &status));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	assert_int_equal(p.pid, 0);
	assert_false(proc_reap(&p, true, &status));
	assert_ptr_not_equal(signal(SIGINT, SIG_DFL), SIG_ERR);
	proc_release(&p);
}

static void test_child_leads_its_group(void **state)
{
	struct proc p = PROC_INIT;
	struct proc_opts opts = { .envp = environment(),
		.argv = SHELL("exec sleep 100"),
		.in = PROC_NULL,
		.out = PROC_NULL,
		.err = PROC_NULL };

	(void)state;
	assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
	assert_int_equal(getpgid(p.pid), p.pid);
	proc_release(&p);
	opts.same_group = true;
	assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
	assert_int_equal(getpgid(p.pid), getpgrp());
	proc_release(&p);
}

/* Given descriptors may be the standard ones, also crosswise. */
static void test_crossed_streams(void **state)
{
	int status;
	AUTO_FREE char *path = path_join(*state, "out");
	AUTO_STR text = STR_INIT;
	struct proc p = PROC_INIT;
	int saved_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	int saved_err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	const struct proc_opts opts = { .envp = environment(),
		.argv = SHELL("echo to-out; echo to-err >&2"),
		.in = PROC_NULL,
		.out = STDERR_FILENO,
		.err = STDOUT_FILENO };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_int_equal(dup2(null, STDOUT_FILENO), STDOUT_FILENO);
	int r = proc_spawn(&p, &opts, NULL);
	dup2(saved_out, STDOUT_FILENO);
	dup2(saved_err, STDERR_FILENO);
	assert_int_equal(r, 0);
	assert_true(proc_reap(&p, true, &status));
	proc_release(&p);
	assert_int_equal(file_read(path, 100, &text, NULL), 0);
	assert_string_equal(text.buf, "to-out\n");
	(void)(close(fd) + close(null) + close(saved_out) + close(saved_err));
}

/* ---- trees ---- */

static void test_kill_tree(void **state)
{
	struct proc p = PROC_INIT;
	AUTO_FREE char *far = path_join(*state, "far");
	AUTO_FREE char *near = path_join(*state, "near");
	AUTO_FREE char *script = xasprintf("sleep 100 & echo $! > %s;"
					   "setsid sh -c 'echo $$ > %s; exec sleep 100' & wait",
		near, far);
	const struct proc_opts opts = { .envp = environment(),
		.argv = SHELL(script),
		.in = PROC_NULL,
		.out = PROC_NULL,
		.err = PROC_NULL };

	assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
	pid_t near_pid = read_pid(near), far_pid = read_pid(far);
	assert_int_not_equal(getsid(far_pid), getsid(p.pid));
	assert_false(is_gone(&near_pid) || is_gone(&far_pid));
	proc_kill_tree(&p);
	assert_true(comes_true(is_gone, &near_pid));
	assert_true(comes_true(is_gone, &far_pid));
	proc_release(&p);
	assert_int_equal(p.pidfd, -1);
}

/* The child has ended, its own child has left the session below a group member that lives on. */
static void test_kill_tree_of_an_orphan(void **state)
{
	struct proc p = PROC_INIT;
	AUTO_FREE char *far = path_join(*state, "far");
	AUTO_FREE char *script =
		xasprintf("(setsid sh -c 'echo $$ > %s; exec sleep 100' & wait) & exit 0", far);
	const struct proc_opts opts = { .envp = environment(),
		.argv = SHELL(script),
		.in = PROC_NULL,
		.out = PROC_NULL,
		.err = PROC_NULL };

	assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
	pid_t far_pid = read_pid(far);
	assert_true(comes_true(is_gone, &p.pid)); /* a zombie by now */
	assert_false(is_gone(&far_pid));
	proc_release(&p);
	assert_true(comes_true(is_gone, &far_pid));
}

static void test_release_after_reap_spares_helpers(void **state)
{
	int status;
	struct proc p = PROC_INIT;
	AUTO_FREE char *path = path_join(*state, "helper");
	AUTO_FREE char *script = xasprintf("sleep 100 & echo $! > %s", path);
	const struct proc_opts opts = { .envp = environment(),
		.argv = SHELL(script),
		.in = PROC_NULL,
		.out = PROC_NULL,
		.err = PROC_NULL };

	assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
	assert_true(proc_reap(&p, true, &status));
	pid_t helper = read_pid(path);
	proc_release(&p);
	assert_false(is_gone(&helper));
	assert_int_equal(kill(helper, SIGKILL), 0);
}

/* ---- run ---- */

static void test_run_gives_output_and_status(void **state)
{
	int status;
	AUTO_STR out = STR_INIT;
	AUTO_STR errout = STR_INIT;

	(void)state;
	assert_int_equal(proc_run(RUN_SHELL("cat; echo bad >&2; exit 3"), SV("in"), PATIENCE_MS,
				 MAX, &out, &errout, &status, NULL),
		0);
	assert_string_equal(out.buf, "in");
	assert_string_equal(errout.buf, "bad\n");
	char text[64];
	proc_describe_status(status, text, sizeof(text));
	assert_string_equal(text, "exit status 3");
	assert_int_equal(
		proc_run(RUN_SHELL("kill -9 $$"), nothing, 0, MAX, NULL, NULL, &status, NULL), 0);
	proc_describe_status(status, text, sizeof(text));
	assert_string_equal(text, "killed by signal 9");
}

static void test_run_timeout(void **state)
{
	int status = -1;
	struct err err = ERR_INIT;
	AUTO_FREE char *path = path_join(*state, "pid");
	AUTO_FREE char *script = xasprintf("echo $$ > %s; sleep 100; true", path);

	/* On a busy machine the shell may not even have begun when its time is over. */
	for (int64_t ms = 200; !is_written(path) && ms < PATIENCE_MS; ms *= 2)
		assert_int_equal(
			proc_run(RUN_SHELL(script), nothing, ms, MAX, NULL, NULL, &status, &err),
			-ETIMEDOUT);
	assert_non_null(strstr(err.msg, "/bin/sh: not done within "));
	pid_t pid = read_pid(path);
	assert_true(is_gone(&pid));
}

static void test_run_limit(void **state)
{
	int status;
	AUTO_STR out = STR_INIT;

	(void)state;
	assert_int_equal(
		proc_run(RUN_SHELL("printf 12345678"), nothing, 0, 8, &out, NULL, &status, NULL),
		0);
	assert_int_equal(out.len, 8);
	assert_int_equal(
		proc_run(RUN_SHELL("printf 123456789"), nothing, 0, 8, &out, NULL, &status, NULL),
		ERR_LIMIT);
	assert_int_equal(
		proc_run(RUN_SHELL("exec cat /dev/zero"), nothing, 0, 8, &out, NULL, &status, NULL),
		ERR_LIMIT);
}

/* Input that nobody reads neither kills us by SIGPIPE nor hangs. */
static void test_run_unread_input(void **state)
{
	int status = -1;
	AUTO_STR in = STR_INIT;

	(void)state;
	while (in.len < MAX)
		str_adds(&in, "0123456789");
	assert_int_equal(proc_run(RUN_SHELL("exec 0<&-; sleep 0.1"), str_sv(&in), PATIENCE_MS, MAX,
				 NULL, NULL, &status, NULL),
		0);
	assert_int_equal(status, 0);
}

/* What a clipboard program does: answer at once, leave a helper that holds the pipes. */
static void test_run_ends_with_the_child(void **state)
{
	int status = -1;
	AUTO_STR out = STR_INIT;
	AUTO_FREE char *path = path_join(*state, "helper");
	AUTO_FREE char *script = xasprintf("sleep 100 & echo $! > %s; echo done", path);

	assert_int_equal(
		proc_run(RUN_SHELL(script), SV("x"), PATIENCE_MS, MAX, &out, NULL, &status, NULL),
		0);
	assert_string_equal(out.buf, "done\n");
	assert_int_equal(kill(read_pid(path), SIGKILL), 0);
}

/* ---- both ways through the loop ---- */

struct traffic {
	struct loop *loop;
	struct proc proc;
	struct loop_source *in, *out;
	struct str sent, got;
	size_t at;
	bool done;
};

static void on_writable(void *data, short revents)
{
	struct traffic *t = data;
	ssize_t n = proc_write(&t->proc, sv_from(str_sv(&t->sent), t->at));

	(void)revents;
	assert_true(n >= 0);
	t->at += (size_t)n;
	if (t->at < t->sent.len)
		return;
	loop_remove(t->loop, t->in);
	proc_close_in(&t->proc);
}

static void on_readable(void *data, short revents)
{
	struct traffic *t = data;
	char buf[65536];
	ssize_t n = read(t->proc.out, buf, sizeof(buf));

	(void)revents;
	if (n > 0)
		str_add(&t->got, sv_make(buf, (size_t)n));
	t->done = n == 0;
}

static void test_ten_megabytes_both_ways(void **state)
{
	int status;
	struct traffic t = { .loop = loop_new(), .sent = STR_INIT, .got = STR_INIT };
	const struct proc_opts opts = { .envp = environment(),
		.argv = SHELL("exec cat"),
		.in = PROC_PIPE,
		.out = PROC_PIPE,
		.err = PROC_INHERIT };

	(void)state;
	for (int i = 0; t.sent.len < 10 * MAX; i++)
		str_addf(&t.sent, "%d\n", i);
	assert_int_equal(proc_spawn(&t.proc, &opts, NULL), 0);
	t.in = loop_add_fd(t.loop, t.proc.in, POLLOUT, on_writable, &t);
	t.out = loop_add_fd(t.loop, t.proc.out, POLLIN, on_readable, &t);
	assert_int_equal(loop_run(t.loop, &t.done, NULL), 0);
	assert_true(sv_eq(str_sv(&t.sent), str_sv(&t.got)));
	assert_true(proc_reap(&t.proc, true, &status));
	assert_int_equal(status, 0);
	loop_free(t.loop);
	proc_release(&t.proc);
	str_release(&t.sent);
	str_release(&t.got);
}

/* ---- identity ---- */

static void test_identity_is_pid_start_and_boot(void **state)
{
	struct proc_id id, other;

	(void)state;
	assert_int_equal(proc_id_self(&id, NULL), 0);
	assert_true(id.start > 0);
	assert_int_equal(strlen(id.boot), 36);
	assert_int_equal(proc_id_check(&id), PROC_ALIVE);
	other = id;
	other.start++; /* the number was given to another process */
	assert_int_equal(proc_id_check(&other), PROC_GONE);
	other = id;
	other.boot[0] = other.boot[0] == '0' ? '1' : '0';
	assert_int_equal(proc_id_check(&other), PROC_GONE);
	other = id;
	other.host[0] ^= 1;
	assert_int_equal(proc_id_check(&other), PROC_ELSEWHERE);
	other = id;
	other.start = 0; /* taken where /proc was missing */
	assert_int_equal(proc_id_check(&other), PROC_ALIVE);
	other.pid = 0;
	assert_int_equal(proc_id_check(&other), PROC_GONE);
}

static void test_identity_of_the_session(void **state)
{
	struct proc_id id;

	(void)state;
	proc_id_session(&id);
	assert_int_equal(id.pid, getsid(0));
	assert_int_equal(id.start, proc_start_time(id.pid));
	assert_true(id.host[0] != '\0');
}

/* Who is killed takes a while to die, and for most of it can be told to be gone. */
static void test_identity_of_the_dying(void **state)
{
	enum { KILLS = 20 };
	const struct proc_opts opts = { .envp = environment(),
		.argv = SHELL("exec sleep 100"),
		.in = PROC_NULL,
		.out = PROC_NULL,
		.err = PROC_NULL };
	int gone = 0;

	(void)state;
	for (int i = 0; i < KILLS; i++) {
		struct proc p = PROC_INIT;
		assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
		proc_signal(&p, SIGKILL);
		gone += proc_start_time(p.pid) == 0;
		proc_release(&p);
	}
	assert_true(gone > KILLS / 2);
}

static void test_identity_of_the_dead(void **state)
{
	struct proc p = PROC_INIT;
	struct proc_id id;
	const struct proc_opts opts = { .envp = environment(),
		.argv = SHELL("exec sleep 100"),
		.in = PROC_NULL,
		.out = PROC_NULL,
		.err = PROC_NULL };

	(void)state;
	assert_int_equal(proc_id_self(&id, NULL), 0);
	assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
	id.pid = p.pid;
	id.start = proc_start_time(p.pid);
	assert_int_equal(proc_id_check(&id), PROC_ALIVE);
	proc_signal(&p, SIGKILL);
	/* Not reaped yet, and gone all the same; between the signal and its death not all the time.
	 */
	assert_true(comes_true(is_id_gone, &id));
	proc_release(&p);
	assert_int_equal(proc_id_check(&id), PROC_GONE);
	assert_int_equal(proc_start_time(id.pid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_program),
		WITH_FOLDER(test_unfit_programs),
		WITH_FOLDER(test_child_runs_in_its_folder),
		cmocka_unit_test(test_child_gets_only_its_environment),
		cmocka_unit_test(test_child_starts_clean),
		cmocka_unit_test(test_interrupt_reaches_the_child),
		cmocka_unit_test(test_child_leads_its_group),
		WITH_FOLDER(test_crossed_streams),
		WITH_FOLDER(test_kill_tree),
		WITH_FOLDER(test_kill_tree_of_an_orphan),
		WITH_FOLDER(test_release_after_reap_spares_helpers),
		cmocka_unit_test(test_run_gives_output_and_status),
		WITH_FOLDER(test_run_timeout),
		cmocka_unit_test(test_run_limit),
		cmocka_unit_test(test_run_unread_input),
		WITH_FOLDER(test_run_ends_with_the_child),
		cmocka_unit_test(test_ten_megabytes_both_ways),
		cmocka_unit_test(test_identity_is_pid_start_and_boot),
		cmocka_unit_test(test_identity_of_the_session),
		cmocka_unit_test(test_identity_of_the_dead),
		cmocka_unit_test(test_identity_of_the_dying),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
