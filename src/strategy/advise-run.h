/*
 * Advice in the making. Private to advise*.c.
 */
#pragma once

#include "base/map.h"
#include "strategy/advise.h"
#include "strategy/known.h"
#include "strategy/rewrite.h"

enum { SAVING_500, SAVING_1000, SAVINGS };

enum advise_what {
	FACT_PIECE, /* a text */
	FACT_CALL, /* the model answered, or is to */
	FACT_BREAK,
};

/* One thing of a line, in the order of the file. Slices point into the chunk. */
struct advise_fact {
	enum advise_what what;
	enum advise_kind kind;
	uint32_t record, line; /* within the chunk, from 0 */
	uint32_t images;
	uint64_t bytes;
	uint64_t saved[SAVINGS]; /* by a placeholder without the tool's name */
	struct sv id, name; /* of the tool's call; a result has no name */
	size_t call; /* index of calls */
};
struct advise_call {
	bool called;
	struct sv model, message, time;
	struct usage usage;
	int64_t window, cache_life_ms; /* 0: not told */
};

struct advise_chunk {
	VEC(struct advise_fact) facts;
	VEC(struct advise_call) calls;
	uint32_t records, lines;
	struct str text; /* for use and use again */
};

/* A text, kept until the live chain is known: as small as can be, there are millions. */
struct advise_piece {
	uint32_t record, line;
	uint32_t bytes;
	uint32_t saved[SAVINGS];
	uint32_t tokens; /* by difference; 0: not known */
	uint16_t tool; /* index + 1; 0 none */
	uint8_t kind;
	uint8_t images;
};

/* What came since the last call beside its answer. */
struct advise_gap {
	size_t texts;
	size_t piece; /* the last of them */
	bool odd; /* something whose share in the next context is not known */
};

struct advise_run {
	const struct advise_opts *opts;
	struct advice *advice;
	struct tokens tokens;
	struct known told;
	struct idmap calls; /* id of a call → index of its tool */
	struct map known; /* name → index */
	VEC(struct advise_piece) pieces;
	struct advise_gap gap, next_gap; /* the latter behind an answer whose usage is to come */
	uint32_t records, lines;
	int64_t window; /* as told; 0: not */
};

/* Fills in window, fill, base, cache and plans from what was gathered. */
struct advise_sums {
	uint64_t saved[SAVINGS]; /* bytes on the live chain */
	uint64_t sent; /* of all texts there */
	uint64_t smart; /* of those that smart-trim may choose from */
};
void advise_judge(const struct advise_run *run, const struct advise_sums *sums);
