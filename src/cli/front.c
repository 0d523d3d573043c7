#include "cli/front.h"

#include <string.h>

#include "cli/env.h"
#include "strategy/ask.h"
#include "ui/choice.h"
#include "ui/term.h"

struct kit_opts front_kit_opts(const struct app *app)
{
	return (struct kit_opts){
		.settings = app->settings,
		.store = app->store,
		.clock = &app->clock,
		.log = &app->log,
		.homes = app->homes,
		.n_homes = app->n_homes,
		.envp = env_all(),
		.search = app->paths.search,
		.cwd = app->cwd,
		.locale = app->locale,
	};
}

int front_pick_agent(struct app *app, struct kit *kit, struct err *reterr)
{
	static const struct {
		enum agent_kind kind;
		const char *hint;
	} offers[] = {
		{ AGENT_CLAUDE, "Claude Code" },
		{ AGENT_CODEX, "Codex" },
		{ AGENT_EXEC, "your own program" },
		{ AGENT_REHEARSAL, "embedded, for trying out: no account, no cost" },
	};
	const struct term_opts screen = { .fd = fileno(app->out),
		.colour = app->colour ? TERM_COLOUR_ALWAYS : TERM_COLOUR_NEVER,
		.term_name = env_get("TERM") };
	struct choice_item items[ARRAY_LEN(offers)];
	enum agent_kind kinds[ARRAY_LEN(offers)];
	struct term term;
	size_t n = 0;
	int chosen;

	for (size_t i = 0; i < ARRAY_LEN(offers); i++) {
		if (!kit_has(kit, offers[i].kind))
			continue;
		kinds[n] = offers[i].kind;
		items[n++] =
			(struct choice_item){ agent_driver(offers[i].kind)->name, offers[i].hint };
	}
	if (!kit->by_default || n < 2)
		return 0;
	term_init(&term, &screen);
	int r = choice_ask(&term, app->in, "Who should answer? (asked once; a turn may cost money)",
		items, n, CHOICE_NONE, &chosen, reterr);
	term_release(&term);
	return r < 0 || chosen == CHOICE_NONE ? r : kit_choose(kit, kinds[chosen], reterr);
}

int front_status(const struct assist_outcome *out)
{
	if (out->kind != UTTERANCE_AGENT || out->fail == AGENT_OK)
		return 0;
	return err_exit_status(out->fail == AGENT_CANCELLED ? ERR_CANCELLED : ERR_AGENT);
}

int front_question(struct app *app, const char *agent, const struct session_row *about,
	const char *schema, struct sv prompt, struct str *answer, const char **ret_agent,
	struct err *reterr)
{
	enum { TIMEOUT_MS = 15 * 60 * 1000 }; /* where ai.timeout has none: nobody watches it */
	bool configured = strcmp(app->settings->ai_agent, "auto") != 0;
	CLEANUP(kit_close) struct kit kit = { .dir = NULL };
	struct kit_opts want = front_kit_opts(app);

	want.agent = agent || configured ? agent : about->agent;
	want.agent_by = agent ? NULL : "the session's agent answers (--agent names another)";
	int r = kit_open(&want, &kit, reterr);
	if (r < 0)
		return r;
	const struct ask_opts opts = {
		.kind = kit.kind,
		.agent = &kit.agents[kit.kind],
		.scratch = app->paths.state_dir,
		.schema = schema,
		.timeout_ms = app->settings->ai_timeout ? app->settings->ai_timeout : TIMEOUT_MS,
	};
	const char *name = agent_driver(kit.kind)->name;
	if (ret_agent)
		*ret_agent = name;
	if (app->err_tty)
		(void)fprintf(app->err, "Asking %s …\n", name);
	return ask_agent(&opts, prompt, answer, reterr);
}
