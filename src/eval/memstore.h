/*
 * Conversations in memory, for replaying recorded histories, for the router as a service to other
 * programs, and for tests. The persistent store has the same states; see route.h for them.
 *
 * Two ways to fill it. The `seed_` calls have the published semantics: a conversation exists from
 * the end of its first run, registering evicts whatever is old, running or not. The others are
 * faden's: it exists from its start, and what runs is never evicted.
 */
#pragma once

#include "base/vec.h"
#include "route/route.h"

struct memstore_conv {
	char *id;
	enum route_status status;
	int64_t last_ms;
	char *dir, *last_dir;
	unsigned turns;
	bool before_reset;
	struct strv commands;
	VEC(struct sv) slices; /* over commands */
	struct route_topic *topic; /* kept up by who knows a router; NULL: none */
};

struct memstore {
	size_t max;
	int64_t expiry_ms;
	VEC(struct memstore_conv *) convs; /* in the order of registration */
	VEC(struct route_conv) view;
};

void memstore_init(struct memstore *s, const struct route_opts *opts);
void memstore_release(struct memstore *s);
void memstore_clear(struct memstore *s);
/* NULL when there is none. Valid until the next call that evicts. */
struct memstore_conv *memstore_get(const struct memstore *s, struct sv id);
/* All of them as the router wants them, in order; valid until the next change. */
const struct route_conv *memstore_view(struct memstore *s, size_t *ret_n);

/* A new one, or an old one begun anew in its place; idle, one turn. Evicts. */
void memstore_seed_register(
	struct memstore *s, struct sv id, struct sv command, struct sv dir, int64_t now_ms);
/* The rest do nothing for an unknown id. */
void memstore_seed_update(struct memstore *s, struct sv id, struct sv command, int64_t now_ms);
void memstore_mark(struct memstore *s, struct sv id, enum route_status status);

/* A run begins: active from now on; made when unknown. Clears before_reset. */
void memstore_started(
	struct memstore *s, struct sv id, struct sv command, struct sv dir, int64_t now_ms);
/* It ended well (ROUTE_IDLE) or failed (ROUTE_ERRORED). */
void memstore_ended(struct memstore *s, struct sv id, enum route_status status, int64_t now_ms);
/* A fresh start: everything known so far is before it. */
void memstore_reset(struct memstore *s);
