/*
 * What is wrong with a rollout of Codex.
 */
#include "base/mem.h"
#include "strategy/repair-facts.h"
#include "strategy/repair-mend.h"

void codex_fact(struct facts *f, const struct entry *entry)
{
	(void)f;
	(void)entry;
}

int codex_plan(struct repair *r, struct err *reterr)
{
	(void)r;
	(void)reterr;
	return 0;
}

void codex_mend(const struct mender *m, const struct mending *entry)
{
	(void)m;
	(void)entry;
}
