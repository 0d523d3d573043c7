/*
 * Codex's driver, and "codex exec --json", "exec resume ID" after the first turn: one process a
 * turn, for versions without an app server. The id is the one it makes. Sandbox and instructions
 * are not kept by a session: they go with every call.
 */
#include "agent/codex.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "agent/fault.h"
#include "agent/launch.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "transcript/home.h"

enum {
	SYSTEM_PROMPT_MAX = 64 * 1024, /* escaped, it must fit one argument of 128 KiB */
};

const char codex_called[] = "Codex";

/* ---- its files ---- */

static char *codex_root(const struct agent_opts *opts)
{
	const char *set = launch_env_get(opts->envp, "CODEX_HOME");
	const char *user = launch_env_get(opts->envp, "HOME");

	if (opts->home || set)
		return xstrdup(opts->home ? opts->home : set);
	return user ? path_join(user, ".codex") : NULL;
}

static char *first_match(const char *pattern)
{
	glob_t found = { 0 };
	char *path = NULL;

	if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0)
		path = xstrdup(found.gl_pathv[0]);
	globfree(&found);
	return path;
}

/* Below the folder of the package: beside it, inside it, and as older versions had it. */
static const struct {
	const char *before, *after; /* the machine's name */
} native_places[] = {
	{ "/../codex-linux-*/vendor/", "-*/bin/codex" },
	{ "/node_modules/@openai/codex-linux-*/vendor/", "-*/bin/codex" },
	{ "/vendor/", "-*linux*/bin/codex" },
	{ "/vendor/", "-*linux*/codex/codex" },
};

char *codex_native_program(const char *program)
{
	AUTO_FREE char *real = NULL;
	struct utsname sys;

	if (path_real(program, &real, NULL) < 0 || uname(&sys) < 0 ||
		!sv_ends(sv_of(real), SV("/bin/codex.js")))
		return NULL;
	struct sv package = path_parent(path_parent(sv_of(real)));
	for (size_t i = 0; i < ARRAY_LEN(native_places); i++) {
		AUTO_FREE char *pattern = xasprintf("%.*s%s%s%s", SV_ARG(package),
			native_places[i].before, sys.machine, native_places[i].after);
		char *path = first_match(pattern);
		if (path)
			return path;
	}
	return NULL;
}

/* ---- ends of a turn ---- */

void codex_set_timer(struct codex *c, int64_t ms, loop_timer_fn fn)
{
	loop_remove(c->a->loop, c->timer);
	c->timer = fn ? loop_add_timer(c->a->loop, ms, fn, c) : NULL;
}

void codex_finish(struct codex *c)
{
	struct agent_result result = c->result;
	char session[UUID_TEXT];

	codex_set_timer(c, 0, NULL);
	memcpy(session, c->session, sizeof(session));
	result.session = session[0] ? session : NULL;
	c->in_turn = c->have_result = false;
	c->awaited = 0;
	str_clear(&c->prompt);
	agent_finish(c->a, &result);
}

static void finish_now(void *data)
{
	struct codex *c = data;

	c->timer = NULL;
	codex_finish(c);
}

void codex_finish_soon(struct codex *c)
{
	codex_set_timer(c, 0, finish_now);
}

static void process_lingers(void *data)
{
	struct codex *c = data;

	c->timer = NULL;
	log_write(c->a->opts.log, LOG_WARN, "codex: does not end after its turn");
	child_kill(&c->child);
}

void codex_let_go(struct codex *c)
{
	child_write(&c->child, SV(""), true);
	codex_set_timer(c, c->a->opts.stop_ms, process_lingers);
}

void codex_judge(struct codex *c, int status, struct sv said)
{
	struct fault fault = fault_of(status, said);

	if (fault.kind == AGENT_RATE_LIMITED)
		c->result.limit_ends_ms = fault_limit_end(said, clock_wall_ms(c->a->opts.clock));
	fault_tell(&c->result, codex_called, fault.kind, said);
}

/* ---- the process ---- */

static void on_out(void *data, struct sv bytes)
{
	struct codex *c = data;

	agent_alive(c->a, bytes.n);
	if (c->server)
		codex_app_feed(&c->app, bytes);
	else
		codex_stream_feed(&c->stream, bytes);
}

static void on_ended(void *data, int status)
{
	struct codex *c = data;

	if (c->server) {
		codex_server_ended(c, status);
		return;
	}
	codex_stream_end(&c->stream);
	if (!c->have_result) {
		death_tell(&c->result, codex_called, &c->child,
			child_took(&c->child, c->child.queued), status);
		size_t n = child_sweep(&c->child);
		log_write(c->a->opts.log, LOG_INFO, "codex: %zu processes left behind", n);
	}
	codex_finish(c);
}

static const struct child_ops child_ops = { .out = on_out, .ended = on_ended };

