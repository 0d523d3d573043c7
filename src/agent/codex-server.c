/*
 * A turn with "codex app-server": the thread and its file are known before the prompt is sent, the
 * prompt carries our id, questions for permission are answered, and one process serves turn after
 * turn of a session.
 *
 * A thread keeps the rights of its last turn when it is resumed, whatever the configuration says.
 * So what a turn may do is said with every turn: by its mode, or as the configuration has it, which
 * a thread that is never used tells. It is said with the turn and not with the thread because
 * Codex takes the latter for the user's trust in the folder and writes that down.
 */
#include "agent/codex.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "agent/fault.h"
#include "base/mem.h"
#include "json/write.h"

/* ---- messages to it ---- */

/* A request; its parameters follow, then call_end(). */
static void call_begin(struct jw *w, int64_t id, const char *method)
{
	jw_object(w);
	jw_put_i64(w, "id", id);
	jw_put_cstr(w, "method", method);
	jw_key(w, "params");
	jw_object(w);
}

static void call_end(struct codex *c, struct jw *w)
{
	jw_end(w);
	jw_end(w);
	str_addc(w->out, '\n');
	child_write(&c->child, str_sv(w->out), false);
}

static void call(struct codex *c, struct jw *w, enum codex_step step, const char *method)
{
	c->step = step;
	c->awaited = ++c->calls;
	call_begin(w, c->awaited, method);
}

static void say_hello(struct codex *c)
{
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);

	call(c, &w, CODEX_HELLO, "initialize");
	jw_key(&w, "clientInfo");
	jw_object(&w);
	jw_put_cstr(&w, "name", "faden");
	jw_put_cstr(&w, "version", FADEN_VERSION);
	jw_end(&w);
	call_end(c, &w);
}

static void ask_config(struct codex *c)
{
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);

	call(c, &w, CODEX_CONFIG, "config/read");
	jw_put_cstr(&w, "cwd", c->a->opts.dir);
	call_end(c, &w);
}

/* What a new thread would be allowed here. The user's servers of tools are not started for it, but
 * for those whose names are no plain words, which a path of settings could not name. */
static void ask_defaults(struct codex *c, struct jval config)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	struct scan_iter servers = scan_iter(value_member(config, "mcp_servers"));
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);
	struct sv spelt;
	struct jval server;

	call(c, &w, CODEX_DEFAULTS, "thread/start");
	jw_put_cstr(&w, "cwd", c->a->opts.dir);
	jw_put_bool(&w, "ephemeral", true);
	jw_key(&w, "config");
	jw_object(&w);
	while (scan_next(&servers, &spelt, &server) > 0) {
		AUTO_STR key = STR_INIT;
		AUTO_STR name = STR_INIT;
		if (!scan_string((struct jval){ .raw = spelt, .type = J_STRING }, &name) ||
			name.buf[strspn(name.buf, plain)])
			continue;
		str_addf(&key, "mcp_servers.%s.enabled", name.buf);
		jw_put_bool(&w, key.buf, false);
	}
	jw_end(&w);
	call_end(c, &w);
}

static void add_answer_only(struct jw *w)
{
	static const char *const off[] = { "features.shell_tool", "features.unified_exec",
		"features.multi_agent", "features.goals", "features.view_image" };

	jw_put_bool(w, "ephemeral", true);
	jw_put_cstr(w, "sandbox", "read-only");
	jw_put_cstr(w, "approvalPolicy", "never");
	jw_key(w, "config");
	jw_object(w);
	for (size_t i = 0; i < ARRAY_LEN(off); i++)
		jw_put_bool(w, off[i], false);
	jw_put_cstr(w, "web_search", "disabled");
	jw_end(w);
}

