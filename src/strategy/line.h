/*
 * The members of session lines that strategies look at, found in one pass over the line.
 */
#pragma once

#include "transcript/chain.h"
#include "transcript/transcript.h"
#include "json/scan.h"

/* clang-format off */
#define CLAUDE_KEYS(X) \
	X(CLAUDE_TYPE,        "type",              SCAN_TOP) \
	X(CLAUDE_UUID,        "uuid",              SCAN_TOP) \
	X(CLAUDE_PARENT,      "parentUuid",        SCAN_TOP) \
	X(CLAUDE_SIDE,        "isSidechain",       SCAN_TOP) \
	X(CLAUDE_SESSION,     "sessionId",         SCAN_TOP) \
	X(CLAUDE_TIME,        "timestamp",         SCAN_TOP) \
	X(CLAUDE_SUBTYPE,     "subtype",           SCAN_TOP) \
	X(CLAUDE_CONTENT_TOP, "content",           SCAN_TOP) \
	X(CLAUDE_ATTACHMENT,  "attachment",        SCAN_TOP) \
	X(CLAUDE_SUMMARY,     "isCompactSummary",  SCAN_TOP) \
	X(CLAUDE_META,        "isMeta",            SCAN_TOP) \
	X(CLAUDE_COMPACT,     "compactMetadata",   SCAN_TOP) \
	X(CLAUDE_API_ERROR,   "isApiErrorMessage", SCAN_TOP) \
	X(CLAUDE_ERROR,       "error",             SCAN_TOP) \
	X(CLAUDE_TOOL_RESULT, "toolUseResult",     SCAN_TOP) \
	X(CLAUDE_LEAF,        "leafUuid",          SCAN_TOP) \
	X(CLAUDE_MESSAGE,     "message",           SCAN_TOP) \
	X(CLAUDE_MSG_ID,      "id",                CLAUDE_MESSAGE) \
	X(CLAUDE_MSG_ROLE,    "role",              CLAUDE_MESSAGE) \
	X(CLAUDE_MSG_MODEL,   "model",             CLAUDE_MESSAGE) \
	X(CLAUDE_MSG_CONTENT, "content",           CLAUDE_MESSAGE) \
	X(CLAUDE_MSG_USAGE,   "usage",             CLAUDE_MESSAGE)

#define CODEX_KEYS(X) \
	X(CODEX_TIME,         "timestamp",           SCAN_TOP) \
	X(CODEX_ORDINAL,      "ordinal",             SCAN_TOP) \
	X(CODEX_TYPE,         "type",                SCAN_TOP) \
	X(CODEX_PAYLOAD,      "payload",             SCAN_TOP) \
	X(CODEX_P_TYPE,       "type",                CODEX_PAYLOAD) \
	X(CODEX_P_ROLE,       "role",                CODEX_PAYLOAD) \
	X(CODEX_P_ID,         "id",                  CODEX_PAYLOAD) \
	X(CODEX_P_SESSION,    "session_id",          CODEX_PAYLOAD) \
	X(CODEX_P_THREAD,     "thread_id",           CODEX_PAYLOAD) \
	X(CODEX_P_NAME,       "name",                CODEX_PAYLOAD) \
	X(CODEX_P_CALL,       "call_id",             CODEX_PAYLOAD) \
	X(CODEX_P_CONTENT,    "content",             CODEX_PAYLOAD) \
	X(CODEX_P_ARGUMENTS,  "arguments",           CODEX_PAYLOAD) \
	X(CODEX_P_INPUT,      "input",               CODEX_PAYLOAD) \
	X(CODEX_P_OUTPUT,     "output",              CODEX_PAYLOAD) \
	X(CODEX_P_MODEL,      "model",               CODEX_PAYLOAD) \
	X(CODEX_P_INFO,       "info",                CODEX_PAYLOAD) \
	X(CODEX_P_USAGE,      "usage",               CODEX_PAYLOAD) \
	X(CODEX_P_ITEM,       "item",                CODEX_PAYLOAD) \
	X(CODEX_P_MESSAGE,    "message",             CODEX_PAYLOAD) \
	X(CODEX_P_HISTORY,    "replacement_history", CODEX_PAYLOAD) \
	X(CODEX_P_TURNS,      "num_turns",           CODEX_PAYLOAD) \
	/* lines of the first year have no outer object */ \
	X(CODEX_ROLE,         "role",                SCAN_TOP) \
	X(CODEX_ID,           "id",                  SCAN_TOP) \
	X(CODEX_NAME,         "name",                SCAN_TOP) \
	X(CODEX_CALL,         "call_id",             SCAN_TOP) \
	X(CODEX_CONTENT,      "content",             SCAN_TOP) \
	X(CODEX_ARGUMENTS,    "arguments",           SCAN_TOP) \
	X(CODEX_INPUT,        "input",               SCAN_TOP) \
	X(CODEX_OUTPUT,       "output",              SCAN_TOP)
