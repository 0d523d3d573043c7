/*
 * Whether a turn plans or edits. Words are not enough: "fix the plan page" and "implement the
 * design" edit, "make a plan for the page" and "think about it, no code yet" plan.
 */
#pragma once

#include "base/str.h"

enum route_task { ROUTE_TASK_EDIT, ROUTE_TASK_PLAN };

/* Words of the configuration, '|' between phrases; each may be NULL. */
struct route_task_words {
	const char *plan_verbs; /* to plan, to sketch */
	const char *plan_nouns; /* a plan, a proposal */
	const char *edit_verbs; /* to build, to fix */
	const char *plan_phrases; /* decide wherever they stand: no code yet */
};

/* more may be NULL. */
enum route_task route_task_of(struct sv text, const struct route_task_words *more);
