/*
 * A trim under way. Private to trim*.c.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "strategy/known.h"
#include "strategy/placeholder.h"
#include "strategy/trim.h"

/* A text that may go belongs to a tool whose name stands elsewhere, as a rule before it. */
struct trim_use {
	struct sv id, name;
};
struct trim_want {
	struct sv id;
	uint64_t hash; /* of a text that may be a repetition; 0: not looked at */
	size_t breaks; /* compactions before it, in this chunk */
	const char *name; /* set by join */
	bool selected;
	bool repeated;
};
/* A piece that was taken out. */
struct trim_saved {
	size_t record;
	uint64_t bytes; /* 0 for images: their tokens do not go by bytes */
	bool image;
};
/* What the token figures are made from, in order. */
enum trim_feed { FEED_CALL, FEED_REST, FEED_ANSWER, FEED_EARLY, FEED_ODD, FEED_MODEL, FEED_BREAK };
struct trim_fact {
	enum trim_feed what;
	uint64_t bytes;
	uint32_t line, record; /* within the chunk, from 0 */
	struct sv model, id;
	struct usage usage;
};

struct trim_part {
	VEC(struct trim_use) uses;
	VEC(struct trim_want) wants;
	VEC(struct trim_fact) facts;
	VEC(struct trim_saved) saved;
	VEC(struct recall_place) places;
	uint32_t lines, records;
	size_t breaks; /* compactions in this chunk */
	size_t candidates; /* long answers in this chunk, and before it */
	size_t candidates_before;
	size_t candidates_seen; /* by edit() */
	struct trim_count results, inputs, answers, images, copies;
	int64_t images_left;
	struct str text, json; /* for use and use again */
};

struct trim_run {
	const struct trim_opts *opts;
	const struct archive *archive;
	const char *name; /* of the session, in words to the user */
	char key[ARCHIVE_KEY_MAX];
	struct trim_report *report;

	/* join() only */
	struct idmap tools; /* id → index in names */
	struct map known; /* name → index */
	struct strv names;
	struct map seen; /* hash of a result → compactions before it */
	size_t breaks;
	struct map wanted; /* opts->tools in small letters */
	size_t candidates;

	/* before the run */
	size_t answers_total; /* long answers in all, when "all but the last" was asked for */

	/* fold() and what comes after it */
	struct tokens tokens;
	struct known told; /* of the parent */
	uint64_t lines, records;
	VEC(uint32_t) sent; /* bytes of texts, by record */
	VEC(struct recall_place) places;
	VEC(struct trim_saved) saved;
};

/* A line in hand. */
struct trim_at {
	const struct trim_run *run;
	struct trim_part *part;
	const struct rewrite_line *line;
	struct edit *edit;
	size_t want; /* next of part->wants */
};

/* Looks at a line for names, wants, facts and candidates; edits it. */
void claude_look(const struct trim_run *run, struct trim_part *part, struct rewrite_line *line);
void claude_trim(struct trim_at *at);
void codex_look(const struct trim_run *run, struct trim_part *part, struct rewrite_line *line);
void codex_trim(struct trim_at *at);

/* ---- pieces that both use ---- */

/* A fact about the line in hand. */
void trim_push_fact(struct trim_part *part, struct trim_fact fact);
static inline void trim_push_text(struct trim_part *part, enum trim_feed what, uint64_t bytes)
{
	trim_push_fact(part, (struct trim_fact){ .what = what, .bytes = bytes });
}
/* The texts of a string or a list of blocks; what else is in the list does not go by bytes. */
void trim_push_content(struct trim_part *part, enum trim_feed what, struct jval content);

/* Notes that a result is to be found at this place of the line. */
void trim_push_want(
	const struct trim_run *run, struct trim_part *part, struct jval id, struct jval content);
void trim_push_break(struct trim_part *part);
/* Appends the name of a tool in small letters. */
void trim_lower(struct sv name, struct str *out);
bool trim_selected(const struct trim_run *run, struct sv name);
/* The want that read() left for this place; valid in edit(). */
const struct trim_want *trim_next_want(struct trim_at *at);
/* Whether the text of an answer is long enough; its text blocks are given one by one. */
bool trim_is_long(const struct trim_run *run, struct jval text);
/* Whether the next candidate (in the order of the file) is to go; called once for each. */
bool trim_takes_answer(struct trim_at *at);

struct trim_piece {
	struct placeholder holder; /* kind, name, part; the rest is filled in */
	struct trim_count *count;
	bool sent; /* counts for tokens */
	bool repeated; /* goes at any length */
	struct text_walk
		*inside; /* it lies in this text of a string of the line; NULL: in the line */
};
/* A string; true when it was replaced. */
bool trim_string(struct trim_at *at, const struct trim_piece *piece, struct jval val);
/* A result that is a list of blocks; `text_type` is what a block with text is called. */
void trim_blocks(struct trim_at *at, const struct trim_piece *piece, struct jval list,
	const char *text_type);
/* Every long string inside a value, down to a few levels. */
void trim_strings_in(struct trim_at *at, struct trim_piece *piece, struct jval val, int depth);
/* The JSON text inside a string: `fn` sees its value with piece->inside set. False when the string
 * holds no JSON object. */
bool trim_inside(struct trim_at *at, struct trim_piece *piece, struct jval string,
	void (*fn)(struct trim_at *at, struct trim_piece *piece, struct jval inner));
/* A block with base64 data becomes a text block. source: Claude's object with the data in it, or
 * the address that holds them (Codex). */
void trim_image(struct trim_at *at, struct jval block, struct jval source, const char *text_type);
