/*
 * A session turn by turn: what each says, does and takes, enough to tell turns of two sessions
 * apart and to find a place to cut, in memory that does not grow with the texts.
 *
 * A turn begins with words of the user and has the number that `faden show` gives it: they are
 * counted from 1 in the order of the file, also those on a way that was left. The history of a
 * Codex fork begins in the file of what it was forked from; its turns come first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "transcript/home.h"
#include "transcript/transcript.h"

/* A file that a session is read from. */
struct session_part {
	char *path;
	uint64_t end; /* where to stop; 0: at its end */
	struct transcript_live live; /* empty where nobody needs it */
};
struct session_parts {
	const struct transcript_format *format;
	VEC(struct session_part) v; /* in the order of the history; the last is its own file */
	size_t first; /* before this one a compaction has replaced everything */
};
#define SESSION_PARTS_INIT     \
	{                      \
		.format = NULL \
	}
/* home: where the other files are looked for; NULL: they are left out, as those that are gone. With
 * `end`, the first so many bytes of its own file; 0: all. Without `live` the files are only read
 * where that is how the others are found. */
int session_parts_find(const char *path, const struct transcript_format *format,
	const struct transcript_home *home, uint64_t end, bool live, struct session_parts *ret,
	struct err *reterr) MUST_USE;
void session_parts_release(struct session_parts *p);

/* What a resume sends, item by item in the order of the conversation; a negative result of fn ends
 * it and is returned. */
typedef int (*session_item_fn)(void *data, const struct item *item, struct err *reterr);
int session_parts_live(
	const struct session_parts *p, session_item_fn fn, void *data, struct err *reterr) MUST_USE;

/* Whether a turn begins with it. */
static inline bool item_begins_turn(const struct item *item)
{
	return item->flags & ITEM_PROMPT && !(item->flags & (ITEM_SIDECHAIN | ITEM_REPLACEMENT));
}

enum { TURN_HEAD_MAX = 160, TURN_FILES_MAX = 256 };

struct turn_view {
	uint64_t number; /* from 1 */
	size_t part; /* of the parts */
	uint64_t offset; /* of the line that begins it */
	uint64_t end; /* where its lines end: there the next one begins, or 0: the part ends */
	char *head; /* the first words of its prompt, one line */
	/* Equal ones for equal turns: of the prompt, and of the answers with the calls by the ids
	 * that copies keep, by words and ids, by words alone. */
	uint64_t said, by_id, by_call, by_words;
	bool left; /* on a way that was left: no resume sends it */
	bool brief; /* what a rollover began the session with */
	uint32_t answers, calls, failed, open; /* open: calls without a result */
	struct strv files; /* changed by it, each once; not what commands in a shell changed */
	uint32_t commands; /* … of which there were so many */
	struct usage usage; /* of all calls of the model; 0: nothing is recorded */
	uint32_t model_calls;
	int64_t first_ms, last_ms; /* 0: not told */
};
struct turn_views {
	struct session_parts parts;
	VEC(struct turn_view) v;
	struct passed passed;
};
#define TURN_VIEWS_INIT                      \
	{                                    \
		.parts = SESSION_PARTS_INIT, \
	}
#define AUTO_TURN_VIEWS CLEANUP(turn_views_release) struct turn_views
void turn_views_release(struct turn_views *t);

/* With `until`, no more than so many turns are read, and only their places and open calls told; 0:
 * all. */
int turn_views_read(const char *path, const struct transcript_format *format,
	const struct transcript_home *home, uint64_t until, struct turn_views *ret,
	struct err *reterr) MUST_USE;
/* The items of one turn, sub-agents' left out. */
int turn_view_items(const struct turn_views *t, const struct turn_view *turn, session_item_fn fn,
	void *data, struct err *reterr) MUST_USE;

/* The same words and deeds. */
bool turn_view_same(const struct turn_view *a, const struct turn_view *b);
/* How many turns both begin with. */
size_t turn_views_common(const struct turn_views *a, const struct turn_views *b);

/* The last turn whose prompt has one of the ids, and how many follow it; 0 and all: none has. */
int turn_views_find(const char *path, const struct transcript_format *format,
	const struct transcript_home *home, const struct map *prompt_ids, uint64_t *ret_turn,
	uint64_t *ret_more, struct err *reterr) MUST_USE;

/* Where a copy ends that has the turns up to one. */
struct turn_cut {
	char *path; /* of the file that has the turn: the session's own, or one it goes on from */
	uint64_t end; /* 0: all of it */
	uint64_t turn; /* 0: not counted */
	uint32_t open; /* calls of the turn that have no result there */
};
void turn_cut_release(struct turn_cut *c);
/* at: the last turn; 0: all there is. ERR_INPUT when there are fewer. */
int turn_cut_find(const char *path, const struct transcript_format *format,
	const struct transcript_home *home, uint64_t at, struct turn_cut *ret,
	struct err *reterr) MUST_USE;
