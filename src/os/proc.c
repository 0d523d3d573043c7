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

enum { STREAMS = 3, FIRST_OTHER_FD = 3 };

/* ---- the three streams ---- */

struct stream {
	int child; /* what the child gets, at 3 or above; -1: what we have there ourselves */
	int ours; /* our end of a pipe, -1 when there is none */
};

static void streams_close(struct stream *streams)
{
	for (int i = 0; i < STREAMS; i++) {
		if (streams[i].child >= 0)
			(void)close(streams[i].child);
		if (streams[i].ours >= 0)
			(void)close(streams[i].ours);
	}
}

/* Above the standard ones, so that filling 0, 1 and 2 one after the other never overwrites what a
 * later one still needs. */
static int dup_above(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_OTHER_FD);

	return copy < 0 ? -errno : copy;
}

static int stream_pipe(struct stream *s, bool child_reads)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	s->ours = ends[child_reads ? 1 : 0];
	s->child = dup_above(ends[child_reads ? 0 : 1]);
	(void)close(ends[child_reads ? 0 : 1]);
	if (s->child < 0)
		return s->child;
	return fcntl(s->ours, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int stream_open(struct stream *s, int wish, bool child_reads)
{
	if (wish == PROC_INHERIT)
		return 0;
	if (wish == PROC_PIPE)
		return stream_pipe(s, child_reads);
	AUTO_CLOSE int null = wish == PROC_NULL ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
	if (wish == PROC_NULL && null < 0)
		return -errno;
	s->child = dup_above(wish == PROC_NULL ? null : wish);
	return s->child < 0 ? s->child : 0;
}

static int streams_open(struct stream *streams, const struct proc_opts *opts)
{
	const int wishes[STREAMS] = { opts->in, opts->out, opts->err };

	for (int i = 0; i < STREAMS; i++)
		streams[i] = (struct stream){ .child = -1, .ours = -1 };
	for (int i = 0; i < STREAMS; i++) {
		int r = stream_open(&streams[i], wishes[i], i == STDIN_FILENO);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- spawn ---- */

/* Failures here are lack of memory only, like everywhere else not worth a message of its own. */
static int plan_actions(
	posix_spawn_file_actions_t *actions, const struct stream *streams, int cwd_fd)
{
	int r = 0;

	for (int i = 0; i < STREAMS && r == 0; i++)
		if (streams[i].child >= 0)
			r = posix_spawn_file_actions_adddup2(actions, streams[i].child, i);
	if (r == 0 && cwd_fd >= 0)
		r = posix_spawn_file_actions_addfchdir_np(actions, cwd_fd);
	/* Ours are all close-on-exec; those that our own parent left open are not. */
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(actions, FIRST_OTHER_FD);
	return r;
}

static int plan_attr(posix_spawnattr_t *attr, bool same_group)
{
	int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	(void)posix_spawnattr_setsigdefault(attr, &all);
	(void)posix_spawnattr_setsigmask(attr, &none);
	(void)posix_spawnattr_setpgroup(attr, 0);
	return posix_spawnattr_setflags(
		attr, (short)(same_group ? flags : flags | POSIX_SPAWN_SETPGROUP));
}

/* The interface of exec wants pointers it promises not to write through. */
static char *const *exec_vector(const char *const *v)
{
	union {
		const char *const *in;
		char *const *out;
	} u = { .in = v };

	return u.out;
}

static int spawn_streams(
	pid_t *ret_pid, const struct proc_opts *opts, const struct stream *streams, int cwd_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char *const *envp = opts->envp ? exec_vector(opts->envp) : environ;

	int r = posix_spawn_file_actions_init(&actions);
	if (r != 0)
		return r;
	r = posix_spawnattr_init(&attr);
	if (r == 0) {
		r = plan_actions(&actions, streams, cwd_fd);
		if (r == 0)
			r = plan_attr(&attr, opts->same_group);
		if (r == 0)
			r = posix_spawn(ret_pid, opts->argv[0], &actions, &attr,
				exec_vector(opts->argv), envp);
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

static int start(
	struct proc *p, const struct proc_opts *opts, struct stream *streams, struct err *reterr)
{
	AUTO_CLOSE int cwd_fd = -1;
	pid_t pid;
	int r = open_cwd(opts->cwd, &cwd_fd, reterr);

	if (r < 0)
		return r;
	r = streams_open(streams, opts);
	if (r < 0)
		return err_errno(reterr, -r, "open the streams of %s", opts->argv[0]);
	r = spawn_streams(&pid, opts, streams, cwd_fd);
	if (r != 0)
		return exec_error(opts->argv[0], r, reterr);
	*p = (struct proc)PROC_INIT;
	p->pid = pid;
	p->grouped = !opts->same_group;
	p->pidfd = pidfd_open(pid, 0); /* the child cannot be reaped by anyone else */
	if (p->pidfd >= 0)
		return 0;
	r = err_errno(reterr, errno, "watch %s", opts->argv[0]);
	proc_release(p);
	return r;
}

int proc_spawn(struct proc *p, const struct proc_opts *opts, struct err *reterr)
{
	struct stream streams[STREAMS] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };

	assert(opts->argv && opts->argv[0]);
	*p = (struct proc)PROC_INIT;
	int r = start(p, opts, streams, reterr);
	if (r == 0) {
		p->in = TAKE_FD(streams[STDIN_FILENO].ours);
		p->out = TAKE_FD(streams[STDOUT_FILENO].ours);
		p->err = TAKE_FD(streams[STDERR_FILENO].ours);
	}
	streams_close(streams);
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

static void close_end(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
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
