/*
 * Claude Code, driven by its stream-json mode. The session id is ours; the prompt goes in as a
 * JSON message on standard input, which stays open until the result is here. With keep_alive one
 * process serves turn after turn of the same session; when it is gone, the next turn resumes by id.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/child.h"
#include "agent/claude-stream.h"
#include "agent/driver.h"
#include "agent/fault.h"
#include "agent/launch.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "os/path.h"
#include "transcript/home.h"
#include "json/write.h"

enum {
	SYSTEM_PROMPT_MAX = 96 * 1024, /* one argument of a program is at most 128 KiB */
	ENDED_TEXT = 64,
	AGAIN_SILENT_MS = 20 * 1000, /* a prompt that it has had already gets no answer at all */
};

static const char called[] = "Claude Code";

/* What a question is answered with. */
struct asked {
	char *call;
	char *input, *always; /* JSON */
};

struct claude {
	struct agent *a;
	struct child child;
	struct claude_stream stream;

	/* The process: what it serves. */
	char session[UUID_TEXT];
	enum agent_permission mode;
	double spent_usd; /* by this agent, all processes */
	char lost[ENDED_TEXT]; /* how a process ended between two turns; empty: none did */

	/* The turn. */
	bool in_turn;
	bool waits; /* for the process of another session or mode to leave */
	bool resume;
	bool again; /* the prompt may have arrived before; no sign yet that it runs now */
	bool reused; /* it goes to a process that has served before */
	enum agent_permission wanted;
	struct str message;
	uint64_t message_end; /* where it ends in the input of the process */
	bool have_result;
	struct str structured; /* the answer by a schema, which comes with the result alone */
	struct agent_result result;
	int64_t retry_after_ms;
	struct strv settled; /* calls that are known not to be allowed */
	struct loop_source *timer; /* the step after this one; see the functions given to it */
};

/* ---- how it is called ---- */

struct claude_call {
	const char *session;
	bool resume;
	enum agent_permission mode;
	bool ask;
	double budget_usd; /* what it may spend; 0: no limit */
};

static const char *mode_name(enum agent_permission mode)
{
	switch (mode) {
	case AGENT_PERM_DEFAULT:
		return "default";
	case AGENT_PERM_ACCEPT_EDITS:
		return "acceptEdits";
	case AGENT_PERM_PLAN:
		return "plan";
	case AGENT_PERM_BYPASS:
		return "bypassPermissions";
	}
	return "default";
}

static void add_option(struct strv *argv, const char *name, const char *value)
{
	if (!value)
		return;
	strv_add(argv, name);
	strv_add(argv, value);
}

static void add_answer_only(struct strv *argv, const struct agent_opts *opts)
{
	add_option(argv, "--tools", "");
	strv_add(argv, "--strict-mcp-config");
	strv_add(argv, "--disable-slash-commands");
	strv_add(argv, "--no-session-persistence");
	add_option(argv, "--settings", "{\"disableAllHooks\":true}");
	add_option(argv, "--json-schema", opts->schema);
}

/* Its plan mode alone lets pass what the user's rules, a skill or a sub-agent's own rights allow,
 * commands and files included. Tools that it does not have hold everywhere, and without its shell
 * it searches with Grep and Glob. */
static const char reads_only[] = "Read,Grep,Glob,Task,WebFetch,WebSearch,Skill";

