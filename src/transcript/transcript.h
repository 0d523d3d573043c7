/*
 * Session files of the agents, read in one neutral form.
 *
 * Three readings of a file, each with memory that does not grow with its bytes:
 *   transcript_scan()  a summary for lists, and again from where it stopped when the file grew;
 *   transcript_open()  its items one by one, text decoded on demand;
 *   transcript_live()  which of its records a resume would send to the model.
 *
 * Files are untrusted: broken lines, NULs, invalid UTF-8, several objects on one line, a last line
 * that is half written are all passed over or reported, never an error. Errors are those of
 * reading. Nothing here writes.
 *
 * A record is one JSON object (or one broken line); agents write one a line, but a crash may glue
 * two together. Records are counted from 0 in file order, lines from 1.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "json/scan.h"

/* How one agent's files are read; its members are the room's own (adapter.h). One object a format:
 * two are the same when their addresses are. */
struct transcript_format;
extern const struct transcript_format transcript_claude, transcript_codex;
#define TRANSCRIPT_CLAUDE (&transcript_claude)
#define TRANSCRIPT_CODEX (&transcript_codex)

/* For a session of which nothing but its id is known: any, never NULL. */
const struct transcript_format *transcript_format_unknown(void);
/* A fork begins with the records of what it was forked from and does not say so. */
bool transcript_forks_silently(const struct transcript_format *format);
/* The history of a fork begins in the file of what it was forked from, which must stay. */
bool transcript_forks_share(const struct transcript_format *format);
/* The number of a format in the store, and back; NULL when this program knows none such. */
int64_t transcript_format_number(const struct transcript_format *format);
const struct transcript_format *transcript_format_numbered(int64_t number);
/* By the first lines of a file; ERR_INPUT when it is no session, -errno when it cannot be read. */
int transcript_probe(
	const char *path, const struct transcript_format **ret_format, struct err *reterr) MUST_USE;

/* ---- the summary ---- */

enum session_relation {
	SESSION_ROOT, /* no parent known */
	SESSION_TRIMMED,
	SESSION_CONTINUED,
	SESSION_FORKED,
	SESSION_PORTED,
	SESSION_REPAIRED,
	SESSION_SMART_TRIMMED, /* trimmed by an agent's choice */
	SESSION_MOVED, /* taken along to another folder */
	SESSION_MERGED, /* goes on from one, with what was found in another */
	SESSION_REPLAYED, /* the same words of the user, answered anew */
	SESSION_RELATIONS
};
const char *session_relation_name(enum session_relation relation); /* "trimmed" …, "" for ROOT */

enum {
	SESSION_SUBAGENT = 1u << 0, /* the work of a sub-agent, not a conversation of its own */
	SESSION_EXEC = 1u << 1, /* begun by a program (claude -p, codex exec) */
	SESSION_TORN = 1u << 2, /* the last line is incomplete */
	SESSION_HELPER = 1u << 3, /* marked by its maker as not for people */
};

enum {
	SESSION_PROMPT_MAX = 400, /* bytes kept of the first prompt */
	SESSION_NAME_MAX = 400, /* bytes kept of names, branches, models */
	SESSION_PATH_MAX = 4096, /* bytes kept of folders and parents */
};

/* Begins the block in the first message of a session that goes on from others. */
#define SESSION_LINEAGE_BEGIN "[SESSION LINEAGE]"

struct usage {
	int64_t input; /* not cached */
	int64_t cache_read;
	int64_t cache_write;
	int64_t output;
};
static inline int64_t usage_context(const struct usage *u)
{
	return u->input + u->cache_read + u->cache_write;
}

/* How far a file was read; what a later scan needs to go on. Plain data, may be stored. */
struct session_mark {
	uint64_t offset; /* first byte not yet taken for good, the beginning of a line */
	uint64_t anchor; /* of the bytes before it: another file under the same name is noticed */
	uint32_t tail; /* records taken beyond offset, from a last line without newline */
	uint32_t flags; /* private */
};

/*
 * A session made from another one says so in a member of its first line (Codex: inside the payload
 * of session_meta is fine too): {"relation":"trimmed","parent_id":…,"parent_file":…}. The notes
 * of others, trim_metadata and continue_metadata, are understood as well.
 */
#define SESSION_NOTE_KEY "faden_metadata"

/* Strings are owned and never NULL once scanned; "" when unknown. */
struct session_info {
	char *path;
	char *id; /* by the file name, which is what the agents go by */
	char *name; /* given by the user in the agent */
	char *cwd; /* where it was begun */
	char *branch; /* git branch, the last one */
	char *prompt; /* first words of the user, one line */
	char *model; /* the last one that answered */
	char *root; /* uuid of the first chained record: the same in forks of one session */
	char *parent_id; /* as far as known; either may be empty */
	char *parent_path;
	enum session_relation relation;
	const struct transcript_format *format;
	uint32_t flags; /* SESSION_ */
	int64_t first_ms, last_ms; /* wall time of the first and last record with a time; 0 none */
	int64_t turns; /* prompts of the user, without texts that programs put in */
	int64_t size; /* bytes, when scanned */
	int64_t window; /* tokens of the model's window, 0 unknown */
	struct usage usage; /* of the last answer: its sum is the context then */
	struct session_mark mark;
};

