/*
 * What went wrong, told from an agent's own words: its kind, when a limit ends, and a message that
 * says what to do. Private to the room.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/child.h"
#include "agent/driver.h"

struct fault {
	enum agent_fail kind; /* AGENT_FAILED when the words are not known */
	bool not_delivered; /* it says so before it looks at a prompt */
	struct sv line; /* where it says so, a slice of what it said; empty when not known */
};

/* By HTTP status (0: none) and by what it said. */
struct fault fault_of(int status, struct sv said);

/* Wall time when the limit ends that `said` speaks of, or 0: "…|1750000000", "resets 3pm", "try
 * again in 2 hours 5 minutes", "try again at 5:14 PM"; clock times are local ones. */
int64_t fault_limit_end(struct sv said, int64_t now_ms);

/* What helps against a log-in that was refused, for who is told of it before it is given up. */
#define FAULT_LOG_IN "start it once by itself and log in, or set its API key"
/* Kind and message of a result: what it said (the first line, scrubbed) and what can be done. */
void fault_tell(
	struct agent_result *result, const char *agent, enum agent_fail kind, struct sv said);

/* An agent's process that ended before its turn did: kind, message and delivery, from what it wrote
 * to standard error and how it ended. `took` tells whether it can have read the prompt. */
void death_tell(struct agent_result *result, const char *agent, const struct child *child,
	bool took, int status);

/* That the process of a conversation had ended between two turns, and how. */
void loss_tell(struct agent *a, const char *agent, const char *how);
