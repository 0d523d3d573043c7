/*
 * Rollover: a fresh session that knows where the old one stood. Its first message holds the
 * lineage of the sessions before it and a brief of facts gathered from the last one without a
 * model; each fact has a reference to its original.
 *
 * Plan first: rollover_plan() reads and writes nothing; rollover_apply() keeps the parent in
 * the archive, so that the references hold, and makes the file, whole or not at all. The parent is
 * only read.
 */
#pragma once

#include <stdbool.h>

#include "archive/archive.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "lineage/lineage.h"
#include "store/catalogue.h"
#include "strategy/brief.h"
#include "transcript/tokens.h"

enum {
	ROLLOVER_BRIEF_MAX = 16 * 1024, /* bytes of the brief */
	ROLLOVER_SUMMARY_MAX = 16 * 1024, /* bytes kept of an agent's summary */
	ROLLOVER_PROMPT_MAX = 64 * 1024, /* bytes of the user's words */
	ROLLOVER_LINEAGE_MAX = 20, /* sessions named in the lineage, the latest */
};

/* All borrowed. */
struct rollover_opts {
	struct store *store;
	const struct transcript_home *homes;
	size_t n_homes;
	const struct session_row *parent;
	const struct transcript_home *target; /* whose session it is to be */
	const char *dir; /* its folder; must exist */
	const struct archive *archive; /* NULL: references are lines of the parent */
	const char *prompt; /* words of the user for the new session; NULL: none */
	const char *summary; /* an agent's summary; NULL: none */
	const struct clock *clock;
};

struct rollover {
	char id[UUID_TEXT];
	char *path; /* where the session goes */
	struct brief brief;
	struct lineage chain; /* from the first ancestor to the parent */
	struct str message; /* the first message of the new session */
	VEC(struct recall_place) places; /* of the originals that the message refers to */
	struct figure before; /* the parent's context; 0 tokens: nothing is known */
	struct figure texts; /* of the new session */
	bool counted; /* what follows is known; not so where another agent goes on */
	struct figure left, saved; /* with the agent's own prompt and tools, as in `before` */
	int64_t base; /* tokens of what no line holds, the agent's prompt and tools; 0: not known */
	int64_t most; /* of the largest context recorded; 0: none */
	int64_t window; /* as the agent told; 0: not */
	double bytes_per_token; /* fitted; 0: not known */
};
#define ROLLOVER_INIT               \
	{                           \
		.message = STR_INIT \
	}
#define AUTO_ROLLOVER CLEANUP(rollover_release) struct rollover
void rollover_release(struct rollover *r);

/* ERR_NOTFOUND: nothing was said in the parent. ERR_INPUT: sessions of the target cannot be begun.
 */
int rollover_plan(
	const struct rollover_opts *opts, struct rollover *ret, struct err *reterr) MUST_USE;
/* -EEXIST when the session is there already. */
int rollover_apply(
	const struct rollover_opts *opts, const struct rollover *plan, struct err *reterr) MUST_USE;

/* Appends what an agent is asked for a summary of the session; prompt as in the options.
 * ERR_NOTFOUND: nothing was said in it. */
int rollover_question(const struct session_row *parent, const char *prompt, struct str *out,
	struct err *reterr) MUST_USE;

/* The [SESSION LINEAGE] block: the chain, and `current` as the last. */
void rollover_lineage_block(const struct lineage *chain, const char *current, struct str *out);
/* The lines of the new session's file. */
void rollover_lines(const struct rollover_opts *opts, const struct rollover *plan, struct str *out);
