/*
 * What the features weigh: a few small nets of one hidden layer, whose answers are averaged. Made
 * by tools/train-router.
 */
#pragma once

#include "route/feature.h"

/* The chance of each: of a new conversation first, then of each row of the features. *ret has room
 * for all. */
void net_weigh(const struct features *f, double *ret);
/* What one of the nets says if nothing is known of a group, whose features are what they are on
 * average; GROUP_COUNT: of none. */
void net_weigh_without(const struct features *f, enum feature_group group, double *ret);
