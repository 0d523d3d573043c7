/*
 * Recorded histories: a JSON file with `vectors`, each a list of `ops` on an empty store (register,
 * update, active, errored) and a `route` to decide, all at given times.
 */
#pragma once

#include "base/err.h"
#include "route/route.h"

enum { ROUTE_REPLAY_MAX = 64 * 1024 * 1024 };

/* Called for each vector in order with one JSON object: id, action, session_id, confidence
 * (4 digits), reason. A negative result ends the replay and is returned. */
typedef int (*route_replay_line)(void *data, struct sv json, struct err *reterr);

/* Bad JSON or a bad vector: ERR_INPUT naming it; the lines before it have been delivered. */
int route_replay(struct router *r, struct sv file, route_replay_line line, void *data,
	struct err *reterr) MUST_USE;
