/*
 * How full the context of a session is, what fills it, and what would help.
 *
 * Only what a resume would send counts: the live chain after the last compaction. The session is
 * only read, in one pass on several threads, with memory that does not grow with its bytes.
 *
 * Every figure of tokens says how sure it is. The whole is exact where the agent recorded it and
 * nothing came after. What a single text takes is the difference of two recorded figures where
 * nothing else came between them, else fitted or assumed, as are all sums over texts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/vec.h"
#include "transcript/tokens.h"
#include "transcript/transcript.h"

/* clang-format off */
#define ADVISE_KINDS(X) \
	X(ADVISE_PROMPTS,  "prompts",      "prompts") \
	X(ADVISE_ANSWERS,  "answers",      "answers") \
	X(ADVISE_THINKING, "thinking",     "thinking") \
	X(ADVISE_CALLS,    "tool_calls",   "tool calls") \
	X(ADVISE_RESULTS,  "tool_results", "tool results") \
	X(ADVISE_IMAGES,   "images",       "images") \
	X(ADVISE_NOTICES,  "notices",      "attachments, notices") \
	X(ADVISE_SUMMARY,  "summary",      "summary of before") \
	X(ADVISE_BASE,     "base",         "system prompt, tools")
/* BASE is what is left of the whole: no line of the session holds it. */

#define ADVISE_STRATEGIES(X) \
	X(ADVISE_TRIM_500,   "trim-500") \
	X(ADVISE_TRIM_1000,  "trim-1000") \
	X(ADVISE_SMART_TRIM, "smart-trim") \
	X(ADVISE_ROLLOVER,   "rollover") \
	X(ADVISE_COMPACT,    "compact")
/* COMPACT is the agent's own compaction. */
/* clang-format on */

enum advise_kind {
#define X(id, name, title) id,
	ADVISE_KINDS(X)
#undef X
		ADVISE_KIND_COUNT
};
const char *advise_kind_name(enum advise_kind kind); /* for programs */
const char *advise_kind_title(enum advise_kind kind); /* for people */

enum advise_strategy {
#define X(id, name) id,
	ADVISE_STRATEGIES(X)
#undef X
		ADVISE_STRATEGY_COUNT,
	ADVISE_NOTHING = ADVISE_STRATEGY_COUNT /* nothing needs to be done */
};
const char *advise_strategy_name(enum advise_strategy strategy);

enum {
	ADVISE_FULL_PERCENT = 80, /* from here on something should be done */
	ADVISE_TOP = 5,
	ADVISE_TOOLS_MAX = 500, /* tools told apart; what comes later counts as the last */
	ADVISE_CACHE_SHORT_MS = 5 * 60 * 1000, /* lifetimes of a prompt cache since its last use */
	ADVISE_CACHE_LONG_MS = 60 * 60 * 1000,
};

struct advise_part {
	int64_t n; /* texts */
	uint64_t bytes;
	int64_t tokens;
};
struct advise_tool {
	char *name; /* as it stands in the file: foreign text */
	struct advise_part calls, results;
};
struct advise_item {
	uint64_t line; /* from 1; 0: no item */
	enum advise_kind kind;
	const char *tool; /* NULL: none */
	uint64_t bytes;
	/* Differenced: it alone came between two calls, whose recorded contexts tell. */
	struct figure tokens;
};

struct advise_plan {
	struct figure saved; /* tokens */
	int64_t left; /* of the context */
	int64_t cost; /* tokens that a model must read to do it */
	/* Tokens that the first call then has to put into the prompt cache: another session, or a
	 * history that was changed, does not find what the cache holds. */
	int64_t cached;
	bool below; /* the context would no longer be full */
};

enum advise_cache {
	ADVISE_CACHE_NONE, /* no call was recorded */
	ADVISE_CACHE_WARM,
	ADVISE_CACHE_MAYBE, /* warm only if it was made for an hour */
	ADVISE_CACHE_COLD,
};
const char *advise_cache_name(enum advise_cache cache); /* "none", "warm", "maybe", "cold" */

struct advice {
	char model[TOKEN_MODEL_NAME]; /* "": none answered yet */
	struct figure context;
	int64_t most; /* the largest context recorded since the model changed; 0: none */
	struct figure window; /* EXACT: the session tells; ASSUMED: by the model's name */
	struct token_ratio ratio; /* of the parts */
	bool scaled; /* the file holds more than the agent sent: the parts were made to fit */
	int percent; /* of the window */

	struct advise_part kinds[ADVISE_KIND_COUNT];
	VEC(struct advise_tool) tools; /* the largest first; only those that hold something */
	struct advise_item top[ADVISE_TOP]; /* the largest first */

	int64_t called_ms; /* wall time of the last call; 0: none */
	int64_t age_ms; /* since then */
	enum advise_cache cache;
	bool cache_told; /* the session tells which lifetime its cache has */
	int64_t cache_life_ms;
	int64_t recached; /* tokens that a resume has to cache again */

	struct advise_plan plans[ADVISE_STRATEGY_COUNT];
	enum advise_strategy advised;
	bool restart; /* a fresh start was asked for */

	uint64_t records, live; /* of the file, and those that count */
	bool compacted;
	bool empty; /* nothing would be sent */
	struct passed passed; /* what they hold is not among the parts */
	bool base; /* Codex fork: what came before is in another file and was not looked at */
};
#define ADVICE_INIT            \
	{                      \
		.model = { 0 } \
	}
#define AUTO_ADVICE CLEANUP(advice_release) struct advice
void advice_release(struct advice *a);

struct advise_opts {
	const char *path;
	const struct transcript_format *format;
	int64_t window; /* 0: as the session tells or the model's name */
	bool restart; /* a fresh start is wanted */
	unsigned threads; /* 0: chosen here */
	const struct clock *clock;
};
int advise_session(const struct advise_opts *opts, struct advice *ret, struct err *reterr) MUST_USE;
