#include "route/route.h"

#include "base/mem.h"
#include "route/seed.h"

struct router {
	struct route_opts opts;
};

static const struct {
	const char *name;
	struct route_weights weights;
	double threshold;
} profiles[] = {
	[ROUTE_FADEN] = { "faden", { .keyword = 0.4, .recency = 0.3, .continuation = 0.3 }, 0.45 },
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

const char *route_profile_name(enum route_profile profile)
{
	return profiles[profile].name;
}

struct router *router_new(const struct route_opts *opts)
{
	struct router *r = xcalloc(1, sizeof(*r));
	r->opts = *opts;
	return r;
}

void router_free(struct router *r)
{
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
	seed_decide(&r->opts, query, convs, n, candidates, ret);
}
