/*
 * What the files of repair share: what is remembered of a session, the plan that is made of it, and
 * what the rules of one agent give. Private to repair*.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "strategy/repair.h"
#include "transcript/chain.h"
#include "transcript/line.h"
#include "json/edit.h"

/* ---- one line ---- */

/* What is wrong with a line that is not one plain object. */
enum {
	LINE_NULL = 1u << 0,
	LINE_OTHER = 1u << 1, /* something that is no object */
	LINE_TORN = 1u << 2,
	LINE_GLUED = 1u << 3, /* an object behind another, or behind a torn one */
	LINE_NUL = 1u << 4,
	LINE_CONTROL = 1u << 5,
};

struct line_part {
	struct sv text; /* one object */
	bool seen; /* nothing is wrong before it */
};

/* The entries that can still be read from it. */
struct mended {
	struct line_reader reader; /* by which all agree on what can be read */
	struct str buf; /* what was cleaned */
	VEC(struct line_part) parts; /* slices of the line or of buf */
	unsigned damage; /* LINE_ bits; 0: the line is one object, or blank */
};
void mended_init(struct mended *m, const struct transcript_format *format);
void mended_release(struct mended *m);
/* The text without its newline. */
void line_mend(struct mended *m, struct sv text);

/* ---- what is remembered ---- */

enum {
	/* what it is */
	FACT_USER = 1u << 0, /* Codex: anything that can be sent */
	FACT_ASSISTANT = 1u << 1,
	FACT_ATTACHMENT = 1u << 2,
	FACT_SYSTEM = 1u << 3,
	FACT_SIDE = 1u << 4,
	FACT_BOUNDARY = 1u << 5, /* a compaction, or a summary that stands at the beginning */
	FACT_NOTE = 1u << 6, /* a note about the leaf, whose key is in `parent` */
	FACT_META = 1u << 7, /* Codex: a session_meta */
	FACT_RECORD = 1u << 8, /* Codex: has a type and a payload */
	FACT_SENT = 1u << 9, /* Codex */
	FACT_PROMPT = 1u << 10, /* Codex */
	FACT_UNSEEN = 1u << 11, /* the agent does not read it */
	FACT_GONE = 1u << 12, /* no entry, or none that can stay */
	FACT_LATEST = 1u << 13, /* the last of those with its uuid */
	FACT_LEADS = 1u << 14, /* named as parent by an entry */
	FACT_COPY = 1u << 15, /* of the later entry `link` */
	/* what is wrong with it */
	FACT_NO_TIME = 1u << 16,
	FACT_NO_MODEL = 1u << 17,
	FACT_NO_MESSAGE_ID = 1u << 18,
	FACT_STRING = 1u << 19, /* an answer whose content is a string */
	FACT_NOT_UTF8 = 1u << 20,
	FACT_LINE = 1u << 21, /* the line is not one object: it is written anew */
	/* the plan */
	FACT_PARENT = 1u << 24, /* gets the parent `link` */
	FACT_UUID = 1u << 25, /* gets a uuid of its own */
	FACT_MAIN = 1u << 26, /* is no side chain */
	FACT_CALL = 1u << 27, /* tools' calls become text */
	FACT_RESULT = 1u << 28, /* tools' results become text */
	FACT_DROP = 1u << 29, /* the line goes */

	FACT_SPOKEN = FACT_USER | FACT_ASSISTANT,
	FACT_CHAINED = FACT_SPOKEN | FACT_ATTACHMENT | FACT_SYSTEM,
	FACT_TOOLS = FACT_CALL | FACT_RESULT,
	FACT_CHANGED = FACT_NO_TIME | FACT_NO_MODEL | FACT_NO_MESSAGE_ID | FACT_STRING | FACT_LINE |
		FACT_PARENT | FACT_UUID | FACT_MAIN | FACT_TOOLS | FACT_DROP,
};

/* One entry. Facts are counted from 1 where they refer to each other; 0 is none. */
struct fact {
	uint64_t key; /* hash of its id; 0 none */
	uint64_t parent; /* key; Codex: turns that it takes back */
	uint64_t message; /* hash of the message id; Codex: its ordinal, or one of the two below */
	uint64_t offset; /* of its line */
	uint32_t id; /* where its id stands in facts.ids */
	uint32_t size; /* of its line; 0 but for the first entry on it */
	uint32_t line; /* from 1 */
	uint32_t print; /* of what it says: copies have the same */
	uint32_t flags;
	uint32_t link; /* the entry it follows, of a copy the latest; Codex: its number */
};
#define ORDINAL_NONE UINT64_MAX
#define ORDINAL_BAD (UINT64_MAX - 1)

struct fact_tool {
	uint64_t id; /* hash */
	uint32_t fact; /* from 0 */
	bool result;
};
struct fact_kept {
	uint64_t id; /* key */
	uint32_t fact; /* of the compaction, from 0 */
};
enum { FACT_TEXT_MAX = 64 };

