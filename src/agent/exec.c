/*
 * Any program as an agent: the prompt on its standard input, the answer on its standard output.
 * It runs once a turn and finds what it needs to keep conversations apart in its environment:
 *
 *	FADEN_SESSION        the id of the conversation
 *	FADEN_RESUME         1 when the conversation goes on, 0 when it begins
 *	FADEN_PLAN           1 when nothing may be changed in this turn
 *	FADEN_MODEL          when a model was chosen
 *	FADEN_SYSTEM_PROMPT  when there is one
 *
 * Exit status 0 is an answer; anything else a failure that its last line of standard error tells.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/child.h"
#include "agent/driver.h"
#include "agent/launch.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"

enum {
	SESSION_MAX = 128,
	SYSTEM_PROMPT_MAX = 96 * 1024, /* one variable is at most 128 KiB */
};

struct exec {
	struct agent *a;
	struct child child;
	char session[SESSION_MAX];
	struct str held; /* the end of the output so far: new lines, part of a character */
	bool too_long;
	struct agent_result result;
	struct loop_source *timer;
};

static void finish(struct exec *x)
{
	struct agent_result result = x->result;
	char session[SESSION_MAX];

	loop_remove(x->a->loop, x->timer);
	x->timer = NULL;
	memcpy(session, x->session, sizeof(session));
	result.session = session[0] ? session : NULL;
	agent_finish(x->a, &result);
}

static void finish_now(void *data)
{
	struct exec *x = data;

	x->timer = NULL;
	finish(x);
}

/* Bytes at the end that begin a character which is not complete. */
static size_t open_character(struct sv text)
{
	for (size_t n = 1; n <= 3 && n <= text.n; n++) {
		unsigned char c = (unsigned char)text.p[text.n - n];
		size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 0;
		if (need)
			return n < need ? n : 0;
		if (c < 0x80)
			return 0;
	}
	return 0;
}

/* New lines at the very end are no part of the answer: they wait for what follows. */
static void on_out(void *data, struct sv bytes)
{
	struct exec *x = data;

	agent_alive(x->a, bytes.n);
	str_add(&x->held, bytes);
	size_t n = x->held.len - open_character(str_sv(&x->held));
	while (n && x->held.buf[n - 1] == '\n')
		n--;
	if (n)
		agent_emit_text(x->a, AGENT_EV_TEXT, sv_head(str_sv(&x->held), n));
	str_drop(&x->held, n);
	if (!str_full(&x->a->answer) && x->held.len <= AGENT_ANSWER_MAX)
		return;
	x->too_long = true;
	child_kill(&x->child);
}

static void judge(struct exec *x, int status)
{
	AUTO_STR last = STR_INIT;
	char how[64];
	const char *name = x->a->opts.command[0];

	child_last_error(&x->child, &last);
	proc_describe_status(status, how, sizeof(how));
	if (x->too_long)
		agent_result_fail(&x->result, AGENT_FAILED, "%s: more than %d bytes of answer",
			name, AGENT_ANSWER_MAX);
	else
		agent_result_fail(&x->result, WIFSIGNALED(status) ? AGENT_DIED : AGENT_FAILED,
			"%s: %s (%s)", name, last.len ? last.buf : "failed", how);
}

static void on_ended(void *data, int status)
{
	struct exec *x = data;

	if (status == 0 && !x->too_long)
		x->result.delivery = AGENT_DELIVERED;
	else
		judge(x, status);
	if (x->too_long || WIFSIGNALED(status) || x->a->stopped != AGENT_OK)
		(void)child_sweep(&x->child);
	finish(x);
}

static const struct child_ops child_ops = { .out = on_out, .ended = on_ended };

/* ---- the driver ---- */

