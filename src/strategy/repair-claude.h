/*
 * The steps of looking at a session of Claude Code. Private to repair.
 */
#pragma once

#include "strategy/repair-facts.h"

/* Who has which uuid: open addressing over facts, counted from 1. */
struct claude_renamed {
	uint64_t key; /* of the uuid that it lost to a later one */
	uint32_t fact; /* from 1 */
};
struct claude_ids {
	struct repair *r; /* borrowed */
	uint32_t *slots;
	size_t mask;
	uint64_t by; /* where an id lies goes by it; nobody knows it */
	VEC(struct claude_renamed) renamed;
};
void claude_ids_init(struct claude_ids *x, struct repair *r);
void claude_ids_release(struct claude_ids *x);
/* The entry with that key so far, from 1; 0 none. */
uint32_t claude_ids_at(const struct claude_ids *x, uint64_t key);
/* Puts in the next entry of the file; different entries of one uuid get their own. */
void claude_ids_enter(struct claude_ids *x, struct fact *fact);
/* The same for one of a sub-agent. */
void claude_ids_enter_side(struct claude_ids *x, struct fact *fact);
/* After the last one: copies of what got another uuid get it too. */
void claude_ids_rename_copies(struct claude_ids *x);

/* Sets fact.link of every entry, and plans for those whose parent it is not; then r->leaf. */
void claude_links(struct repair *r);
/* Where the conversation goes on, once the links stand. */
void claude_leaf(struct repair *r, const struct claude_ids *ids);
/* After plan_tools(): copies of an entry are mended like it. */
void claude_copies(struct repair *r);
