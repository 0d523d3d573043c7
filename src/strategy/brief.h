/*
 * What a session says about its own work, gathered without any model: the task, the files, the
 * commands and how they ended, errors, decisions that were called so, what is open. Every fact
 * says where in the session it stands.
 *
 * Turns that were taken back and the work of sub-agents do not count; what a compaction replaced
 * does. Memory is bounded whatever the size of the session: of each kind the latest are kept.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "transcript/transcript.h"

enum brief_kind {
	BRIEF_FIRST, /* what was asked at first; only when the task was stated again since */
	BRIEF_BETWEEN, /* what was asked for between the two */
	BRIEF_TASK, /* the task as last stated */
	BRIEF_SINCE, /* what the user said after it: short words that do not state a task */
	BRIEF_OPEN, /* unfinished */
	BRIEF_DECISION,
	BRIEF_CHANGED, /* a file */
	BRIEF_READ, /* a file that was read only */
	BRIEF_COMMAND,
	BRIEF_ERROR,
	BRIEF_ANSWER, /* the last words of the agent */
	BRIEF_KINDS,
};
const char *brief_kind_name(enum brief_kind kind); /* "task", "command" … for programs */

/* How a command ended. */
enum brief_end {
	BRIEF_NO_END, /* nothing says */
	BRIEF_EXIT, /* with brief_fact.status */
	BRIEF_FAILED, /* not well, without a status */
	BRIEF_STOPPED, /* by the user */
};

enum { BRIEF_REF = 17 };

/* Where the original stands in the session file. */
struct brief_place {
	uint64_t line; /* from 1 */
	uint64_t offset, size; /* of the JSON value; size 0: only the line is known */
	enum jtype type; /* of the value */
};

/* The place of an item's text. Where several records stand on one line, or blanks before one, only
 * the line is told. */
struct brief_place brief_place_of(const struct item *item);

struct brief_fact {
	enum brief_kind kind;
	char *text; /* one line, or a few for tasks and answers; scrubbed; owned */
	bool cut; /* the original is longer */
	bool before; /* from the brief this session began with; nothing newer replaces it */
	bool past; /* an error: what failed went well later */
	uint64_t about; /* an error: what failed, to tell it again; 0: only its text says */
	int64_t turn; /* an open point: prompts so far when it was said */
	uint32_t times; /* how often: commands run, files changed, errors seen; else 1 */
	enum brief_end end;
	int status;
	struct brief_place place;
	/* The recall reference of the original; "" when there is none. brief_make() knows only
	 * those that an earlier brief gave. */
	char ref[BRIEF_REF];
};

enum {
	BRIEF_TASK_MAX = 1500, /* bytes of a task and of the last answer */
	BRIEF_BETWEEN_MAX = 480, /* bytes of what was asked for in between */
	BRIEF_TEXT_MAX = 240, /* bytes of every other fact */
	BRIEF_FACTS_MAX = 40, /* facts of one kind that are given */
	BRIEF_KNOWN_MAX = 4096, /* files and commands told apart while reading */
};

struct brief {
	VEC(struct brief_fact) facts; /* by kind, each kind in the order of the session */
	size_t more[BRIEF_KINDS]; /* facts of this kind that are left out */
	int64_t turns; /* prompts of the user that count */
	struct passed passed; /* nothing of them is among the facts */
	char *summary; /* an agent's, in the message the session began with; NULL: none */
};
#define BRIEF_INIT         \
	{                  \
		.turns = 0 \
	}
#define AUTO_BRIEF CLEANUP(brief_release) struct brief
void brief_release(struct brief *b);

int brief_make(const char *path, const struct transcript_format *format, struct brief *ret,
	struct err *reterr) MUST_USE;

/* Appends the brief as Markdown, each section under its heading, in about max bytes: sections lose
 * their oldest facts; what the user asked for is shortened before any of it goes. Each fact ends
 * with "[REF]", or "[line N]" where it has none. What brief_make() finds in the message of an
 * earlier rollover goes on into the new brief, with its references, until newer facts replace it:
 * open points by a new plan, an answer by an answer. What may be out of date by now is marked
 * "(from before)". */
void brief_render(const struct brief *b, size_t max, struct str *out);

/* Appends one sentence on how to follow the references of the brief, of a session in that file. */
void brief_explain(const struct brief *b, const char *path, struct str *out);

/* Appends the files that a call of a tool changes, by its name and its input as
 * transcript_text() gives it; nothing for other tools. True: it is a command for a shell, and which
 * files that changes is not known. */
bool brief_files_changed(struct sv name, struct sv input, struct strv *out);
/* The command that a call runs; false when the tool runs none. Appends. */
bool brief_command(struct sv name, struct sv input, struct str *out);

/* What marks the message that a rollover begins a session with. */
#define BRIEF_LINEAGE_BEGIN SESSION_LINEAGE_BEGIN
#define BRIEF_LINEAGE_END "[/SESSION LINEAGE]"
/* The headings of the brief in it, of what an agent wrote for it or for one before it, and of the
 * user's own words. */
#define BRIEF_STANDS "# Where the work stands"
#define BRIEF_SUMMARY "# Summary by an agent"
#define BRIEF_SUMMARY_BEFORE BRIEF_SUMMARY " (from before)"
#define BRIEF_WISH "# What to do in this session"
/* What stands as the answer to it: faden's words, never the agent's. */
#define BRIEF_OWN_ANSWER                                                                    \
	"I have the lineage and the brief of the earlier work, and will look up originals " \
	"where the brief is not enough."

/*
 * Finds what a text calls a decision or an open point: lines that begin with such a word and a
 * colon (TODO and FIXME need none), and the list items below such a heading; boxes of lists. Within
 * a line the word is capitalised; for an open point it begins a sentence. Code blocks are passed
 * over.
 */
enum brief_mark {
	BRIEF_MARK_DECISION,
	BRIEF_MARK_OPEN,
	BRIEF_MARK_NEXT, /* open, but as a proposal: the next words of the user are the answer */
	BRIEF_MARK_DONE, /* a ticked box */
};
typedef void (*brief_mark_fn)(void *data, enum brief_mark mark, struct sv line);
void brief_marks(struct sv text, brief_mark_fn fn, void *data);
