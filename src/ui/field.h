/*
 * One line of text that keys change, by whole characters as they are seen: what a picker is typed
 * into. Where the terminal shows it is somebody else's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct field {
	struct str text;
	size_t at; /* the cursor: a byte of text, between two characters */
};

/* It takes at most max bytes; what is more is not typed. */
void field_init(struct field *f, struct sv text, size_t max);
void field_release(struct field *f);
/* A key of ui/input.h: characters, and those that shells and readline edit a line with. True when
 * the text is another now. */
bool field_key(struct field *f, uint32_t key);
