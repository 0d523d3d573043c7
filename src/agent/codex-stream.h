/*
 * The output of "codex exec --json" as events. No process, no clock: bytes in, calls out. Any
 * bytes are fine; what is not understood is passed over. Private to the room.
 */
#pragma once

#include "agent/codex-item.h"

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
	struct codex_items items;
	bool told_session;
};

void codex_stream_init(struct codex_stream *s, const struct codex_stream_ops *ops, void *data);
void codex_stream_release(struct codex_stream *s);
/* A new process, which is a new turn. */
void codex_stream_restart(struct codex_stream *s);
void codex_stream_feed(struct codex_stream *s, struct sv bytes);
void codex_stream_end(struct codex_stream *s);

/* A basic string of TOML, with its quotes, as its command line takes settings. */
void codex_toml_string(struct str *out, struct sv text);
/* The program that npm's "codex" is a wrapper of: one that is killed leaves the other running. NULL
 * when `program` is no such wrapper. Caller frees. In codex.c. */
char *codex_native_program(const char *program);
