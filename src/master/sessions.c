#include "master/sessions.h"

#include <stdio.h>

#include "agent/agents.h"
#include "base/map.h"
#include "base/mem.h"
#include "branch/fork.h"
#include "os/path.h"
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

/* ---- what was said ---- */

struct history {
	enum master_role role;
	int64_t from; /* the step that began the session */
	uint64_t asks; /* that were answered since */
	struct map ids; /* of the prompts since */
	uint64_t
		written; /* turns that the session has under ids of its own: it was made of words */
	struct native *to;
	struct str ask;
	int64_t ask_ms;
	bool open;
};
#define HISTORY_INIT(of)                                       \
	{                                                      \
		.role = (of), .ids = MAP_INIT, .ask = STR_INIT \
	}

static void history_release(struct history *h)
{
	map_release(&h->ids);
	str_release(&h->ask);
}

static bool is_anew(enum master_begin begin)
{
	return begin == MASTER_BEGIN_FIRST || begin == MASTER_BEGIN_FRESH;
}

/* Before its first answer: what the file has, if it is there yet, is looked up by who goes on. */
static bool is_new(enum master_begin begin)
{
	return is_anew(begin) || begin == MASTER_BEGIN_TOLD;
}

static int find_begin(void *data, const struct master_step *step, struct err *reterr)
{
	struct history *h = data;

	(void)reterr;
	if (step->role != h->role)
		return 0;
	if (step->kind == MASTER_STEP_SESSION && is_anew(step->begin)) {
		h->from = step->n;
		h->asks = h->written = 0;
		map_release(&h->ids);
		h->ids = (struct map)MAP_INIT;
	}
	if (step->kind == MASTER_STEP_SESSION && step->begin == MASTER_BEGIN_WRITTEN)
		h->written = h->asks;
	if (step->kind == MASTER_STEP_SESSION && step->begin == MASTER_BEGIN_ROLLED)
		h->written = 1;
	if (step->kind == MASTER_STEP_ASK && step->prompt_id.n > 0)
		(void)map_put(&h->ids, step->prompt_id, 1);
	h->asks += step->kind == MASTER_STEP_ANSWER && step->fail == AGENT_OK;
	return 0;
}

/* The last turn of the session that the run knows of, and how many follow. One that was written
 * from words has other ids until the run says something there. */
static int find_last(const struct history *h, const char *path, const struct transcript_home *home,
	uint64_t *ret_turn, uint64_t *ret_more, struct err *reterr)
{
	int r = turn_views_find(path, home->format, home, &h->ids, ret_turn, ret_more, reterr);

	if (r == 0 && *ret_turn == 0 && h->written > 0 && *ret_more >= h->written) {
		*ret_turn = h->written;
		*ret_more -= h->written;
	}
	return r;
}

int master_session_look(struct master_run *run, enum master_role role,
	const struct master_place *place, enum master_session *ret, uint64_t *ret_more,
	struct err *reterr)
{
	const struct master_state *s = master_state(run);
	const struct master_side *side = &s->side[role];
	const struct transcript_home *home = home_of(place, agent_of(s, role));
	CLEANUP(history_release) struct history h = HISTORY_INIT(role);
	AUTO_FREE char *path = NULL;
	uint64_t turn = 0, more = 0;

