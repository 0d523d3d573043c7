#include "assist/member.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "os/repo.h"

void member_of(const struct session_row *row, const struct clock *clock, struct conv *ret)
{
	const struct session_info *info = &row->info;
	const char *name = session_row_name(row);
	struct sv title = utf8_cut(sv_of(info->prompt), CONV_TITLE_MAX);
	int64_t age = clock_wall_ms(clock) - row->active_ms;
	char *project = repo_root(info->cwd);

	*ret = (struct conv){
		.name = name[0] ? xstrdup(name) : NULL,
		.title = title.n == 0 ? NULL
				      : xasprintf("%.*s%s", SV_ARG(title),
						title.n < strlen(info->prompt) ? "…" : ""),
		.dir = xstrdup(info->cwd),
		.project = project ? project : xstrdup(info->cwd),
		.agent = xstrdup(row->agent),
		.session = xstrdup(info->id),
		.created_ms = info->first_ms,
		.active_ms = row->active_ms,
		.age_ms = age < 0 ? 0 : age,
		.turns = info->turns,
	};
}

bool member_bring(const struct project *kin, const char *project, struct conv *c)
{
	char *dir = kin ? project_brought(kin, c->dir, c->created_ms) : NULL;

	if (!dir)
		return false;
	free(c->dir);
	free(c->project);
	c->dir = dir;
	c->project = xstrdup(project);
	return true;
}

int member_adopt(struct store *store, struct conv *c, const struct clock *clock, struct err *reterr)
{
	const struct conv_new what = { .dir = c->dir, .project = c->project, .agent = c->agent };
	struct conv made = CONV_INIT;
	int r = conv_adopt(store, &what, c->session, clock, &made, reterr);

	if (r < 0)
		return r;
	conv_release(c);
	*c = made;
	return 0;
}
