#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "master/next.h"
#include "master/pair-room.h"
#include "master/rounds.h"
#include "master/words.h"

enum { TICK_MS = 1000 };

void pair_tell(struct pair *p, const struct pair_event *ev)
{
	p->sink(p->data, ev);
}

void pair_note(struct pair *p, const char *fmt, ...)
{
	AUTO_STR line = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_addvf(&line, fmt, ap);
	va_end(ap);
	pair_tell(p, &(struct pair_event){ .type = PAIR_NOTE, .text = str_sv(&line) });
}

static void go(void *data);

static void after(struct pair *p, int64_t ms, loop_timer_fn fn)
{
	loop_remove(p->opts.turns.loop, p->timer);
	p->timer = loop_add_timer(p->opts.turns.loop, ms, fn, p);
}

void pair_next(struct pair *p)
{
	if (!p->over)
		after(p, 0, go);
}

/* ---- the end ---- */

void pair_end(struct pair *p, const struct err *err)
{
	const struct master_state *s = pair_state(p);

	p->over = true;
	loop_remove(p->opts.turns.loop, p->timer);
	loop_remove(p->opts.turns.loop, p->deadline);
	p->timer = p->deadline = NULL;
	check_stop(&p->check);
	pair_tell(p,
		&(struct pair_event){ .type = PAIR_STOPPED,
			.err = err,
			.stop = s->stopped.stop,
			.text = str_sv(&s->stopped.why) });
}

int pair_stop(struct pair *p, enum master_stop stop, const char *why, struct err *reterr)
{
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_STOP);

	step.stop = stop;
	step.why = sv_of(why);
	return master_step(p->opts.run, &step, reterr);
}

static int stop_and_end(struct pair *p, enum master_stop stop, const char *why, struct err *reterr)
{
	int r = pair_stop(p, stop, why, reterr);

	if (r == 0)
		pair_end(p, NULL);
	return r;
}

/* ---- steps ---- */

int pair_ask(struct pair *p, enum master_role role, struct sv text, bool go_on, struct err *reterr)
{
	const struct master_state *s = pair_state(p);
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_ASK);
	const char *model = role == MASTER_WORKER && s->decided.model ? s->decided.model
								      : s->config.model[role];
	char id[UUID_TEXT];

	uuid_new(id);
	step.role = role;
	step.round = s->round + (role == MASTER_WORKER && !go_on);
	step.prompt_id = sv_of(id);
	step.model = sv_of(model);
	step.text = text;
	int r = master_step(p->opts.run, &step, reterr);
	if (r < 0)
		return r;
	pair_tell(p,
		&(struct pair_event){ .type = PAIR_BEGINS,
			.role = role,
			.round = step.round,
			.go_on = go_on,
			.text = str_sv(&pair_side_state(p, role)->ask.text) });
	/* Who was told of it may have stopped it: then it is settled when it goes on. */
	return p->over || p->timer ? 0 : pair_send(p, role, reterr);
}

static void take_usage(struct pair *p, const struct turn_outcome *out, struct master_step *step)
{
	struct pair_side *side = &p->sides[step->role];

	step->usage = out->usage;
	step->duration_ms = out->duration_ms;
	if (side->may_spend > 0 && out->usage.cost_usd > 0)
		side->may_spend -= out->usage.cost_usd;
}

int pair_spent(struct pair *p, const struct turn_outcome *out, struct err *reterr)
{
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_SPENT);
	const struct agent_usage *u = &out->usage;

	if (u->cost_usd <= 0 && u->input <= 0 && u->output <= 0)
		return 0;
	step.role = p->role;
	step.prompt_id = sv_of(pair_side_state(p, p->role)->ask.prompt_id);
	take_usage(p, out, &step);
	return master_step(p->opts.run, &step, reterr);
}

/* What somebody was asked and refused is told as that. */
static void list_denied(const struct pair *p, const struct agent_denials *denied, struct str *out)
{
	vec_each (&denied->list, d)
		str_addf(out, "%s- %s%s%s%s", out->len ? "\n" : "", d->tool,
			d->about[0] ? ": " : "", d->about,
			d->asked && p->opts.ask ? " (the user said no)" : "");
}

int pair_answered(struct pair *p, enum master_role role, enum agent_fail fail, struct sv text,
	const char *why, const struct turn_outcome *out, struct err *reterr)
{
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_ANSWER);
	AUTO_STR denied = STR_INIT;

	step.role = role;
	step.prompt_id = sv_of(pair_side_state(p, role)->ask.prompt_id);
	step.fail = fail;
	step.why = sv_of(why);
	step.text = text;
	if (out) {
		take_usage(p, out, &step);
		list_denied(p, &out->denied, &denied);
		step.denied = str_sv(&denied);
	}
	int r = master_step(p->opts.run, &step, reterr);
	if (r < 0)
		return r;
	p->tries = 0;
	p->sides[role].shortened = 0;
	AUTO_PAIR_DECISION d = PAIR_DECISION_INIT;
	AUTO_STR words = STR_INIT;
	if (!out && role == MASTER_INSTRUCTOR) {
		pair_decision_read(text, &d);
		pair_decision_words(text, &d, &words);
	}
	pair_tell(p,
		&(struct pair_event){ .type = PAIR_ENDS,
			.role = role,
			.fail = fail,
			.found = !out && fail == AGENT_OK,
			.denied = out ? &out->denied : NULL,
			.text = fail == AGENT_OK ? text : sv_of(why),
			.said = out || fail != AGENT_OK	    ? SV("")
				: role == MASTER_INSTRUCTOR ? str_sv(&words)
							    : text });
	pair_next(p);
	return 0;
}

