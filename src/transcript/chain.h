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

/* The next record, when its members are known already. Tools of its content follow by
 * chain_tool(). `size` is that of its line. */
struct chain_claude {
	struct jval type, subtype, uuid, parent, side, message_id, compact;
	struct jval leaf; /* leafUuid of a last-prompt line */
};
void chain_add_claude(struct chain *c, const struct chain_claude *record, uint64_t size);
enum chain_line { CHAIN_OTHER, CHAIN_META, CHAIN_ITEM, CHAIN_COMPACTED, CHAIN_EVENT };
struct chain_codex {
	struct jval payload, type, role, content, turns; /* members of the payload */
	enum chain_line line;
};
void chain_add_codex(struct chain *c, const struct chain_codex *record, uint64_t size);
/* A tool's call or result in the record that was added last (Claude). */
void chain_tool(struct chain *c, struct sv id, bool result);

/* The record that was added last is one that the agent cannot read yet (Codex). */
void chain_unseen(struct chain *c);
/* From now on chain_live() tells what would be sent if all could be read. */
void chain_see_all(struct chain *c);

/* Any line: whole, broken, or several objects glued together. Returns how many records it has. */
size_t chain_add_line(struct chain *c, struct sv text, uint64_t size);

/* Takes the records of `part`, which is empty afterwards, behind its own. */
void chain_join(struct chain *c, struct chain *part);
/* ERR_LIMIT when there are too many records. */
int chain_live(struct chain *c, struct transcript_live *ret, struct err *reterr) MUST_USE;
