/*
 * The store's schema as a list of steps: step i brings version i to i + 1. Private to the room.
 * A step that was ever released is never edited; a change is a new step.
 */
#pragma once

#include <stddef.h>

extern const char *const schema_steps[];
extern const size_t schema_version; /* number of steps */
