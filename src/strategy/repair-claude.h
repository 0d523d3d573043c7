/*
 * The steps of looking at a session of Claude Code. Private to repair.
 */
#pragma once

#include "strategy/repair-facts.h"

/* Sets fact.link of every entry, and plans for those whose parent it is not. */
void claude_links(struct repair *r);
/* Calls and results that have no counterpart among what is sent. */
void claude_tools(struct repair *r, const struct transcript_live *mended);
/* One of those, by its id as it stands in the file. */
bool tool_is_alone(const struct repair *r, struct sv id);
