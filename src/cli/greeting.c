#include "cli/greeting.h"

#include <string.h>

static bool finds_current(const struct assistant *a, bool fresh, struct conv *c)
{
	const struct app *app = a->app;

	if (fresh || conv_current(app->store, a->dir, &app->clock, c, NULL) < 0)
		return false;
	return !a->forced || strcmp(c->agent, agent_driver(a->kind)->name) == 0;
}

bool greeting(const struct assistant *a, bool fresh, struct str *line)
{
	AUTO_CONV c = CONV_INIT;
	AUTO_CONV last = CONV_INIT;
	char ago[CLOCK_TEXT_MAX];
	const struct app *app = a->app;

	if (finds_current(a, fresh, &c)) {
		clock_format_ago(c.age_ms, ago);
		str_addf(line, "Going on with %s: \"%s\" (%lld %s, %s).", c.agent, conv_label(&c),
			(long long)c.turns, c.turns == 1 ? "turn" : "turns", ago);
		return true;
	}
	bool before = a->by_default && conv_last(app->store, a->dir, &app->clock, &last, NULL) == 0;
	str_addf(line, "A new conversation with %s.",
		before ? last.agent : agent_driver(a->kind)->name);
	return false;
}
