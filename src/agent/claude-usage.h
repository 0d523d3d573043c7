/*
 * What a turn used, from the line that ends it. Private to the room.
 *
 * Newer versions of Claude Code say what was used since the last result. The others count from the
 * start of the process, so that the turn is the difference.
 */
#pragma once

#include "agent/driver.h"
#include "json/scan.h"

/* *total is what the process had used before (all 0 at its start) and is brought up to date. */
struct agent_usage claude_usage(struct jval result, struct agent_usage *total);
