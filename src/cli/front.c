#include "cli/front.h"

#include <signal.h>
#include <string.h>

#include "assist/tell.h"
#include "cli/env.h"
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
	const struct term_opts screen = { .fd = fileno(app->out),
		.colour = app->colour ? TERM_COLOUR_ALWAYS : TERM_COLOUR_NEVER,
		.term_name = env_get("TERM") };
	struct choice_item items[AGENTS_MAX];
	const struct agent_def *kinds[AGENTS_MAX];
	struct term term;
	size_t n = 0;
	int chosen;

	for (size_t i = 0; i < agent_count; i++) {
		const struct agent_def *kind = &agent_table[i];

		if (!kit_has(kit, kind))
			continue;
		kinds[n] = kind;
		items[n++] = (struct choice_item){ kind->name, kind->hint };
	}
	if (!kit->by_default || n < 2)
		return 0;
	term_init(&term, &screen);
	int r = choice_ask(&term, app->in, "Who should answer? (asked once; a turn may cost money)",
		items, n, CHOICE_NONE, &chosen, reterr);
	term_release(&term);
	return r < 0 || chosen == CHOICE_NONE ? r : kit_choose(kit, kinds[chosen], reterr);
}

struct saying {
	const struct assistant_outcome *out;
	bool done;
};

static void on_said(void *data, const struct assistant_outcome *out)
{
	*(struct saying *)data = (struct saying){ .out = out, .done = true };
}

int front_say(struct loop *loop, struct assistant *as, const struct request *req,
	const struct assistant_outcome **ret_out, struct err *reterr)
{
	struct saying s = { .done = false };

	assistant_say(as, req, on_said, &s);
	int r = loop_run(loop, &s.done, reterr);
	if (r < 0)
		return r;
	*ret_out = s.out;
	if (s.out->err.code < 0 && reterr)
		*reterr = s.out->err;
	return s.out->err.code;
}

void front_failure(FILE *to, const struct turn_outcome *out)
{
	AUTO_STR text = STR_INIT;

	tell_failure(out, &text);
	(void)fprintf(to, "faden: %s\n", text.buf);
}

int front_status(const struct assistant_outcome *out)
{
	if (out->kind != UTTERANCE_AGENT || out->turn->fail == AGENT_OK)
		return 0;
	return err_exit_status(out->turn->fail == AGENT_CANCELLED ? ERR_CANCELLED : ERR_AGENT);
}

struct asking {
	struct turn *turn;
	const struct turn_outcome *out; /* NULL: not done */
	bool done;
};

static void on_answered(void *data, const struct turn_outcome *out)
{
	struct asking *a = data;

	a->out = out;
	a->done = true;
}

static void on_signal(void *data, int signo)
{
	struct asking *a = data;

	(void)signo;
	turn_cancel(a->turn);
}

static int ask(struct turn_host *host, struct loop *loop, const struct turn_question *question,
	struct str *answer, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct asking a = { .done = false };
	const struct turn_opts opts = { .question = question };
	const struct turn_sink sink = { .data = &a, .done = on_answered };

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (!loop_add_signal(loop, signals[i], on_signal, &a, reterr))
			return reterr ? reterr->code : ERR_BUG;
	a.turn = turn_begin(host, &opts, &sink);
	int r = loop_run(loop, &a.done, reterr);
	if (r == 0 && a.out->err.code < 0) {
		r = a.out->err.code;
		if (reterr)
			*reterr = a.out->err;
	} else if (r == 0 && a.out->fail != AGENT_OK) {
		r = err_set(reterr, a.out->fail == AGENT_CANCELLED ? ERR_CANCELLED : ERR_AGENT,
			"%s", a.out->message);
	} else if (r == 0) {
		str_add(answer, str_sv(&a.out->answer));
	}
	turn_free(a.turn);
	return r;
}

int front_question(struct app *app, const char *agent, const struct session_row *about,
	const char *schema, struct sv prompt, struct str *answer, const char **ret_agent,
	struct err *reterr)
{
	enum { TIMEOUT_MS = 15 * 60 * 1000 }; /* where ai.timeout has none: nobody watches it */
	bool configured = strcmp(app->settings->ai_agent, "auto") != 0;
	CLEANUP(kit_close) struct kit kit = { .dir = NULL };
	struct kit_opts want = front_kit_opts(app);
	struct turn_host *host = NULL;

	want.agent = agent || configured ? agent : about->agent;
	want.agent_by = agent ? NULL : "the session's agent answers (--agent names another)";
	int r = kit_open(&want, &kit, reterr);
	if (r < 0)
		return r;
	const struct turn_question question = {
		.kind = kit.kind,
		.prompt = prompt,
		.scratch = app->paths.state_dir,
		.schema = schema,
		.timeout_ms = app->settings->ai_timeout ? app->settings->ai_timeout : TIMEOUT_MS,
	};
	const char *name = kit.kind->name;
	if (ret_agent)
		*ret_agent = name;
	if (app->err_tty)
		(void)fprintf(app->err, "Asking %s …\n", name);
	struct turn_host_opts turns = kit_turn_opts(&kit);
	turns.loop = loop_new();
	r = turn_host_new(&turns, &host, reterr);
	if (r == 0)
		r = ask(host, turns.loop, &question, answer, reterr);
	turn_host_free(host);
	loop_free(turns.loop);
	return r;
}
