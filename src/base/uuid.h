/*
 * UUIDs as text: 36 lower-case characters and a NUL.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

enum { UUID_TEXT = 37 };

/* Random (version 4). Aborts when the system has no randomness. */
void uuid_new(char out[static UUID_TEXT]);
/* 8-4-4-4-12 hexadecimal digits, either case. */
bool uuid_valid(struct sv text);
