#include "assist/routing.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "os/path.h"
#include "route/learn.h"
#include "store/journal.h"
#include "store/topic.h"

enum {
	NAMED_MAX = 30, /* conversations found by a shared word alone */
	PROMPTS_MAX = 200, /* of one conversation that are read when its topic is not kept */
};

/* What the router looks at besides struct conv; same index as routing_result.convs. */
struct material {
	struct route_topic *topic;
	struct strv prompts;
	struct sv *slices;
};

struct gathering {
	const struct routing *rt;
	struct routing_result *res;
	VEC(struct material) materials;
	VEC(struct route_conv) view;
	struct map seen;
	char current[UUID_TEXT]; /* what goes on in this folder; "" for nothing */
	struct err *reterr;
};

void routing_result_release(struct routing_result *res)
{
	vec_each (&res->convs, c)
		conv_release(c);
	vec_release(&res->convs);
	free(res->candidates);
	*res = (struct routing_result)ROUTING_RESULT_INIT;
}

static void gathering_release(struct gathering *g)
{
	vec_each (&g->materials, m) {
		route_topic_free(m->topic);
		strv_release(&m->prompts);
		free(m->slices);
	}
	vec_release(&g->materials);
	vec_release(&g->view);
	map_release(&g->seen);
}

static bool is_seed(const struct routing *rt)
{
	return router_opts(rt->router)->profile == ROUTE_SEED;
}

/* The topic as it was kept; NULL when it has to be made from the prompts. */
static int load_topic(
	const struct routing *rt, int64_t seq, struct route_topic **ret, struct err *reterr)
{
	AUTO_STR bytes = STR_INIT;
	int r = topic_get(rt->store, seq, &bytes, reterr);

	*ret = r > 0 ? route_topic_load(str_sv(&bytes)) : NULL;
	return r < 0 ? r : 0;
}

static int load_material(struct gathering *g, const struct conv *c, struct material *m)
{
	int r = is_seed(g->rt) ? 0 : load_topic(g->rt, c->seq, &m->topic, g->reterr);

	if (r < 0 || m->topic)
		return r;
	r = journal_prompts(g->rt->store, c->id, PROMPTS_MAX, &m->prompts, g->reterr);
	m->slices = xcalloc(m->prompts.n + 1, sizeof(*m->slices));
	for (size_t i = 0; i < m->prompts.n; i++)
		m->slices[i] = sv_of(m->prompts.v[i]);
	return r;
}

static int gather(void *data, const struct conv *c)
{
	struct gathering *g = data;
	struct conv copy = CONV_INIT;

	if (g->rt->agent && strcmp(c->agent, g->rt->agent) != 0)
		return 0;
	if (!map_put(&g->seen, sv_of(c->id), 1))
		return 0;
	conv_copy(&copy, c);
	vec_push(&g->res->convs, copy);
	vec_push(&g->materials, (struct material){ .prompts = STRV_INIT });
	return load_material(g, c, &g->materials.v[g->materials.n - 1]);
}

static void add_stem(void *data, struct sv stem)
{
	strv_addsv(data, stem);
}

static bool is_gathered(const struct gathering *g, int64_t seq)
{
	vec_each (&g->res->convs, c)
		if (c->seq == seq)
			return true;
	return false;
}

/* Conversations of any folder and age that share a word with the text: it may name them. */
static int gather_named(struct gathering *g, struct sv text)
{
	struct route_topic *topic = route_topic_new();
	AUTO_STRV stems = STRV_INIT;
	struct topic_hits hits = { .seqs = VEC_INIT };

	router_learn(g->rt->router, topic, text, TOPIC_QUERY);
	route_topic_stems(topic, add_stem, &stems);
	route_topic_free(topic);
	int r = topic_search(g->rt->store, &stems, &hits, g->reterr);
	size_t n = 0;
	for (size_t i = 0; i < hits.seqs.n && n < NAMED_MAX; i++)
		if (!is_gathered(g, hits.seqs.v[i]))
			hits.seqs.v[n++] = hits.seqs.v[i];
	if (r == 0)
		r = conv_by_seqs(g->rt->store, hits.seqs.v, n, g->rt->clock, gather, g, g->reterr);
	vec_release(&hits.seqs);
	return r;
}

/* A run whose process is gone is over, whatever it left in the store. */
bool routing_runs(const struct conv *c)
{
	return c->status == CONV_ACTIVE && proc_id_check(&c->owner) != PROC_GONE;
}

static enum route_status status_of(const struct conv *c)
{
	switch (c->status) {
	case CONV_ACTIVE:
		return routing_runs(c) ? ROUTE_ACTIVE : ROUTE_IDLE;
	case CONV_ERRORED:
		return ROUTE_ERRORED;
	case CONV_IDLE:
		break;
	}
	return ROUTE_IDLE;
}

