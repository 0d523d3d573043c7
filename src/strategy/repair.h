/*
 * Why a session does not resume whole, and a copy that does.
 *
 * The diagnosis reads a file as its agent would: how many entries a resume reaches, how many it
 * would reach if nothing were broken, and every cause by name and line. What looks odd but is as
 * it should be (attachments in the chain, side chains, tools at the same time, compactions,
 * branches that were left) is no cause. The copy differs only where a cause is: every other line
 * stays byte for byte, but for the session's id.
 *
 * Time and memory are linear in the file: a few dozen bytes a line, whatever is broken.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/uuid.h"
#include "transcript/transcript.h"

enum repair_level {
	REPAIR_NOTE, /* worth knowing; nothing is wrong */
	REPAIR_MINOR, /* wrong, but all that the file holds is sent as it was */
	REPAIR_LOSS, /* part of the history is not sent, or not as it was */
	REPAIR_BLOCK, /* the agent does not resume it at all */
};
const char *repair_level_name(enum repair_level level); /* "note", "minor", "loss", "block" */

/* id, name for programs, level, what is wrong and what comes of it, what --apply does ("": nothing
 * can be done) */
/* clang-format off */
#define REPAIR_CAUSES(X) \
	X(REPAIR_EMPTY, "empty", REPAIR_BLOCK, \
		"nothing of a conversation is in the file: it was overwritten or never written", "") \
	X(REPAIR_NULL_LINE, "null-line", REPAIR_BLOCK, \
		"a line is the word null, at which the agent stops", "the line goes") \
	X(REPAIR_NOT_OBJECT, "not-an-object", REPAIR_MINOR, \
		"a line is no JSON object and is ignored", "the line goes") \
	X(REPAIR_TORN, "torn-line", REPAIR_LOSS, \
		"a line is cut off: what stood on it is not sent", \
		"the line goes, what follows is linked past it") \
	X(REPAIR_BURIED, "buried-entry", REPAIR_LOSS, \
		"an entry stands behind a torn one on the same line and is not read", \
		"it gets a line of its own") \
	X(REPAIR_GLUED, "glued-lines", REPAIR_LOSS, \
		"several entries stand on one line: only the first is read", \
		"each gets a line of its own") \
	X(REPAIR_NUL, "nul-bytes", REPAIR_LOSS, \
		"a line holds NUL bytes and is not read", "they are escaped, or go") \
	X(REPAIR_CONTROL, "control-characters", REPAIR_LOSS, \
		"a line holds raw control characters and is not read", "they are escaped") \
	X(REPAIR_NO_NEWLINE, "no-final-newline", REPAIR_MINOR, \
		"the last line has no newline: what is appended is glued to it", "it gets one") \
	X(REPAIR_OVERSIZE, "oversize-line", REPAIR_NOTE, \
		"a line is too long to be looked at", "") \
	X(REPAIR_UTF8, "invalid-utf8", REPAIR_LOSS, \
		"a line has bytes that are no UTF-8: the agent does not read it as it is", \
		"they become replacement characters") \
	X(REPAIR_NULL_PARENT, "null-parent", REPAIR_LOSS, \
		"an entry in mid-file has no parent: everything before it is cut off", \
		"it follows the entry before it") \
	X(REPAIR_DANGLING_PARENT, "dangling-parent", REPAIR_MINOR, \
		"the parent of an entry does not exist; newer agents guess, older ones lose what was before", \
		"it follows the entry before it") \
	X(REPAIR_SIDE_PARENT, "side-chain-parent", REPAIR_LOSS, \
		"an entry hangs on one of a sub-agent, whose words are sent in place of what was before", \
		"it follows the entry before it") \
	X(REPAIR_CYCLE, "cycle", REPAIR_MINOR, \
		"parents lead in a circle", "the circle is opened") \
	X(REPAIR_LOST_BEGINNING, "lost-beginning", REPAIR_MINOR, \
		"the first entry follows one that is not in the file: the beginning is lost", \
		"it becomes the first") \
	X(REPAIR_WRONG_ORDER, "wrong-order", REPAIR_LOSS, \
		"the last line is not the latest entry: the agent goes on from the wrong place", \
		"the latest entry is repeated at the end") \
	X(REPAIR_STALE_LEAF, "stale-leaf", REPAIR_LOSS, \
		"the note about the last prompt names a branch that was left: newer words are not reached", \
		"the note names the latest entry") \
	X(REPAIR_NO_UUID, "missing-uuid", REPAIR_LOSS, \
		"an entry has no uuid and is not read", "it gets one and follows the entry before it") \
	X(REPAIR_DUPLICATE_UUID, "duplicate-uuid", REPAIR_LOSS, \
		"different entries have one uuid: only the last is read", "the others get their own") \
	X(REPAIR_COPIES, "copied-lines", REPAIR_NOTE, \
		"entries stand more than once, unchanged", "") \
	X(REPAIR_ALL_SIDE, "all-side-chain", REPAIR_BLOCK, \
		"every entry is marked as a sub-agent's", "the mark is taken off") \
	X(REPAIR_NO_TIME, "missing-timestamp", REPAIR_BLOCK, \
		"entries have no timestamp: the agent does not find the session", \
		"they get that of the entry before") \
	X(REPAIR_NO_MODEL, "missing-model", REPAIR_BLOCK, \
		"an answer does not name its model: the agent hangs", "it gets the session's") \
	X(REPAIR_NO_MESSAGE_ID, "missing-message-id", REPAIR_LOSS, \
		"an answer has no message id: answers are mixed into one", "it gets one") \
	X(REPAIR_STRING_CONTENT, "string-content", REPAIR_BLOCK, \
		"an answer's content is a plain string, at which the agent stops", \
		"it becomes a text block") \
	X(REPAIR_BAD_MESSAGE, "bad-message", REPAIR_BLOCK, \
		"an entry has no message of the shape it must have", \
		"the line goes, what follows is linked past it") \
	X(REPAIR_CALL_ALONE, "call-without-result", REPAIR_LOSS, \
		"a tool's call has no result: it is not sent", "it is told as text") \
	X(REPAIR_RESULT_ALONE, "result-without-call", REPAIR_LOSS, \
		"a tool's result has no call: it is not sent", "it is told as text") \
	X(REPAIR_TOOL_ID, "wrong-tool-id", REPAIR_LOSS, \
		"a result names another call than the one it answers: both are not sent", \
		"it gets the id of its call") \
	X(REPAIR_ERROR_MARK, "error-marker", REPAIR_MINOR, \
		"the last answer is marked as an API error, which can keep the agent from going on", \
		"the marks are taken off") \
	X(REPAIR_STALE_USAGE, "stale-usage", REPAIR_MINOR, \
		"the recorded tokens are more than the history can have: the agent takes it for full", \
		"they are set to 0") \
	X(REPAIR_SESSION_ID, "session-id", REPAIR_MINOR, \
		"no line has the session id of the file's name", "all lines get it") \
	X(REPAIR_KEPT_MISSING, "kept-entry-missing", REPAIR_LOSS, \
		"an entry that the compaction kept is not in the file", "") \
	X(REPAIR_NO_META, "missing-session-meta", REPAIR_BLOCK, \
		"the file does not begin with its session_meta", "one is put first") \
	X(REPAIR_META_ID, "session-meta-id", REPAIR_LOSS, \
		"session_meta has another id than the file's name: the agent goes on elsewhere", \
		"it gets the right one") \
	X(REPAIR_ORDINALS, "ordinals", REPAIR_BLOCK, \
		"ordinals are missing or do not rise", "the lines are numbered anew") \
	X(REPAIR_ORDINAL_GAP, "ordinal-gap", REPAIR_NOTE, \
		"ordinals are left out: lines were lost", "") \
	X(REPAIR_FILE_NAME, "file-name", REPAIR_BLOCK, \
		"the file's name is not of the form the agent wants", "the copy has a right one")
