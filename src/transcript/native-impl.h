/*
 * What a format gives to native.h, and what its lines share. Private to the room.
 */
#pragma once

#include "base/clock.h"
#include "transcript/native.h"

struct native_writer {
	uint64_t head_lines, text_lines; /* see native_count() */
	const char *shell_tool, *shell_key; /* how commands are run */
	void (*head)(struct native_lines *l); /* NULL: the note goes with the first item */
	/* Names are plain; the input of a call is an object. */
	void (*put)(struct native_lines *l, const struct native_item *item);
};
extern const struct native_writer native_claude, native_codex;

/* A line, which is an object that l->w writes; the next is a moment later. */
void native_line(struct native_lines *l);
void native_line_end(struct native_lines *l);
void native_time(struct native_lines *l, const char *key);
/* The member with the note. */
void native_note(struct native_lines *l);
