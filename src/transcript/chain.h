/*
 * The live chain of a session that is read in pieces: what transcript_live() needs of each record,
 * gathered by whoever reads the lines anyway. Pieces are gathered on any threads, one thread a
 * piece, and joined in the order of the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transcript/transcript.h"
#include "json/scan.h"

struct chain;
struct chain *chain_new(const struct transcript_format *format);
void chain_free(struct chain *c); /* NULL is fine */

/* The next record, of which only numbers are kept: equal ones for equal ids, 0 for none. */
enum {
	CHAIN_SPOKEN = 1u << 0, /* user or assistant: may be the leaf */
	CHAIN_SENT = 1u << 1, /* of a kind that can be part of a request */
	CHAIN_BOUNDARY = 1u << 2, /* a compaction */
	CHAIN_PROMPT = 1u << 5,
	CHAIN_ASSISTANT = 1u << 6,
	CHAIN_SIDE = 1u << 7, /* a sub-agent's */
};
struct chain_entry {
	uint64_t id, parent;
	uint64_t message; /* Claude: its message id; Codex: turns that are taken back here */
	uint64_t size; /* of its line */
	unsigned flags;
};
void chain_add_entry(struct chain *c, const struct chain_entry *entry);
void chain_add_tool(struct chain *c, uint64_t tool, bool result);
/* What the compaction that was added last keeps. */
void chain_add_kept(struct chain *c, uint64_t id);
/* The leaf by a note that stands here. */
void chain_add_note(struct chain *c, uint64_t leaf);

/* Any line: whole, broken, or several objects glued together. Returns how many records it has. */
size_t chain_add_line(struct chain *c, struct sv text, uint64_t size);

/* Takes the records of `part`, which is empty afterwards, behind its own. */
void chain_join(struct chain *c, struct chain *part);
/* ERR_LIMIT when there are too many records. */
int chain_live(struct chain *c, struct transcript_live *ret, struct err *reterr) MUST_USE;
