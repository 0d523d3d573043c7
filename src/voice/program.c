#include "voice/program.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "os/path.h"
#include "os/proc.h"

enum { COMPLAINT_MAX = 4096, SHOWN_MAX = 200 };

/* One read: bytes, 0 at the end, -EAGAIN when there is nothing now. */
static ssize_t take(int fd, char *buf, size_t size)
{
	ssize_t n = read(fd, buf, size);

	return n < 0 ? (errno == EINTR ? -EAGAIN : -errno) : n;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static int complain(struct sv name, int status, const struct str *complaint, struct err *reterr)
{
	AUTO_STR line = STR_INIT;
	char how[64];

	proc_describe_status(status, how, sizeof(how));
	utf8_scrub_line(&line, str_sv(complaint));
	struct sv shown = utf8_cut(sv_trim(str_sv(&line)), SHOWN_MAX);
	return err_set(reterr, ERR_AGENT, "%.*s failed (%s)%s%.*s", SV_ARG(name), how,
		shown.n ? ": " : "", SV_ARG(shown));
}

int program_run(const struct program *program, program_fn fn, void *data, struct err *reterr)
{
	CLEANUP(proc_release) struct proc proc = PROC_INIT;
	AUTO_STR complaint = STR_INIT;
	const struct proc_opts opts = { .argv = program->argv,
		.envp = program->envp,
		.in = PROC_PIPE,
		.out = PROC_PIPE,
		.err = PROC_PIPE };
	struct sv in = program->in, name = path_base(sv_of(program->argv[0]));
	int r = proc_spawn(&proc, &opts, reterr), status = 0;
	int64_t until_ms = clock_run_ms() + program->timeout_ms;
	char buf[8192];

	if (r < 0)
		return r;
	for (;;) {
		if (!in.n)
			proc_close_in(&proc);
		/* All is read before its end counts: a pipe may hold what it wrote last. */
		if (proc.out < 0 && proc.err < 0 && proc_reap(&proc, false, &status))
			break;
		struct pollfd fds[] = { { .fd = program->cancel_fd, .events = POLLIN },
			{ .fd = proc.in, .events = POLLOUT }, { .fd = proc.out, .events = POLLIN },
			{ .fd = proc.err, .events = POLLIN },
			{ .fd = proc.out < 0 && proc.err < 0 ? proc.pidfd : -1,
				.events = POLLIN } };
		int64_t left = until_ms - clock_run_ms();
		int n = left > 0 ? poll(fds, ARRAY_LEN(fds), (int)left) : 0;
		if (n < 0 && errno != EINTR)
			return err_errno(reterr, errno, "poll");
		if (n == 0)
			return err_set(reterr, -ETIMEDOUT, "%.*s does not answer (waited %lld s)",
				SV_ARG(name), (long long)(program->timeout_ms + 999) / 1000);
		if (n < 0)
			continue;
		if (fds[0].revents)
			return err_set(reterr, ERR_CANCELLED, "cancelled");
		if (fds[1].revents) {
			ssize_t put = proc_write(&proc, in);
			/* Who does not want to hear more may still have something to say. */
			in = put < 0 ? sv_make(NULL, 0) : sv_from(in, (size_t)put);
		}
		if (fds[2].revents) {
			ssize_t got = take(proc.out, buf, sizeof(buf));
			if (got > 0) {
				until_ms = clock_run_ms() + program->timeout_ms;
				r = fn(data, sv_make(buf, (size_t)got));
				if (r < 0)
					return r;
			} else if (got != -EAGAIN) {
				close_fd(&proc.out);
			}
		}
		if (fds[3].revents) {
			ssize_t got = take(proc.err, buf, sizeof(buf));
			if (got > 0)
				str_add(&complaint,
					sv_head(sv_make(buf, (size_t)got),
						COMPLAINT_MAX - complaint.len));
			else if (got != -EAGAIN)
				close_fd(&proc.err);
		}
	}
	return status ? complain(name, status, &complaint, reterr) : 0;
}
