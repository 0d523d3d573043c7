/*
 * Memory that begins as zeros and is let go of as a whole, for arrays that are filled all over
 * within milliseconds: from large pages where there are such, since to be given a thousand small
 * ones takes the system longer than to search. Private to the room.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct zeros_piece {
	char *p;
	size_t size, used;
	bool mapped;
};
struct zeros {
	VEC(struct zeros_piece) pieces;
};
/* Aligned for any number; valid until the release. Takes turns with nobody: one thread. */
void *zeros_take(struct zeros *z, size_t n, size_t size);
void zeros_release(struct zeros *z); /* also when it is zeroed */