struct facts {
	VEC(struct fact) v;
	VEC(struct fact_tool) tools;
	VEC(struct fact_kept) kept;
	struct str ids; /* as they stand in the file, each with a NUL */
	uint64_t seed; /* of the hashes */
	uint64_t lines;
	uint64_t other_ids, own_ids; /* lines by their session id */
	char model[FACT_TEXT_MAX]; /* of the last answer, and what it took in */
	int64_t context;
	enum { FACT_NO_ANSWER, FACT_ANSWER_FINE, FACT_ANSWER_FAILED, FACT_ANSWER_REFUSED } last;
	char time[FACT_TEXT_MAX]; /* the first */
	char *cwd; /* Codex, as it stands in the file; NULL unknown */
	bool paginated; /* Codex: its lines must be numbered */
	bool based; /* Codex: a fork, whose history begins in another file */
	bool unterminated; /* the last line */
	struct repair_finding found[REPAIR_CAUSE_COUNT]; /* about single lines */
};

struct repair {
	char *path;
	char *file_id; /* by the name; "" when the name has none */
	const struct transcript_format *format;
	const struct repair_rules *rules;
	bool in_use;
	struct facts facts;
	struct repair_report report;
	VEC(uint64_t) alone; /* ids of tools without counterpart, sorted */
	char own_id[UUID_TEXT]; /* what uuids of our own are made of */
	bool sub_agent; /* a file of its own for one */
	uint32_t leaf; /* where the conversation goes on */
	bool note_leaf; /* which must be said behind the last line */
	bool new_meta; /* Codex: a header must be made */
	bool mend_all; /* every line has something that changes */
	bool renumber; /* Codex: the entries get the numbers first_ordinal + link */
	uint64_t first_ordinal;
};

/* One more of a cause; the worst level counts. line 0: none in particular. */
void found(struct repair_finding *all, enum repair_cause cause, enum repair_level level,
	uint32_t line);
static inline uint64_t fact_hash(const struct facts *f, struct sv text)
{
	return text.n > 0 ? hash_bytes(f->seed, text) | 1 : 0;
}
/* Keeps a text that is short and needs no decoding. */
void fact_text(char to[static FACT_TEXT_MAX], struct jval val);
void facts_release(struct facts *f);
/* Reads the file at rep->path into rep->facts and counts what is wrong with single lines. */
int facts_read(struct repair *rep, unsigned threads, struct err *reterr) MUST_USE;

/* Whether anything can be done about what was found; the name of a file in place stays. */
bool report_can_mend(const struct repair_report *report, bool in_place);
/* A call or result that has no counterpart among what is sent, by its id as it stands in the file.
 */
bool tool_is_alone(const struct repair *rep, struct jval id);

/* ---- mending ---- */

/* What mending an entry needs beyond its fact. Read only while lines are written. */
struct mender {
	const struct repair *rep;
	const char *session; /* id that every entry gets; NULL: as they have it */
	bool side; /* a sub-agent's file stays one; a copy of it gets the name of a session */
	char now[CLOCK_TEXT_MAX];
};

/* An entry to mend: its text, its members, the splices that are made. */
struct mending {
	const struct fact *fact;
	struct jval object;
	const struct jval *vals;
	struct edit *edit;
	bool neutral; /* its content is replaced already */
	bool id; /* the session's id is set already */
};
/* A member set to raw JSON, put first when it is not there. */
void mend_member(const struct mending *entry, struct jval object, struct jval val, const char *key,
	struct sv json);
void mend_text(const struct mending *entry, struct jval object, struct jval val, const char *key,
	struct sv text);
/* The time when the session began, as far as is known. */
void mend_time(const struct mender *m, const struct mending *entry, struct jval val);

/* ---- one agent's rules ---- */

/* One entry on its way into facts. */
struct entry {
	const struct line *line;
	struct fact fact; /* place, and what is known of the line */
	struct sv file_id;
};

struct repair_rules {
	const struct transcript_format *format;
	bool reads_first; /* of a line that holds several entries */
	bool utf8_only; /* a line with other bytes is not read; else they are replaced */
	enum repair_level null_line; /* what it does to the agent */
	/* Adds one fact. */
	void (*take)(struct facts *f, const struct entry *entry);
	/* What is wrong with single entries and with the file. */
	void (*check)(struct repair *rep);
	/* What a resume sends of the session as it is, or of the mended one: one bit a fact. */
	int (*live)(const struct repair *rep, bool mended, struct transcript_live *ret,
		struct err *reterr);
	/* How the entries of a conversation hang together; NULL: by their order. */
	void (*plan)(struct repair *rep, const struct transcript_live *now);
	/* Whether a call without result may still run, while an agent is at the session. */
	bool (*running)(const struct repair *rep, uint32_t call);
	void (*mend)(const struct mender *m, const struct mending *entry);
	/* What must stand before the first line and behind the last; nothing mostly. */
	void (*frame)(const struct mender *m, struct str *head, struct str *tail);
};
extern const struct repair_rules repair_claude, repair_codex;
