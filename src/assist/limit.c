/*
 * Waiting until the agent's limit ends.
 */
#include "assist/internal.h"

enum { TICK_MS = 1000 };

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
	char when[CLOCK_TEXT_MAX];

	clock_format_local(out->limit_ends_ms, when);
	assist_notice(as, "%s's limit is reached: waiting until %s. Ctrl-C gives up.",
		out->conv.agent, when);
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
