/*
 * What was typed, as plain data.
 *
 * Words only rank: what has more of them, and rarer ones, comes first. The rest is exact:
 *
 *	"a phrase"     these words one after the other, as they are spelt
 *	+word          must be there, as it is spelt
 *	-word          must not be there (also -"a phrase", -field:value)
 *	word*          words that begin so
 *	one OR other   one of them must be there
 *	agent:codex dir:~/src/faden tool:Bash file:main.c role:user branch:main
 *	after:2026-01-31 before:march
 *
 * A date alone ("last friday") is a span of time, an address alone (https://…) a phrase.
 * A name before a colon that is no field is a word, so that messages can be pasted as they are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "search/segment.h"

enum {
	QUERY_PARTS_MAX = 64, /* of words those beyond are passed over; of others it is an error */
	QUERY_TEXT_MAX = 64 * 1024, /* bytes; what is beyond is passed over */
	QUERY_PREFIX_MIN = 2, /* characters before the star */
};

enum query_demand { QUERY_RANKS, QUERY_MUST, QUERY_NOT };

struct query_term {
	char *text; /* as it stands in the index */
	uint32_t offset; /* words after the first term of its part */
};

struct query_part {
	enum query_demand demand;
	bool exact; /* no other forms of the word */
	bool prefix; /* the last term is the beginning of a word */
	bool weak; /* only holds a question together, or is of a date */
	unsigned group; /* parts with the same one are joined by OR; 0: none */
	VEC(struct query_term) terms; /* one after the other */
	size_t from; /* where it stands in what was typed, to find neighbours */
};

enum query_field { QUERY_AGENT, QUERY_DIR, QUERY_BRANCH };
struct query_filter {
	enum query_field field;
	bool negated;
	char *value; /* agent: its name; dir: a path, or a part of one; branch: as typed */
};

struct query {
	VEC(struct query_part) parts;
	VEC(struct query_filter) filters;
	unsigned roles; /* 1 << enum doc_kind; 0: nothing was said of them */
	unsigned not_roles;
	int64_t after_ms, before_ms; /* 0: not said */
	bool dated; /* they were typed as a date, without words: the sessions of then are meant */
	struct str words; /* those that rank, as they were typed: for dates in them */
	size_t passed; /* words that are beyond QUERY_PARTS_MAX */
};

struct query_context {
	int64_t now_ms;
	const char *home; /* for dir:~; may be NULL */
	const char *cwd; /* for dir:. ; may be NULL */
};
/* ERR_USAGE with what is wrong, where, and how it is written. ret is released by the caller in any
 * case but an error. */
int query_parse(struct sv typed, const struct query_context *context, struct query *ret,
	struct err *reterr) MUST_USE;
void query_release(struct query *q);
/* Whether anything is looked for: a word, a phrase, a field. */
bool query_empty(const struct query *q);
#define QUERY_INIT                 \
	{                          \
		.words = STR_INIT, \
	}
