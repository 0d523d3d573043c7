/*
 * How Claude Code is called. Private to the room.
 */
#pragma once

#include "agent/driver.h"

struct claude_call {
	const char *session;
	bool resume;
	enum agent_permission mode;
	double budget_usd; /* what it may spend; 0: no limit */
};

/* The arguments, the program first. The prompt is none of them. */
void claude_argv(struct strv *argv, const struct agent_opts *opts, const char *program,
	const struct claude_call *call);
/* The environment, without what an outer Claude Code tells its own children. */
void claude_env(struct strv *env, const struct agent_opts *opts);
