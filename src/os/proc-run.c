#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "os/proc.h"

enum { RUN_STEP = 16 * 1024, RUN_FDS = 4 };

struct run {
	struct proc proc;
	const char *name;
	struct sv in;
	struct str *out, *errout; /* NULL: not collected */
	size_t max;
	int64_t timeout_ms;
	int64_t deadline_ms; /* 0: none */
};

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void run_release(struct run *run)
{
	proc_release(&run->proc);
}

static void close_fd(int *fd)
{
	(void)close(*fd);
	*fd = -1;
}

/* A child that does not read its input to the end is no error: its status tells. */
static void feed(struct run *run)
{
	ssize_t n = run->in.n > 0 ? proc_write(&run->proc, run->in) : 0;

	if (n > 0)
		run->in = sv_from(run->in, (size_t)n);
	if (n < 0 || run->in.n == 0)
		proc_close_in(&run->proc);
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
			close_fd(fd);
			return 0;
		}
		if (to->len + (size_t)n > run->max)
			return err_set(reterr, ERR_LIMIT, "%s: more than %zu bytes of output",
				run->name, run->max);
		str_add(to, sv_make(buf, (size_t)n));
	}
	return 0;
}

static int collect_both(struct run *run, struct err *reterr)
{
	int r = collect(run, &run->proc.out, run->out, reterr);

	return r < 0 ? r : collect(run, &run->proc.err, run->errout, reterr);
}

static int wait_event(struct run *run, struct pollfd *polls, struct err *reterr)
{
	int wait = -1;

	if (run->deadline_ms > 0) {
		int64_t left = run->deadline_ms - now_ms();
		if (left <= 0)
			return err_errno(reterr, ETIMEDOUT, "%s: not done within %lld ms",
				run->name, (long long)run->timeout_ms);
		wait = left > 60000 ? 60000 : (int)left;
	}
	polls[0] = (struct pollfd){ .fd = run->proc.pidfd, .events = POLLIN };
	polls[1] = (struct pollfd){ .fd = run->proc.in, .events = POLLOUT };
	polls[2] = (struct pollfd){ .fd = run->proc.out, .events = POLLIN };
	polls[3] = (struct pollfd){ .fd = run->proc.err, .events = POLLIN };
	if (poll(polls, RUN_FDS, wait) >= 0)
		return 0;
	for (int i = 0; i < RUN_FDS; i++)
		polls[i].revents = 0;
	return errno == EINTR ? 0 : err_errno(reterr, errno, "poll");
}

/* Ends with the child, not with the last holder of its pipes: clipboard programs leave a helper
 * behind that keeps them. */
static int run_to_end(struct run *run, int *ret_status, struct err *reterr)
{
	struct pollfd polls[RUN_FDS] = { 0 };

	for (;;) {
		int r = wait_event(run, polls, reterr);
		if (r < 0)
			return r;
		if (polls[1].revents)
			feed(run);
		r = collect_both(run, reterr);
		if (r < 0)
			return r;
		/* What the child wrote before it ended has been in the pipe before it ended. */
		if (polls[0].revents && proc_reap(&run->proc, false, ret_status))
			return 0;
	}
}

int proc_run_with(const struct proc_opts *opts, struct sv in, int64_t timeout_ms, size_t max,
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
		.deadline_ms = timeout_ms > 0 ? now_ms() + timeout_ms : 0,
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

int proc_run(const char *const *argv, struct sv in, int64_t timeout_ms, size_t max, struct str *out,
	struct str *errout, int *ret_status, struct err *reterr)
{
	const struct proc_opts opts = { .argv = argv };

	return proc_run_with(&opts, in, timeout_ms, max, out, errout, ret_status, reterr);
}
