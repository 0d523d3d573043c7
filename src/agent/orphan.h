/*
 * Processes found by what stands in their environment, wherever they hang in the tree. Private to
 * the room.
 */
#pragma once

#include <stddef.h>

/* KILL to every process whose environment holds name=value, until none is left; ourselves
 * excepted. Returns how many were killed. Processes of others cannot be seen and are left alone.
 */
size_t orphan_kill(const char *name, const char *value);