static void ask_thread(struct codex *c)
{
	const struct agent_opts *opts = &c->a->opts;
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);

	call(c, &w, CODEX_THREAD, c->resume ? "thread/resume" : "thread/start");
	if (c->resume) {
		jw_put_cstr(&w, "threadId", c->session);
		jw_put_bool(&w, "excludeTurns", true);
	}
	jw_put_cstr(&w, "cwd", opts->dir);
	if (opts->model)
		jw_put_cstr(&w, "model", opts->model);
	if (opts->system_prompt)
		jw_put_cstr(&w, "developerInstructions", opts->system_prompt);
	if (opts->answer_only)
		add_answer_only(&w);
	call_end(c, &w);
}

/* Nothing for AGENT_PERM_DEFAULT of a thread that has what the configuration says. */
static void add_rights(const struct codex *c, struct jw *w)
{
	static const struct {
		const char *approval, *sandbox;
	} rights[] = {
		[AGENT_PERM_ACCEPT_EDITS] = { "\"on-request\"", "{\"type\":\"workspaceWrite\"}" },
		[AGENT_PERM_PLAN] = { "\"never\"", "{\"type\":\"readOnly\"}" },
		[AGENT_PERM_BYPASS] = { "\"never\"", "{\"type\":\"dangerFullAccess\"}" },
	};

	if (c->mode != AGENT_PERM_DEFAULT) {
		jw_put_raw(w, "approvalPolicy", sv_of(rights[c->mode].approval));
		jw_put_raw(w, "sandboxPolicy", sv_of(rights[c->mode].sandbox));
	} else if (c->approval.len && c->sandbox.len) {
		jw_put_raw(w, "approvalPolicy", str_sv(&c->approval));
		jw_put_raw(w, "sandboxPolicy", str_sv(&c->sandbox));
	}
}

/* A message is one line; in JSON a line break is never more than white space. */
static void add_schema(struct jw *w, struct sv schema)
{
	AUTO_STR line = STR_INIT;

	for (size_t i = 0; i < schema.n; i++)
		str_addc(&line, schema.p[i] == '\n' || schema.p[i] == '\r' ? ' ' : schema.p[i]);
	jw_put_raw(w, "outputSchema", str_sv(&line));
}

/* The id of the thread is told first: whoever listens has it on disk before the prompt is sent. */
static void send_prompt(struct codex *c)
{
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);

	agent_emit(c->a, &(struct agent_event){ .type = AGENT_EV_SESSION, .session = c->session });
	if (c->a->stopped != AGENT_OK)
		return;
	call(c, &w, CODEX_TURN, "turn/start");
	jw_put_cstr(&w, "threadId", c->session);
	jw_key(&w, "input");
	jw_array(&w);
	jw_object(&w);
	jw_put_cstr(&w, "type", "text");
	jw_put_string(&w, "text", str_sv(&c->prompt));
	jw_end(&w);
	jw_end(&w);
	if (c->prompt_id[0])
		jw_put_cstr(&w, "clientUserMessageId", c->prompt_id);
	if (c->a->opts.schema)
		add_schema(&w, sv_of(c->a->opts.schema));
	if (!c->a->opts.answer_only)
		add_rights(c, &w);
	call_end(c, &w);
	c->prompt_end = c->child.queued;
}

static void interrupt_turn(struct codex *c)
{
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);

	call_begin(&w, ++c->calls, "turn/interrupt");
	jw_put_cstr(&w, "threadId", c->session);
	jw_put_string(&w, "turnId", str_sv(&c->app.turn));
	call_end(c, &w);
}

/* ---- its answers ---- */

/* Whether a process still runs that another one takes the place of: `then` comes when it has left.
 */
static bool leaves_first(struct codex *c, loop_timer_fn then)
{
	if (!child_running(&c->child))
		return false;
	c->then = then;
	child_leave(&c->child, c->a->opts.stop_ms);
	return true;
}

