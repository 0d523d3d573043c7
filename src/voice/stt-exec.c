/*
 * A program of the user's: a WAV on its input, the text on its output.
 */
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/mem.h"
#include "os/path.h"
#include "voice/program.h"
#include "voice/stt-driver.h"

enum { TIMEOUT_MS = 30000 };

struct exec_engine {
	struct strv command, env;
	int64_t timeout_ms;
	char language[8];
	int cancel_fd; /* readable: stop */
};

static void close_exec(void *self)
{
	struct exec_engine *e = self;

	strv_release(&e->command);
	strv_release(&e->env);
	if (e->cancel_fd >= 0)
		(void)close(e->cancel_fd);
	free(e);
}

static int open_exec(const struct stt_opts *opts, void **ret, struct err *reterr)
{
	if (!opts->command || !opts->command[0])
		return err_set(reterr, ERR_USAGE,
			"no program is set for speech to text: set stt.command, or another "
			"stt.provider");
	AUTO_FREE char *program = path_find_program(opts->command[0], "");
	if (!program)
		return err_set(reterr, ERR_NOTFOUND,
			"%s is not there: set stt.command to where it is, or another stt.provider",
			opts->command[0]);
	struct exec_engine *e = xcalloc(1, sizeof(*e));
	for (const char *const *c = opts->command; *c; c++)
		strv_add(&e->command, *c);
	for (const char *const *v = opts->envp; v && *v; v++)
		strv_add(&e->env, *v);
	e->timeout_ms = opts->timeout_ms > 0 ? opts->timeout_ms : TIMEOUT_MS;
	if (opts->language && strcmp(opts->language, "auto") != 0)
		(void)snprintf(e->language, sizeof(e->language), "%s", opts->language);
	e->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*ret = e;
	return 0;
}

static int on_text(void *data, struct sv bytes)
{
	struct str *out = data;

	str_add(out, bytes);
	return str_full(out) ? ERR_LIMIT : 0;
}

static int run_exec(
	void *self, const float *samples, size_t n, struct stt_result *result, struct err *reterr)
{
	struct exec_engine *e = self;
	static const char *const none[] = { NULL };
	AUTO_STR wav = STR_INIT, out = STR_INIT;

	str_init_max(&out, STT_ANSWER_MAX);
	stt_wav(&wav, samples, n);
	const struct program program = {
		.argv = (const char *const *)e->command.v,
		.envp = e->env.v ? (const char *const *)e->env.v : none,
		.in = str_sv(&wav),
		.timeout_ms = e->timeout_ms,
		.cancel_fd = e->cancel_fd,
	};
	int r = program_run(&program, on_text, &out, reterr);
	if (r == ERR_LIMIT)
		return err_set(reterr, r, "%s writes too much", e->command.v[0]);
	if (r < 0)
		return r;
	r = stt_believe(str_sv(&out), n, e->command.v[0], reterr);
	if (r < 0)
		return r;
	str_add(&result->text, sv_trim(str_sv(&out)));
	memcpy(result->language, e->language, sizeof(e->language));
	return 0;
}

static void stop_exec(void *self)
{
	struct exec_engine *e = self;

	stt_signal(e->cancel_fd);
}

const struct stt_driver stt_exec = {
	.name = "exec",
	.open = open_exec,
	.run = run_exec,
	.stop = stop_exec,
	.close = close_exec,
};
