/*
 * The router by the settings.
 */
#pragma once

#include "config/settings.h"
#include "route/route.h"
#include "route/tasktype.h"

/* Caller frees with router_free(). */
struct router *routing_router(const struct settings *s);
/* The same with another profile; `profile` NULL: that of the settings. ERR_USAGE for an unknown
 * one. */
int routing_router_for(const struct settings *s, const char *profile, struct router **ret,
	struct err *reterr) MUST_USE;
/* Whether turns are routed: single sentences unless turned off, talking only when turned on. */
bool routing_applies(const struct settings *s, bool one_shot);

/* The words of the settings that tell planning from doing; release what they point to. */
struct routing_tasks {
	char *plan, *edit; /* owned */
	struct route_task_words words;
};
void routing_tasks_init(struct routing_tasks *t, const struct settings *s);
void routing_tasks_release(struct routing_tasks *t);
