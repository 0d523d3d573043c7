/*
 * What repair remembers of a session: a few numbers an entry, gathered in one pass over the file on
 * several threads, and the plan that is made of them. Private to repair.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "strategy/line.h"
#include "strategy/repair-line.h"
#include "strategy/repair.h"
#include "transcript/chain.h"

/* A uuid as its 128 bits; any other text as a hash, and the text in facts.names. {0, 0}: none. */
struct fact_id {
	uint64_t a, b;
};
struct fact_id fact_id(struct sv text, bool *ret_plain);
static inline uint64_t fact_key(struct fact_id id)
{
	return id.a ^ (id.b << 1 | id.b >> 63);
}
uint64_t fact_hash(struct sv text); /* 0 only for "" */

enum {
	/* what it is */
	FACT_USER = 1u << 0,
	FACT_ASSISTANT = 1u << 1,
	FACT_ATTACHMENT = 1u << 2,
	FACT_SYSTEM = 1u << 3,
	FACT_SIDE = 1u << 4,
	FACT_BOUNDARY = 1u << 5, /* a compaction, or a summary that stands at the beginning */
	FACT_UNSEEN = 1u << 6, /* the agent does not read it */
	FACT_GONE = 1u << 7, /* no entry any more: its place in the chain is all that is known */
	FACT_LATEST = 1u << 8, /* the last of those with its uuid */
	FACT_LEADS = 1u << 19, /* named as parent by an entry */
	FACT_META = 1u << 17, /* Codex: a session_meta */
	FACT_RECORD = 1u << 18, /* Codex: has a type and a payload */
	FACT_LEAF = 1u << 9, /* a note about the leaf, whose key is in `parent` */
	/* what is wrong with it */
	FACT_NO_TIME = 1u << 10,
	FACT_NO_MODEL = 1u << 11,
	FACT_NO_MESSAGE_ID = 1u << 12,
	FACT_STRING = 1u << 13,
	FACT_BAD_MESSAGE = 1u << 14,
	FACT_NOT_UTF8 = 1u << 16,
	FACT_LINE = 1u << 15, /* the line is not one object: it is written anew */
	/* the plan */
	FACT_PARENT = 1u << 20, /* gets the parent `link` */
	FACT_UUID = 1u << 21, /* gets the uuid `id` */
	FACT_MAIN = 1u << 22, /* is no side chain */
	FACT_CALL = 1u << 23, /* tools' calls become text */
	FACT_RESULT = 1u << 24, /* tools' results become text */
	FACT_TOOL_ID = 1u << 25, /* results get the id of the call they answer */
	FACT_DROP = 1u << 26, /* the line goes */
	FACT_NOTE = 1u << 27, /* the note names the entry `link` */

	FACT_SPOKEN = FACT_USER | FACT_ASSISTANT,
	FACT_CHAINED = FACT_SPOKEN | FACT_ATTACHMENT | FACT_SYSTEM,
	FACT_WRONG = FACT_NO_TIME | FACT_NO_MODEL | FACT_NO_MESSAGE_ID | FACT_STRING | FACT_LINE,
	FACT_PLAN = FACT_PARENT | FACT_UUID | FACT_MAIN | FACT_CALL | FACT_RESULT | FACT_TOOL_ID |
		FACT_DROP | FACT_NOTE,
};

struct fact {
	struct fact_id id;
	uint64_t parent; /* key of its id; 0 none */
	uint64_t message; /* hash of the message id; Codex: its ordinal, UINT64_MAX none */
	uint64_t offset; /* of its line */
	uint32_t line;
	uint32_t print; /* of what it says: copies have the same */
	uint32_t flags;
	uint32_t link; /* the entry it follows, of a copy the latest, counted from 1; 0 none */
};

struct fact_tool {
	uint64_t id; /* hash */
	uint32_t fact;
	bool result;
};
struct fact_kept {
	uint64_t id; /* key */
	uint32_t fact; /* of the compaction */
	bool must; /* it is one of those that are sent */
};