/* Sets every string to "", id from the path. */
void session_info_init(
	struct session_info *info, const struct transcript_format *format, const char *path);
void session_info_release(struct session_info *info);

/*
 * Reads what is new in the file since info->mark, up to `size` bytes of it (as fstat() says), and
 * brings info up to date. All is read again from the start when the file is shorter than before or
 * is not the one of the mark. Result and state are the same however the file was cut up by
 * earlier scans. Any thread; one info one thread.
 */
int transcript_scan(int fd, uint64_t size, struct session_info *info, struct err *reterr) MUST_USE;

/* Whether somebody says something in lines of a session, whatever its format. */
bool transcript_speaks(struct sv text);
/* Whether nobody says anything in it: an agent that overwrites a session on resume may leave a few
 * lines about itself. Of one that had words before, these are gone. One that cannot be read, or is
 * larger than such lines are, is not silent. */
bool transcript_is_silent(const char *path);
/* Whether a file that had so many bytes has fewer now, in which nobody says anything: its session
 * is gone, though the file is there. */
bool transcript_fell_silent(const char *path, uint64_t had);

/* ---- items ---- */

enum item_kind {
	ITEM_USER,
	ITEM_ASSISTANT,
	ITEM_THINKING,
	ITEM_TOOL_CALL,
	ITEM_TOOL_RESULT,
	ITEM_SYSTEM, /* words of the agent program: notices, instructions, hook results */
	ITEM_COMPACTION, /* from here on the context is a summary */
	ITEM_META, /* bookkeeping, unknown or broken */
	ITEM_KINDS,
};
const char *item_kind_name(enum item_kind kind); /* "user", "tool_call" … */

enum {
	ITEM_PROMPT = 1u << 0, /* words the user gave; at most one item a record */
	ITEM_INJECTED = 1u << 1, /* a user message put in by a program */
	ITEM_SIDECHAIN = 1u << 2, /* of a sub-agent, inside the parent's file */
	ITEM_FAILED = 1u << 3, /* a tool's error, an API error */
	ITEM_SUMMARY = 1u << 4, /* the summary that stands for what was compacted */
	ITEM_REPLACEMENT = 1u << 5, /* part of a compacted history inside one record */
	ITEM_SYNTHETIC = 1u << 6, /* an answer no model gave */
	ITEM_BROKEN = 1u << 7, /* the line (or its rest) is no JSON object */
	ITEM_UNTERMINATED = 1u << 8, /* the line has no newline yet */
	ITEM_IMAGE = 1u << 9, /* holds a picture, shown as a note */
	ITEM_USAGE = 1u << 10, /* usage is set; repeated on all records of one message id */
	ITEM_GLUED = 1u << 11, /* not the first object on its line: the agents lose it */
	ITEM_OVERSIZE = 1u << 12, /* with ITEM_BROKEN: the line is too long to look into */
};

/*
 * Slices and values point into the line and are valid until the next call of transcript_next().
 * The slices are what stands between the quotes (ids and times hold no escapes).
 */
struct item {
	enum item_kind kind;
	uint32_t flags;
	uint32_t part; /* which item of its record, from 0 */
	uint64_t record;
	uint64_t line;
	uint64_t offset, size; /* of the line in the file, newline included */
	struct sv type; /* as the agent calls it: "user", "attachment", "function_call" … */
	struct sv time; /* RFC 3339 */
	struct sv uuid, parent; /* Claude */
	/* The id under which a prompt was sent, whatever its text has become; empty: none is kept.
	 * Claude keeps it as the entry's own, so every entry has one there; Codex in an event that
	 * follows the prompt, ITEM_META. */
	struct sv prompt_id;
	struct sv message_id;
	struct sv model;
	struct sv tool; /* calls only */
	struct sv tool_id; /* calls and results */
	struct usage usage;
	int64_t left; /* compaction: tokens that it left; 0: not told */
	struct jval text; /* what transcript_text() decodes: a string, or a list of blocks */
	struct jval body; /* the block, or the record when it has none */
	struct jval object; /* the record */
};

/* Lines that were passed over since they are too long to look into. */
struct passed {
	uint64_t n;
	uint64_t first; /* number of the first of them, from 1 */
};
static inline void passed_add(struct passed *p, uint64_t line)
{
	if (p->n++ == 0)
		p->first = line;
}

