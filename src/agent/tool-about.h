/*
 * What a tool call is about, in one line: its command, file, address, question. Private to the
 * room.
 */
#pragma once

#include "base/str.h"
#include "json/scan.h"

/* Appends at most max bytes, scrubbed; nothing when the input says nothing of the kind. */
void tool_about(struct str *out, struct jval input, size_t max);
/* The same for a text. */
void tool_about_text(struct str *out, struct sv text, size_t max);