/* clang-format on */

enum repair_cause {
#define X(id, name, level, effect, remedy) id,
	REPAIR_CAUSES(X)
#undef X
		REPAIR_CAUSE_COUNT
};
const char *repair_cause_name(enum repair_cause cause);
const char *repair_cause_effect(enum repair_cause cause);
const char *repair_cause_remedy(enum repair_cause cause);

enum { REPAIR_LINES_SHOWN = 8 };

struct repair_finding {
	size_t count;
	enum repair_level level; /* some causes weigh differently for different agents */
	uint32_t lines[REPAIR_LINES_SHOWN]; /* the first ones, from 1; 0 is none in particular */
	size_t n_lines;
};

struct repair_report {
	const struct transcript_format *format;
	uint64_t bytes, lines;
	size_t entries; /* what a resume of the mended session would reach */
	size_t reachable; /* what it reaches now, at most `entries` */
	size_t side, others; /* entries of sub-agents; entries before a compaction or on branches
				that were left */
	struct repair_finding findings[REPAIR_CAUSE_COUNT]; /* count 0: not found */
	enum repair_level worst; /* REPAIR_NOTE: healthy */
};
static inline bool repair_healthy(const struct repair_report *report)
{
	return report->worst == REPAIR_NOTE;
}

struct repair_opts {
	const char *path;
	const struct transcript_format *format;
	bool in_use; /* an agent is at it: calls at its end are still running */
	unsigned threads; /* 0: chosen here */
};

/* A file that was looked at, and the plan to mend it. */
struct repair;
int repair_open(const struct repair_opts *opts, struct repair **ret, struct err *reterr) MUST_USE;
void repair_free(struct repair *r); /* NULL is fine */
const struct repair_report *repair_report(const struct repair *r);
/* Whether anything can be done about what was found. */
bool repair_possible(const struct repair *r);

struct repair_write {
	const char *out_dir; /* NULL: where the agent looks for it */
	bool in_place; /* same id; the caller has kept a copy and knows that nobody writes to it */
	unsigned threads; /* 0: chosen here */
	const struct clock *clock;
};
struct repair_result {
	char id[UUID_TEXT];
	char *path; /* owned */
	uint64_t bytes;
	struct repair_report report; /* of what was written, read again */
};
#define REPAIR_RESULT_INIT   \
	{                    \
		.path = NULL \
	}
void repair_result_release(struct repair_result *result);
/* Writes the mended session and looks at it. ERR_INPUT when nothing can be done. */
int repair_apply(struct repair *r, const struct repair_write *how, struct repair_result *ret,
	struct err *reterr) MUST_USE;
