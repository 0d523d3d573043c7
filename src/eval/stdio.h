/*
 * The router for other programs: protocol routing-eval/1, one JSON object a line.
 *
 * In: begin, step, started, finished, error, reset; unknown operations and keys are ignored. Only
 * `step` is answered: {"action":"new"} or {"action":"resume","conversation_ref":…}, with
 * confidence and reason besides. Time comes with each line, nothing is stored.
 */
#pragma once

#include "base/err.h"
#include "eval/memstore.h"

enum { ROUTE_LINE_MAX = 8 * 1024 * 1024 };

struct route_stdio {
	struct router *router; /* borrowed */
	struct memstore store;
	/* What a blocked decision leaned on, for the conversation that is started next. */
	char *heir_of;
	struct memstore running; /* profile seed: commands whose conversation does not exist yet */
};

void route_stdio_init(struct route_stdio *s, struct router *r);
void route_stdio_release(struct route_stdio *s);

/* One line in; when it asks for an answer, one line without a newline is appended to *out. A bad
 * line is ERR_INPUT (ERR_LIMIT when too long) and changes nothing. */
int route_stdio_line(
	struct route_stdio *s, struct sv line, struct str *out, struct err *reterr) MUST_USE;

/*
 * Recorded histories: a JSON file with `vectors`, each a list of `ops` on an empty store (register,
 * update, active, errored) and a `route` to decide, all at given times.
 */
enum { ROUTE_REPLAY_MAX = 64 * 1024 * 1024 };

/* Called for each vector in order with one JSON object: id, action, session_id, confidence
 * (4 digits), reason. A negative result ends the replay and is returned. */
typedef int (*route_replay_line)(void *data, struct sv json, struct err *reterr);

/* Bad JSON or a bad vector: ERR_INPUT naming it; the lines before it have been delivered. */
int route_replay(struct router *r, struct sv file, route_replay_line line, void *data,
	struct err *reterr) MUST_USE;