/* Stopped before another process got the prompt: the turn is over, and nothing was sent. */
static bool is_over(struct codex *c)
{
	if (c->a->stopped == AGENT_OK)
		return false;
	c->result.delivery = AGENT_NOT_DELIVERED;
	agent_result_fail(&c->result, AGENT_CANCELLED, "cancelled");
	codex_finish(c);
	return true;
}

static void run_without(void *data)
{
	struct codex *c = data;

	c->timer = NULL;
	if (is_over(c) || leaves_first(c, run_without))
		return;
	log_write(c->a->opts.log, LOG_INFO, "codex: no app server, going on with exec");
	codex_exec(c);
}

/* Nothing of the prompt was taken. */
static void refused(struct codex *c, const struct codex_reply *reply)
{
	if (c->step == CODEX_HELLO || (reply->unknown && c->step != CODEX_TURN)) {
		codex_set_timer(c, 0, run_without);
		return;
	}
	c->have_result = true;
	codex_judge(c, 0, reply->said);
	c->result.delivery = AGENT_NOT_DELIVERED;
	codex_let_go(c);
}

static void take_rights(struct codex *c, struct jval result)
{
	str_clear(&c->approval);
	str_clear(&c->sandbox);
	str_add(&c->approval, value_member(result, "approvalPolicy").raw);
	str_add(&c->sandbox, value_member(result, "sandbox").raw);
}

static void take_thread(struct codex *c, struct jval result)
{
	AUTO_STR id = STR_INIT;

	(void)scan_string(value_member(value_member(result, "thread"), "id"), &id);
	if (!uuid_valid(str_sv(&id))) {
		refused(c, &(struct codex_reply){ .said = SV("a thread without an id") });
		return;
	}
	(void)snprintf(c->session, sizeof(c->session), "%s", id.buf);
	(void)snprintf(c->thread, sizeof(c->thread), "%s", id.buf);
	codex_app_thread(&c->app, str_sv(&id));
	/* A profile of the user's own says more than these two: it is left alone where it can be.
	 */
	if (sv_eq(value_member(result, "approvalPolicy").raw, str_sv(&c->approval)) &&
		sv_eq(value_member(result, "sandbox").raw, str_sv(&c->sandbox)))
		str_clear(&c->sandbox);
	send_prompt(c);
}

static void take_turn(struct codex *c, struct jval result)
{
	AUTO_STR id = STR_INIT;

	(void)scan_string(value_member(value_member(result, "turn"), "id"), &id);
	codex_app_turn(&c->app, str_sv(&id));
	if (c->interrupt)
		interrupt_turn(c);
}

static void on_reply(void *data, const struct codex_reply *reply)
{
	struct codex *c = data;

	if (!c->in_turn || c->awaited == 0 || reply->id != c->awaited)
		return;
	c->awaited = 0;
	/* One that is being stopped has got the end of its input. */
	if (c->a->stopped != AGENT_OK && c->step != CODEX_TURN)
		return;
	if (reply->failed && c->step != CODEX_CONFIG) {
		refused(c, reply);
		return;
	}
	switch (c->step) {
	case CODEX_HELLO:
		child_write(&c->child, SV("{\"method\":\"initialized\"}\n"), false);
		if (c->resume && c->mode == AGENT_PERM_DEFAULT)
			ask_config(c);
		else
			ask_thread(c);
		break;
	case CODEX_CONFIG:
		ask_defaults(c, value_member(reply->result, "config"));
		break;
	case CODEX_DEFAULTS:
		take_rights(c, reply->result);
		ask_thread(c);
		break;
	case CODEX_THREAD:
		take_thread(c, reply->result);
		break;
	case CODEX_TURN:
		take_turn(c, reply->result);
		break;
	}
}

/* ---- what it asks ---- */