struct transcript_reader;
struct transcript_read_opts {
	uint64_t offset; /* begin at this line; records and lines are then counted from there */
	uint64_t end; /* stop here as if the file ended; 0 at its end */
	bool expand; /* after a Codex compaction also the items it put in place, REPLACEMENT */
	bool subagent; /* the file is a sub-agent's own: nothing in it is a side chain */
	/* Stands at `offset` of the file and is all that is read: the caller has it already, and
	 * keeps it. The file need not be there. */
	struct sv line;
	bool cut; /* that is only its head (see scan_close()) and says less of itself */
};
/* opts may be NULL. *ret is freed by transcript_close(). */
int transcript_open(const char *path, const struct transcript_format *format,
	const struct transcript_read_opts *opts, struct transcript_reader **ret,
	struct err *reterr) MUST_USE;
/* 1 and the next item, 0 at the end, or negative. Every record has at least one item. */
int transcript_next(struct transcript_reader *r, struct item *ret, struct err *reterr) MUST_USE;
void transcript_close(struct transcript_reader *r); /* NULL is fine */

/* Appends the item's text: words, a tool's output, or the JSON of a call's arguments. Pictures and
 * the like become a note in brackets. */
void transcript_text(const struct item *item, struct str *out);
/* Where the agent has put a tool's result that was too big for its file: a place in the session's
 * folder (transcript_folder()), "tool-results/x.txt". False when the item is no such result.
 * Appends. */
bool transcript_spilled(
	const struct transcript_format *format, const struct item *item, struct str *out);
/* Wall time, 0 when there is none. */
int64_t transcript_time(const struct item *item);

/* ---- what a resume sends ---- */

struct transcript_live {
	uint64_t *bits; /* one a record */
	size_t records;
	size_t live; /* how many are set */
	uint64_t live_bytes; /* bytes of their lines */
	size_t healed; /* parents that do not exist or lead in a circle, bridged */
	bool compacted; /* the history begins with a summary */
	size_t compaction; /* its record */
	/* Where the records do not stand in the order of the conversation, how often the file has
	 * to be gone through to meet them in it, and in which pass each is met, from 1 on; else 0
	 * and NULL. */
	unsigned passes;
	unsigned char *pass;
	/* Codex fork: the history before this file, in another one. Empty when there is none. */
	char *base_id;
	uint64_t base_offset; /* its bytes up to here */
};
/*
 * By the agents' own rules. Claude Code: from the last user or assistant record (or that which the
 * last note about the leaf names, where it is on another branch) along the parents
 * to a null parent or a compaction, with the other records of the same answers, their tools'
 * results, and what the compaction kept; a parent that is missing or leads in a circle is taken
 * to be the record before. Codex: everything the last compaction did not replace and no rollback
 * took back. Only records that can be sent are marked: words, tools, attachments, summaries.
 */
int transcript_live(const char *path, const struct transcript_format *format,
	struct transcript_live *ret, struct err *reterr) MUST_USE;
/* The same for the first `end` bytes of the file, as a fork made there sees it; 0: all. */
int transcript_live_until(const char *path, const struct transcript_format *format, uint64_t end,
	struct transcript_live *ret, struct err *reterr) MUST_USE;
void transcript_live_release(struct transcript_live *live);
static inline bool transcript_is_live(const struct transcript_live *live, uint64_t record)
{
	return record < live->records && (live->bits[record / 64] >> (record % 64) & 1);
}

enum { LIVE_PASSES_MAX = 64 }; /* beyond them the order is that of the file */
/* Whether the record is met in this pass, from 1 to transcript_passes(). */
static inline unsigned transcript_passes(const struct transcript_live *live)
{
	return live->passes ? live->passes : 1;
}
static inline bool transcript_in_pass(
	const struct transcript_live *live, uint64_t record, unsigned pass)
{
	return (live->pass && record < live->records && live->pass[record] ? live->pass[record]
									   : 1) == pass;
}

/* ---- words ---- */
/* True for a user message that a program put in (command echoes, reminders, environment). */
bool transcript_injected(const struct transcript_format *format, struct sv text);
/* True for the one of these that says that the turn before it was stopped: what was said in it may
 * be half an answer. */
bool transcript_interrupts(const struct transcript_format *format, struct sv text);
/* True for a call by which the agent answers where its answer has a schema: its input is the
 * answer, when the result of the call is no failure. */
bool transcript_answers(const struct transcript_format *format, const struct item *item);
/* What was typed where the agent keeps it in another form (a command with its arguments); else the
 * text itself. Appends. */
void transcript_typed(const struct transcript_format *format, struct sv text, struct str *out);
/* The words of a prompt that the agent has noted before it was said: one that it has in hand and
 * may have come to nothing. False when the item is no such note. Appends. */
bool transcript_in_hand(
	const struct transcript_format *format, const struct item *item, struct str *out);
/* What Claude Code writes into a transcript where the model said nothing, so that questions and
 * answers alternate. It is no answer of anybody. */
static inline bool transcript_is_filler(struct sv text)
{
	return sv_is(sv_trim(text), "No response requested.");
}
