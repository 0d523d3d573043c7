/*
 * A prompt of the pair as a turn: whose agent, what it tells, how it ends, and what became of one
 * that was interrupted.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "master/pair-room.h"
#include "master/words.h"
#include "os/path.h"
#include "store/journal.h"

enum { BUSY_MS = 10000 };

/* ---- the agent of a role ---- */

void pair_side_release(struct pair_side *side)
{
	turn_host_free(side->host);
	free(side->system_prompt);
	free(side->model);
	*side = (struct pair_side){ .shortened = side->shortened };
}

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

int pair_goes_on_in(struct pair *p, enum master_role role, enum master_begin begin,
	const char *conversation, const char *session, struct err *reterr)
{
	const struct master_side *is = pair_side_state(p, role);
	AUTO_FREE char *agent = xstrdup(is->agent);
	AUTO_FREE char *in = xstrdup(conversation);
	AUTO_FREE char *id = xstrdup(session);
	AUTO_STR prompt = STR_INIT;

	/* The state, which these are of, changes with the step. */
	str_add(&prompt, str_sv(&is->system_prompt));
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_SESSION);
	step.role = role;
	step.begin = begin;
	step.agent = sv_of(agent);
	step.conversation = sv_of(in);
	step.session = sv_of(id);
	step.text = str_sv(&prompt);
	return master_step(p->opts.run, &step, reterr);
}

/* A project of its own: what the user says in the folder is for nobody in here. */
static char *pair_project(const struct master_state *s)
{
	return path_join(s->config.dir, MASTER_FOLDER);
}

/* A store that does not know the conversation, as on another machine, takes in its session. */
static int conversation_ready(struct pair *p, enum master_role role, struct err *reterr)
{
	const struct master_side *is = pair_side_state(p, role);
	const struct turn_host_opts *o = &p->opts.turns;
	AUTO_FREE char *apart = pair_project(pair_state(p));
	const struct conv_new what = { .dir = pair_state(p)->config.dir,
		.project = apart,
		.agent = is->agent,
		.aside = true };
	AUTO_CONV c = CONV_INIT;
	int r = is->conversation ? conv_get(o->store, is->conversation, o->clock, &c, reterr)
				 : ERR_NOTFOUND;

	if (r == 0 && strcmp(c.dir, what.dir) != 0)
		r = conv_move(o->store, c.id, what.dir, apart, reterr);
	if (r != ERR_NOTFOUND)
		return r;
	if (!is->session)
		return pair_session(p, role, MASTER_BEGIN_FRESH, reterr);
	r = conv_adopt(o->store, &what, is->session, o->clock, &c, reterr);
	return r < 0 ? r : pair_goes_on_in(p, role, MASTER_BEGIN_TOLD, c.id, is->session, reterr);
}

/* The instructor only reads; the worker has what the user allows, and its limit. */
static int side_ready(struct pair *p, enum master_role role, struct err *reterr)
{
	const struct master_state *s = pair_state(p);
	const struct master_side *is = &s->side[role];
	struct pair_side *side = &p->sides[role];
	const struct agent_def *kind = agent_named(sv_of(is->agent));
	int64_t timeout_ms = role == MASTER_WORKER ? s->worker_timeout_ms : 0;

	if (!kind)
		return err_set(reterr, ERR_AGENT, "this faden knows no agent '%s'", is->agent);
	int r = conversation_ready(p, role, reterr);
	if (r < 0)
		return r;
	const struct agent_opts *base = &p->opts.turns.agents[agent_index(kind)];
	AUTO_STR prompt = STR_INIT;
	words_system(role, base->system_prompt, str_sv(&is->system_prompt), &prompt);
	double left = s->config.max_budget_usd - s->cost_usd;
	/* The other one has spent of the same budget since. */
	bool poorer = side->may_spend > 0 && kind->can.cost && side->may_spend > left + 1e-9;
	if (side->host && same(side->model, is->ask.model) && side->timeout_ms == timeout_ms &&
		!poorer && same(side->system_prompt, prompt.buf))
		return 0;
	pair_side_release(side);
	memcpy(side->agents, p->opts.turns.agents, agent_count * sizeof(*side->agents));
	side->system_prompt = str_detach(&prompt);
	side->model = is->ask.model ? xstrdup(is->ask.model) : NULL;
	side->timeout_ms = timeout_ms;
	struct agent_opts *agent = &side->agents[agent_index(kind)];
	agent->system_prompt = side->system_prompt;
	agent->model = side->model ? side->model : agent->model;
	agent->ask = role == MASTER_WORKER && p->opts.ask && kind->can.ask;
	if (role == MASTER_INSTRUCTOR) {
		agent->permission = AGENT_PERM_PLAN;
		agent->schema = kind->can.schema ? words_schema(kind->can.schema_whole) : NULL;
	}
	if (timeout_ms > 0)
		agent->timeout_ms = timeout_ms;
	if (s->config.max_budget_usd > 0)
		agent->max_budget_usd = side->may_spend = left;
	struct turn_host_opts opts = p->opts.turns;
	opts.agents = side->agents;
	opts.keep = 1;
	return turn_host_new(&opts, &side->host, reterr);
}

