/*
 * What both of Codex's outputs have in common, "exec --json" and the app server: items (messages,
 * thoughts, tools) as events, counts of tokens, words of errors. Private to the room.
 */
#pragma once

#include "agent/driver.h"
#include "agent/stream.h"
#include "base/vec.h"

enum {
	CODEX_LINE_MAX = 64 * 1024 * 1024, /* the output of a command is one line */
	CODEX_TOOLS_MAX = 256, /* tools that are known to run at once */
	CODEX_ABOUT_MAX = 160, /* bytes of the line that says what a tool is about */
};

struct codex_tool {
	char *id;
	char *about;
};

struct codex_items {
	/* TEXT, BREAK, THINKING, TOOL_BEGIN, TOOL_END */
	void (*event)(void *data, const struct agent_event *ev);
	void *data;
	VEC(struct codex_tool) tools; /* that run */
	struct str message; /* id of the message whose pieces come */
	size_t sent; /* bytes of it that were passed on */
	bool spoke; /* text was passed on in this turn */
};

void codex_items_init(struct codex_items *items,
	void (*event)(void *data, const struct agent_event *ev), void *data);
/* Also for the next turn. */
void codex_items_release(struct codex_items *items);

/* An item has begun; a piece of a message; an item is complete. Some come complete alone. */
void codex_item_begin(struct codex_items *items, struct jval item);
void codex_item_piece(struct codex_items *items, struct jval id, struct jval text);
void codex_item_end(struct codex_items *items, struct jval item);
/* A command as it was meant: without the shell that it is given to, where that can be told. */
struct sv codex_command(struct sv command);
/* What a tool that runs is about; NULL when there is none of that id. */
const char *codex_item_about(const struct codex_items *items, struct jval id);
/* The names that tools have in events. */
#define CODEX_SHELL "Shell"
#define CODEX_EDIT "Edit"
#define CODEX_TOOL "Tool"

/* Counts of an object {input_tokens, cached_input_tokens, …} or {inputTokens …}; what was read from
 * a cache is not counted as input again. All -1 when it is none. */
struct agent_usage codex_usage(const struct jval *counts);
/* What a thread has used so far, from the end of its file. All -1 when that is not to be found;
 * path may be NULL. */
struct agent_usage codex_usage_of_file(const char *path);
/* The part of `total` since `before`; -1 where either is not known. */
struct agent_usage codex_usage_since(
	const struct agent_usage *total, const struct agent_usage *before);

/* Appends the words of an error. Those of the model's server are passed on as they came: JSON in a
 * string. */
void codex_error_words(struct str *out, struct jval message);
/* Appends why it tries again, in plain words; `why` is its own, may be empty. */
void codex_retry_words(struct str *out, struct sv why);
