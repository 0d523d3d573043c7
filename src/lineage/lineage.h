/*
 * Where a session comes from and what came of it: the tree of sessions made from one another by
 * trim, rollover, fork, port, merge and replay, as the catalogue knows it. Of the session files
 * only the heads of those are read that were made from others, and those the catalogue has not
 * seen.
 *
 * Claude Code's own forks do not say where they come from, but begin with the same record: the
 * oldest such session counts as the parent of the others.
 *
 * A session that was merged has two parents. It stands below the one it goes on from, with the id
 * of the other: a tree can be drawn and followed, and the two are of one family as a rule.
 *
 * What is wrong with a family is shown, never an error: a parent that is nowhere, that was moved
 * (found again by its id), whose file is gone, or that is its own descendant.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "store/catalogue.h"
#include "transcript/home.h"

enum lineage_state {
	LINEAGE_HERE,
	LINEAGE_MOVED, /* not where its child says, but found by its id */
	LINEAGE_GONE, /* the catalogue remembers it, its file is no more */
	LINEAGE_MISSING, /* only its child knows of it */
};
const char *lineage_state_name(enum lineage_state state); /* "here", "moved" … */

/* No parent among the nodes. */
#define LINEAGE_NONE SIZE_MAX

/* Strings are owned and never NULL; "" when unknown. */
struct lineage_node {
	char *id;
	char *path; /* where it is, or where its child says it is */
	char *named; /* MOVED: where its child says it is */
	char *agent;
	char *title; /* as of session_title() */
	char *parent_id, *parent_path; /* as it says itself */
	enum session_relation relation; /* to its parent */
	enum lineage_state state;
	int64_t first_ms, active_ms; /* 0 unknown; a copy begins with its parent's records */
	int64_t made_ms; /* when the session itself was made; 0 unknown */
	int64_t saved; /* tokens that were taken out by it, -1 unknown */
	int64_t turns;
	int64_t turn; /* of its parent, up to which it goes; 0: not told */
	char *other_id; /* merged: the session that it has brought home */
	size_t parent; /* index, LINEAGE_NONE for the first */
	unsigned depth; /* below the first */
	char *root; /* the record it begins with */
	bool guessed; /* a fork by its beginning alone */
	bool circle; /* its parent is among its own descendants, or itself */
};

enum { LINEAGE_NODES_MAX = 10000 };

struct lineage {
	VEC(struct lineage_node) nodes; /* parents before children, a branch after the other */
	size_t focus; /* the session that was asked for */
	bool cut; /* there are more than LINEAGE_NODES_MAX */
};
void lineage_release(struct lineage *l);
/* A node of its own, without a place among others. */
struct lineage_node lineage_node_of(const struct session_row *row);
#define LINEAGE_INIT       \
	{                  \
		.focus = 0 \
	}
#define AUTO_LINEAGE CLEANUP(lineage_release) struct lineage

/* The whole family of a session. The catalogue should be up to date: children are found by it.
 * The work of sub-agents does not count. */
int lineage_trace(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const struct session_row *focus, struct lineage *ret, struct err *reterr) MUST_USE;
/* Only the way from the first ancestor to the session, itself last. */
int lineage_chain(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const struct session_row *focus, struct lineage *ret, struct err *reterr) MUST_USE;

/* What only the note in its file tells of a node: made_ms, saved, turn and other_id. For nodes that
 * are given, not for all that are looked at: the head of the file is read. */
void lineage_take_note(struct lineage_node *n);

/* The family as a graph in Graphviz's language. */
void lineage_dot(const struct lineage *l, struct str *out);
