/*
 * Waiting: until the agent's limit ends, and until a conversation is free.
 */
#include "assist/internal.h"

enum {
	TICK_MS = 1000,
	BUSY_STEP_MS = 100,
	BUSY_PATIENCE_MS = 30000, /* a turn may be about to end; more is for the user to decide */
};

static void wake(void *data)
{
	struct assist *as = data;

	as->beat = NULL;
	as->done = true;
}

static int rest(struct assist *as, int64_t ms, struct err *reterr)
{
	as->done = false;
	as->beat = loop_add_timer(as->opts.loop, ms, wake, as);
	int r = loop_run(as->opts.loop, &as->done, reterr);
	loop_remove(as->opts.loop, as->beat);
	as->beat = NULL;
	return r;
}

int assist_choose_patiently(
	struct assist *as, const struct assist_request *req, struct conv *ret, struct err *reterr)
{
	int64_t until = clock_age_ms(NULL) + BUSY_PATIENCE_MS;
	struct err busy = ERR_INIT;
	int r = assist_choose(as, req, ret, &busy);

	as->gave_up = false;
	if (r == ERR_BUSY && as->opts.routes)
		assist_notice(as, "%s. Waiting.", busy.msg);
	as->waiting = true;
	while (r == ERR_BUSY && as->opts.routes && !as->gave_up && clock_age_ms(NULL) < until) {
		conv_release(ret);
		r = rest(as, BUSY_STEP_MS, &busy);
		if (r == 0)
			r = assist_choose(as, req, ret, &busy);
	}
	as->waiting = false;
	if (r < 0 && reterr)
		*reterr = busy;
	return r;
}

bool assist_limit_waits(const struct assist *as, const struct assist_outcome *out)
{
	return as->opts.wait_on_limit && out->fail == AGENT_RATE_LIMITED && out->limit_ends_ms > 0;
}

static void on_tick(void *data)
{
	struct assist *as = data;
	int64_t left = as->wait_until_ms - clock_wall_ms(NULL);

	as->beat = NULL;
	if (left <= 0 || as->gave_up) {
		as->done = true;
		return;
	}
	if (as->opts.ui.waiting)
		as->opts.ui.waiting(as->opts.ui.data, (left + 999) / 1000);
	as->beat = loop_add_timer(as->opts.loop, left < TICK_MS ? left : TICK_MS, on_tick, as);
}

int assist_limit_wait(
	struct assist *as, const struct assist_outcome *out, bool *ret_over, struct err *reterr)
{
	char when[CLOCK_TEXT_MAX], seconds[32];

	clock_format_local(out->limit_ends_ms, when);
	(void)snprintf(seconds, sizeof(seconds), "%lld",
		(long long)((out->limit_ends_ms - clock_wall_ms(NULL) + 999) / 1000));
	assist_tell(as, TEXT_LIMIT, TEXT_WORDS(out->conv.agent, seconds, when));
	as->wait_until_ms = out->limit_ends_ms;
	as->waiting = true;
	as->gave_up = false;
	as->done = false;
	on_tick(as);
	int r = loop_run(as->opts.loop, &as->done, reterr);
	loop_remove(as->opts.loop, as->beat);
	as->beat = NULL;
	as->waiting = false;
	*ret_over = !as->gave_up;
	return r;
}