static void make_view(struct gathering *g, int64_t now_ms)
{
	for (size_t i = 0; i < g->res->convs.n; i++) {
		const struct conv *c = &g->res->convs.v[i];
		const struct material *m = &g->materials.v[i];
		vec_push(&g->view,
			(struct route_conv){
				.id = sv_of(c->id),
				.status = status_of(c),
				.created_ms = now_ms - c->age_ms - (c->active_ms - c->created_ms),
				.last_ms = now_ms - c->age_ms,
				.dir = sv_of(c->dir),
				.last_dir =
					strcmp(c->id, g->current) == 0 ? sv_of(g->rt->dir) : SV(""),
				.project = sv_of(c->project),
				.turns = (unsigned)c->turns,
				.before_reset = c->before_reset,
				.commands = m->slices,
				.n_commands = m->prompts.n,
				.topic = m->topic,
			});
	}
}

/* What goes on here, also when it was fetched from another project by its name. */
static int gather_current(struct gathering *g)
{
	const struct routing *rt = g->rt;
	AUTO_CONV current = CONV_INIT;
	int r = conv_current(rt->store, rt->dir, rt->clock, &current, g->reterr);

	if (r == ERR_NOTFOUND)
		return 0;
	if (r == 0)
		memcpy(g->current, current.id, sizeof(g->current));
	return r < 0 ? r : gather(g, &current);
}

/* What leans on something leans on what ran in this project, or goes on in this folder. */
static int gather_near(struct gathering *g)
{
	const struct routing *rt = g->rt;
	AUTO_STRV projects = STRV_INIT;

	strv_add(&projects, rt->project);
	int r = gather_current(g);
	return r < 0 ? r
		     : conv_in_projects(rt->store, &projects, (int64_t)router_opts(rt->router)->max,
			       rt->clock, gather, g, g->reterr);
}

static int gather_all(struct gathering *g, struct sv text)
{
	int r = gather_near(g);

	return r < 0 || is_seed(g->rt) ? r : gather_named(g, text);
}

int routing_decide(
	const struct routing *rt, struct sv text, struct routing_result *ret, struct err *reterr)
{
	struct gathering g = { .rt = rt, .res = ret, .seen = MAP_INIT, .reterr = reterr };
	int64_t now_ms = clock_age_ms(rt->clock);
	struct route_query query = {
		.text = text, .now_ms = now_ms, .cwd = sv_of(rt->dir), .project = sv_of(rt->project)
	};

	if (sv_trim(text).n == 0)
		return err_set(reterr, ERR_USAGE, "nothing to route: the text is empty");
	int r = gather_all(&g, text);
	if (r == 0) {
		make_view(&g, now_ms);
		ret->candidates = xcalloc(g.view.n + 1, sizeof(*ret->candidates));
		router_decide(
			rt->router, &query, g.view.v, g.view.n, ret->candidates, &ret->decision);
	}
	gathering_release(&g);
	return r;
}

static int keep_topic(
	const struct routing *rt, int64_t seq, const struct route_topic *topic, struct err *reterr)
{
	AUTO_STRV stems = STRV_INIT;
	AUTO_STR bytes = STR_INIT;

	route_topic_save(topic, &bytes);
	route_topic_stems(topic, add_stem, &stems);
	return topic_put(rt->store, seq, str_sv(&bytes), &stems, reterr);
}

/* What a turn that failed was about is not in the kept topic, so it is read from the prompts. */
static int learn_prompts(
	const struct routing *rt, const char *id, struct route_topic *topic, struct err *reterr)
{
	AUTO_STRV prompts = STRV_INIT;
	int r = journal_prompts(rt->store, id, PROMPTS_MAX, &prompts, reterr);

	for (size_t i = 0; r == 0 && i < prompts.n; i++)
		router_learn(rt->router, topic, sv_of(prompts.v[i]), i ? TOPIC_LATER : TOPIC_FIRST);
	return r;
}

int routing_inherit(
	const struct routing *rt, const struct conv *heir, const char *from_id, struct err *reterr)
{
	AUTO_CONV from = CONV_INIT;
	struct route_topic *kept = NULL;
	struct route_topic *topic = route_topic_new();
	int r = is_seed(rt) ? 0 : conv_get(rt->store, from_id, rt->clock, &from, reterr);

	if (r == 0 && !is_seed(rt))
		r = load_topic(rt, from.seq, &kept, reterr);
	if (r == 0)
		r = learn_prompts(rt, from_id, topic, reterr);
	if (r == 0 && kept)
		route_topic_inherit(topic, kept);
	if (r == 0 && !is_seed(rt))
		r = keep_topic(rt, heir->seq, topic, reterr);
	route_topic_free(kept);
	route_topic_free(topic);
	return r;
}

int routing_learn(const struct routing *rt, const struct conv *c, struct sv prompt,
	struct sv answer, struct err *reterr)
{
	struct route_topic *topic = NULL;
	int r = is_seed(rt) ? 0 : load_topic(rt, c->seq, &topic, reterr);

	if (r < 0 || is_seed(rt))
		return r;
	if (topic) {
		router_learn(rt->router, topic, prompt, TOPIC_LATER);
	} else {
		/* Also what was said in turns that nobody saw the end of. */
		topic = route_topic_new();
		r = learn_prompts(rt, c->id, topic, reterr);
	}
	router_learn(rt->router, topic, answer, TOPIC_ANSWER);
	if (r == 0)
		r = keep_topic(rt, c->seq, topic, reterr);
	route_topic_free(topic);
	return r;
}
