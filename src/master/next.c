#include "master/next.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/attr.h"

/* So many that a small sum is not shown as nothing. */
#define DECIMALS(usd) ((usd) < 0.1 ? 4 : 2)

static struct next stop(enum master_stop why, const char *fmt, ...) PRINTF(2, 3);
static struct next stop(enum master_stop why, const char *fmt, ...)
{
	struct next n = { .kind = NEXT_STOP, .stop = why };
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(n.why, sizeof(n.why), fmt, ap);
	va_end(ap);
	return n;
}

/* Before anything that costs. Words of the user are a reason to try again. */
static struct next guarded(const struct master_state *s, struct next then)
{
	const struct master_config *c = &s->config;
	const struct master_side *w = &s->side[MASTER_WORKER];
	bool news = w->answer.n > s->side[MASTER_INSTRUCTOR].ask.n && s->said.len == 0;

	if (c->max_budget_usd > 0 && s->cost_usd >= c->max_budget_usd)
		return stop(MASTER_STOP_BUDGET, "the budget of $%.*f is used up: $%.*f so far",
			DECIMALS(c->max_budget_usd), c->max_budget_usd, DECIMALS(s->cost_usd),
			s->cost_usd);
	/* What was under way is settled first, whatever else there is. */
	if (then.kind == NEXT_SETTLE)
		return then;
	if (c->stall > 0 && news && w->same_asks >= c->stall &&
		sv_eq(str_sv(&w->ask.text), str_sv(&s->decided.text)))
		return stop(MASTER_STOP_STALLED,
			"no progress: the worker got the same instruction %lld times",
			(long long)w->same_asks);
	if (c->stall > 0 && news && w->same_answers >= c->stall)
		return stop(MASTER_STOP_STALLED,
			"no progress: the worker gave the same answer %lld times",
			(long long)w->same_answers);
	return then;
}

static struct next decided(const struct master_state *s)
{
	bool called = s->decided.act == MASTER_ACT_FRESH || s->decided.act == MASTER_ACT_GO_ON;
	bool fresh = s->decided.act == MASTER_ACT_FRESH || !s->side[MASTER_WORKER].conversation;

	if (called && s->remaining == 0)
		return stop(MASTER_STOP_ROUNDS, "no rounds are left");
	/* What the user said meanwhile comes before what was decided without it. */
	if (s->said.len > 0)
		return (struct next){ .kind = NEXT_INSTRUCTOR };
	if (s->decided.act == MASTER_ACT_DONE && s->config.check)
		return (struct next){ .kind = NEXT_CHECK };
	if (s->decided.act == MASTER_ACT_DONE)
		return stop(MASTER_STOP_DONE, "%s", "");
	if (called)
		return (struct next){ .kind = NEXT_WORKER,
			.role = MASTER_WORKER,
			.fresh = fresh && s->side[MASTER_WORKER].session_n < s->decided.n };
	if (s->corrections > NEXT_CORRECTIONS)
		return stop(MASTER_STOP_CORRECTIONS,
			"the instructor was corrected %d times and still does not say what the "
			"worker is to do: %s",
			NEXT_CORRECTIONS, s->decided.text.buf);
	return (struct next){ .kind = NEXT_INSTRUCTOR };
}

static struct next unguarded(const struct master_state *s)
{
	const struct master_side *i = &s->side[MASTER_INSTRUCTOR], *w = &s->side[MASTER_WORKER];
	int64_t newest = i->answer.n > w->answer.n ? i->answer.n : w->answer.n;

	newest = s->decided.n > newest ? s->decided.n : newest;
	newest = s->check.n > newest ? s->check.n : newest;
	if (newest == 0 && s->said.len == 0)
		return (struct next){ .kind = NEXT_NOTHING };
	if (newest == 0 && s->remaining == 0)
		return stop(MASTER_STOP_ROUNDS, "no rounds are allowed: -r N sets how many");
	if (newest == 0)
		return (struct next){ .kind = NEXT_INSTRUCTOR };
	if (newest == i->answer.n)
		return (struct next){ .kind = i->answer.fail == AGENT_OK ? NEXT_DECIDE
									 : NEXT_INSTRUCTOR };
	if (newest == s->decided.n)
		return decided(s);
	if (newest == s->check.n && s->check.status == 0 && s->said.len == 0)
		return stop(MASTER_STOP_DONE, "%s", "");
	if (newest == s->check.n && s->check.status != 0 && s->check.failed > s->config.check_max)
		return stop(MASTER_STOP_CHECK, "the check failed %lld times: %s",
			(long long)s->check.failed, s->config.check ? s->config.check : "");
	return (struct next){ .kind = NEXT_INSTRUCTOR };
}

struct next master_next(const struct master_state *s)
{
	if (s->stopped.stop != MASTER_STOP_NONE)
		return (struct next){ .kind = NEXT_NOTHING };
	for (int role = 0; role < MASTER_ROLES; role++)
		if (master_is_open(&s->side[role]))
			return guarded(s,
				(struct next){
					.kind = NEXT_SETTLE, .role = (enum master_role)role });
	struct next n = unguarded(s);
	return n.kind == NEXT_INSTRUCTOR || n.kind == NEXT_WORKER ? guarded(s, n) : n;
}
