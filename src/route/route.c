#include "route/route.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "route/faden.h"
#include "route/learn.h"
#include "route/seed.h"

struct router {
	struct route_opts opts;
	struct words words; /* only with profile faden */
};

static const struct {
	const char *name;
	struct route_weights weights;
	double threshold;
} profiles[] = {
	[ROUTE_FADEN] = { "faden", { .keyword = 0.6, .recency = 0.05, .continuation = 0.6 }, 0.45 },
	[ROUTE_SEED] = { "seed", { .keyword = 0.4, .recency = 0.3, .continuation = 0.3 }, 0.45 },
};

enum { EXPIRY_MS = 30 * 60 * 1000, MAX_CONVERSATIONS = 20 };

struct route_opts route_opts_default(enum route_profile profile)
{
	return (struct route_opts){ .profile = profile,
		.weights = profiles[profile].weights,
		.threshold = profiles[profile].threshold,
		.expiry_ms = EXPIRY_MS,
		.max = MAX_CONVERSATIONS };
}

bool route_profile_parse(struct sv name, enum route_profile *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		if (sv_is(name, profiles[i].name)) {
			*ret = (enum route_profile)i;
			return true;
		}
	}
	return false;
}

struct router *router_new(const struct route_opts *opts)
{
	struct router *r = xcalloc(1, sizeof(*r));
	r->opts = *opts;
	if (opts->profile == ROUTE_FADEN)
		words_init(&r->words, opts->extra, opts->n_extra);
	r->opts.extra = NULL;
	r->opts.n_extra = 0;
	return r;
}

void router_free(struct router *r)
{
	if (r && r->opts.profile == ROUTE_FADEN)
		words_release(&r->words);
	free(r);
}

const struct route_opts *router_opts(const struct router *r)
{
	return &r->opts;
}

void router_decide(struct router *r, const struct route_query *query,
	const struct route_conv *convs, size_t n, struct route_candidate *candidates,
	struct route_decision *ret)
{
	if (r->opts.profile == ROUTE_SEED)
		seed_decide(&r->opts, query, convs, n, candidates, ret);
	else
		faden_decide(&r->words, &r->opts, query, convs, n, candidates, ret);
}

void router_learn(struct router *r, struct route_topic *t, struct sv text, enum topic_source source)
{
	bool answer = source == TOPIC_ANSWER;
	size_t most = answer ? ROUTE_TOPIC_ANSWER_TERMS_MAX : ROUTE_TOPIC_TERMS_MAX;
	struct sentence s = SENTENCE_INIT;

	if (r->opts.profile != ROUTE_FADEN || t->terms.n >= most)
		return;
	sentence_read_subject(
		&s, utf8_cut(text, answer ? ROUTE_ANSWER_MAX : ROUTE_TEXT_MAX), &r->words.lex);
	topic_add(&r->words, t, &s, source);
	sentence_release(&s);
}
