/*
 * Two runs beside each other, instruction by instruction: what both begin with, and where each went
 * from there. Texts are kept by their first words and a hash, so that the length of a run does not
 * matter.
 */
#pragma once

#include "base/vec.h"
#include "master/list.h"
#include "master/run.h"
#include "transcript/home.h"

enum { MASTER_HEAD_MAX = 200 }; /* bytes of a text that are kept */

/* One instruction to the worker. */
struct master_round {
	int64_t round;
	char *instruction, *answer; /* the first words, one line; answer NULL: none came */
	uint64_t said, answered; /* equal ones for equal texts; 0: none */
	enum agent_fail fail;
	char *model; /* NULL: not told */
	/* Of the worker and, before it, of the instructor; what was cached counts as read. */
	int64_t tokens_in, tokens_out;
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

/* Whether they have instructions in common, or one comes from the other or both from a third, as
 * far as the runs of their folder tell. */
bool master_related(const struct master_list *list, const struct master_state *a,
	const struct master_state *b, size_t common);

/* What the worker of a run has changed since its first `common` instructions, by its sessions. */
struct master_changes {
	struct strv files; /* each once */
	uint64_t commands; /* in a shell: which files those changed is not known */
	size_t missing; /* sessions of the worker that are not on this machine */
};
#define MASTER_CHANGES_INIT        \
	{                          \
		.files = STRV_INIT \
	}
void master_changes_release(struct master_changes *c);
int master_changes_read(struct master_run *run, size_t common, const struct transcript_home *homes,
	size_t n_homes, struct master_changes *ret, struct err *reterr) MUST_USE;
/* The files that both have changed. Appends. */
void master_changes_both(
	const struct master_changes *a, const struct master_changes *b, struct strv *out);

/* What the other run came to since its first `common` instructions, as words for the instructor of
 * `home`: each instruction and its answer in full, marked with where it comes from; without those
 * that it was told before. ERR_NOTFOUND: there are none. */
int master_conclusions(struct master_run *home, struct master_run *other, size_t common,
	struct str *out, struct err *reterr) MUST_USE;