/* clang-format on */

enum claude_key {
#define X(id, name, under) id,
	CLAUDE_KEYS(X)
#undef X
		CLAUDE_KEY_COUNT
};
enum codex_key {
#define X(id, name, under) id,
	CODEX_KEYS(X)
#undef X
		CODEX_KEY_COUNT
};
enum { LINE_KEYS_MAX = 40 };

/* How many values a line of the format has. */
size_t line_key_count(const struct transcript_format *format);
/*
 * Fills vals (LINE_KEYS_MAX of them). False when the text is not one JSON object. Text with a NUL
 * in it is for the caller to refuse: the agents lose such a line. For Codex, lines without the
 * outer object are brought to the same shape: CODEX_PAYLOAD is then the whole, CODEX_TYPE
 * "response_item" or "session_meta" in effect (see codex_line_of()).
 */
bool line_read(const struct transcript_format *format, struct sv text, struct jval *vals);

enum codex_line {
	CODEX_LINE_OTHER,
	CODEX_LINE_META,
	CODEX_LINE_ITEM,
	CODEX_LINE_CONTEXT,
	CODEX_LINE_EVENT,
	CODEX_LINE_COMPACTED,
};
enum codex_line codex_line_of(const struct jval *vals);
/* What the chain needs of the line. */
struct chain_codex codex_chain_record(const struct jval *vals, enum codex_line line);

enum claude_line {
	CLAUDE_LINE_OTHER,
	CLAUDE_LINE_USER,
	CLAUDE_LINE_ASSISTANT,
	CLAUDE_LINE_ATTACHMENT,
	CLAUDE_LINE_SYSTEM,
};
enum claude_line claude_line_of(const struct jval *vals);

/* A member of an object, J_NONE when there is none. */
struct jval line_member(struct jval obj, const char *key);

/* The blocks of a Claude message. */
/* clang-format off */
#define BLOCK_KEYS(X) \
	X(BLOCK_TYPE,    "type",        SCAN_TOP) \
	X(BLOCK_ID,      "id",          SCAN_TOP) \
	X(BLOCK_NAME,    "name",        SCAN_TOP) \
	X(BLOCK_INPUT,   "input",       SCAN_TOP) \
	X(BLOCK_USE_ID,  "tool_use_id", SCAN_TOP) \
	X(BLOCK_CONTENT, "content",     SCAN_TOP) \
	X(BLOCK_TEXT,    "text",        SCAN_TOP) \
	X(BLOCK_SOURCE,  "source",      SCAN_TOP)
/* clang-format on */
enum block_key {
#define X(id, name, under) id,
	BLOCK_KEYS(X)
#undef X
		BLOCK_KEY_COUNT
};
enum block_type {
	BLOCK_OTHER, /* thinking too: never touched */
	BLOCK_IS_TEXT,
	BLOCK_IS_USE,
	BLOCK_IS_RESULT,
	BLOCK_IS_IMAGE, /* or a document */
};
struct line_block {
	struct jval block;
	enum block_type type;
	struct jval vals[BLOCK_KEY_COUNT];
};
/* One element of a list of blocks. False when its text is not one JSON value; type is then OTHER.
 */
bool line_block_read(struct jval block, struct line_block *ret);