int pair_session(struct pair *p, enum master_role role, enum master_begin begin, struct err *reterr)
{
	const struct master_state *s = pair_state(p);
	const struct turn_host_opts *o = &p->opts.turns;
	AUTO_FREE char *apart = pair_project(s);
	const struct conv_new what = { .dir = s->config.dir,
		.project = apart,
		.agent = s->config.agent[role],
		.aside = true };
	AUTO_STR prompt = STR_INIT;
	AUTO_CONV c = CONV_INIT;
	struct proc_id self;

	if (role == MASTER_WORKER)
		str_add(&prompt, str_sv(&s->decided.system_prompt));
	int r = proc_id_self(&self, reterr);
	if (r == 0)
		r = conv_create(o->store, &what, &self, o->clock, &c, reterr);
	if (r == 0)
		r = conv_untake(o->store, c.id, &self, reterr);
	if (r < 0)
		return r;
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_SESSION);
	step.role = role;
	step.begin = begin;
	step.agent = sv_of(what.agent);
	step.conversation = sv_of(c.id);
	step.text = str_sv(&prompt);
	return master_step(p->opts.run, &step, reterr);
}

/* The id that the agent has for it: in the run before the answer is. */
static int told_session(
	struct pair *p, enum master_role role, const char *session, struct err *reterr)
{
	const struct master_side *is = pair_side_state(p, role);

	return !session || same(session, is->session)
		? 0
		: pair_goes_on_in(p, role, MASTER_BEGIN_TOLD, is->conversation, session, reterr);
}

/* ---- the instructor's words ---- */

/* Line breaks wait for what follows them: at the end that is the object, which nobody sees. */
static void pass_text(struct pair *p, struct sv text)
{
	AUTO_STR whole = STR_INIT;

	for (; p->words.breaks > 0 && text.n > 0 && text.p[0] != '\n'; p->words.breaks--)
		str_addc(&whole, '\n');
	str_add(&whole, text);
	while (whole.len > 0 && whole.buf[whole.len - 1] == '\n') {
		str_cut(&whole, whole.len - 1);
		p->words.breaks++;
	}
	const struct agent_event ev = { .type = AGENT_EV_TEXT, .text = str_sv(&whole) };
	if (whole.len > 0)
		pair_tell(p,
			&(struct pair_event){ .type = PAIR_AGENT, .role = p->role, .event = &ev });
}

/* With `ended`, what is held may be the decision, which is told as such. */
static void flush_words(struct pair *p, bool ended)
{
	AUTO_PAIR_DECISION d = PAIR_DECISION_INIT;
	struct sv held = str_sv(&p->words.held);

	if (ended)
		pair_decision_read(held, &d);
	AUTO_STR words = STR_INIT;
	if (d.act != DECISION_NONE || d.say) {
		pair_decision_words(held, &d, &words);
		held = str_sv(&words);
	}
	while (ended && held.n > 0 && (held.p[held.n - 1] == '\n' || held.p[held.n - 1] == ' '))
		held.n--;
	pass_text(p, held);
	str_clear(&p->words.held);
	p->words.holds = p->words.inside = false;
	p->words.breaks = 0;
}

