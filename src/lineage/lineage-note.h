/*
 * The note that a session made from another one bears in its first lines: the part of it that the
 * catalogue does not keep.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lineage_note {
	int64_t made_ms; /* 0 unknown */
	int64_t saved; /* tokens, -1 unknown */
	bool smart; /* an agent chose what went */
};
#define LINEAGE_NOTE_INIT    \
	{                    \
		.saved = -1, \
	}

/* A file without a note, or that cannot be read, gives LINEAGE_NOTE_INIT. Only the head of the file
 * is read. */
void lineage_note_read(const char *path, struct lineage_note *ret);
