#include "cli/assistant.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/notice.h"
#include "cli/pick-agent.h"
#include "cli/routing.h"
#include "cli/settings-use.h"
#include "config/settings.h"
#include "os/path.h"

const char *assistant_hint(const struct assistant *a, const struct conv *c)
{
	static const char told[] = "rehearsal introduced";
	AUTO_FREE char *before = NULL;
	bool installed = a->programs[AGENT_CLAUDE] || a->programs[AGENT_CODEX];

	if (!a->by_default || strcmp(c->agent, agent_driver(AGENT_REHEARSAL)->name) != 0 ||
		store_pref_get(a->app->store, told, &before, NULL) == 0)
		return NULL;
	if (store_pref_set(a->app->store, told, "yes", NULL) < 0)
		log_write(&a->app->log, LOG_WARN, "the introduction will be repeated");
	return installed ? "The rehearsal agent answers: it only repeats and remembers. For a real "
			   "one use --agent claude or --agent codex, or set ai.agent."
			 : "The rehearsal agent answers: it only repeats and remembers. For a real "
			   "one install claude or codex and use --agent, or set ai.agent.";
}

void assistant_explain(const struct assist_outcome *out, struct str *ret)
{
	static const char *const titles[] = { "Claude Code", "Codex" };
	bool named = false;

	for (size_t i = 0; i < ARRAY_LEN(titles); i++)
		named |= sv_starts(sv_of(out->message), sv_of(titles[i]));
	str_addf(ret, "%s%s%s", named ? "" : out->conv.agent, named ? "" : ": ", out->message);
}

void assistant_retry(const struct agent_event *ev, struct str *ret)
{
	enum { LONG_MS = 60 * 1000 };
	char when[CLOCK_TEXT_MAX];

	str_add(ret, ev->text.n ? ev->text : SV("the model does not answer"));
	if (ev->delay_ms <= 0) {
		str_adds(ret, "; trying again");
		return;
	}
	str_addf(ret, "; trying again in %lld s", (long long)((ev->delay_ms + 999) / 1000));
	if (ev->delay_ms < LONG_MS)
		return;
	clock_format_local(clock_wall_ms(NULL) + ev->delay_ms, when);
	str_addf(ret, ", at %s", when);
}

void assistant_cancelled(
	const struct assistant *a, const struct assist_outcome *out, struct str *ret)
{
	if (out->deeds.len == 0) {
		str_adds(ret, text_get(TEXT_CANCELLED, a->language));
		return;
	}
	text_fill(ret, TEXT_CANCELLED_DONE, a->language, TEXT_WORDS(out->deeds.buf));
}

int assistant_status(const struct assist_outcome *out)
{
	if (out->kind != UTTERANCE_AGENT || out->fail == AGENT_OK)
		return 0;
	return err_exit_status(out->fail == AGENT_CANCELLED ? ERR_CANCELLED : ERR_AGENT);
}

enum text_language assistant_language(const struct app *app)
{
	return strcmp(settings_language(app->settings), "de") == 0 ? TEXT_GERMAN : TEXT_ENGLISH;
}

int assistant_dir(struct app *app, char **ret, struct err *reterr)
{
	const char *configured = app->settings->ai_working_directory;

	if (configured[0])
		return path_real(configured, ret, reterr);
	if (!app->cwd)
		return err_set(reterr, ERR_INPUT,
			"the current folder no longer exists; change to one that does");
	return path_real(app->cwd, ret, reterr);
}

char *assistant_rehearsal_home(const struct app *app)
{
	return path_join(app->paths.state_dir, "rehearsal");
}

void assistant_homes(
	const struct app *app, const char *rehearsal_home, struct transcript_home *homes)
{
	homes[0] = (struct transcript_home){ "claude", TRANSCRIPT_CLAUDE, app->paths.claude_home };
	homes[1] = (struct transcript_home){ "codex", TRANSCRIPT_CODEX, app->paths.codex_home };
	homes[2] = (struct transcript_home){ "rehearsal", TRANSCRIPT_CLAUDE, rehearsal_home };
}

static enum agent_permission permission_of(const struct settings *s)
{
	static const char *const names[] = {
		[AGENT_PERM_DEFAULT] = "default",
		[AGENT_PERM_ACCEPT_EDITS] = "acceptEdits",
		[AGENT_PERM_PLAN] = "plan",
		[AGENT_PERM_BYPASS] = "bypassPermissions",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], s->ai_permission_mode) == 0)
			return (enum agent_permission)i;
	return AGENT_PERM_DEFAULT;
}

static int make_words(struct app *app, struct assistant *a, struct err *reterr)
{
	AUTO_STR prompt = STR_INIT;
	int r = settings_utterances(app->settings, &a->rules, reterr);

	if (r == 0)
		r = settings_system_prompt(app->settings, false, &prompt, reterr);
	if (r == 0)
		a->system_prompt = str_detach(&prompt);
	return r;
}

/* The name that was looked for, so that a message can say it when there is none. */
static const char *program_name(const struct settings *s, enum agent_kind kind)
{
	switch (kind) {
	case AGENT_CLAUDE:
		return s->ai_claude_program;
	case AGENT_CODEX:
		return s->ai_codex_program;
	case AGENT_REHEARSAL:
	case AGENT_EXEC:
	case AGENT_KINDS:
		break;
	}
	return NULL;
}

