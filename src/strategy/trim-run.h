/*
 * A trim under way. Private to trim*.c.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "strategy/known.h"
#include "strategy/placeholder.h"
#include "strategy/trim.h"

/* A call, whose name its result does not have. */
struct trim_use {
	struct sv id, name;
};

/* A piece of a line that may go. */
struct trim_job {
	struct line_piece piece;
	uint32_t line; /* within the chunk, from 0 */
	uint32_t breaks; /* compactions before it, in this chunk */
	uint64_t hash; /* of a text that may be a repetition; 0: not looked at */
	size_t candidate; /* answers: which of the long ones of this chunk */
	const char *name; /* of its tool; set by join */
	bool selected, repeated; /* set by join */
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
	uint32_t line, record; /* within the chunk, from 0 */
	uint64_t n; /* bytes of a text; CALL, MODEL: index of calls; BREAK: tokens left */
};
struct trim_call {
	struct sv model, message;
	struct usage usage;
};

struct trim_part {
	VEC(struct trim_use) uses;
	VEC(struct trim_job) jobs;
	VEC(struct trim_fact) facts;
	VEC(struct trim_call) calls;
	VEC(struct trim_saved) saved;
	VEC(struct recall_place) places;
	uint32_t lines, records;
	uint32_t breaks; /* compactions in this chunk */
	size_t candidates; /* long answers in this chunk, and before it */
	size_t candidates_before;
	uint32_t line; /* that edit() has come to, and its next job */
	size_t job;
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

/* Whether the text of an answer is long enough. */
bool trim_is_long(const struct trim_run *run, struct jval text);
/* Whether a repetition of the value would be worth a placeholder, however short. */
bool trim_may_repeat(struct jval val);
/* Appends the name of a tool in small letters. */
void trim_lower(struct sv name, struct str *out);
bool trim_selected(const struct trim_run *run, struct sv name);
/* Takes the piece out of the line, when it is to go. */
void trim_take(const struct trim_run *run, struct trim_part *part, const struct rewrite_line *line,
	struct edit *e, const struct trim_job *job);
