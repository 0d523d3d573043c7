/*
 * A part of a query on its way through a lane, document by document; private to the room.
 */
#pragma once

#include "search/match.h"

/* The documents of one spelling, or a list of them. */
struct cursor {
	size_t part; /* among those that are added up */
	bool sparse; /* the part is */
	float weight; /* of the spelling */
	struct postings p;
	unsigned at; /* in the block */
	const struct doc_match *match, *matches_end;
	uint32_t doc; /* where it is; NO_DOC: at the end */
};
static const uint32_t NO_DOC = UINT32_MAX; /* no enumerator: those are of type int */

/* To the first document from `doc` on. */
int cursor_go(struct cursor *c, uint32_t doc, struct err *reterr) MUST_USE;
/* Behind the document that it is at. */
int cursor_step(struct cursor *c, struct err *reterr) MUST_USE;
/* The document that the first of them is at. */
uint32_t cursors_first(const struct cursor *cs, size_t n);
/* Many spellings become one list, whose cursor is one: they are gone through one after the other.
 */
int list_spellings(const struct lane *l, struct found *f, struct err *reterr) MUST_USE;
