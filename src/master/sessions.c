#include "master/sessions.h"

#include <stdio.h>

#include "base/mem.h"
#include "branch/fork.h"
#include "store/conv.h"

static const struct transcript_home *home_of(const struct master_place *place, const char *agent)
{
	for (size_t i = 0; agent && i < place->n_homes; i++)
		if (strcmp(place->homes[i].agent, agent) == 0)
			return &place->homes[i];
	return NULL;
}

/* Who has the role's session, or will have it. */
static const char *agent_of(const struct master_state *s, enum master_role role)
{
	return s->side[role].agent ? s->side[role].agent : s->config.agent[role];
}

enum master_session master_session_look(
	const struct master_state *s, enum master_role role, const struct master_place *place)
{
	const struct master_side *side = &s->side[role];
	const struct transcript_home *home = home_of(place, agent_of(s, role));
	AUTO_FREE char *path = NULL;

	if (!home || side->answer.n == 0 || side->answer.n < side->session_n)
		return MASTER_SESSION_NONE;
	if (side->session && transcript_find(home, sv_of(side->session), &path, NULL) == 0 && path)
		return MASTER_SESSION_HERE;
	return MASTER_SESSION_GONE;
}

/* ---- what was said ---- */

struct history {
	enum master_role role;
	int64_t from; /* the step that began the session */
	uint64_t asks; /* that were answered since */
	struct native *to;
	struct str ask;
	int64_t ask_ms;
	bool open;
};

static bool begins_anew(const struct master_step *step)
{
	return step->kind == MASTER_STEP_SESSION &&
		(step->begin == MASTER_BEGIN_FIRST || step->begin == MASTER_BEGIN_FRESH);
}

static int find_begin(void *data, const struct master_step *step, struct err *reterr)
{
	struct history *h = data;

	(void)reterr;
	if (begins_anew(step) && step->role == h->role) {
		h->from = step->n;
		h->asks = 0;
	}
	h->asks +=
		step->kind == MASTER_STEP_ANSWER && step->role == h->role && step->fail == AGENT_OK;
	return 0;
}

static int add_said(void *data, const struct master_step *step, struct err *reterr)
{
	struct history *h = data;
	struct native_item item = { .kind = ITEM_USER };
	int r = 0;

	if (step->n < h->from || step->role != h->role)
		return 0;
	if (step->kind == MASTER_STEP_ASK) {
		str_clear(&h->ask);
		str_add(&h->ask, step->text);
		h->ask_ms = step->at_ms;
		h->open = true;
	} else if (step->kind == MASTER_STEP_ANSWER) {
		if (step->fail == AGENT_OK && h->open) {
			item.text = str_sv(&h->ask);
			item.time_ms = h->ask_ms;
			r = native_add(h->to, &item, reterr);
		}
		if (step->fail == AGENT_OK && r == 0) {
			item.kind = ITEM_ASSISTANT;
			item.text = step->text;
			item.time_ms = step->at_ms;
			r = native_add(h->to, &item, reterr);
		}
		h->open = false;
	}
	return r;
}

/* ---- another session ---- */

static int close_ask(struct master_run *run, enum master_role role, struct err *reterr)
{
	const struct master_side *side = &master_state(run)->side[role];
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_ANSWER);

	if (!master_is_open(side))
		return 0;
	step.role = role;
	step.prompt_id = sv_of(side->ask.prompt_id);
	step.fail = AGENT_DIED;
	step.why = SV("the run goes on in another place; whether this was carried out before is "
		      "not known");
	return master_step(run, &step, reterr);
}

static int go_on_in(struct master_run *run, enum master_role role, enum master_begin begin,
	const char *session, const struct master_place *place, struct err *reterr)
{
	const struct master_state *s = master_state(run);
	AUTO_FREE char *agent = xstrdup(agent_of(s, role));
	const struct conv_new what = { .dir = place->dir, .agent = agent, .aside = true };
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_SESSION);
	AUTO_STR prompt = STR_INIT;
	AUTO_CONV c = CONV_INIT;

	str_add(&prompt, str_sv(&s->side[role].system_prompt));
	int r = conv_adopt(place->store, &what, session, place->clock, &c, reterr);
	if (r < 0)
		return r;
	step.role = role;
	step.begin = begin;
	step.agent = sv_of(agent);
	step.conversation = sv_of(c.id);
	step.session = sv_of(session);
	step.text = str_sv(&prompt);
	return master_step(run, &step, reterr);
}

int master_session_write(struct master_run *run, enum master_role role,
	const struct master_place *place, struct native_report *ret, struct err *reterr)
{
	const struct master_state *s = master_state(run);
	const char *agent = agent_of(s, role);
	struct history h = { .role = role, .ask = STR_INIT };
	const struct native_opts opts = {
		.home = home_of(place, agent),
		.dir = place->dir,
		.model = s->config.model[role],
		.clock = place->clock,
		.durable = true,
	};

	if (!opts.home)
		return err_set(reterr, ERR_INPUT, "there is no place for sessions of %s here",
			agent ? agent : "an agent that nobody named");
	int r = close_ask(run, role, reterr);
	if (r == 0)
		r = master_steps(run, find_begin, &h, reterr);
	if (r == 0)
		r = native_open(&opts, &h.to, reterr);
	if (r == 0)
		r = master_steps(run, add_said, &h, reterr);
	if (r == 0)
		r = native_finish(h.to, ret, reterr);
	native_close(h.to);
	str_release(&h.ask);
	return r < 0 ? r : go_on_in(run, role, MASTER_BEGIN_WRITTEN, ret->id, place, reterr);
}

int master_session_fork(struct master_run *run, enum master_role role,
	const struct master_place *place, bool *ret_written, struct err *reterr)
{
	const struct master_state *s = master_state(run);
	const struct transcript_home *home = home_of(place, agent_of(s, role));
	struct history h = { .role = role, .ask = STR_INIT };
	struct fork_report fork = FORK_REPORT_INIT;
	struct native_report native = NATIVE_REPORT_INIT;
	struct session_info parent;
	AUTO_FREE char *path = NULL;

	*ret_written = false;
	if (!home || s->side[role].answer.n == 0)
		return 0;
	int r = close_ask(run, role, reterr);
	if (r == 0)
		r = master_steps(run, find_begin, &h, reterr);
	if (r < 0 || h.asks == 0)
		return r;
	if (s->side[role].session)
		(void)!transcript_find(home, sv_of(s->side[role].session), &path, NULL);
	/* One that was rolled over does not have its earlier turns any more. */
	int forked = ERR_NOTFOUND;
	if (path && s->side[role].begin != MASTER_BEGIN_ROLLED) {
		session_info_init(&parent, home->format, path);
		const struct fork_opts opts = { .parent = &parent,
			.home = home,
			.at = h.asks,
			.relation = SESSION_FORKED,
			.clock = place->clock };
		forked = fork_session(&opts, &fork, NULL);
		session_info_release(&parent);
	}
	if (forked == 0) {
		r = go_on_in(run, role, MASTER_BEGIN_FORKED, fork.file.id, place, reterr);
	} else {
		r = master_session_write(run, role, place, &native, reterr);
		*ret_written = r == 0;
	}
	fork_report_release(&fork);
	native_report_release(&native);
	return r;
}
