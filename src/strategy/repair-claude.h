/*
 * The steps of looking at a session of Claude Code. Private to repair.
 */
#pragma once

#include "strategy/repair-facts.h"

/* Sets fact.link of every entry, and plans for those whose parent it is not. */
void claude_links(struct repair *r);
/* After plan_tools(): copies of an entry are mended like it. */
void claude_copies(struct repair *r);
