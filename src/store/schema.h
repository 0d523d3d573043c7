/*
 * The store's schema as a list of steps: step i brings version i to i + 1. Private to the room.
 */
#pragma once

#include <stddef.h>

#include "store/store.h"

extern const char *const schema_steps[];
extern const size_t schema_version; /* number of steps */
extern const struct schema schema_own;
