/*
 * A program of the user's: a WAV on its input, the text on its output.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/proc.h"
#include "voice/stt-driver.h"

enum { TEXT_MAX = 256 * 1024, TIMEOUT_MS = 30000, STEP_MS = 50 };

struct exec {
	struct strv command, env;
	int64_t timeout_ms;
	char language[8];
	atomic_bool stopped;
};

static void close_exec(void *self)
{
	struct exec *e = self;

	strv_release(&e->command);
	strv_release(&e->env);
	free(e);
}

static int open_exec(const struct stt_opts *opts, void **ret, struct err *reterr)
{
	struct exec *e = xcalloc(1, sizeof(*e));

	for (const char *const *c = opts->command; c && *c; c++)
		strv_add(&e->command, *c);
	for (const char *const *v = opts->envp; v && *v; v++)
		strv_add(&e->env, *v);
	e->timeout_ms = opts->timeout_ms > 0 ? opts->timeout_ms : TIMEOUT_MS;
	if (opts->language && strcmp(opts->language, "auto") != 0)
		(void)snprintf(e->language, sizeof(e->language), "%s", opts->language);
	if (e->command.n == 0) {
		close_exec(e);
		return err_set(reterr, ERR_USAGE, "no program is given for speech to text");
	}
	*ret = e;
	return 0;
}

/* Takes what a pipe has; closes it at its end. Beyond the limit nothing is kept. */
static void take(int *fd, struct str *out)
{
	char buf[4096];

	for (;;) {
		ssize_t n = read(*fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			(void)close(TAKE_FD(*fd));
			return;
		}
		if (out->len < TEXT_MAX)
			str_add(out, sv_make(buf, (size_t)n));
	}
}

/* Input in, output and complaints out, until it has ended. */
static int talk(struct exec *e, struct proc *p, struct sv wav, struct str *out, struct str *said,
	struct err *reterr)
{
	static const char *const none[] = { NULL };
	const struct proc_opts opts = {
		.argv = (const char *const *)e->command.v,
		.envp = e->env.v ? (const char *const *)e->env.v : none,
		.in = PROC_PIPE,
		.out = PROC_PIPE,
		.err = PROC_PIPE,
	};
	int64_t deadline = clock_run_ms() + e->timeout_ms;
	int status = 0;
	int r = proc_spawn(p, &opts, reterr);

	while (r >= 0) {
		struct pollfd fds[] = { { p->in, POLLOUT, 0 }, { p->out, POLLIN, 0 },
			{ p->err, POLLIN, 0 } };
		(void)poll(fds, ARRAY_LEN(fds), STEP_MS);
		if (p->in >= 0 && fds[0].revents) {
			ssize_t n = proc_write(p, wav);
			wav = n > 0 ? sv_from(wav, (size_t)n) : wav;
			/* One that has heard enough may answer all the same. */
			if (n < 0 || wav.n == 0)
				proc_close_in(p);
		}
		if (p->out >= 0 && fds[1].revents)
			take(&p->out, out);
		if (p->err >= 0 && fds[2].revents)
			take(&p->err, said);
		if (atomic_load(&e->stopped))
			return err_set(reterr, ERR_CANCELLED, "cancelled");
		if (clock_run_ms() > deadline)
			return err_set(reterr, -ETIMEDOUT, "%s does not answer", e->command.v[0]);
		if (p->out < 0 && proc_reap(p, false, &status))
			break;
	}
	if (r >= 0 && status != 0) {
		char how[64];
		AUTO_STR line = STR_INIT;
		proc_describe_status(status, how, sizeof(how));
		utf8_scrub_line(&line, sv_head(sv_trim(str_sv(said)), 200));
		r = err_set(reterr, ERR_AGENT, "%s: %s%s%s", e->command.v[0], how,
			line.len ? ": " : "", line.buf);
	}
	return r;
}

static int run_exec(
	void *self, const float *samples, size_t n, struct stt_result *result, struct err *reterr)
{
	struct exec *e = self;
	CLEANUP(proc_release) struct proc p = PROC_INIT;
	AUTO_STR wav = STR_INIT, out = STR_INIT, said = STR_INIT;

	stt_wav(&wav, samples, n);
	int r = talk(e, &p, str_sv(&wav), &out, &said, reterr);
	if (r < 0)
		return r;
	str_add(&result->text, sv_trim(str_sv(&out)));
	memcpy(result->language, e->language, sizeof(e->language));
	return 0;
}

static void stop_exec(void *self, bool stop)
{
	struct exec *e = self;

	atomic_store(&e->stopped, stop);
}

const struct stt_driver stt_exec = {
	.name = "exec",
	.open = open_exec,
	.run = run_exec,
	.stop = stop_exec,
	.close = close_exec,
};