static void pass_words(struct pair *p, struct sv text)
{
	struct pair_words *w = &p->words;

	str_add(&w->held, text);
	while (!w->holds && w->held.len > 0) {
		struct sv held = str_sv(&w->held);
		const char *end = memchr(held.p, '\n', held.n);
		size_t blanks = 0;
		while (blanks < held.n && (held.p[blanks] == ' ' || held.p[blanks] == '\t'))
			blanks++;
		if (!w->inside && blanks == held.n)
			return; /* what the line begins with is still to come */
		w->holds = !w->inside && (held.p[blanks] == '{' || held.p[blanks] == '`');
		if (w->holds)
			return;
		size_t n = end ? (size_t)(end - held.p) + 1 : held.n;
		AUTO_STR piece = STR_INIT;
		str_add(&piece, sv_head(held, n));
		str_drop(&w->held, n);
		w->inside = !end;
		pass_text(p, str_sv(&piece));
	}
}

/* ---- the turn ---- */

/* The instructor has not heard what the user says: nobody works on before it has. */
static bool hears_first(const struct pair *p, enum master_role role)
{
	return role == MASTER_WORKER && pair_state(p)->said_n > pair_side_state(p, role)->ask.n &&
		pair_state(p)->said.len > 0;
}

static int claim(void *data, struct turn_job *job, struct err *reterr)
{
	struct pair *p = data;
	const struct master_side *is = pair_side_state(p, p->role);
	const struct turn_host_opts *o = &p->opts.turns;
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;

	if (p->fate != NEWS_COUNT && (p->fate != NEWS_NOT_SENT || hears_first(p, p->role)))
		return TURN_NONE;
	str_add(&job->prompt, str_sv(&is->ask.text));
	memcpy(job->prompt_id, is->ask.prompt_id, sizeof(job->prompt_id));
	int r = conv_get(o->store, is->conversation, o->clock, &job->conv, reterr);
	if (r == 0)
		r = conv_take(o->store, is->conversation, turn_host_self(p->sides[p->role].host),
			o->clock, reterr);
	if (r < 0)
		return r;
	/* What did not arrive under this id is sent under it again. */
	if (p->fate == NEWS_NOT_SENT &&
		journal_last(o->store, is->conversation, &last, NULL) == 0 &&
		same(last.prompt_id, is->ask.prompt_id))
		job->again = last.id;
	return 0;
}

static void on_begin(void *data, const struct conv *c)
{
	struct pair *p = data;
	struct err err = ERR_INIT;

	if (told_session(p, p->role, c->session, &err) < 0) {
		pair_note(p, "%s", err.msg);
		p->leaves = true;
		turn_cancel(p->turn);
	}
}

static void on_news(void *data, enum turn_news what, const char *const words[3], int64_t turn)
{
	struct pair *p = data;

	(void)turn;
	if (p->settles && what >= NEWS_ANSWERED && what != NEWS_NOT_BEGUN &&
		same(words[2], pair_side_state(p, p->role)->conversation)) {
		p->fate = what;
		str_clear(&p->found);
		if (what == NEWS_ANSWERED)
			str_adds(&p->found, words[1]);
		return;
	}
	pair_tell(p,
		&(struct pair_event){
			.type = PAIR_NEWS, .role = p->role, .news = what, .words = words });
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct pair *p = data;
	struct err err = ERR_INIT;

	if (ev->type == AGENT_EV_SESSION && told_session(p, p->role, ev->session, &err) < 0) {
		pair_note(p, "%s", err.msg);
		p->leaves = true;
		turn_cancel(p->turn);
	}
	if (p->role == MASTER_INSTRUCTOR && ev->type == AGENT_EV_TEXT) {
		pass_words(p, ev->text);
		return;
	}
	if (p->role == MASTER_INSTRUCTOR &&
		(ev->type == AGENT_EV_BREAK || ev->type == AGENT_EV_TOOL_BEGIN ||
			ev->type == AGENT_EV_DONE))
		flush_words(p, ev->type == AGENT_EV_DONE);
	if (ev->type != AGENT_EV_DONE)
		pair_tell(p,
			&(struct pair_event){ .type = PAIR_AGENT, .role = p->role, .event = ev });
}

