/*
 * The output of "codex exec --json" as events. No process, no clock: bytes in, calls out. Any
 * bytes are fine; what is not understood is passed over. Private to the room.
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

/* The end of a turn. Slices are valid during the call. */
struct codex_result {
	bool failed;
	struct sv said; /* the error in its words */
	struct agent_usage total; /* of the thread from its beginning */
};

struct codex_stream_ops {
	/* SESSION, TEXT, BREAK, THINKING, TOOL_BEGIN, TOOL_END, RETRY */
	void (*event)(void *data, const struct agent_event *ev);
	/* It works on the prompt: from here on it has it. */
	void (*working)(void *data);
	void (*result)(void *data, const struct codex_result *result);
};

struct codex_stream {
	const struct codex_stream_ops *ops;
	void *data;
	struct lines lines;
	struct strv tools; /* ids of those that run */
	bool spoke; /* text was passed on in this turn */
	bool told_session;
};

void codex_stream_init(struct codex_stream *s, const struct codex_stream_ops *ops, void *data);
void codex_stream_release(struct codex_stream *s);
/* A new process, which is a new turn. */
void codex_stream_restart(struct codex_stream *s);
void codex_stream_feed(struct codex_stream *s, struct sv bytes);
void codex_stream_end(struct codex_stream *s);

/* Counts of an object {input_tokens, cached_input_tokens, …}; what was read from a cache is not
 * counted as input again. All -1 when it is none. */
struct agent_usage codex_usage(const struct jval *counts);
/* Why it tries again, in plain words: from its own line, "Reconnecting... 1/5 (why)". */
void codex_retry_words(struct str *out, struct sv line);
/* What a thread has used so far, from the end of its file. All -1 when that is not to be found;
 * path may be NULL. */
struct agent_usage codex_usage_of_file(const char *path);
/* The part of `total` since `before`; -1 where either is not known. */
struct agent_usage codex_usage_since(
	const struct agent_usage *total, const struct agent_usage *before);
/* A basic string of TOML, with its quotes, as its command line takes settings. */
void codex_toml_string(struct str *out, struct sv text);
/* The program that npm's "codex" is a wrapper of: one that is killed leaves the other running. NULL
 * when `program` is no such wrapper. Caller frees. In codex.c. */
char *codex_native_program(const char *program);
