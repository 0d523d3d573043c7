/*
 * Lines of a session as its agent writes them, made from what was said: words, answers, calls of
 * tools and what came of them. The agents resume sessions that are made of such lines alone.
 *
 * Nothing here opens the new file. The caller gives items in the order of the conversation, each
 * call answered before anything else is said (branch/native.h sees to that).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/uuid.h"
#include "transcript/transcript.h"
#include "json/write.h"

/* All borrowed for the call. */
struct native_item {
	enum item_kind kind; /* USER, ASSISTANT, TOOL_CALL or TOOL_RESULT */
	struct sv text; /* words, output; of a call its input: an object, else it becomes one */
	struct sv tool, tool_id; /* of a call; results have the id. Made fit for every agent */
	struct sv model; /* who answered; empty: lines->model */
	int64_t time_ms; /* 0: right behind the one before */
	bool command; /* of a call: the text is a command for the agent's own shell tool */
	bool failed; /* of a result */
};

struct native_lines {
	const struct transcript_format *format;
	struct str *out;
	const char *id; /* of the session */
	const char *dir; /* of its work */
	const char *branch; /* git; NULL or "": not told */
	/* Of answers that name no model; NULL or "": the agent decides with which it goes on. */
	const char *model;
	/* Codex: whose model answers is taken from this session of the same format (NULL: none),
	 * else from the settings of the agent's home. */
	const char *like, *root;
	/* A member of the first line; NULL: none. */
	const char *note_key;
	void (*note)(void *data, struct jw *w);
	void *data;
	int64_t time_ms; /* of the next line; never goes back */

	/* Where the lines go on behind others; private once there is one. */
	bool begun;
	char parent[UUID_TEXT]; /* Claude: uuid of the line before; "": none */
	int64_t ordinal; /* Codex: of the next line; negative: lines have none */
	char message[UUID_TEXT]; /* Claude: of the answer that goes on; "": none does */
	struct jw w;
};
#define NATIVE_LINES_INIT                          \
	{                                          \
		.ordinal = -1, .w = {.out = NULL } \
	}

/* Whether lines of that format can be written. */
bool native_writes(const struct transcript_format *format);
/* How many lines a session of so many words and answers has. */
uint64_t native_count(const struct transcript_format *format, uint64_t texts);
/* Appends the lines of one item, before the first those that a session begins with. */
void native_put(struct native_lines *l, const struct native_item *item);