static void claude_argv(struct strv *argv, const struct agent_opts *opts, const char *program,
	const struct claude_call *call)
{
	strv_add(argv, program);
	strv_add(argv, "-p");
	strv_add(argv, "--verbose");
	add_option(argv, "--input-format", "stream-json");
	add_option(argv, "--output-format", "stream-json");
	strv_add(argv, "--include-partial-messages");
	if (opts->answer_only) {
		add_answer_only(argv, opts);
	} else if (opts->no_tools || call->mode == AGENT_PERM_PLAN) {
		add_option(argv, "--tools", opts->no_tools ? "" : reads_only);
		strv_add(argv, "--strict-mcp-config");
	}
	if (!opts->answer_only)
		add_option(argv, "--json-schema", opts->schema);
	add_option(argv, call->resume ? "--resume" : "--session-id", call->session);
	add_option(argv, "--permission-mode", mode_name(call->mode));
	if (call->ask) {
		add_option(argv, "--permission-prompt-tool", "stdio");
		/* With somebody to ask it also offers choices and plans, which need more than a yes
		 * or no. */
		add_option(argv, "--disallowedTools", "AskUserQuestion,EnterPlanMode,ExitPlanMode");
	}
	add_option(argv, "--model", opts->model);
	add_option(argv, "--append-system-prompt", opts->system_prompt);
	if (call->budget_usd > 0) {
		strv_add(argv, "--max-budget-usd");
		strv_addf(argv, "%.6f", call->budget_usd);
	}
}

/* What an outer Claude Code tells its own children. */
static const char *const foreign[] = { "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT",
	"CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_CHILD_SESSION",
	"CLAUDE_CODE_REMOTE_SESSION_ID", "CLAUDE_AGENT_SDK_VERSION", "CLAUDE_PROJECT_DIR",
	"CLAUDE_ENV_FILE", NULL };

/* ---- ends of a turn ---- */

static void set_timer(struct claude *c, int64_t ms, loop_timer_fn fn)
{
	loop_remove(c->a->loop, c->timer);
	c->timer = loop_add_timer(c->a->loop, ms, fn, c);
}

static void drop_timer(struct claude *c)
{
	loop_remove(c->a->loop, c->timer);
	c->timer = NULL;
}

static void claude_forget(void *own)
{
	struct asked *q = own;

	free(q->call);
	free(q->input);
	free(q->always);
	free(q);
}

static void finish(struct claude *c)
{
	struct agent_result result = c->result;
	char session[UUID_TEXT];

	drop_timer(c);
	memcpy(session, c->session, sizeof(session));
	result.session = session;
	if (c->structured.len)
		result.text = str_sv(&c->structured);
	c->in_turn = c->have_result = false;
	str_clear(&c->message);
	strv_release(&c->settled);
	agent_finish(c->a, &result);
}

static void finish_now(void *data)
{
	struct claude *c = data;

	c->timer = NULL;
	finish(c);
}

/* Ends the turn at the next round of the loop: callbacks of the child run to their end first. */
static void finish_soon(struct claude *c)
{
	set_timer(c, 0, finish_now);
}

static void fail(struct claude *c, enum agent_fail kind, struct sv said)
{
	fault_tell(&c->result, called, kind, said);
}

/* ---- what the stream tells ---- */

static void on_event(void *data, const struct agent_event *ev)
{
	struct claude *c = data;

	if (!c->in_turn)
		return;
	if (ev->type == AGENT_EV_RETRY)
		c->retry_after_ms = ev->delay_ms;
	if (ev->type == AGENT_EV_SESSION)
		(void)snprintf(c->session, sizeof(c->session), "%s", ev->session);
	agent_emit(c->a, ev);
}

static void on_working(void *data)
{
	struct claude *c = data;

	c->result.delivery = AGENT_DELIVERED;
	if (c->again && !c->have_result)
		drop_timer(c);
	c->again = false;
}

static void on_limited(void *data, int64_t until_ms)
{
	struct claude *c = data;

	c->result.limit_ends_ms = until_ms;
}

/* When a limit ends: as it told, as its words say, or when it would have tried again. */
static int64_t limit_end(const struct claude *c, struct sv said)
{
	int64_t now = clock_wall_ms(c->a->opts.clock);
	int64_t end =
		c->result.limit_ends_ms ? c->result.limit_ends_ms : fault_limit_end(said, now);

	return end || c->retry_after_ms == 0 ? end : now + c->retry_after_ms;
}

