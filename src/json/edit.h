/*
 * Changes to one JSON text by splices: what is not replaced stays, byte for byte.
 *
 *	CLEANUP(edit_release) struct edit e = EDIT_INIT(line);
 *	edit_string(&e, session_id, new_id);
 *	edit_apply(&e, &out);
 *
 * The text is borrowed and stays as it is; replacements are copied. Spans are slices of the text,
 * as scan.h gives them. Order does not matter; two edits must not overlap.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/str.h"
#include "base/vec.h"
#include "json/scan.h"

struct edit_splice {
	size_t from, to; /* bytes of the text that go */
	size_t at, n; /* their replacement, in pool */
};

struct edit {
	struct sv text;
	VEC(struct edit_splice) splices;
	struct str pool;
};
#define EDIT_INIT(original)                          \
	{                                            \
		.text = (original), .pool = STR_INIT \
	}
/* Reuses the memory for another text. */
void edit_reset(struct edit *e, struct sv text);
void edit_release(struct edit *e);
/* True while there is nothing to change. */
static inline bool edit_empty(const struct edit *e)
{
	return e->splices.n == 0;
}

/* Replaces a slice of the text (which may be empty: an insertion; several at one place stay in
 * the order they were given). */
void edit_replace(struct edit *e, struct sv span, struct sv replacement);
/* Replaces a value by raw JSON, or by a string. */
void edit_value(struct edit *e, struct jval val, struct sv json);
void edit_string(struct edit *e, struct jval val, struct sv text);

/* What is to become of one member of an object. */
enum edit_absent { EDIT_SKIP, EDIT_FIRST, EDIT_LAST }; /* where it goes when it is not there */
struct edit_member {
	struct sv key; /* decoded; every spelling matches */
	struct sv json; /* its new value as raw JSON; p NULL: the member is removed */
	enum edit_absent absent;
};
/*
 * Several changes to the members of one object; its commas come out right. A key that occurs
 * twice is replaced or removed at every place. At most one call an object, and no other edit of
 * the members it changes. Returns how many places change, or ERR_INPUT (then nothing is recorded)
 * when obj is not a well-formed object.
 */
int edit_members(struct edit *e, struct jval obj, const struct edit_member *changes, size_t n);
/* One member out. Results as above. */
int edit_remove(struct edit *e, struct jval obj, struct sv key);

/* Appends the changed text to out. ERR_INPUT when edits overlap; out is then as before. */
int edit_apply(struct edit *e, struct str *out) MUST_USE;
/* The same piece by piece, for who would not copy all of it; `kept`: a slice of the original. */
int edit_each(
	struct edit *e, void (*fn)(void *data, struct sv piece, bool kept), void *data) MUST_USE;