/* ---- how it ends ---- */

static int act_on_fate(struct pair *p, enum master_role role, struct err *reterr)
{
	const struct master_side *is = pair_side_state(p, role);
	AUTO_STR text = STR_INIT;
	enum turn_news fate = p->fate;

	p->settles = false;
	if (fate != NEWS_ANSWERED && hears_first(p, role)) {
		p->fate = NEWS_COUNT;
		return pair_answered(p, role, AGENT_CANCELLED, SV(""),
			fate == NEWS_NOT_SENT ? "it had not got your words yet"
					      : "the user spoke up",
			NULL, reterr);
	}
	if (fate == NEWS_NOT_SENT) {
		pair_tell(p,
			&(struct pair_event){ .type = PAIR_BEGINS,
				.role = role,
				.round = is->ask.round,
				.go_on = true,
				.text = str_sv(&is->ask.text) });
		return p->over || p->timer ? 0 : pair_send(p, role, reterr);
	}
	p->fate = NEWS_COUNT;
	if (fate == NEWS_ANSWERED)
		return pair_answered(p, role, AGENT_OK, str_sv(&p->found), "", NULL, reterr);
	if (fate == NEWS_UNANSWERED)
		words_go_on(&text);
	else
		words_unsure(str_sv(&is->ask.text), &text);
	if (role == MASTER_INSTRUCTOR)
		words_add_said(pair_state(p), &text);
	return pair_ask(p, role, str_sv(&text), true, reterr);
}

static int wait_for(struct pair *p, const char *what, int64_t until_ms)
{
	p->wait_for = what;
	p->wait_until_ms = until_ms;
	pair_next(p);
	return 0;
}

/* A context that is full is cut, or begun anew; and if that does not help, somebody has to. */
static int context_full(struct pair *p, const struct turn_outcome *out, struct err *reterr)
{
	struct pair_side *side = &p->sides[p->role];
	const char *name = master_role_name(p->role);
	struct err err = ERR_INIT;
	int r = ERR_NOTFOUND;

	for (; side->shortened < 2 && r < 0; side->shortened++)
		r = pair_shorten(p, p->role, side->shortened > 0, &err);
	if (r < 0) {
		AUTO_STR why = STR_INIT;
		str_addf(&why, "the %s's context is full: %s", name,
			err.code ? err.msg : out->message);
		r = pair_stop(p, MASTER_STOP_FAILED, why.buf, reterr);
		if (r == 0)
			pair_end(p, NULL);
		return r;
	}
	pair_note(p, "the %s's context was full: it goes on in a shorter session", name);
	AUTO_STR text = STR_INIT;
	words_unsure(str_sv(&pair_side_state(p, p->role)->ask.text), &text);
	if (p->role == MASTER_INSTRUCTOR)
		words_add_said(pair_state(p), &text);
	return pair_ask(p, p->role, str_sv(&text), true, reterr);
}

