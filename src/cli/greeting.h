/*
 * What goes on here, and since when: nobody should be answered out of a context they forgot.
 */
#pragma once

#include "cli/assistant.h"

/* One line; true when it is about a conversation that goes on, false when a new one begins. */
bool greeting(const struct assistant *a, bool fresh, struct str *line);