static void add_decision(struct jw *w, const struct codex_asked *q, enum agent_answer answer)
{
	static const char *const decisions[] = { [AGENT_DENY] = "decline",
		[AGENT_ALLOW] = "accept",
		[AGENT_ALLOW_ALWAYS] = "acceptForSession" };

	switch (q->kind) {
	case CODEX_ASKS_DECISION:
		jw_put_cstr(w, "decision", decisions[answer]);
		break;
	case CODEX_ASKS_GRANT:
		jw_put_raw(w, "permissions",
			answer == AGENT_DENY || !q->grant[0] ? SV("{}") : sv_of(q->grant));
		jw_put_cstr(w, "scope", answer == AGENT_ALLOW_ALWAYS ? "session" : "turn");
		break;
	case CODEX_ASKS_CONSENT:
		jw_put_cstr(w, "action", answer == AGENT_DENY ? "decline" : "accept");
		if (answer != AGENT_DENY)
			jw_put_raw(w, "content", SV("{}"));
		if (answer == AGENT_ALLOW_ALWAYS)
			jw_put_raw(w, "_meta", SV("{\"persist\":\"session\"}"));
		break;
	case CODEX_ASKS_OTHER:
		break;
	}
}

/* The id is spelt as in the request. */
static void respond(
	struct codex *c, const char *id, const struct codex_asked *q, enum agent_answer answer)
{
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);

	jw_object(&w);
	jw_put_raw(&w, "id", sv_of(id));
	jw_key(&w, q->kind == CODEX_ASKS_OTHER ? "error" : "result");
	jw_object(&w);
	if (q->kind == CODEX_ASKS_OTHER) {
		jw_put_i64(&w, "code", -32601);
		jw_put_cstr(&w, "message", "faden does not do this");
	}
	add_decision(&w, q, answer);
	call_end(c, &w);
}

void codex_server_forget(void *own)
{
	struct codex_asked *q = own;

	free(q->grant);
	free(q);
}

/* Nobody is there to decide between two turns, or on what a turn does that is being stopped. */
static void on_request(void *data, const struct codex_request *request)
{
	struct codex *c = data;
	AUTO_FREE char *id = xmemdup0(request->id.p, request->id.n);
	const struct agent_event ev = { .type = AGENT_EV_ASK,
		.tool = request->tool,
		.text = request->about,
		.ask = &(struct agent_ask){ .id = id, .always = true, .scope = request->scope } };
	struct codex_asked *q = xcalloc(1, sizeof(*q));

	q->kind = request->kind;
	q->grant = xmemdup0(request->grant.p, request->grant.n);
	if (q->kind != CODEX_ASKS_OTHER && c->in_turn && c->a->opts.ask &&
		c->a->stopped == AGENT_OK) {
		agent_ask(c->a, &ev, q);
		return;
	}
	respond(c, id, q, AGENT_DENY);
	codex_server_forget(q);
	if (request->kind != CODEX_ASKS_OTHER && c->in_turn && c->a->stopped == AGENT_OK)
		agent_denied(c->a, request->tool, request->about);
}

static void on_settled(void *data, struct sv id)
{
	struct codex *c = data;

	agent_ask_over(c->a, id);
}

void codex_server_answer(struct agent *a, const struct agent_question *q, enum agent_answer answer)
{
	respond(a->priv, q->id, q->own, answer);
}

/* ---- the turn ---- */

static void on_event(void *data, const struct agent_event *ev)
{
	struct codex *c = data;

	if (c->in_turn)
		agent_emit(c->a, ev);
}

static void on_working(void *data)
{
	struct codex *c = data;

	c->result.delivery = AGENT_DELIVERED;
}

static void on_end(void *data, const struct codex_end *end)
{
	struct codex *c = data;

	if (!c->in_turn || c->have_result)
		return;
	while (c->a->asked.n > 0)
		agent_ask_over(c->a, sv_of(c->a->asked.v[c->a->asked.n - 1].id));
	c->have_result = true;
	c->result.usage = codex_usage_since(&end->total, &c->before);
	if (end->failed) {
		codex_judge(c, end->status, end->interrupted ? SV("interrupted") : end->said);
		if (end->kind != AGENT_FAILED)
			fault_tell(&c->result, codex_called, end->kind, end->said);
		if (c->result.fail == AGENT_RATE_LIMITED && end->limit_ends_ms)
			c->result.limit_ends_ms = end->limit_ends_ms;
	} else {
		c->result.delivery = AGENT_DELIVERED;
	}
	if (c->a->opts.keep_alive)
		codex_finish_soon(c);
	else
		codex_let_go(c);
}

