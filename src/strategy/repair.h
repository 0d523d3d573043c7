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

/*
 * id, name for programs, what is wrong and what comes of it, what --apply does ("": nothing can be
 * done). Causes of their own are those that the agents leave behind, or that users have met; all
 * else that is not as an agent writes it is REPAIR_SHAPE.
 */
/* clang-format off */
#define REPAIR_CAUSES(X) \
	X(REPAIR_EMPTY, "empty", \
		"nothing of a conversation is in the file: it was overwritten or never written", "") \
	X(REPAIR_TORN, "torn-line", \
		"a line is cut off: what stood on it is not sent", \
		"the line goes, what follows is linked past it") \
	X(REPAIR_GLUED, "glued-lines", \
		"several entries stand on one line: those behind the first, or behind a torn one, are not read", \
		"each gets a line of its own") \
	X(REPAIR_NUL, "nul-bytes", \
		"a line holds NUL bytes and is not read", "they are escaped, or go") \
	X(REPAIR_NO_NEWLINE, "no-final-newline", \
		"the last line has no newline: what is appended is glued to it", "it gets one") \
	X(REPAIR_OVERSIZE, "oversize-line", \
		"a line is too long to look into: it stays as it is, and so does the rest, since what is " \
		"missing there may stand on it", "") \
	X(REPAIR_UTF8, "invalid-utf8", \
		"a line has bytes that are no UTF-8: the agent does not read it as it is", \
		"they become replacement characters") \
	X(REPAIR_NULL_PARENT, "null-parent", \
		"an entry in mid-file has no parent: everything before it is cut off", \
		"it follows the entry before it") \
	X(REPAIR_DANGLING_PARENT, "dangling-parent", \
		"the parent of an entry does not exist; newer agents guess, older ones lose what was before", \
		"it follows the entry before it") \
	X(REPAIR_WRONG_ORDER, "wrong-order", \
		"the last line is not the latest entry: the agent goes on from the wrong place", \
		"a note at the end names the latest entry") \
	X(REPAIR_STALE_LEAF, "stale-leaf", \
		"the note about the last prompt names a branch that was left: newer words are not reached", \
		"a note at the end names the latest entry") \
	X(REPAIR_COPIES, "copied-lines", \
		"entries stand more than once, unchanged", "") \
	X(REPAIR_CALL_ALONE, "call-without-result", \
		"a tool's call has no result: it is not sent", "it is told as text") \
	X(REPAIR_RESULT_ALONE, "result-without-call", \
		"a tool's result has no call: it is not sent", "it is told as text") \
	X(REPAIR_ERROR_MARK, "error-marker", \
		"the last answer is marked as an API error, which can keep the agent from going on", \
		"the marks are taken off") \
	X(REPAIR_STALE_USAGE, "stale-usage", \
		"the recorded tokens are more than the history can have: the agent takes it for full", \
		"they are set to 0") \
	X(REPAIR_SESSION_ID, "session-id", \
		"the session id in the file is not that of its name: the agent may go on elsewhere", \
		"it gets the right one") \
	X(REPAIR_ORDINALS, "ordinals", \
		"ordinals are missing or do not rise", "the lines are numbered anew") \
	X(REPAIR_FILE_NAME, "file-name", \
		"the file's name is not of the form the agent wants", "the copy has a right one") \
	X(REPAIR_SHAPE, "unknown-shape", \
		"entries are not as the agent writes them: it passes over them, takes them for others, or stops", \
		"all that can be read is linked in its order, what is missing is filled in, what is no entry goes")
/* clang-format on */

enum repair_cause {
#define X(id, name, effect, remedy) id,
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
	enum repair_level level; /* the worst; some causes weigh differently in different places */
	uint32_t lines[REPAIR_LINES_SHOWN]; /* the first ones, from 1; 0 is none in particular */
	size_t n_lines;
};

struct repair_report {
	const struct transcript_format *format;
	uint64_t bytes, lines;
	size_t entries; /* what a resume of the mended session would reach */
	size_t reachable; /* of those, what it reaches now */
	size_t left; /* what it reaches now beside them: on a branch that was left, say */
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
void repair_free(struct repair *rep); /* NULL is fine */
const struct repair_report *repair_report(const struct repair *rep);
/* Whether anything can be done about what was found. */
bool repair_possible(const struct repair *rep);

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
	uint64_t late; /* see rewrite_result */
	struct repair_report report; /* of what was written, read again */
};
#define REPAIR_RESULT_INIT   \
	{                    \
		.path = NULL \
	}
void repair_result_release(struct repair_result *result);
/* Writes the mended session and looks at it. ERR_INPUT when nothing can be done. */
int repair_apply(struct repair *rep, const struct repair_write *how, struct repair_result *ret,
	struct err *reterr) MUST_USE;
