/*
 * What the features weigh: a few small nets of one hidden layer, whose answers are averaged. Made
 * by tools/train-router.
 */
#pragma once

#include "route/feature.h"

enum { NET_ONE = 1, NET_ALL = 3 };

/* The chance of each, as so many of the nets see it: of a new conversation first, then of each row
 * of the features. *ret has room for all. leave_out: nothing is known of this group, whose features
 * are what they are on average; GROUP_COUNT: of none. */
void net_weigh(const struct features *f, size_t nets, enum feature_group leave_out, double *ret);
