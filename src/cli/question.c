#include "cli/question.h"

#include <string.h>

#include "cli/assistant.h"
#include "config/settings.h"
#include "strategy/ask.h"

enum { TIMEOUT_MS = 15 * 60 * 1000 }; /* where ai.timeout has none: nobody watches this turn */

static int ask(struct app *app, struct assistant *a, const char *schema, struct sv prompt,
	struct str *answer, struct err *reterr)
{
	const struct ask_opts opts = {
		.kind = a->kind,
		.agent = &a->agents[a->kind],
		.scratch = app->paths.state_dir,
		.schema = schema,
		.timeout_ms = app->settings->ai_timeout ? app->settings->ai_timeout : TIMEOUT_MS,
	};
	if (app->err_tty)
		(void)fprintf(app->err, "Asking %s …\n", agent_driver(a->kind)->name);
	return ask_agent(&opts, prompt, answer, reterr);
}

int question_ask(struct app *app, const char *agent, const struct session_row *about,
	const char *schema, struct sv prompt, struct str *answer, const char **ret_agent,
	struct err *reterr)
{
	CLEANUP(assistant_close) struct assistant a = { .assist = NULL };
	bool configured = strcmp(app->settings->ai_agent, "auto") != 0;
	const struct assistant_opts opts = {
		.agent = agent	     ? agent
			: configured ? NULL
				     : about->agent,
		.agent_by = agent ? NULL : "the session's agent answers (--agent names another)",
	};
	int rc = assistant_open(app, &opts, &a, reterr);
	if (rc < 0)
		return rc;
	if (ret_agent)
		*ret_agent = agent_driver(a.kind)->name;
	return ask(app, &a, schema, prompt, answer, reterr);
}
