#include "cli/pick-agent.h"

#include <stdlib.h>
#include <string.h>

#include "cli/env.h"
#include "config/settings.h"
#include "ui/choice.h"
#include "ui/term.h"

static const char pref_agent[] = "agent";

static bool available(const struct assistant *a, enum agent_kind kind)
{
	return agent_kind_available(kind, &(struct agent_opts){ .program = a->programs[kind] });
}

static int refuse_missing(
	const struct assistant *a, const char *name, const char *where, struct err *reterr)
{
	const struct settings *s = a->app->settings;
	const char *program = a->kind == AGENT_CLAUDE ? s->ai_claude_program : s->ai_codex_program;

	if (a->kind == AGENT_EXEC && s->ai_exec_command.n == 0)
		return err_set(reterr, ERR_AGENT,
			"%s: agent %s has no program; set ai.exec.command", where, name);
	if (a->kind == AGENT_EXEC)
		return err_set(reterr, ERR_AGENT, "%s: ai.exec.command: no program '%s'", where,
			s->ai_exec_command.v[0]);
	if (strchr(program, '/'))
		return err_set(reterr, ERR_AGENT, "%s: ai.%s.program: no program '%s'", where, name,
			program);
	return err_set(reterr, ERR_AGENT,
		"%s: the program of agent %s, '%s', is not installed or not in PATH", where, name,
		program);
}

/* An agent asked for by name must be there: another one would surprise. */
static int take_named(struct assistant *a, const char *name, const char *where, struct err *reterr)
{
	if (!agent_kind_parse(sv_of(name), &a->kind))
		return err_set(reterr, ERR_USAGE,
			"%s: no agent '%s'; there are claude, codex, exec and rehearsal", where,
			name);
	return available(a, a->kind) ? 0 : refuse_missing(a, name, where, reterr);
}

static bool take_remembered(struct app *app, struct assistant *a)
{
	AUTO_FREE char *name = NULL;
	enum agent_kind kind;

	if (store_pref_get(app->store, pref_agent, &name, NULL) < 0)
		return false;
	/* One that was uninstalled since is as if never chosen. */
	if (!agent_kind_parse(sv_of(name), &kind) || !available(a, kind))
		return false;
	a->kind = kind;
	return true;
}

static int ask(struct app *app, struct assistant *a, struct err *reterr)
{
	enum agent_kind kinds[AGENT_KINDS];
	struct choice_item items[AGENT_KINDS];
	static const char *const hints[AGENT_KINDS] = { [AGENT_CLAUDE] = "Claude Code",
		[AGENT_CODEX] = "Codex",
		[AGENT_EXEC] = "your own program",
		[AGENT_REHEARSAL] = "embedded, for trying out: no account, no cost" };
	static const enum agent_kind order[] = { AGENT_CLAUDE, AGENT_CODEX, AGENT_EXEC,
		AGENT_REHEARSAL };
	size_t n = 0;
	int chosen;
	struct term term;
	struct term_opts opts = { .fd = fileno(app->out),
		.colour = app->colour ? TERM_COLOUR_ALWAYS : TERM_COLOUR_NEVER,
		.term_name = env_get("TERM") };

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		if (!available(a, order[i]))
			continue;
		kinds[n] = order[i];
		items[n++] = (struct choice_item){ agent_driver(order[i])->name, hints[order[i]] };
	}
	if (n < 2)
		return 0;
	term_init(&term, &opts);
	int r = choice_ask(&term, app->in, "Who should answer? (asked once; a turn may cost money)",
		items, n, CHOICE_NONE, &chosen, reterr);
	term_release(&term);
	if (r < 0 || chosen == CHOICE_NONE)
		return r;
	a->kind = kinds[chosen];
	a->by_default = false;
	return store_pref_set(app->store, pref_agent, agent_driver(a->kind)->name, reterr);
}

int pick_agent(
	struct app *app, const struct assistant_opts *opts, struct assistant *a, struct err *reterr)
{
	const char *configured = app->settings->ai_agent;

	a->kind = AGENT_REHEARSAL;
	if (opts->agent) {
		a->forced = true;
		return take_named(
			a, opts->agent, opts->agent_by ? opts->agent_by : "--agent", reterr);
	}
	if (strcmp(configured, "auto") != 0)
		return take_named(a, configured, "ai.agent", reterr);
	if (take_remembered(app, a))
		return 0;
	a->by_default = true;
	return opts->may_ask ? ask(app, a, reterr) : 0;
}