static void judge(struct claude *c, const struct claude_result *r)
{
	AUTO_STR said = STR_INIT;
	AUTO_STR all = STR_INIT;

	str_add(&said, r->said.n ? r->said : r->errors);
	str_addf(&all, "%.*s\n%.*s", SV_ARG(r->said), SV_ARG(r->errors));
	struct fault fault = fault_of(r->status, str_sv(&all));
	if (r->over_budget)
		fault.kind = AGENT_OVER_BUDGET;
	if (fault.not_delivered && c->result.delivery != AGENT_DELIVERED)
		c->result.delivery = AGENT_NOT_DELIVERED;
	if (fault.kind == AGENT_RATE_LIMITED)
		c->result.limit_ends_ms = limit_end(c, str_sv(&all));
	fail(c, fault.kind, r->interrupted ? SV("interrupted") : str_sv(&said));
}

/* ---- permission ---- */

static void respond(struct claude *c, const char *id, struct sv answer)
{
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);

	jw_object(&w);
	jw_put_cstr(&w, "type", "control_response");
	jw_key(&w, "response");
	jw_object(&w);
	jw_put_cstr(&w, "subtype", answer.n ? "success" : "error");
	jw_put_cstr(&w, "request_id", id);
	if (answer.n)
		jw_put_raw(&w, "response", answer);
	else
		jw_put_cstr(&w, "error", "faden does not do this");
	jw_end(&w);
	jw_end(&w);
	str_addc(&line, '\n');
	child_write(&c->child, str_sv(&line), false);
}

static void respond_to_ask(
	struct claude *c, const char *id, const struct asked *q, enum agent_answer answer)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);

	jw_object(&w);
	jw_put_cstr(&w, "behavior", answer == AGENT_DENY ? "deny" : "allow");
	if (answer == AGENT_DENY)
		jw_put_cstr(&w, "message", "The user did not allow this.");
	else
		jw_put_raw(&w, "updatedInput", sv_of(q->input));
	if (answer == AGENT_ALLOW_ALWAYS && q->always[0])
		jw_put_raw(&w, "updatedPermissions", sv_of(q->always));
	jw_end(&w);
	respond(c, id, str_sv(&json));
}

/* Nobody is there to decide between two turns. */
static void on_ask(void *data, const struct claude_ask *ask)
{
	struct claude *c = data;
	AUTO_FREE char *id = xmemdup0(ask->id.p, ask->id.n);
	const struct agent_event ev = { .type = AGENT_EV_ASK,
		.tool = ask->tool,
		.text = ask->about,
		.ask = &(struct agent_ask){
			.id = id, .always = ask->always.n > 0, .scope = ask->scope } };
	struct asked *q = xcalloc(1, sizeof(*q));

	q->call = xmemdup0(ask->call.p, ask->call.n);
	q->input = xmemdup0(ask->input.p, ask->input.n);
	q->always = xmemdup0(ask->always.p, ask->always.n);
	if (c->in_turn) {
		agent_ask(c->a, &ev, q);
		return;
	}
	respond_to_ask(c, id, q, AGENT_DENY);
	claude_forget(q);
}

static void on_ask_over(void *data, struct sv id)
{
	struct claude *c = data;
	const struct agent_question *q = agent_asked(c->a, id);

	/* What a cancel ended was neither done nor refused. */
	if (q && c->a->stopped != AGENT_OK)
		strv_add(&c->settled, ((const struct asked *)q->own)->call);
	agent_ask_over(c->a, id);
}

static void on_request(void *data, struct sv id)
{
	AUTO_FREE char *name = xmemdup0(id.p, id.n);

	respond(data, name, SV(""));
}

static void on_denied(void *data, struct sv call, struct sv tool, struct sv about)
{
	struct claude *c = data;

	if (!c->in_turn)
		return;
	for (size_t i = 0; i < c->settled.n; i++)
		if (sv_is(call, c->settled.v[i]))
			return;
	/* It ended with the question open. */
	vec_each (&c->a->asked, q) {
		if (sv_is(call, ((const struct asked *)q->own)->call))
			return;
	}
	strv_addsv(&c->settled, call);
	agent_denied(c->a, tool, about);
}

