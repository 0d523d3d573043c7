/*
 * What the agent is told besides the prompt. Who types gets the agent as it is: only what the
 * settings have for it is said. Who speaks talks to an assistant: its name, the words that it acts
 * on itself (so that "help" can be answered by the agent), and how to speak when it is heard. Made
 * from the configured keywords, so the two cannot drift apart. The same settings give the same
 * bytes: agents compare the prompt of a resumed conversation.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "config/settings.h"

enum { SYSTEM_PROMPT_MAX = 256 * 1024 }; /* bytes of ai.system_prompt_path */

/* Appends it, or nothing; voice: spoken to and read aloud. Reads ai.system_prompt_path. */
int prompt_build(
	const struct settings *s, bool voice, struct str *out, struct err *reterr) MUST_USE;
