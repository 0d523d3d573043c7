/*
 * A toy agent, which shows that one is a driver, an adapter and a row: nothing in src/ knows it.
 * Its program is tests/toy/toy.
 */
#pragma once

#include "agent/agent.h"
#include "transcript/transcript.h"

extern const struct agent_driver agent_toy; /* driver-toy.c */
extern const struct transcript_format transcript_toy; /* adapter-toy.c */
