/*
 * Profile `faden`: does the sentence lean on something said before, name the subject of an earlier
 * conversation, or stand for itself? See route.h for the interface.
 */
#pragma once

#include "route/route.h"
#include "route/topic.h"

void faden_decide(struct words *words, const struct route_opts *opts,
	const struct route_query *query, const struct route_conv *convs, size_t n,
	struct route_candidate *candidates, struct route_decision *ret);
