#include "master/check.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"

static bool read_some(struct check *c)
{
	char piece[16 * 1024];
	ssize_t n = read(c->proc.out, piece, sizeof(piece));

	if (n <= 0)
		return n < 0 && errno == EINTR;
	str_add(&c->tail, sv_make(piece, (size_t)n));
	if (c->tail.len > (size_t)2 * CHECK_KEPT)
		str_drop(&c->tail, c->tail.len - CHECK_KEPT);
	return true;
}

static void on_out(void *data, short revents)
{
	struct check *c = data;

	(void)revents;
	if (!read_some(c) && errno != EAGAIN) {
		loop_remove(c->loop, c->out);
		c->out = NULL;
	}
}

static void on_end(void *data, short revents)
{
	struct check *c = data;
	int status = 0;

	(void)revents;
	if (!proc_reap(&c->proc, false, &status))
		return;
	/* What others of its tree still hold open is not waited for. */
	for (int i = 0; c->out && i < 1024 && read_some(c); i++)
		;
	check_stop(c);
	if (c->tail.len > CHECK_KEPT)
		str_drop(&c->tail, c->tail.len - CHECK_KEPT);
	AUTO_STR text = STR_INIT;
	utf8_scrub(&text, sv_trim(str_sv(&c->tail)));
	c->done(c->data, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
		str_sv(&text));
}

int check_start(struct check *c, struct loop *loop, const char *command, const char *dir,
	const char *const *envp, struct err *reterr)
{
	const char *const argv[] = { "/bin/sh", "-c", "exec 2>&1; eval \"$1\"", "sh", command,
		NULL };
	static const char *const none[] = { NULL };
	const struct proc_opts opts = { .argv = argv,
		.envp = envp ? envp : none,
		.cwd = dir,
		.in = PROC_NULL,
		.out = PROC_PIPE,
		.err = PROC_NULL };

	str_clear(&c->tail);
	c->loop = loop;
	int r = proc_spawn(&c->proc, &opts, reterr);
	if (r < 0)
		return r;
	c->out = loop_add_fd(loop, c->proc.out, POLLIN, on_out, c);
	c->end = loop_add_fd(loop, c->proc.pidfd, POLLIN, on_end, c);
	return 0;
}

void check_stop(struct check *c)
{
	if (!c->loop)
		return;
	loop_remove(c->loop, c->out);
	loop_remove(c->loop, c->end);
	c->out = c->end = NULL;
	proc_release(&c->proc);
}