const struct codex_app_ops codex_server_ops = { .event = on_event,
	.reply = on_reply,
	.request = on_request,
	.settled = on_settled,
	.working = on_working,
	.end = on_end };

/* ---- the process ---- */

static void restart(void *data)
{
	struct codex *c = data;

	c->timer = NULL;
	if (is_over(c))
		return;
	c->resume = true;
	codex_server(c);
}

void codex_server_ended(struct codex *c, int status)
{
	bool took = c->prompt_end > 0 && child_took(&c->child, c->prompt_end);

	if (!c->child.leaves)
		codex_app_end(&c->app);
	proc_describe_status(status, c->lost, sizeof(c->lost));
	log_write(c->a->opts.log, LOG_INFO, "codex: %s", c->lost);
	if (c->child.leaves)
		c->lost[0] = '\0'; /* as it was told to */
	if (!c->in_turn) {
		agent_left(c->a);
		return;
	}
	if (c->then) {
		codex_set_timer(c, 0, TAKE_PTR(c->then));
		return;
	}
	if (!c->have_result && c->a->stopped == AGENT_OK) {
		/* Nothing of this turn can have arrived. */
		if (c->reused && !took) {
			codex_set_timer(c, 0, restart);
			return;
		}
		if (!c->reused && c->step == CODEX_HELLO && WIFEXITED(status)) {
			codex_set_timer(c, 0, run_without);
			return;
		}
	}
	if (!c->have_result) {
		death_tell(&c->result, codex_called, &c->child, took, status);
		size_t n = child_sweep(&c->child);
		log_write(c->a->opts.log, LOG_INFO, "codex: %zu processes left behind", n);
	}
	c->lost[0] = '\0';
	codex_finish(c);
}

void codex_server_interrupt(struct codex *c)
{
	if (c->prompt_end == 0)
		child_write(&c->child, SV(""), true);
	else if (c->app.turn.len)
		interrupt_turn(c);
	else
		c->interrupt = true;
}

static void start(struct codex *c)
{
	AUTO_STRV arguments = STRV_INIT;

	strv_add(&arguments, "app-server");
	codex_app_restart(&c->app);
	c->server = true;
	c->calls = 0;
	c->mode = c->wanted;
	c->thread[0] = '\0';
	str_clear(&c->approval);
	str_clear(&c->sandbox);
	c->before = (struct agent_usage){ 0 };
	if (c->resume) {
		AUTO_FREE char *path = codex_transcript(&c->a->opts, c->session);
		c->before = codex_usage_of_file(path);
	}
	if (codex_start(c, &arguments) == 0)
		say_hello(c);
}

static void start_now(void *data)
{
	struct codex *c = data;

	c->timer = NULL;
	if (!is_over(c))
		start(c);
}

void codex_server(struct codex *c)
{
	/* Another mode gets another process: what was allowed in one does not hold in the other. */
	bool same = c->resume && strcmp(c->thread, c->session) == 0;

	c->prompt_end = 0;
	c->interrupt = false;
	c->reused = same && c->mode == c->wanted && child_running(&c->child) && !c->child.leaves;
	if (c->reused) {
		if (c->app.total.input >= 0)
			c->before = c->app.total;
		send_prompt(c);
		return;
	}
	if (c->lost[0] && same)
		loss_tell(c->a, codex_called, c->lost);
	c->lost[0] = '\0';
	if (!leaves_first(c, start_now))
		start(c);
}
