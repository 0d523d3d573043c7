#include "os/proc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { STREAMS = 3, FIRST_OTHER_FD = 3 };
enum { RUN_STEP = 16 * 1024, RUN_FDS = 4 };

static void close_end(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* ---- the three streams ---- */

struct stream {
	int child; /* what the child gets, at 3 or above; -1: what we have there ourselves */
	int ours; /* our end of a pipe, -1 when there is none */
};

/* Above the standard ones, so that filling 0, 1 and 2 one after the other never overwrites what a
 * later one still needs. */
static int dup_above(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_OTHER_FD);

	return copy < 0 ? -errno : copy;
}

static int stream_open(struct stream *s, int wish, bool child_reads)
{
	AUTO_CLOSE int end = -1;

	if (wish == PROC_INHERIT)
		return 0;
	if (wish == PROC_PIPE) {
		int ends[2];
		if (pipe2(ends, O_CLOEXEC) < 0)
			return -errno;
		s->ours = ends[child_reads ? 1 : 0];
		end = ends[child_reads ? 0 : 1];
		if (fcntl(s->ours, F_SETFL, O_NONBLOCK) < 0)
			return -errno;
	} else if (wish == PROC_NULL) {
		end = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (end < 0)
			return -errno;
	}
	s->child = dup_above(end >= 0 ? end : wish);
	return s->child < 0 ? s->child : 0;
}

/* ---- spawn ---- */

/* The interface of exec wants pointers it promises not to write through. */
static char *const *exec_vector(const char *const *v)
{
	union {
		const char *const *in;
		char *const *out;
	} u = { .in = v };

	return u.out;
}

