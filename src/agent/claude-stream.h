/*
 * Claude Code's stream-json output as events. No process, no clock: bytes in, calls out. Any bytes
 * are fine; what is not understood is passed over. Private to the room.
 */
#pragma once

#include "agent/driver.h"
#include "agent/stream.h"
#include "base/vec.h"

enum {
	CLAUDE_LINE_MAX = 64 * 1024 * 1024, /* tool results with images are long lines */
	CLAUDE_TOOLS_MAX = 256, /* tools that are known to run at once */
	CLAUDE_ABOUT_MAX = 160, /* bytes of the line that says what a tool is about */
	CLAUDE_ASK_MAX = 2000, /* the same where somebody has to decide on it */
};

/* It asks whether a tool may be used. Slices are valid during the call. */
struct claude_ask {
	struct sv id; /* of the request */
	struct sv call; /* of the tool's call; may be empty */
	struct sv tool;
	struct sv about;
	struct sv input; /* of the tool, as it stands: JSON */
	struct sv always; /* what it suggests for "do not ask again", for this session: JSON; may be
			     empty */
	struct sv scope; /* what that covers, in one line */
};

/* The end of a turn. Slices are valid during the call. */
struct claude_result {
	bool failed;
	bool interrupted;
	int status; /* of the API; 0: none */
	struct sv said; /* the answer, or the error in its words */
	struct sv errors; /* what it adds to an error; may be empty */
	bool over_budget;
	struct agent_usage usage; /* of this turn alone */
};

struct claude_stream_ops {
	/* SESSION, TEXT, BREAK, THINKING, TOOL_BEGIN, TOOL_END, RETRY, NOTICE */
	void (*event)(void *data, const struct agent_event *ev);
	/* It works on the prompt: from here on it has it. May come many times. */
	void (*working)(void *data);
	/* A limit of the account that stops it; 0 when it does not say until when. */
	void (*limited)(void *data, int64_t until_ms);
	void (*ask)(void *data, const struct claude_ask *ask);
	void (*ask_over)(void *data, struct sv id);
	/* Any other request, which waits for an answer. */
	void (*request)(void *data, struct sv id);
	/* A call was not allowed. May come twice for one. */
	void (*denied)(void *data, struct sv call, struct sv tool, struct sv about);
	void (*result)(void *data, const struct claude_result *result);
};

struct claude_tool {
	char *id;
	char *name;
	char *about;
};

struct claude_stream {
	const struct claude_stream_ops *ops;
	void *data;
	struct lines lines;
	VEC(struct claude_tool) tools; /* running */
	struct str message; /* id of the message whose pieces come */
	size_t block_sent; /* bytes of its text block that were passed on */
	bool block_open; /* the block has begun: no paragraph ends before its next piece */
	bool spoke; /* text was passed on in this turn */
	bool told_session; /* in this turn */
	bool by_schema; /* a call of its tool for an answer by a schema is the end of the answer */
	struct str error; /* what it calls the error of this turn */
	struct agent_usage total; /* of this process, as last told */
};

void claude_stream_init(struct claude_stream *s, const struct claude_stream_ops *ops, void *data);
void claude_stream_release(struct claude_stream *s);
/* A new process: nothing is known of it. */
void claude_stream_restart(struct claude_stream *s);
/* A new turn of the same process. */
void claude_stream_turn(struct claude_stream *s);
void claude_stream_feed(struct claude_stream *s, struct sv bytes);
void claude_stream_end(struct claude_stream *s);

/* Why it tries again, in plain words: from its name for the error (may be empty) and the HTTP
 * status (0: no answer came). */
void claude_retry_words(struct str *out, struct sv name, int64_t status);
