/*
 * Shorthand for the decoders of agents' output, in which anything may be missing or of another
 * type. Private to the room.
 */
#pragma once

#include "json/scan.h"

/* A member of an object; J_NONE when there is none. */
static inline struct jval value_member(struct jval obj, const char *key)
{
	struct jval val;

	return scan_get(obj, sv_of(key), &val) > 0 ? val : (struct jval){ 0 };
}

static inline bool value_is(struct jval val, const char *text)
{
	return scan_string_eq(val, sv_of(text));
}