/* ---- what comes next ---- */

static int decide(struct pair *p, struct err *reterr)
{
	static const enum master_act acts[] = { [DECISION_NONE] = MASTER_ACT_CORRECT,
		[DECISION_START] = MASTER_ACT_FRESH,
		[DECISION_TELL] = MASTER_ACT_GO_ON,
		[DECISION_DONE] = MASTER_ACT_DONE };
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_DECIDED);
	AUTO_PAIR_DECISION d = PAIR_DECISION_INIT;

	pair_decision_read(str_sv(&pair_side_state(p, MASTER_INSTRUCTOR)->answer.text), &d);
	step.act = acts[d.act];
	step.text = d.act == DECISION_NONE ? sv_of(d.wrong) : sv_of(d.text);
	step.system_prompt = sv_of(d.system_prompt);
	step.model = sv_of(d.model);
	step.timeout_ms = d.timeout_ms;
	int r = master_step(p->opts.run, &step, reterr);
	if (r < 0)
		return r;
	pair_tell(p,
		&(struct pair_event){ .type = PAIR_DECIDED,
			.act = step.act,
			.text = step.text,
			.model = step.model });
	pair_next(p);
	return 0;
}

static void on_checked(void *data, int status, struct sv tail)
{
	struct pair *p = data;
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_CHECK);
	struct err err = ERR_INIT;

	step.status = status;
	step.text = tail;
	if (master_step(p->opts.run, &step, &err) < 0) {
		pair_end(p, &err);
		return;
	}
	pair_tell(p, &(struct pair_event){ .type = PAIR_CHECKED, .status = status, .text = tail });
	pair_next(p);
}

static int start_check(struct pair *p, struct err *reterr)
{
	const struct master_config *c = &pair_state(p)->config;

	p->check.done = on_checked;
	p->check.data = p;
	int r = check_start(&p->check, p->opts.turns.loop, c->check, c->dir, p->opts.envp, reterr);
	if (r == 0)
		pair_tell(p, &(struct pair_event){ .type = PAIR_CHECKS, .text = sv_of(c->check) });
	return r;
}

/* Whoever typed [compact] wants it before more is said. */
static void compact(struct pair *p)
{
	p->compact = false;
	for (int role = 0; role < MASTER_ROLES; role++) {
		const char *name = master_role_name((enum master_role)role);
		struct err err = ERR_INIT;
		int r = pair_shorten(p, (enum master_role)role, false, &err);
		if (r == 0)
			pair_note(p, "the %s's session is shorter now", name);
		else if (r == ERR_NOTFOUND)
			pair_note(p, "in the %s's session is nothing to shorten", name);
		else
			pair_note(p, "the %s's session stays as it is: %s", name, err.msg);
	}
}

static int step(struct pair *p, struct err *reterr)
{
	const struct master_state *s = pair_state(p);
	const struct next n = master_next(s);
	AUTO_STR text = STR_INIT;
	int r = 0;

	if (p->compact && n.kind != NEXT_SETTLE)
		compact(p);
	switch (n.kind) {
	case NEXT_NOTHING:
		pair_end(p, NULL);
		return 0;
	case NEXT_SETTLE:
		return pair_settle(p, n.role, reterr);
	case NEXT_INSTRUCTOR:
		words_for_instructor(s, &text);
		if (!s->side[MASTER_INSTRUCTOR].conversation)
			r = pair_session(p, MASTER_INSTRUCTOR, MASTER_BEGIN_FIRST, reterr);
		return r < 0 ? r : pair_ask(p, MASTER_INSTRUCTOR, str_sv(&text), false, reterr);
	case NEXT_DECIDE:
		return decide(p, reterr);
	case NEXT_WORKER:
		if (n.fresh)
			r = pair_session(p, MASTER_WORKER,
				s->side[MASTER_WORKER].conversation ? MASTER_BEGIN_FRESH
								    : MASTER_BEGIN_FIRST,
				reterr);
		str_add(&text, str_sv(&s->decided.text));
		return r < 0 ? r : pair_ask(p, MASTER_WORKER, str_sv(&text), false, reterr);
	case NEXT_CHECK:
		return start_check(p, reterr);
	case NEXT_STOP:
		return stop_and_end(p, n.stop, n.why, reterr);
	}
	return err_set(reterr, ERR_BUG, "no next step");
}

