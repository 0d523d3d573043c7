/* The table of agents with one row more, linked in place of the library's. */
#include "toy.h"

#define AGENTS_DEF "../../tests/toy/agents.def"
#include "../../src/agent/agents.c"