/* It is settled and tried again a while later, while that makes sense. */
static int failed(struct pair *p, const struct turn_outcome *out, struct err *reterr)
{
	static const int pauses_s[PAIR_TRIES] = { 2, 10, 30 };
	int64_t now = clock_wall_ms(NULL);
	AUTO_STR why = STR_INIT;

	str_addf(&why, "%s: %s", master_role_name(p->role), out->message);
	if (out->fail == AGENT_CONTEXT_FULL)
		return context_full(p, out, reterr);
	if (out->fail == AGENT_RATE_LIMITED) {
		int64_t until = out->limit_ends_ms > now ? out->limit_ends_ms : now + PAIR_LIMIT_MS;
		char when[CLOCK_TEXT_MAX];
		clock_format_local(until, when);
		pair_note(p, "the %s's limit is reached: waiting until %s",
			master_role_name(p->role), when);
		return wait_for(p, "limit", until);
	}
	bool for_good = out->fail == AGENT_NOT_LOGGED_IN || out->fail == AGENT_REFUSED ||
		out->fail == AGENT_MISSING || out->fail == AGENT_TOO_OLD ||
		out->fail == AGENT_OVER_BUDGET;
	if (p->tries < PAIR_TRIES && !for_good) {
		pair_note(p, "%s; trying again", why.buf);
		return wait_for(p, "trying again", now + pauses_s[p->tries++] * 1000LL);
	}
	enum master_stop stop =
		out->fail == AGENT_OVER_BUDGET ? MASTER_STOP_BUDGET : MASTER_STOP_FAILED;
	int r = pair_stop(p, stop, why.buf, reterr);
	if (r == 0)
		pair_end(p, NULL);
	return r;
}

static int ended(struct pair *p, const struct turn_outcome *out, struct err *reterr)
{
	bool settled = p->settles && p->fate != NEWS_COUNT &&
		(p->fate != NEWS_NOT_SENT || hears_first(p, p->role));

	p->settles = false;
	if (out->err.code < 0) {
		*reterr = out->err;
		return out->err.code;
	}
	if (settled)
		return act_on_fate(p, p->role, reterr);
	p->fate = NEWS_COUNT;
	/* What was stopped stays open, and is settled by whoever goes on. */
	bool stays = (p->leaves || p->late) && out->fail != AGENT_OK;
	bool ends = out->fail == AGENT_OK || (out->fail == AGENT_CANCELLED && p->interrupted) ||
		(out->fail == AGENT_TIMED_OUT && p->role == MASTER_WORKER);
	if (ends && !stays)
		return pair_answered(
			p, p->role, out->fail, str_sv(&out->answer), out->message, out, reterr);
	int r = pair_spent(p, out, reterr);
	if (r < 0)
		return r;
	if (!stays)
		return failed(p, out, reterr);
	pair_next(p);
	return 0;
}

static void on_done(void *data, const struct turn_outcome *out)
{
	struct pair *p = data;
	struct turn_outcome kept = *out;
	CLEANUP(agent_denials_release) struct agent_denials denied = { .list = VEC_INIT };
	AUTO_STR answer = STR_INIT;
	struct err err = ERR_INIT;

	/* What follows may be another turn, of another host. */
	str_add(&answer, str_sv(&out->answer));
	vec_each (&out->denied.list, d)
		agent_denials_add(&denied, sv_of(d->tool), sv_of(d->about), d->asked);
	kept.answer = answer;
	kept.denied = denied;
	turn_free(TAKE_PTR(p->turn));
	flush_words(p, true);
	if (ended(p, &kept, &err) < 0)
		pair_end(p, &err);
}

static void begin(struct pair *p, enum master_role role)
{
	const struct turn_opts opts = { .claim = claim, .claim_data = p, .busy_ms = BUSY_MS };
	const struct turn_sink sink = {
		.data = p,
		.begin = on_begin,
		.news = on_news,
		.done = on_done,
		.event = on_event,
		.event_data = p,
	};

	p->role = role;
	p->turn = turn_begin(p->sides[role].host, &opts, &sink);
}

int pair_send(struct pair *p, enum master_role role, struct err *reterr)
{
	int r = side_ready(p, role, reterr);

	if (r == 0)
		begin(p, role);
	return r;
}

int pair_settle(struct pair *p, enum master_role role, struct err *reterr)
{
	const struct master_side *is = pair_side_state(p, role);
	int r = side_ready(p, role, reterr);

	str_clear(&p->found);
	if (r == 0)
		r = turn_fate(p->sides[role].host, is->conversation, is->ask.prompt_id, &p->fate,
			&p->found, reterr);
	if (r < 0)
		return r;
	if (p->fate != NEWS_COUNT)
		return act_on_fate(p, role, reterr);
	/* Its agent may still be at it: the turn that follows waits for that, and tells. */
	p->settles = true;
	begin(p, role);
	return 0;
}