static void claude_answer(struct agent *a, const struct agent_question *q, enum agent_answer answer)
{
	struct claude *c = a->priv;
	const struct asked *own = q->own;

	if (answer == AGENT_DENY)
		strv_add(&c->settled, own->call);
	respond_to_ask(c, q->id, own, answer);
}

static void process_lingers(void *data);

static void on_result(void *data, const struct claude_result *r)
{
	struct claude *c = data;

	if (!c->in_turn || c->have_result)
		return;
	c->have_result = true;
	c->result.usage = r->usage;
	if (r->usage.cost_usd > 0)
		c->spent_usd += r->usage.cost_usd;
	if (r->failed)
		judge(c, r);
	else
		c->result.delivery = AGENT_DELIVERED;
	str_clear(&c->structured);
	if (c->a->opts.schema && c->a->opts.answer_only && !r->failed)
		str_add(&c->structured, r->said);
	if (c->a->opts.keep_alive) {
		finish_soon(c);
		return;
	}
	/* Not before: at the end of its input it leaves without waiting for us to read what it
	 * said, and a long answer is cut off. */
	child_write(&c->child, SV(""), true);
	set_timer(c, c->a->opts.stop_ms, process_lingers);
}

static void process_lingers(void *data)
{
	struct claude *c = data;

	c->timer = NULL;
	log_write(c->a->opts.log, LOG_WARN, "claude: does not end after its result");
	child_kill(&c->child);
}

static const struct claude_stream_ops stream_ops = {
	.event = on_event,
	.working = on_working,
	.limited = on_limited,
	.ask = on_ask,
	.ask_over = on_ask_over,
	.request = on_request,
	.denied = on_denied,
	.result = on_result,
};

/* ---- the process ---- */

static void on_out(void *data, struct sv bytes)
{
	struct claude *c = data;

	agent_alive(c->a, bytes.n);
	claude_stream_feed(&c->stream, bytes);
}

static void restart(void *data);

/* Nothing of this turn can have arrived: the message was not even in the pipe. */
static bool may_restart(const struct claude *c)
{
	return c->reused && c->a->stopped == AGENT_OK && !child_took(&c->child, c->message_end);
}

static void on_ended(void *data, int status)
{
	struct claude *c = data;

	if (!c->child.leaves)
		claude_stream_end(&c->stream);
	proc_describe_status(status, c->lost, sizeof(c->lost));
	log_write(c->a->opts.log, LOG_INFO, "claude: %s", c->lost);
	if (c->child.leaves)
		c->lost[0] = '\0'; /* as it was told to */
	if (!c->in_turn) {
		agent_left(c->a);
		return;
	}
	if (c->waits || (!c->have_result && may_restart(c))) {
		set_timer(c, 0, restart);
		return;
	}
	/* Of one that was cancelled nobody knows whether it would have run it. */
	if (!c->have_result && c->again && status == 0 && c->a->stopped == AGENT_OK) {
		agent_result_fail(&c->result, AGENT_FAILED,
			"%s had this prompt already and does not run it again", called);
		c->result.delivery = AGENT_DELIVERED;
	} else if (!c->have_result) {
		death_tell(&c->result, called, &c->child, child_took(&c->child, c->message_end),
			status);
		size_t n = child_sweep(&c->child);
		log_write(c->a->opts.log, LOG_INFO, "claude: %zu processes left behind", n);
	}
	c->lost[0] = '\0';
	finish(c);
}

static const struct child_ops child_ops = { .out = on_out, .ended = on_ended };

/* It says nothing to a prompt that it has had, and waits: at the end of its input it leaves. */
static void nothing_came(void *data)
{
	struct claude *c = data;

	c->timer = NULL;
	child_write(&c->child, SV(""), true);
}

static void write_turn(struct claude *c)
{
	child_write(&c->child, str_sv(&c->message), false);
	c->message_end = c->child.queued;
	if (c->again)
		set_timer(c, AGAIN_SILENT_MS, nothing_came);
}

