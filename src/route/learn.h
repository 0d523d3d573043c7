/*
 * Topics that outlive the process: what a conversation is about grows with every turn, is kept as
 * bytes by the caller, and can be found again by its stems.
 */
#pragma once

#include "route/route.h"
#include "route/topic.h"

enum {
	/* A topic that grew this far is not made clearer by more: answers stop first. */
	ROUTE_TOPIC_TERMS_MAX = 600,
	ROUTE_TOPIC_ANSWER_TERMS_MAX = 300,
	ROUTE_ANSWER_MAX = 1500, /* bytes of an answer that are looked at */
};

/* Adds what was said to a topic. Profile seed has none: then nothing happens. */
void router_learn(
	struct router *r, struct route_topic *t, struct sv text, enum topic_source source);

/* As bytes for this machine and version; a cache, not a document. */
void route_topic_save(const struct route_topic *t, struct str *out);
/* NULL when the bytes are damaged or of another version: learn it again. */
struct route_topic *route_topic_load(struct sv bytes);

/* Each stem of a whole word once, in no order. */
void route_topic_stems(
	const struct route_topic *t, void (*fn)(void *data, struct sv stem), void *data);