/* Returns an errno number. Failures before the last call are lack of memory only. */
static int spawn_streams(
	pid_t *ret_pid, const struct proc_opts *opts, const struct stream *streams, int cwd_fd)
{
	const short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t all, none;

	int r = posix_spawn_file_actions_init(&actions);
	if (r != 0)
		return r;
	for (int i = 0; i < STREAMS && r == 0; i++)
		if (streams[i].child >= 0)
			r = posix_spawn_file_actions_adddup2(&actions, streams[i].child, i);
	if (r == 0 && cwd_fd >= 0)
		r = posix_spawn_file_actions_addfchdir_np(&actions, cwd_fd);
	/* Ours are all close-on-exec; those that our own parent left open are not. */
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(&actions, FIRST_OTHER_FD);
	if (r == 0 && (r = posix_spawnattr_init(&attr)) == 0) {
		sigfillset(&all);
		sigemptyset(&none);
		(void)posix_spawnattr_setsigdefault(&attr, &all);
		(void)posix_spawnattr_setsigmask(&attr, &none);
		(void)posix_spawnattr_setpgroup(&attr, 0);
		(void)posix_spawnattr_setflags(
			&attr, (short)(opts->same_group ? flags : flags | POSIX_SPAWN_SETPGROUP));
		r = posix_spawn(ret_pid, opts->argv[0], &actions, &attr, exec_vector(opts->argv),
			exec_vector(opts->envp));
		(void)posix_spawnattr_destroy(&attr);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return r;
}

static int exec_error(const char *program, int errnum, struct err *reterr)
{
	/* The same number means two things; a script with a lost interpreter is baffling. */
	if (errnum == ENOENT && access(program, F_OK) == 0)
		return err_set(reterr, -ENOENT,
			"run %s: the interpreter named in its first line is missing", program);
	if (errnum == ENOEXEC)
		return err_set(
			reterr, -ENOEXEC, "run %s: not a program (no \"#!\" line?)", program);
	return err_errno(reterr, errnum, "run %s", program);
}

/* Opened here, so that a missing folder is not taken for a missing program. */
static int open_cwd(const char *cwd, int *ret_fd, struct err *reterr)
{
	if (!cwd)
		return 0;
	int fd = open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int copy = fd < 0 ? -errno : dup_above(fd);
	if (fd >= 0)
		(void)close(fd);
	if (copy < 0)
		return err_errno(reterr, -copy, "enter folder %s", cwd);
	*ret_fd = copy;
	return 0;
}

int proc_spawn(struct proc *p, const struct proc_opts *opts, struct err *reterr)
{
	const int wishes[STREAMS] = { opts->in, opts->out, opts->err };
	struct stream streams[STREAMS] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	AUTO_CLOSE int cwd_fd = -1;

	assert(opts->argv && opts->argv[0] && opts->envp);
	*p = (struct proc)PROC_INIT;
	int r = open_cwd(opts->cwd, &cwd_fd, reterr);
	for (int i = 0; i < STREAMS && r == 0; i++) {
		r = stream_open(&streams[i], wishes[i], i == STDIN_FILENO);
		if (r < 0)
			r = err_errno(reterr, -r, "open the streams of %s", opts->argv[0]);
	}
	if (r == 0) {
		int errnum = spawn_streams(&p->pid, opts, streams, cwd_fd);
		if (errnum != 0) {
			p->pid = 0;
			r = exec_error(opts->argv[0], errnum, reterr);
		}
	}
	if (r == 0) {
		p->grouped = !opts->same_group;
		p->pidfd = pidfd_open(p->pid, 0); /* nobody else can reap the child */
		if (p->pidfd < 0) {
			r = err_errno(reterr, errno, "watch %s", opts->argv[0]);
			proc_release(p);
		}
	}
	if (r == 0) {
		p->in = TAKE_FD(streams[STDIN_FILENO].ours);
		p->out = TAKE_FD(streams[STDOUT_FILENO].ours);
		p->err = TAKE_FD(streams[STDERR_FILENO].ours);
	}
	for (int i = 0; i < STREAMS; i++) {
		close_end(&streams[i].child);
		close_end(&streams[i].ours);
	}
	return r;
}

/* ---- a running child ---- */

bool proc_reap(struct proc *p, bool wait, int *ret_status)
{
	int status = 0;
	pid_t r;

	if (p->pid <= 0)
		return false;
	do
		r = waitpid(p->pid, &status, wait ? 0 : WNOHANG);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return false;
	/* Without a status (somebody set SIGCHLD to be ignored) the child is over all the same. */
	if (ret_status)
		*ret_status = r < 0 ? 0 : status;
	p->pid = 0;
	return true;
}

void proc_signal(const struct proc *p, int sig)
{
	if (p->pid > 0)
		(void)kill(p->grouped ? -p->pid : p->pid, sig);
}

ssize_t proc_write(const struct proc *p, struct sv data)
{
	sigset_t pipe_set, old, pending;
	const struct timespec no_wait = { 0 };

	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
	(void)sigpending(&pending);
	bool was_pending = sigismember(&pending, SIGPIPE) == 1;
	ssize_t n;
	do
		n = write(p->in, data.p, data.n);
	while (n < 0 && errno == EINTR);
	int errnum = n < 0 ? errno : 0;
	if (errnum == EPIPE && !was_pending)
		(void)sigtimedwait(&pipe_set, NULL, &no_wait);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (errnum == EAGAIN)
		return 0;
	return errnum ? -errnum : n;
}

void proc_close_in(struct proc *p)
{
	close_end(&p->in);
}

void proc_release(struct proc *p)
{
	close_end(&p->in);
	close_end(&p->out);
	close_end(&p->err);
	if (p->pid > 0) {
		proc_kill_tree(p);
		(void)proc_reap(p, true, NULL);
	}
	close_end(&p->pidfd);
}

void proc_describe_status(int status, char *out, size_t size)
{
	if (WIFSIGNALED(status))
		(void)snprintf(out, size, "killed by signal %d", WTERMSIG(status));
	else
		(void)snprintf(out, size, "exit status %d", WEXITSTATUS(status));
}

/* ---- to its end ---- */

struct run {
	struct proc proc;
	const char *name;
	struct sv in;
	struct str *out, *errout; /* NULL: not collected */
	size_t max;
	int64_t timeout_ms;
	int64_t deadline_ms; /* 0: none */
};

static void run_release(struct run *run)
{
	proc_release(&run->proc);
}

/* Takes what is there now; closes at the end of the stream. */
static int collect(struct run *run, int *fd, struct str *to, struct err *reterr)
{
	char buf[RUN_STEP];

	while (*fd >= 0) {
		ssize_t n = read(*fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			close_end(fd);
			return 0;
		}
		if (to->len + (size_t)n > run->max)
			return err_set(reterr, ERR_LIMIT, "%s: more than %zu bytes of output",
				run->name, run->max);
		str_add(to, sv_make(buf, (size_t)n));
	}
	return 0;
}

/* Ends with the child, not with the last holder of its pipes: clipboard programs leave a helper
 * behind that keeps them. */
static int run_to_end(struct run *run, int *ret_status, struct err *reterr)
{
	for (;;) {
		int wait = -1;
		if (run->deadline_ms > 0) {
			int64_t left = run->deadline_ms - clock_run_ms();
			if (left <= 0)
				return err_errno(reterr, ETIMEDOUT, "%s: not done within %lld ms",
					run->name, (long long)run->timeout_ms);
			wait = left > 60000 ? 60000 : (int)left;
		}
		struct pollfd polls[RUN_FDS] = {
			{ .fd = run->proc.pidfd, .events = POLLIN },
			{ .fd = run->proc.in, .events = POLLOUT },
			{ .fd = run->proc.out, .events = POLLIN },
			{ .fd = run->proc.err, .events = POLLIN },
		};
		if (poll(polls, RUN_FDS, wait) < 0) {
			if (errno != EINTR)
				return err_errno(reterr, errno, "poll");
			continue;
		}
		if (polls[1].revents) {
			/* A child that does not read its input to the end is no error: its status
			 * tells. */
			ssize_t n = run->in.n > 0 ? proc_write(&run->proc, run->in) : 0;
			if (n > 0)
				run->in = sv_from(run->in, (size_t)n);
			if (n < 0 || run->in.n == 0)
				proc_close_in(&run->proc);
		}
		int r = collect(run, &run->proc.out, run->out, reterr);
		if (r == 0)
			r = collect(run, &run->proc.err, run->errout, reterr);
		if (r < 0)
			return r;
		/* What the child wrote before it ended has been in the pipe before it ended. */
		if (polls[0].revents && proc_reap(&run->proc, false, ret_status))
			return 0;
	}
}

int proc_run(const struct proc_opts *opts, struct sv in, int64_t timeout_ms, size_t max,
	struct str *out, struct str *errout, int *ret_status, struct err *reterr)
{
	struct proc_opts with_pipes = *opts;
	CLEANUP(run_release)
	struct run run = {
		.proc = PROC_INIT,
		.name = opts->argv[0],
		.in = in,
		.out = out,
		.errout = errout,
		.max = max,
		.timeout_ms = timeout_ms,
		.deadline_ms = timeout_ms > 0 ? clock_run_ms() + timeout_ms : 0,
	};

	with_pipes.in = in.n > 0 ? PROC_PIPE : PROC_NULL;
	with_pipes.out = out ? PROC_PIPE : PROC_NULL;
	with_pipes.err = errout ? PROC_PIPE : PROC_NULL;
	if (out)
		str_clear(out);
	if (errout)
		str_clear(errout);
	int r = proc_spawn(&run.proc, &with_pipes, reterr);
	return r < 0 ? r : run_to_end(&run, ret_status, reterr);
}
