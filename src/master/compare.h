/*
 * Two runs beside each other, instruction by instruction: what both begin with, and where each went
 * from there. Texts are kept by their first words and a hash, so that the length of a run does not
 * matter.
 */
#pragma once

#include "base/vec.h"
#include "master/run.h"

enum { MASTER_HEAD_MAX = 200 }; /* bytes of a text that are kept */

/* One instruction to the worker. */
struct master_round {
	int64_t round;
	char *instruction, *answer; /* the first words, one line; answer NULL: none came */
	uint64_t said, answered; /* equal ones for equal texts; 0: none */
	enum agent_fail fail;
	char *model; /* NULL: not told */
	int64_t tokens; /* of the worker and, before it, of the instructor */
	double cost_usd;
	int64_t duration_ms;
};
struct master_rounds {
	VEC(struct master_round) v;
};
void master_rounds_release(struct master_rounds *r);
int master_rounds_read(
	struct master_run *run, struct master_rounds *ret, struct err *reterr) MUST_USE;
/* How many instructions, with their answers, both begin with. */
size_t master_rounds_common(const struct master_rounds *a, const struct master_rounds *b);

/* What the other run came to since its first `common` instructions, as words for the instructor of
 * another: each instruction and its answer in full, marked with where it comes from. */
int master_conclusions(
	struct master_run *other, size_t common, struct str *out, struct err *reterr) MUST_USE;