	*ret = MASTER_SESSION_NONE;
	*ret_more = 0;
	if (!home || side->answer.n == 0 ||
		(side->answer.n < side->session_n && is_new(side->begin)))
		return 0;
	*ret = MASTER_SESSION_GONE;
	if (!side->session || transcript_find(home, sv_of(side->session), &path, NULL) < 0 || !path)
		return 0;
	*ret = MASTER_SESSION_HERE;
	int r = master_steps(run, find_begin, &h, reterr);
	if (r == 0)
		r = find_last(&h, path, home, &turn, &more, reterr);
	/* Where no turn can be told to be the run's, nothing is known. */
	if (r == 0 && turn > 0 && more > 0) {
		*ret = MASTER_SESSION_MOVED_ON;
		*ret_more = more;
	}
	return r;
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

/* to: whose session that is; NULL: of the same agent as before. */
static int go_on_in(struct master_run *run, enum master_role role, enum master_begin begin,
	const char *to, const char *session, const struct master_place *place, struct err *reterr)
{
	const struct master_state *s = master_state(run);
	AUTO_FREE char *agent = xstrdup(to ? to : agent_of(s, role));
	/* Apart from what the user says in the folder, as all the pair's are. */
	AUTO_FREE char *apart = path_join(place->dir, MASTER_FOLDER);
	const struct conv_new what = {
		.dir = place->dir, .project = apart, .agent = agent, .aside = true
	};
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

/* Nothing was answered in it yet: the one that there may be is the other run's. */
static int begin_anew(
	struct master_run *run, enum master_role role, const char *to, struct err *reterr)
{
	const struct master_side *side = &master_state(run)->side[role];
	AUTO_FREE char *agent = xstrdup(to ? to : agent_of(master_state(run), role));
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_SESSION);
	AUTO_STR prompt = STR_INIT;

	if (!side->conversation && !side->session)
		return 0;
	str_add(&prompt, str_sv(&side->system_prompt));
	step.role = role;
	step.begin = MASTER_BEGIN_FRESH;
	step.agent = sv_of(agent);
	step.text = str_sv(&prompt);
	return master_step(run, &step, reterr);
}

int master_session_write(struct master_run *run, enum master_role role,
	const struct master_place *place, struct native_report *ret, struct err *reterr)
{
	const struct master_state *s = master_state(run);
	const char *agent = agent_of(s, role);
	CLEANUP(history_release) struct history h = HISTORY_INIT(role);
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
	return r < 0 ? r : go_on_in(run, role, MASTER_BEGIN_WRITTEN, NULL, ret->id, place, reterr);
}

int master_session_fork(struct master_run *run, enum master_role role,
	const struct master_place *place, bool *ret_written, struct err *reterr)
{
	const struct master_state *s = master_state(run);
	const struct transcript_home *home = home_of(place, agent_of(s, role));
	CLEANUP(history_release) struct history h = HISTORY_INIT(role);
	struct fork_report fork = FORK_REPORT_INIT;
	struct native_report native = NATIVE_REPORT_INIT;
	struct session_info parent;
	AUTO_FREE char *path = NULL;

	*ret_written = false;
	if (!home)
		return begin_anew(run, role, NULL, reterr);
	int r = close_ask(run, role, reterr);
	if (r == 0)
		r = master_steps(run, find_begin, &h, reterr);
	if (r < 0)
		return r;
	if (h.asks == 0)
		return begin_anew(run, role, NULL, reterr);
	if (s->side[role].session)
		(void)!transcript_find(home, sv_of(s->side[role].session), &path, NULL);
	/* A prompt that was interrupted is a turn as well, so that they are not counted: they are
	 * found by their ids. */
	int forked = ERR_NOTFOUND;
	uint64_t turn = 0, more = 0;
	if (path && find_last(&h, path, home, &turn, &more, NULL) == 0 && turn > 0) {
		session_info_init(&parent, home->format, path);
		/* Where the agent looks for it from here. */
		const struct agent_def *kind = agent_named(sv_of(home->agent));
		AUTO_FREE char *would = transcript_new_path(
			home, place->dir, clock_wall_ms(place->clock), s->side[role].session);
		AUTO_FREE char *out_dir = path_folder(would);
		const struct fork_opts opts = { .parent = &parent,
			.home = home,
			.at = turn,
			.relation = SESSION_FORKED,
			.out_dir = kind && kind->resume_in_folder ? out_dir : NULL,
			.clock = place->clock };
		forked = fork_session(&opts, &fork, NULL);
		session_info_release(&parent);
	}
	if (forked == 0) {
		r = go_on_in(run, role, MASTER_BEGIN_FORKED, NULL, fork.file.id, place, reterr);
	} else {
		r = master_session_write(run, role, place, &native, reterr);
		*ret_written = r == 0;
	}
	fork_report_release(&fork);
	native_report_release(&native);
	return r;
}

int master_session_port(struct master_run *run, enum master_role role,
	const struct master_place *place, const char *to, struct port_report *ret,
	struct err *reterr)
{
	const struct master_state *s = master_state(run);
	CLEANUP(history_release) struct history h = HISTORY_INIT(role);
	const struct transcript_home *from = home_of(place, agent_of(s, role));
	struct port_opts opts = { .from = from,
		.to = home_of(place, to),
		.relation = SESSION_PORTED,
		.dir = place->dir,
		.clock = place->clock };
	struct session_info parent;
	AUTO_FREE char *path = NULL;
	uint64_t more = 0;

	if (!opts.to)
		return err_set(reterr, ERR_INPUT, "there is no place for sessions of %s here", to);
	int r = close_ask(run, role, reterr);
	if (r == 0)
		r = master_steps(run, find_begin, &h, reterr);
	if (r < 0)
		return r;
	if (h.asks == 0)
		return begin_anew(run, role, to, reterr);
	if (from && s->side[role].session)
		(void)!transcript_find(from, sv_of(s->side[role].session), &path, NULL);
	if (!path)
		return err_set(reterr, ERR_NOTFOUND,
			"the %s's session is not on this machine; 'faden master --resume' writes "
			"it "
			"back",
			master_role_name(role));
	r = find_last(&h, path, from, &opts.at, &more, reterr);
	if (r < 0)
		return r;
	session_info_init(&parent, from->format, path);
	opts.parent = &parent;
	r = port_session(&opts, ret, reterr);
	session_info_release(&parent);
	return r < 0 ? r
		     : go_on_in(run, role, MASTER_BEGIN_PORTED, to, ret->file.id, place, reterr);
}