static void fill_agents(struct app *app, const struct assistant_opts *opts, struct assistant *a)
{
	const struct settings *s = app->settings;
	const char *model = opts->model ? opts->model : s->ai_model[0] ? s->ai_model : NULL;
	const char *homes[AGENT_KINDS] = { [AGENT_REHEARSAL] = a->rehearsal_home,
		[AGENT_CLAUDE] = app->paths.claude_home,
		[AGENT_CODEX] = app->paths.codex_home };

	for (size_t kind = 0; kind < AGENT_KINDS; kind++)
		a->agents[kind] = (struct agent_opts){
			.program = a->programs[kind] ? a->programs[kind]
						     : program_name(s, (enum agent_kind)kind),
			.command = (const char *const *)s->ai_exec_command.v,
			.home = homes[kind],
			.model = model,
			.system_prompt = a->system_prompt,
			.script = s->ai_rehearsal_script[0] ? s->ai_rehearsal_script : NULL,
			.permission = permission_of(s),
			.keep_alive = opts->keep_alive && s->ai_keep_alive,
			.timeout_ms = s->ai_timeout,
			.idle_ms = s->ai_idle_timeout,
			.max_budget_usd = s->ai_max_budget_usd,
			.clock = &app->clock,
			.log = &app->log,
		};
}

static void on_begin(void *data, const struct conv *c)
{
	struct assistant *a = data;

	notice_begin(a->app, c);
	if (a->ui.begin)
		a->ui.begin(a->ui.data, c);
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct assistant *a = data;

	if (a->ui.event)
		a->ui.event(a->ui.data, ev);
}

static void on_notice(void *data, const char *line)
{
	struct assistant *a = data;

	if (a->ui.notice)
		a->ui.notice(a->ui.data, line);
}

static void on_waiting(void *data, int64_t seconds_left)
{
	struct assistant *a = data;

	if (a->ui.waiting)
		a->ui.waiting(a->ui.data, seconds_left);
}

int assistant_say(struct assistant *a, const struct assist_request *req, struct assist_outcome *out,
	struct err *reterr)
{
	int r = assist_say(a->assist, req, out, reterr);

	if (r == 0)
		notice_end(a->app, out);
	return r;
}

static int make_assist(
	struct app *app, const struct assistant_opts *opts, struct assistant *a, struct err *reterr)
{
	struct assist_opts as = {
		.store = app->store,
		.loop = a->loop,
		.clock = &app->clock,
		.log = &app->log,
		.ui = { .data = a,
			.begin = on_begin,
			.event = on_event,
			.notice = on_notice,
			.waiting = on_waiting },
		.dir = a->dir,
		.project = a->project,
		.kind = a->kind,
		.kind_default = a->by_default,
		.kind_forced = a->forced,
		.agents = a->agents,
		.homes = a->homes,
		.n_homes = ASSISTANT_HOMES,
		.rules = opts->commands ? a->rules : NULL,
		.router = a->router,
		.routes = routing_applies(app->settings, opts->one_shot),
		.tasks = strcmp(app->settings->routing_enabled, "false") != 0,
		.task_words = &a->tasks.words,
		.language = a->language,
		.expiry_ms = app->settings->assistant_conversation_expiry,
		.wait_on_limit = strcmp(app->settings->ai_on_limit, "wait") == 0,
	};

	return assist_new(&as, &a->assist, reterr);
}

static void find_programs(const struct app *app, struct assistant *a)
{
	const struct settings *s = app->settings;
	const char *search = app->paths.search;

	a->programs[AGENT_CLAUDE] = path_find_program(s->ai_claude_program, search);
	a->programs[AGENT_CODEX] = path_find_program(s->ai_codex_program, search);
	if (s->ai_exec_command.n)
		a->programs[AGENT_EXEC] = path_find_program(s->ai_exec_command.v[0], search);
}

int assistant_open(
	struct app *app, const struct assistant_opts *opts, struct assistant *a, struct err *reterr)
{
	int r = assistant_dir(app, &a->dir, reterr);

	if (r < 0)
		return r;
	a->app = app;
	a->ui = opts->ui;
	a->language = assistant_language(app);
	a->project = path_git_root(a->dir);
	if (!a->project)
		a->project = xstrdup(a->dir);
	a->rehearsal_home = assistant_rehearsal_home(app);
	assistant_homes(app, a->rehearsal_home, a->homes);
	find_programs(app, a);
	r = pick_agent(app, opts, a, reterr);
	if (r == 0)
		r = make_words(app, a, reterr);
	if (r < 0)
		return r;
	fill_agents(app, opts, a);
	if (strcmp(app->settings->routing_enabled, "false") != 0)
		a->router = routing_router(app->settings);
	routing_tasks_init(&a->tasks, app->settings);
	a->loop = loop_new();
	return make_assist(app, opts, a, reterr);
}

void assistant_close(struct assistant *a)
{
	assist_free(a->assist);
	loop_free(a->loop);
	utterances_free(a->rules);
	router_free(a->router);
	routing_tasks_release(&a->tasks);
	for (size_t i = 0; i < AGENT_KINDS; i++)
		free(a->programs[i]);
	free(a->system_prompt);
	free(a->rehearsal_home);
	free(a->project);
	free(a->dir);
	*a = (struct assistant){ .assist = NULL };
}
