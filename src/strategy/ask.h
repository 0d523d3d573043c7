/*
 * One question to an agent about a session: the prompt alone is answered, with no tools, no write
 * permission and nothing kept.
 */
#pragma once

#include "agent/agent.h"
#include "base/err.h"
#include "base/str.h"

struct ask_opts {
	enum agent_kind kind;
	const struct agent_opts
		*agent; /* program, model, folder, clock, log; the rest is set here */
	const char *scratch; /* an existing folder for files of this question, removed at its end */
	const char *schema; /* JSON schema of the answer; NULL: none */
	int64_t timeout_ms; /* 0: none */
	/* Tells that the agent works or waits; may be NULL. */
	void (*progress)(void *data, const struct agent_event *ev);
	void *data;
};

/* Appends the answer. ERR_AGENT with the agent's own words when it fails; ERR_CANCELLED after
 * SIGINT or SIGTERM. */
int ask_agent(const struct ask_opts *opts, struct sv prompt, struct str *answer,
	struct err *reterr) MUST_USE;
