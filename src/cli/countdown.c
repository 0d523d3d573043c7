#include "cli/countdown.h"

#include "base/clock.h"

enum { TICK_MS = 1000 };

void countdown_init(struct countdown *c, FILE *to, bool shows, struct loop *loop)
{
	*c = (struct countdown){ .to = to, .shows = shows, .loop = loop };
}

void countdown_show(struct countdown *c, int64_t seconds)
{
	if (!c->shows)
		return;
	(void)fprintf(c->to, "\r%lld s left\033[K", (long long)seconds);
	(void)fflush(c->to);
	c->visible = true;
}

static void on_tick(void *data)
{
	struct countdown *c = data;
	int64_t left = c->until_ms - clock_age_ms(NULL);

	c->timer = NULL;
	if (left <= 0)
		return;
	countdown_show(c, (left + TICK_MS - 1) / TICK_MS);
	c->timer = loop_add_timer(c->loop, left < TICK_MS ? left : TICK_MS, on_tick, c);
}

void countdown_begin(struct countdown *c, int64_t ms)
{
	countdown_end(c);
	if (!c->shows || !c->loop)
		return;
	c->until_ms = clock_age_ms(NULL) + ms;
	on_tick(c);
}

void countdown_end(struct countdown *c)
{
	if (c->timer)
		loop_remove(c->loop, c->timer);
	c->timer = NULL;
	if (!c->visible)
		return;
	(void)fputs("\r\033[K", c->to);
	(void)fflush(c->to);
	c->visible = false;
}
