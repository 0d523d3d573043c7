/*
 * The table itself, and nothing else that the linker could want: a program with further agents
 * links a table of its own in place of this one.
 */
#include "agent/agents.h"

#include "agent/driver.h"
#include "transcript/adapter.h"

#ifndef AGENTS_DEF
#define AGENTS_DEF "agent/agents.def"
#endif

const struct agent_def agent_table[] = {
#define AGENT(name_, format_, ...) { .name = (name_), .format = (format_), __VA_ARGS__ },
#include AGENTS_DEF
#undef AGENT
};
const size_t agent_count = ARRAY_LEN(agent_table);
_Static_assert(ARRAY_LEN(agent_table) <= AGENTS_MAX, "more agents than AGENTS_MAX");

/* What the transcripts' room looks at when it is asked whose file this is. */
const struct transcript_format *const transcript_formats[] = {
#define AGENT(name_, format_, ...) (format_),
#include AGENTS_DEF
#undef AGENT
};
const size_t transcript_format_count = ARRAY_LEN(transcript_formats);
