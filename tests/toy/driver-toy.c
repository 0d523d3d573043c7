/*
 * The toy is run once a turn, "toy" or "toy --go-on ID", and reads the prompt from its standard
 * input. It says one JSON object a line: {"thread":"ID"}, {"say":"…"}.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/child.h"
#include "agent/driver.h"
#include "agent/launch.h"
#include "agent/stream.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "toy.h"
#include "transcript/home.h"
#include "json/scan.h"

enum { LINE_MAX_BYTES = 1024 * 1024 };

struct toy {
	struct agent *a;
	struct child child;
	struct lines lines;
	char session[UUID_TEXT];
	struct agent_result result;
	struct loop_source *timer;
};

static void take_line(void *data, struct sv line)
{
	struct toy *t = data;
	AUTO_STR text = STR_INIT;
	struct jval whole, val;

	if (scan_text(line, &whole) < 0)
		return;
	if (scan_get(whole, SV("thread"), &val) > 0 && uuid_valid(scan_inner(val))) {
		(void)snprintf(t->session, sizeof(t->session), "%.*s", SV_ARG(scan_inner(val)));
		agent_emit(t->a,
			&(struct agent_event){ .type = AGENT_EV_SESSION, .session = t->session });
	} else if (scan_get(whole, SV("say"), &val) > 0 && scan_string(val, &text)) {
		t->result.delivery = AGENT_DELIVERED;
		agent_emit_text(t->a, AGENT_EV_TEXT, str_sv(&text));
	}
}

static void on_out(void *data, struct sv bytes)
{
	struct toy *t = data;

	agent_alive(t->a, bytes.n);
	lines_feed(&t->lines, bytes, take_line, t);
}

static void finish(void *data)
{
	struct toy *t = data;
	struct agent_result result = t->result;
	char session[UUID_TEXT];

	t->timer = NULL;
	memcpy(session, t->session, sizeof(session));
	result.session = session[0] ? session : NULL;
	agent_finish(t->a, &result);
}

static void on_ended(void *data, int status)
{
	struct toy *t = data;
	AUTO_STR last = STR_INIT;

	lines_end(&t->lines, take_line, t);
	child_last_error(&t->child, &last);
	if (status != 0)
		agent_result_fail(&t->result, AGENT_DIED, "Toy: %s", last.buf);
	finish(t);
}

static int toy_open(struct agent *a, struct err *reterr UNUSED)
{
	static const struct child_ops ops = { .out = on_out, .ended = on_ended };
	struct toy *t = xcalloc(1, sizeof(*t));

	t->a = a;
	child_init(&t->child, a->loop, &ops, t);
	lines_init(&t->lines, LINE_MAX_BYTES);
	a->priv = t;
	return 0;
}

static void toy_close(struct agent *a)
{
	struct toy *t = a->priv;

	loop_remove(a->loop, t->timer);
	child_end(&t->child, true, AGENT_STOP_STEP_MS, false);
	child_release(&t->child);
	lines_release(&t->lines);
	free(t);
}

static int toy_send(struct agent *a, const struct agent_turn *turn, struct err *reterr UNUSED)
{
	static const char *const none[] = { NULL };
	struct toy *t = a->priv;
	AUTO_FREE char *program = launch_program(a->def, &a->opts);
	AUTO_STRV argv = STRV_INIT;
	AUTO_STRV env = STRV_INIT;
	struct err err = ERR_INIT;
	int r = -ENOENT;

	t->result = agent_result_init();
	(void)snprintf(t->session, sizeof(t->session), "%s", turn->resume ? turn->session : "");
	if (program) {
		strv_add(&argv, program);
		if (turn->resume) {
			strv_add(&argv, "--go-on");
			strv_add(&argv, turn->session);
		}
		launch_env(&env, a->opts.envp, none);
		launch_env_set(&env, a->def->home_variable, a->opts.home);
		r = child_start(&t->child, (const char *const *)argv.v, &env, a->opts.dir, &err);
	}
	if (r == 0) {
		child_write(&t->child, turn->prompt, true);
		return 0;
	}
	agent_result_fail(&t->result, AGENT_MISSING, "Toy: no program: %s", err.msg);
	t->result.delivery = AGENT_NOT_DELIVERED;
	t->timer = loop_add_timer(a->loop, 0, finish, t);
	return 0;
}

static void toy_stop(struct agent *a, int level)
{
	const struct toy *t = a->priv;

	child_signal(&t->child, level < 2 ? SIGTERM : SIGKILL);
}

const struct agent_driver agent_toy = {
	.open = toy_open,
	.send = toy_send,
	.stop = toy_stop,
	.close = toy_close,
};