static int exec_open(struct agent *a, struct err *reterr)
{
	size_t n = a->opts.system_prompt ? strlen(a->opts.system_prompt) : 0;

	if (!a->opts.command || !a->opts.command[0])
		return err_set(reterr, ERR_INPUT, "no command is set for this agent");
	if (n > SYSTEM_PROMPT_MAX)
		return err_set(reterr, ERR_LIMIT, "the system prompt has %zu bytes; %d are allowed",
			n, SYSTEM_PROMPT_MAX);
	struct exec *x = xcalloc(1, sizeof(*x));
	x->a = a;
	x->held = (struct str)STR_INIT;
	child_init(&x->child, a->loop, &child_ops, x);
	a->priv = x;
	return 0;
}

static void exec_close(struct agent *a)
{
	struct exec *x = a->priv;

	if (!x)
		return;
	loop_remove(a->loop, x->timer);
	child_end(&x->child, true, a->opts.stop_ms, false);
	child_release(&x->child);
	str_release(&x->held);
	free(x);
}

static void build_env(
	struct strv *env, const struct agent_opts *opts, const struct agent_turn *turn)
{
	static const char *const ours[] = { "FADEN_SESSION", "FADEN_RESUME", "FADEN_PLAN",
		"FADEN_MODEL", "FADEN_SYSTEM_PROMPT", NULL };

	launch_env(env, opts->envp, ours);
	if (turn->session)
		launch_env_set(env, "FADEN_SESSION", turn->session);
	launch_env_set(env, "FADEN_RESUME", turn->resume ? "1" : "0");
	launch_env_set(
		env, "FADEN_PLAN", turn->plan || opts->permission == AGENT_PERM_PLAN ? "1" : "0");
	if (opts->model)
		launch_env_set(env, "FADEN_MODEL", opts->model);
	if (opts->system_prompt)
		launch_env_set(env, "FADEN_SYSTEM_PROMPT", opts->system_prompt);
}

static int start(struct exec *x, const struct agent_turn *turn)
{
	const struct agent_opts *opts = &x->a->opts;
	AUTO_FREE char *program = launch_find(opts, opts->command[0]);
	AUTO_STRV argv = STRV_INIT;
	AUTO_STRV env = STRV_INIT;
	struct err err = ERR_INIT;

	if (!program) {
		agent_result_fail(&x->result, AGENT_MISSING, "no program \"%s\"", opts->command[0]);
		return -ENOENT;
	}
	strv_add(&argv, program);
	for (const char *const *arg = opts->command + 1; *arg; arg++)
		strv_add(&argv, *arg);
	build_env(&env, opts, turn);
	int r = child_start(&x->child, (const char *const *)argv.v, &env, opts->dir, &err);
	if (r < 0)
		agent_result_fail(&x->result, AGENT_FAILED, "%s", err.msg);
	else
		child_write(&x->child, turn->prompt, true);
	return r;
}

static int exec_send(struct agent *a, const struct agent_turn *turn, struct err *reterr)
{
	struct exec *x = a->priv;

	if (turn->session && strlen(turn->session) >= sizeof(x->session))
		return err_set(reterr, ERR_INPUT, "the session id is too long");
	(void)snprintf(x->session, sizeof(x->session), "%s", turn->session ? turn->session : "");
	x->result = agent_result_init();
	x->too_long = false;
	str_clear(&x->held);
	if (start(x, turn) < 0) {
		x->result.delivery = AGENT_NOT_DELIVERED;
		x->timer = loop_add_timer(a->loop, 0, finish_now, x);
	} else if (x->session[0]) {
		agent_emit(a,
			&(struct agent_event){ .type = AGENT_EV_SESSION, .session = x->session });
	}
	return 0;
}

static void exec_stop(struct agent *a, int level)
{
	struct exec *x = a->priv;

	if (!child_running(&x->child))
		return;
	if (level < 2)
		child_signal(&x->child, level == 0 ? SIGINT : SIGTERM);
	else
		child_kill(&x->child);
}

const struct agent_driver agent_exec = {
	.open = exec_open,
	.send = exec_send,
	.stop = exec_stop,
	.close = exec_close,
};
