/*
 * A role's session made shorter: a copy without its long texts, or a fresh one that knows where
 * the old one stood. The conversation goes on in it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "master/pair-room.h"
#include "store/catalogue.h"
#include "strategy/rollover.h"
#include "strategy/trim.h"

static const struct transcript_home *home_of(const struct pair *p, const char *agent)
{
	for (size_t i = 0; agent && i < p->opts.turns.n_homes; i++)
		if (strcmp(p->opts.turns.homes[i].agent, agent) == 0)
			return &p->opts.turns.homes[i];
	return NULL;
}

static int trim(struct pair *p, const char *path, const struct transcript_format *format,
	char id[static UUID_TEXT], struct err *reterr)
{
	struct trim_report report = TRIM_REPORT_INIT;
	struct trim_opts opts = TRIM_OPTS_INIT;

	opts.path = path;
	opts.format = format;
	int r = trim_session(&opts, p->opts.archive, &report, reterr);
	if (r >= 0)
		memcpy(id, report.file.id, UUID_TEXT);
	trim_report_release(&report);
	return r < 0 ? r : 0;
}

static int roll_over(struct pair *p, const struct transcript_home *home, const char *path,
	char id[static UUID_TEXT], struct err *reterr)
{
	const struct turn_host_opts *o = &p->opts.turns;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_ROLLOVER plan = ROLLOVER_INIT;
	int r = catalogue_take(o->store, home, path, &row, reterr);
	const struct rollover_opts opts = { .store = o->store,
		.homes = o->homes,
		.n_homes = o->n_homes,
		.parent = &row,
		.target = home,
		.dir = pair_state(p)->config.dir,
		.archive = p->opts.archive,
		.clock = o->clock };

	if (r >= 0)
		r = rollover_plan(&opts, &plan, reterr);
	if (r >= 0)
		r = rollover_apply(&opts, &plan, reterr);
	if (r < 0)
		return r;
	memcpy(id, plan.id, UUID_TEXT);
	return 0;
}

int pair_shorten(struct pair *p, enum master_role role, bool anew, struct err *reterr)
{
	const struct master_side *is = pair_side_state(p, role);
	const struct turn_host_opts *o = &p->opts.turns;
	const struct transcript_home *home = home_of(p, is->agent);
	AUTO_FREE char *path = NULL;
	char id[UUID_TEXT];

	if (!is->session || !home)
		return err_set(reterr, ERR_NOTFOUND, "there is no session to shorten");
	int r = transcript_find(home, sv_of(is->session), &path, reterr);
	if (r < 0)
		return r;
	/* A process that is kept has the old one open. */
	pair_side_release(&p->sides[role]);
	r = anew ? roll_over(p, home, path, id, reterr) : trim(p, path, home->format, id, reterr);
	if (r == 0)
		r = conv_set_session(o->store, is->conversation, is->agent, id, o->clock, reterr);
	if (r < 0)
		return r;
	return pair_goes_on_in(p, role, anew ? MASTER_BEGIN_ROLLED : MASTER_BEGIN_TRIMMED,
		is->conversation, id, reterr);
}
