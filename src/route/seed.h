/*
 * Profile `seed`: Jaccard overlap of keywords, recency and signal words. Every rounding, every tie
 * and every reason text is as in the published algorithm, mistakes included; people who rely on
 * it can compare. See route.h for the interface.
 */
#pragma once

#include "base/map.h"
#include "route/route.h"

/* Adds the keywords of a text (lower case, stripped, longer than two code points, no stop word). */
void seed_keywords(struct map *words, struct sv text);
/* Whether a continuation pattern occurs. */
bool seed_continuation(struct sv text);

void seed_decide(const struct route_opts *opts, const struct route_query *query,
	const struct route_conv *convs, size_t n, struct route_candidate *candidates,
	struct route_decision *ret);