static int start(struct claude *c)
{
	const struct agent_opts *opts = &c->a->opts;
	AUTO_FREE char *program = launch_program(c->a->def, opts);
	AUTO_STRV argv = STRV_INIT;
	AUTO_STRV env = STRV_INIT;
	struct err err = ERR_INIT;
	/* By its id it finds a session only from the folder of its work, which may have been moved;
	 * by its path from anywhere. */
	AUTO_FREE char *path = c->resume && opts->home && opts->dir
		? claude_session_elsewhere(opts->home, opts->dir, c->session)
		: NULL;
	struct claude_call call = { .session = path ? path : c->session,
		.resume = c->resume,
		.mode = c->wanted,
		/* A plan changes nothing, whatever anybody would allow. */
		.ask = opts->ask && c->wanted != AGENT_PERM_PLAN,
		.budget_usd = opts->max_budget_usd > 0 ? opts->max_budget_usd - c->spent_usd : 0 };

	c->mode = c->wanted;
	c->reused = false;
	claude_stream_restart(&c->stream);
	if (!program) {
		launch_missing(c->a, &c->result);
		return -ENOENT;
	}
	claude_argv(&argv, opts, program, &call);
	launch_env(&env, opts->envp, foreign);
	launch_home(&env, c->a->def, opts);
	int r = child_start(&c->child, (const char *const *)argv.v, &env, opts->dir, &err);
	if (r < 0)
		fail(c, AGENT_FAILED, sv_of(err.msg));
	else
		write_turn(c);
	return r;
}

/* Starts, or ends the turn with the reason why not: nothing was sent then. */
static void start_turn(struct claude *c)
{
	if (start(c) == 0)
		return;
	c->result.delivery = AGENT_NOT_DELIVERED;
	finish_soon(c);
}

/* The process that served before is gone and has not had this turn. */
static void restart(void *data)
{
	struct claude *c = data;

	c->timer = NULL;
	if (c->lost[0])
		loss_tell(c->a, called, c->lost);
	c->lost[0] = '\0';
	c->waits = false;
	if (c->a->stopped == AGENT_OK) {
		start_turn(c);
		return;
	}
	c->result.delivery = AGENT_NOT_DELIVERED;
	fail(c, AGENT_CANCELLED, SV("cancelled"));
	finish(c);
}

/* The id is never looked at: what comes of it shows in the result of the turn. */
static const char interrupt[] = "{\"type\":\"control_request\",\"request_id\":\"interrupt\","
				"\"request\":{\"subtype\":\"interrupt\"}}\n";

/* ---- the driver ---- */

static int claude_open(struct agent *a, struct err *reterr)
{
	size_t n = a->opts.system_prompt ? strlen(a->opts.system_prompt) : 0;

	if (n > SYSTEM_PROMPT_MAX)
		return err_set(reterr, ERR_LIMIT, "the system prompt has %zu bytes; %d are allowed",
			n, SYSTEM_PROMPT_MAX);
	struct claude *c = xcalloc(1, sizeof(*c));
	c->a = a;
	c->message = c->structured = (struct str)STR_INIT;
	child_init(&c->child, a->loop, &child_ops, c);
	claude_stream_init(&c->stream, &stream_ops, c);
	c->stream.by_schema = a->opts.schema && !a->opts.answer_only;
	a->priv = c;
	return 0;
}

static bool claude_leave(struct agent *a)
{
	struct claude *c = a->priv;

	child_leave(&c->child, a->opts.stop_ms);
	return child_running(&c->child);
}

static void claude_close(struct agent *a)
{
	struct claude *c = a->priv;

	if (!c)
		return;
	drop_timer(c);
	child_end(&c->child, c->in_turn, a->opts.stop_ms, a->opts.see_off);
	child_release(&c->child);
	claude_stream_release(&c->stream);
	strv_release(&c->settled);
	str_release(&c->message);
	str_release(&c->structured);
	free(c);
}

