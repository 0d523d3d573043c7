/*
 * Smart trim: an agent is shown a numbered digest of a session and names what is no longer needed;
 * each such text is replaced by its summary and a reference to the original.
 *
 * The agent's answer is untrusted. It can only choose among texts that may go, and put a summary
 * of bounded length in their place; everything else it says is refused, piece by piece, and told.
 * No line is removed. The parent is only read.
 *
 *	smart_digest → smart_prompt → (the agent) → smart_read_answer → smart_apply
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "archive/archive.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "strategy/brief.h"
#include "strategy/rewrite.h"
#include "transcript/tokens.h"

enum {
	SMART_ENTRIES_MAX = 5000, /* of a digest; the latest are shown */
	SMART_DIGEST_MAX = 256 * 1024, /* bytes of a digest, about */
	SMART_SUMMARY_MAX = 1200, /* bytes of a summary */
	SMART_REASON_MAX = 200,
	SMART_ANSWER_MAX = 4 * 1024 * 1024, /* bytes of an answer that are looked at */
	SMART_INSTRUCTIONS_MAX = 8 * 1024,
	SMART_REFUSALS_MAX = 200, /* that are told one by one */
};

struct smart_opts {
	const char *path;
	const struct transcript_format *format;
	int64_t keep_recent; /* entries at the end that stay */
	int64_t min_chars; /* shorter texts are not worth it */
	bool prompts; /* words of the user may go too */
	const char *instructions; /* of the user, for the choice; NULL: none */
	const char *agent; /* who chose, for the note in the new session */
	const char *out_dir; /* NULL: where the agent looks for sessions */
	bool dry;
	unsigned threads; /* 0: chosen here */
};
#define SMART_OPTS_INIT                             \
	{                                           \
		.keep_recent = 10, .min_chars = 200 \
	}

/* Why a text stays whatever the agent says. */
/* clang-format off */
#define SMART_KEEP_LIST(X) \
	X(SMART_FREE,    "") \
	X(SMART_SYSTEM,  "it is not the conversation's own") \
	X(SMART_PROMPT,  "it is what the user said") \
	X(SMART_THOUGHT, "thinking is signed and stays as it is") \
	X(SMART_CALL,    "it is what a tool was asked to do") \
	X(SMART_SUMMED,  "it is a summary or a placeholder already") \
	X(SMART_SHORT,   "it is too short to be worth it") \
	X(SMART_RECENT,  "it is recent") \
	X(SMART_STUCK,   "its place in the file cannot be told for sure")
/* clang-format on */
enum smart_keep {
#define X(name, why) name,
	SMART_KEEP_LIST(X)
#undef X
};

struct smart_entry {
	enum item_kind kind;
	enum smart_keep keep;
	uint64_t record;
	size_t chars;
	struct brief_place place;
	struct recall_hash hash; /* of the value, when it is free */
};

struct smart_digest {
	VEC(struct smart_entry) entries; /* number i + 1 */
	struct str text;
	size_t free; /* entries that may go */
	size_t left_out; /* earlier ones that are not shown */
	uint64_t sent; /* bytes of texts that a resume would send */
	struct tokens tokens;
	struct passed passed; /* none of them is an entry */
};
#define SMART_DIGEST_INIT                                \
	{                                                \
		.text = STR_INIT, .tokens = TOKENS_INIT, \
	}
void smart_digest_release(struct smart_digest *d);

/* Only what a resume would send is shown. */
int smart_digest(
	const struct smart_opts *opts, struct smart_digest *ret, struct err *reterr) MUST_USE;

/* What the agent is asked, and the schema of its answer. */
void smart_prompt(const struct smart_digest *d, const struct smart_opts *opts, struct str *out);
extern const char smart_schema[];

struct smart_choice {
	size_t entry;
	char *reason, *summary; /* scrubbed, bounded, owned */
};
struct smart_refusal {
	char *what; /* the number, or the beginning of what stood there */
	const char *why;
};
struct smart_answer {
	VEC(struct smart_choice) choices; /* by entry, none twice */
	VEC(struct smart_refusal) refusals; /* at most SMART_REFUSALS_MAX */
	size_t refused;
};
#define SMART_ANSWER_INIT    \
	{                    \
		.refused = 0 \
	}
void smart_answer_release(struct smart_answer *a);

/* ERR_INPUT when there is no such JSON in it at all. JSON may stand in a fenced block or among
 * words. */
int smart_read_answer(const struct smart_digest *d, struct sv text, struct smart_answer *ret,
	struct err *reterr) MUST_USE;

struct smart_report {
	struct rewrite_result file; /* path NULL when dry */
	size_t replaced;
	uint64_t bytes; /* fewer in the file */
	struct figure saved, before;
};
#define SMART_REPORT_INIT                   \
	{                                   \
		.file = REWRITE_RESULT_INIT \
	}
void smart_report_release(struct smart_report *r);

/* Plans, and unless dry writes the new session. ERR_NOTFOUND when nothing is to be replaced;
 * ERR_BUSY when the session is not the one of the digest any more. */
int smart_apply(const struct smart_opts *opts, const struct smart_digest *d,
	const struct smart_answer *answer, const struct archive *archive, struct smart_report *ret,
	struct err *reterr) MUST_USE;