static void go(void *data)
{
	struct pair *p = data;
	int64_t left = p->wait_until_ms - clock_wall_ms(NULL);
	struct err err = ERR_INIT;
	int r;

	p->timer = NULL;
	if (p->leaves || p->late) {
		r = stop_and_end(p, p->leaves ? MASTER_STOP_USER : MASTER_STOP_TIME,
			p->leaves ? "left by the user" : "the time for this run is over", &err);
	} else if (p->interrupted || p->paused) {
		bool told = p->paused;
		p->paused = true;
		p->interrupted = false;
		if (!told)
			pair_tell(p, &(struct pair_event){ .type = PAIR_PAUSED });
		return;
	} else if (p->wait_for && left > 0) {
		after(p, left < TICK_MS ? left : TICK_MS, go);
		pair_tell(p,
			&(struct pair_event){ .type = PAIR_WAITING,
				.role = p->role,
				.seconds = (left + 999) / 1000,
				.text = sv_of(p->wait_for) });
		return;
	} else {
		p->wait_for = NULL;
		r = step(p, &err);
	}
	if (r < 0)
		pair_end(p, &err);
}

/* ---- from outside ---- */

struct pair *pair_new(const struct pair_opts *opts, pair_sink_fn sink, void *data)
{
	struct pair *p = xcalloc(1, sizeof(*p));

	p->opts = *opts;
	p->sink = sink;
	p->data = data;
	p->fate = NEWS_COUNT;
	p->found = p->words.held = (struct str)STR_INIT;
	p->check = (struct check)CHECK_INIT;
	return p;
}

void pair_free(struct pair *p)
{
	if (!p)
		return;
	loop_remove(p->opts.turns.loop, p->timer);
	loop_remove(p->opts.turns.loop, p->deadline);
	turn_free(p->turn);
	check_stop(&p->check);
	for (int role = 0; role < MASTER_ROLES; role++)
		pair_side_release(&p->sides[role]);
	str_release(&p->check.tail);
	str_release(&p->found);
	str_release(&p->words.held);
	free(p);
}

/* Stops what runs, whatever that is, and goes on from there. */
static void halt(struct pair *p)
{
	if (p->turn) {
		turn_cancel(p->turn);
	} else {
		check_stop(&p->check);
		after(p, 0, go);
	}
}

static void on_deadline(void *data)
{
	struct pair *p = data;

	p->deadline = NULL;
	p->late = true;
	halt(p);
}

void pair_begin(struct pair *p)
{
	int64_t wall = pair_state(p)->config.max_wall_ms;
	int64_t left = wall - pair_state(p)->ran_ms;

	p->late = wall > 0 && left <= 0;
	if (left > 0)
		p->deadline = loop_add_timer(p->opts.turns.loop, left, on_deadline, p);
	pair_next(p);
}

int pair_say(struct pair *p, struct sv line, struct err *reterr)
{
	const struct rounds_line got = rounds_read(line, pair_state(p)->remaining);
	int r = 0;

	/* Whoever mistyped it does not want half of it done. */
	if (got.wrong.n > 0) {
		pair_note(p,
			"nothing was done: %.*s is none of [r+5], [r=9], [r=unlimited] and "
			"[compact]",
			SV_ARG(got.wrong));
		return 1;
	}
	if (got.changed) {
		struct master_step step = MASTER_STEP_INIT(MASTER_STEP_ROUNDS);
		step.rounds = got.remaining;
		r = master_step(p->opts.run, &step, reterr);
		if (r == 0 && got.remaining == MASTER_UNLIMITED)
			pair_note(p, "rounds: unlimited");
		else if (r == 0)
			pair_note(p, "rounds left: %lld", (long long)got.remaining);
	}
	if (r == 0 && got.text.n > 0) {
		struct master_step step = MASTER_STEP_INIT(MASTER_STEP_SAY);
		step.text = got.text;
		r = master_step(p->opts.run, &step, reterr);
		if (r == 0 && !p->paused)
			pair_note(p, "the instructor gets that with what it is sent next");
		if (r == 0 && got.late.n > 0)
			pair_note(p,
				"%.*s is only words for the instructor there: it counts at the "
				"beginning",
				SV_ARG(got.late));
	}
	p->compact |= got.compact;
	if (r == 0 && p->paused) {
		p->paused = false;
		pair_next(p);
	}
	return r;
}

void pair_interrupt(struct pair *p)
{
	if (p->over || p->paused)
		return;
	p->interrupted = true;
	halt(p);
}

void pair_leave(struct pair *p)
{
	if (p->over)
		return;
	p->leaves = true;
	halt(p);
}

void pair_answer(struct pair *p, const char *ask, enum agent_answer answer)
{
	if (p->turn)
		turn_answer(p->turn, ask, answer);
}