int codex_start(struct codex *c, const struct strv *arguments)
{
	static const char *const foreign[] = { "CODEX_THREAD_ID", "CODEX_SANDBOX",
		"CODEX_SANDBOX_NETWORK_DISABLED", NULL };
	const struct agent_opts *opts = &c->a->opts;
	AUTO_FREE char *found = launch_program(c->a->def, opts);
	AUTO_FREE char *native = found ? codex_native_program(found) : NULL;
	AUTO_STRV argv = STRV_INIT;
	AUTO_STRV env = STRV_INIT;
	struct err err = ERR_INIT;
	int r = -ENOENT;

	if (found) {
		strv_add(&argv, native ? native : found);
		for (size_t i = 0; i < arguments->n; i++)
			strv_add(&argv, arguments->v[i]);
		launch_env(&env, opts->envp, foreign);
		launch_home(&env, c->a->def, opts);
		r = child_start(&c->child, (const char *const *)argv.v, &env, opts->dir, &err);
		if (r < 0)
			fault_tell(&c->result, codex_called, AGENT_FAILED, sv_of(err.msg));
	} else {
		launch_missing(c->a, &c->result);
	}
	if (r < 0) {
		c->result.delivery = AGENT_NOT_DELIVERED;
		codex_finish_soon(c);
	}
	return r;
}

/* ---- exec: what the stream tells ---- */

static void on_event(void *data, const struct agent_event *ev)
{
	struct codex *c = data;

	if (ev->type == AGENT_EV_SESSION)
		(void)snprintf(c->session, sizeof(c->session), "%s", ev->session);
	agent_emit(c->a, ev);
}

static void on_working(void *data)
{
	struct codex *c = data;

	c->result.delivery = AGENT_DELIVERED;
}

static void on_result(void *data, const struct codex_result *r)
{
	struct codex *c = data;

	if (c->have_result)
		return;
	c->have_result = true;
	c->result.usage = codex_usage_since(&r->total, &c->before);
	if (r->failed)
		codex_judge(c, 0, r->said);
	else
		c->result.delivery = AGENT_DELIVERED;
	/* It has no server, and works without one: a broken configuration lets neither start. */
	c->no_server |= !r->failed;
	codex_let_go(c);
}

static const struct codex_stream_ops stream_ops = {
	.event = on_event, .working = on_working, .result = on_result
};

/* ---- exec: how it is called ---- */

static void add_option(struct strv *argv, const char *name, const char *value)
{
	strv_add(argv, name);
	strv_add(argv, value);
}

/* AGENT_PERM_DEFAULT leaves it to the user's configuration; nobody can be asked, so what is not
 * allowed fails. */
static void add_permission(struct strv *argv, enum agent_permission permission)
{
	switch (permission) {
	case AGENT_PERM_DEFAULT:
		break;
	case AGENT_PERM_ACCEPT_EDITS:
		add_option(argv, "--sandbox", "workspace-write");
		break;
	case AGENT_PERM_PLAN:
		add_option(argv, "--sandbox", "read-only");
		break;
	case AGENT_PERM_BYPASS:
		strv_add(argv, "--dangerously-bypass-approvals-and-sandbox");
		break;
	}
}

static void add_answer_only(struct strv *argv, const struct agent_opts *opts)
{
	static const char *const off[] = { "features.shell_tool=false",
		"features.unified_exec=false", "features.multi_agent=false", "features.goals=false",
		"features.view_image=false", "web_search=\"disabled\"" };

	add_option(argv, "--sandbox", "read-only");
	strv_add(argv, "--ephemeral");
	for (size_t i = 0; i < ARRAY_LEN(off); i++)
		add_option(argv, "-c", off[i]);
	if (opts->schema_file)
		add_option(argv, "--output-schema", opts->schema_file);
}

/* The value of an override is TOML, whose basic strings are spelt as JSON's are, but for DEL. */
static void add_instructions(struct strv *argv, const char *text)
{
	AUTO_STR value = STR_INIT;

	str_adds(&value, "developer_instructions=");
	codex_toml_string(&value, sv_of(text));
	add_option(argv, "-c", value.buf);
}

/* It refuses input that is not UTF-8. */
static void add_valid(struct str *out, struct sv text)
{
	while (text.n) {
		uint32_t cp;
		size_t n = utf8_decode(text, &cp);
		utf8_add(out, cp);
		text = sv_from(text, n);
	}
}

