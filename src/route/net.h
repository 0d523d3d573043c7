/*
 * What the features weigh: a few small nets of one hidden layer, whose answers are averaged. Made
 * by tools/train-router.
 */
#pragma once

#include "route/feature.h"

/* The chance of each: of a new conversation first, then of each row of the features. *ret has room
 * for all. */
void net_weigh(const struct features *f, double *ret);
/* The same as if nothing were known of a group: its features are what they are on average. */
void net_weigh_without(const struct features *f, enum feature_group group, double *ret);
