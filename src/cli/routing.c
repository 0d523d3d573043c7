#include "cli/routing.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

bool routing_applies(const struct settings *s, bool one_shot)
{
	return strcmp(s->routing_enabled, "true") == 0 ||
		(one_shot && strcmp(s->routing_enabled, "auto") == 0);
}

static void override(double *value, double setting)
{
	if (setting >= 0)
		*value = setting;
}

/* A row of the table is "LANGUAGE.CLASS=WORD|WORD", as the loader made it. */
static struct lang_extra parse_words(const char *row)
{
	struct sv rest = sv_of(row);
	struct lang_extra extra = { .language = { NULL, 0 } };

	if (!sv_split(&rest, '.', &extra.language) || !sv_split(&rest, '=', &extra.cls))
		return (struct lang_extra){ .language = SV(""), .cls = SV(""), .words = SV("") };
	extra.words = rest.p ? rest : SV("");
	return extra;
}

static struct router *make(const struct settings *s, enum route_profile profile)
{
	struct route_opts opts = route_opts_default(profile);
	VEC(struct lang_extra) extra = VEC_INIT;

	override(&opts.threshold, s->routing_threshold);
	override(&opts.weights.keyword, s->routing_weight_keyword);
	override(&opts.weights.recency, s->routing_weight_recency);
	override(&opts.weights.continuation, s->routing_weight_continuation);
	opts.expiry_ms = (int64_t)(s->routing_expiry_minutes * 60000);
	opts.max = (size_t)s->routing_max_conversations;
	for (size_t i = 0; i < s->routing_words.n; i++)
		vec_push(&extra, parse_words(s->routing_words.v[i]));
	opts.extra = extra.v;
	opts.n_extra = extra.n;
	struct router *r = router_new(&opts);
	vec_release(&extra);
	return r;
}

int routing_router_for(
	const struct settings *s, const char *profile, struct router **ret, struct err *reterr)
{
	const char *name = profile ? profile : s->routing_profile;
	enum route_profile which;

	if (!route_profile_parse(sv_of(name), &which))
		return err_set(
			reterr, ERR_USAGE, "no profile '%s'; there are faden and seed", name);
	*ret = make(s, which);
	return 0;
}

struct router *routing_router(const struct settings *s)
{
	enum route_profile which = ROUTE_FADEN;

	(void)route_profile_parse(sv_of(s->routing_profile), &which);
	return make(s, which);
}

/* As the phrases of the program are spelt: in small letters, '|' between them. */
static char *join(const struct strv *phrases)
{
	AUTO_STR out = STR_INIT;

	for (size_t i = 0; i < phrases->n; i++) {
		str_adds(&out, i ? "|" : "");
		utf8_normalise(&out, sv_of(phrases->v[i]), true);
	}
	return xstrdup(out.len ? out.buf : "");
}

void routing_tasks_init(struct routing_tasks *t, const struct settings *s)
{
	*t = (struct routing_tasks){ .plan = join(&s->routing_plan_words),
		.edit = join(&s->routing_edit_words) };
	t->words = (struct route_task_words){ .plan_phrases = t->plan, .edit_verbs = t->edit };
}

void routing_tasks_release(struct routing_tasks *t)
{
	free(TAKE_PTR(t->plan));
	free(TAKE_PTR(t->edit));
}