/* The id becomes that of the entry in the transcript, and one that stands there is not run again.
 */
static void write_message(struct str *out, const struct agent_turn *turn)
{
	struct jw w = JW_INIT(out);

	jw_object(&w);
	jw_put_cstr(&w, "type", "user");
	if (turn->prompt_id)
		jw_put_cstr(&w, "uuid", turn->prompt_id);
	jw_put_cstr(&w, "session_id", turn->session);
	jw_put_cstr(&w, "parent_tool_use_id", NULL);
	jw_key(&w, "message");
	jw_object(&w);
	jw_put_cstr(&w, "role", "user");
	jw_put_string(&w, "content", turn->prompt);
	jw_end(&w);
	jw_end(&w);
	str_addc(out, '\n');
}

static bool over_budget(struct claude *c)
{
	double max = c->a->opts.max_budget_usd;

	if (max <= 0 || c->spent_usd < max)
		return false;
	agent_result_fail(&c->result, AGENT_OVER_BUDGET,
		"the budget of %.2f USD is used up (%.4f USD spent)", max, c->spent_usd);
	c->result.delivery = AGENT_NOT_DELIVERED;
	return true;
}

static void begin_turn(struct claude *c, const struct agent_turn *turn)
{
	c->in_turn = true;
	c->have_result = false;
	c->resume = turn->resume;
	c->again = turn->again;
	c->wanted = turn->plan ? AGENT_PERM_PLAN : c->a->opts.permission;
	c->retry_after_ms = 0;
	c->result = agent_result_init();
	str_clear(&c->message);
	strv_release(&c->settled);
	write_message(&c->message, turn);
	claude_stream_turn(&c->stream);
}

static int claude_send(struct agent *a, const struct agent_turn *turn, struct err *reterr)
{
	struct claude *c = a->priv;

	if (!turn->session || !uuid_valid(sv_of(turn->session)))
		return err_set(reterr, ERR_INPUT, "%s needs a UUID as session id", called);
	bool same = turn->resume && strcmp(c->session, turn->session) == 0;
	begin_turn(c, turn);
	if (over_budget(c)) {
		finish_soon(c);
		return 0;
	}
	/* Another mode needs another process: one that is asked to change over to plan mode lets
	 * commands pass that one started in plan mode refuses. */
	if (same && child_running(&c->child) && !c->child.leaves && c->mode == c->wanted) {
		c->reused = true;
		write_turn(c);
		return 0;
	}
	if (c->lost[0] && same)
		loss_tell(c->a, called, c->lost);
	c->lost[0] = '\0';
	(void)snprintf(c->session, sizeof(c->session), "%s", turn->session);
	c->waits = child_running(&c->child);
	if (c->waits)
		child_leave(&c->child, a->opts.stop_ms);
	else
		start_turn(c);
	return 0;
}

static void claude_stop(struct agent *a, int level)
{
	struct claude *c = a->priv;

	if (!child_running(&c->child))
		return;
	if (c->waits)
		set_timer(c, 0, restart);
	else if (level == 0)
		child_write(&c->child, sv_of(interrupt), false);
	else if (level == 1)
		child_signal(&c->child, SIGTERM);
	else
		child_kill(&c->child);
}

/* It makes a folder for each folder it runs in, even when it keeps no session. Only empty ones go.
 */
static void claude_forget_folder(const struct agent_opts *opts, const char *dir)
{
	AUTO_FREE char *real = NULL;

	if (!opts->home || path_real(dir, &real, NULL) < 0)
		return;
	AUTO_FREE char *project = claude_project_dir(opts->home, real);
	AUTO_FREE char *memory = path_join(project, "memory");
	(void)rmdir(memory);
	(void)rmdir(project);
}

const struct agent_driver agent_claude = {
	.open = claude_open,
	.send = claude_send,
	.stop = claude_stop,
	.answer = claude_answer,
	.forget = claude_forget,
	.leave = claude_leave,
	.close = claude_close,
	.forget_folder = claude_forget_folder,
};