enum { FACT_TEXT_MAX = 64 };
/* Of an entry without an ordinal, or with one that is no number. */
#define ORDINAL_NONE UINT64_MAX
#define ORDINAL_BAD (UINT64_MAX - 1)

/* The time before an entry that has none. */
struct fact_time {
	uint32_t fact;
	char text[FACT_TEXT_MAX];
};

struct facts {
	VEC(struct fact) v;
	VEC(struct fact_tool) tools;
	VEC(struct fact_kept) kept;
	VEC(struct fact_time) times;
	struct strv names; /* the texts of ids that are no uuids */
	struct map name_of; /* their keys (8 bytes) to indices of names */
	struct chain *chain; /* as the agent reads it; Codex: a record for each of v */
	uint64_t lines;
	uint64_t other_ids, own_ids; /* lines by their session id */
	char model[FACT_TEXT_MAX]; /* of the last answer, and what it took in */
	char time[FACT_TEXT_MAX];
	char first_time[FACT_TEXT_MAX]; /* Codex */
	char *cwd; /* Codex, as it stands in the file; NULL unknown */
	bool paginated; /* Codex: its lines must be numbered */
	bool based; /* Codex: a fork, whose history begins in another file */
	int64_t context;
	enum { FACT_NO_ANSWER, FACT_ANSWER_FINE, FACT_ANSWER_FAILED, FACT_ANSWER_REFUSED } last;
	bool unterminated; /* the last line */
	struct repair_finding found[REPAIR_CAUSE_COUNT]; /* about single lines */
};

/* A result that answers a call, whatever its id says. */
struct fact_pair {
	uint32_t result, call; /* facts, from 0 */
	uint64_t id; /* of the call */
};

struct repair {
	char *path;
	char *file_id; /* by the name; "" when the name has none */
	const struct transcript_format *format;
	bool in_use;
	struct facts facts;
	struct transcript_live live; /* as the agent reads it now */
	struct repair_report report;
	size_t spoken; /* entries of user and assistant */
	bool compacted; /* once it is mended */
	bool sub_agent; /* a file of its own for one */
	VEC(struct fact_pair) pairs; /* in the order of the results */
	VEC(uint64_t) alone; /* ids of tools without counterpart, sorted */
	uint32_t leaf; /* where the conversation goes on, counted from 1 */
	uint32_t stale_note; /* the note that names another, counted from 1; 0 none */
	bool new_meta; /* Codex: a header must be made */
	bool renumber; /* Codex: `link` of the facts is their number from first_ordinal on */
	bool no_last_ordinal;
	uint64_t first_ordinal;
	bool repeat_leaf; /* it must be written once more, last */
};

void facts_release(struct facts *f);
/* Reads the file at r->path into r->facts and counts what is wrong with single lines. */
int facts_read(struct repair *r, unsigned threads, struct err *reterr) MUST_USE;
/* Remembers the text of an id that is no uuid. */
void facts_name(struct facts *f, struct fact_id id, struct sv text);
/* An id as it stands in the file, quotes included. */
void facts_id_json(const struct facts *f, struct fact_id id, struct str *out);
struct fact_id facts_new_id(void);

void finding_add(struct repair_finding *finding, uint32_t line);

/* One entry on its way into facts. */
struct entry {
	const struct jval *vals;
	struct fact fact; /* place, and what is known of the line */
	struct sv file_id;
	uint64_t chain_size; /* of the line, for the chain; 0: Claude's has it already */
};
void claude_fact(struct facts *f, const struct entry *entry);
void codex_fact(struct facts *f, const struct entry *entry);
/* The findings and the plan. */
int claude_plan(struct repair *r, struct err *reterr) MUST_USE;
int codex_plan(struct repair *r, struct err *reterr) MUST_USE;

/* Calls and results that have no counterpart among the entries for which `sent` is true; the
 * others are nobody's loss. */
void plan_tools(struct repair *r, bool (*sent)(const void *data, uint32_t fact), const void *data);
/* One of those, by its id as it stands in the file. */
bool tool_is_alone(const struct repair *r, struct sv id);
/* Whether any call has several results. */
bool has_results_twice(const struct facts *f);