void codex_exec(struct codex *c)
{
	const struct agent_opts *opts = &c->a->opts;
	AUTO_STRV argv = STRV_INIT;
	AUTO_STR valid = STR_INIT;

	strv_add(&argv, "exec");
	strv_add(&argv, "--json");
	/* A question has a folder of ours. */
	if (opts->outside_git || opts->answer_only)
		strv_add(&argv, "--skip-git-repo-check");
	if (opts->answer_only)
		add_answer_only(&argv, opts);
	else
		add_permission(&argv, c->wanted);
	if (opts->model)
		add_option(&argv, "--model", opts->model);
	if (opts->system_prompt)
		add_instructions(&argv, opts->system_prompt);
	if (c->resume)
		add_option(&argv, "resume", c->session);
	strv_add(&argv, "-"); /* the prompt is on standard input */
	c->server = false;
	c->before = (struct agent_usage){ 0 };
	if (c->resume) {
		AUTO_FREE char *path = codex_transcript(opts, c->session);
		c->before = codex_usage_of_file(path);
	}
	codex_stream_restart(&c->stream);
	if (!c->resume)
		agent_emit(c->a, &(struct agent_event){ .type = AGENT_EV_SESSION, .session = "" });
	if (c->a->stopped != AGENT_OK) {
		c->result.delivery = AGENT_NOT_DELIVERED;
		agent_result_fail(&c->result, AGENT_CANCELLED, "cancelled");
		codex_finish_soon(c);
		return;
	}
	if (codex_start(c, &argv) < 0)
		return;
	add_valid(&valid, str_sv(&c->prompt));
	child_write(&c->child, str_sv(&valid), true);
}

char *codex_transcript(const struct agent_opts *opts, const char *session)
{
	AUTO_FREE char *root = codex_root(opts);
	struct transcript_home home = {
		.agent = "codex", .format = TRANSCRIPT_CODEX, .root = root
	};
	char *path = NULL;

	if (!root || transcript_find(&home, sv_of(session), &path, NULL) < 0)
		return NULL;
	return path;
}

/* ---- the driver ---- */

static int codex_open(struct agent *a, struct err *reterr)
{
	size_t n = a->opts.system_prompt ? strlen(a->opts.system_prompt) : 0;

	if (n > SYSTEM_PROMPT_MAX)
		return err_set(reterr, ERR_LIMIT, "the system prompt has %zu bytes; %d are allowed",
			n, SYSTEM_PROMPT_MAX);
	struct codex *c = xcalloc(1, sizeof(*c));
	c->a = a;
	c->prompt = c->approval = c->sandbox = (struct str)STR_INIT;
	child_init(&c->child, a->loop, &child_ops, c);
	codex_stream_init(&c->stream, &stream_ops, c);
	codex_app_init(&c->app, &codex_server_ops, c);
	a->priv = c;
	return 0;
}

static bool codex_leave(struct agent *a)
{
	struct codex *c = a->priv;

	child_leave(&c->child, a->opts.stop_ms);
	return child_running(&c->child);
}

static void codex_close(struct agent *a)
{
	struct codex *c = a->priv;

	if (!c)
		return;
	codex_set_timer(c, 0, NULL);
	child_end(&c->child, c->in_turn, a->opts.stop_ms, a->opts.see_off);
	child_release(&c->child);
	codex_stream_release(&c->stream);
	codex_app_release(&c->app);
	str_release(&c->prompt);
	str_release(&c->approval);
	str_release(&c->sandbox);
	free(c);
}

/* It takes anything that is no UUID for the name of a thread, and an unknown name for a wish to
 * begin a new one. */
static int codex_send(struct agent *a, const struct agent_turn *turn, struct err *reterr)
{
	struct codex *c = a->priv;

	if (turn->resume && (!turn->session || !uuid_valid(sv_of(turn->session))))
		return err_set(reterr, ERR_INPUT, "%s needs a UUID as session id", codex_called);
	c->in_turn = true;
	c->have_result = false;
	c->resume = turn->resume;
	c->wanted = turn->plan ? AGENT_PERM_PLAN : a->opts.permission;
	c->result = agent_result_init();
	(void)snprintf(c->session, sizeof(c->session), "%s", turn->resume ? turn->session : "");
	(void)snprintf(
		c->prompt_id, sizeof(c->prompt_id), "%s", turn->prompt_id ? turn->prompt_id : "");
	str_clear(&c->prompt);
	str_add(&c->prompt, turn->prompt);
	if (c->no_server)
		codex_exec(c);
	else
		codex_server(c);
	return 0;
}

static void codex_stop(struct agent *a, int level)
{
	struct codex *c = a->priv;

	if (!child_running(&c->child))
		return;
	if (c->then)
		codex_set_timer(c, 0, TAKE_PTR(c->then));
	else if (level == 0 && c->server)
		codex_server_interrupt(c);
	else if (level < 2)
		child_signal(&c->child, level == 0 ? SIGINT : SIGTERM);
	else
		child_kill(&c->child);
}

const struct agent_driver agent_codex = {
	.open = codex_open,
	.send = codex_send,
	.stop = codex_stop,
	.answer = codex_server_answer,
	.forget = codex_server_forget,
	.leave = codex_leave,
	.close = codex_close,
};
