/*
 * An agent's process that ended before its turn did. Private to the room.
 */
#pragma once

#include "agent/child.h"
#include "agent/driver.h"

/* Kind, message and delivery, from what it wrote to standard error and how it ended. `took` tells
 * whether it can have read the prompt. */
void death_tell(struct agent_result *result, const char *agent, const struct child *child,
	bool took, int status);
