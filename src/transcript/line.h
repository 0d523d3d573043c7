/*
 * One line of a session, scanned once for all that is wanted of it: its place in the chain, its
 * ids, what the model took in, the texts it holds with their places in the line, and what has to
 * change for a new session. Trim, advise and repair read lines through this and nothing else.
 */
#pragma once

#include "base/vec.h"
#include "transcript/chain.h"
#include "transcript/transcript.h"
#include "json/scan.h"

/* ---- members ---- */

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
	X(CLAUDE_CWD,         "cwd",               SCAN_TOP) \
	X(CLAUDE_BRANCH,      "gitBranch",         SCAN_TOP) \
	X(CLAUDE_ENTRY,       "entrypoint",        SCAN_TOP) \
	X(CLAUDE_TITLE,       "customTitle",       SCAN_TOP) \
	X(CLAUDE_AGENT_NAME,  "agentName",         SCAN_TOP) \
	X(CLAUDE_PURPOSE,     "sessionType",       SCAN_TOP) \
	X(CLAUDE_TRIM,        "trim_metadata",     SCAN_TOP) \
	X(CLAUDE_CONTINUE,    "continue_metadata", SCAN_TOP) \
	X(CLAUDE_OURS,        SESSION_NOTE_KEY,    SCAN_TOP) \
	X(CLAUDE_MESSAGE,     "message",           SCAN_TOP) \
	X(CLAUDE_MSG_ID,      "id",                CLAUDE_MESSAGE) \
	X(CLAUDE_MSG_ROLE,    "role",              CLAUDE_MESSAGE) \
	X(CLAUDE_MSG_MODEL,   "model",             CLAUDE_MESSAGE) \
	X(CLAUDE_MSG_CONTENT, "content",           CLAUDE_MESSAGE) \
	X(CLAUDE_MSG_USAGE,   "usage",             CLAUDE_MESSAGE) \
	X(CLAUDE_U_INPUT,     "input_tokens",      CLAUDE_MSG_USAGE) \
	X(CLAUDE_U_READ,      "cache_read_input_tokens", CLAUDE_MSG_USAGE) \
	X(CLAUDE_U_WRITE,     "cache_creation_input_tokens", CLAUDE_MSG_USAGE) \
	X(CLAUDE_U_OUTPUT,    "output_tokens",     CLAUDE_MSG_USAGE) \
	X(CLAUDE_U_CACHE,     "cache_creation",    CLAUDE_MSG_USAGE) \
	X(CLAUDE_U_LONG,      "ephemeral_1h_input_tokens", CLAUDE_U_CACHE) \
	X(CLAUDE_U_SHORT,     "ephemeral_5m_input_tokens", CLAUDE_U_CACHE)

/* Blocks of a message, and of a result in it. */
#define BLOCK_KEYS(X) \
	X(BLOCK_TYPE,     "type",        SCAN_TOP) \
	X(BLOCK_ID,       "id",          SCAN_TOP) \
	X(BLOCK_NAME,     "name",        SCAN_TOP) \
	X(BLOCK_INPUT,    "input",       SCAN_TOP) \
	X(BLOCK_USE_ID,   "tool_use_id", SCAN_TOP) \
	X(BLOCK_CONTENT,  "content",     SCAN_TOP) \
	X(BLOCK_TEXT,     "text",        SCAN_TOP) \
	X(BLOCK_SOURCE,   "source",      SCAN_TOP) \
	X(BLOCK_THINKING, "thinking",    SCAN_TOP)

#define CODEX_KEYS(X) \
	X(CODEX_TIME,         "timestamp",           SCAN_TOP) \
	X(CODEX_ORDINAL,      "ordinal",             SCAN_TOP) \
	X(CODEX_TYPE,         "type",                SCAN_TOP) \
	X(CODEX_TRIM,         "trim_metadata",       SCAN_TOP) \
	X(CODEX_CONTINUE,     "continue_metadata",   SCAN_TOP) \
	X(CODEX_OURS,         SESSION_NOTE_KEY,      SCAN_TOP) \
	X(CODEX_PURPOSE,      "sessionType",         SCAN_TOP) \
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
	X(CODEX_P_SUMMARY,    "summary",             CODEX_PAYLOAD) \
	X(CODEX_P_MODEL,      "model",               CODEX_PAYLOAD) \
	X(CODEX_P_CWD,        "cwd",                 CODEX_PAYLOAD) \
	X(CODEX_P_OURS,       SESSION_NOTE_KEY,      CODEX_PAYLOAD) \
	X(CODEX_P_USAGE,      "usage",               CODEX_PAYLOAD) \
	X(CODEX_P_USAGE_TURN, "turn_token_usage",    CODEX_PAYLOAD) \
	X(CODEX_P_USAGE_ALL,  "thread_token_usage",  CODEX_PAYLOAD) \
	X(CODEX_P_MESSAGE,    "message",             CODEX_PAYLOAD) \
	X(CODEX_P_HISTORY,    "replacement_history", CODEX_PAYLOAD) \
	X(CODEX_P_TURNS,      "num_turns",           CODEX_PAYLOAD) \
	X(CODEX_P_AGGREGATED, "aggregated_output",   CODEX_PAYLOAD) \
	X(CODEX_P_FORMATTED,  "formatted_output",    CODEX_PAYLOAD) \
	X(CODEX_P_STDOUT,     "stdout",              CODEX_PAYLOAD) \
	X(CODEX_P_STDERR,     "stderr",              CODEX_PAYLOAD) \
	X(CODEX_P_INFO,       "info",                CODEX_PAYLOAD) \
	X(CODEX_I_LAST,       "last_token_usage",    CODEX_P_INFO) \
	X(CODEX_L_INPUT,      "input_tokens",        CODEX_I_LAST) \
	X(CODEX_L_READ,       "cached_input_tokens", CODEX_I_LAST) \
	X(CODEX_L_WRITE,      "cache_write_input_tokens", CODEX_I_LAST) \
	X(CODEX_L_OUTPUT,     "output_tokens",       CODEX_I_LAST) \
	X(CODEX_I_TOTAL,      "total_token_usage",   CODEX_P_INFO) \
	X(CODEX_I_WINDOW,     "model_context_window", CODEX_P_INFO) \
	X(CODEX_P_ITEM,       "item",                CODEX_PAYLOAD) \
	X(CODEX_T_ID,         "id",                  CODEX_P_ITEM) \
	X(CODEX_T_AGGREGATED, "aggregated_output",   CODEX_P_ITEM) \
	X(CODEX_T_FORMATTED,  "formatted_output",    CODEX_P_ITEM) \
	X(CODEX_T_STDOUT,     "stdout",              CODEX_P_ITEM) \
	X(CODEX_T_STDERR,     "stderr",              CODEX_P_ITEM) \
	/* lines of the first year have no outer object */ \
	X(CODEX_ROLE,         "role",                SCAN_TOP) \
	X(CODEX_ID,           "id",                  SCAN_TOP) \
	X(CODEX_NAME,         "name",                SCAN_TOP) \
	X(CODEX_CALL,         "call_id",             SCAN_TOP) \
	X(CODEX_CONTENT,      "content",             SCAN_TOP) \
	X(CODEX_ARGUMENTS,    "arguments",           SCAN_TOP) \
	X(CODEX_INPUT,        "input",               SCAN_TOP) \
	X(CODEX_OUTPUT,       "output",              SCAN_TOP)

/* Items of a compacted history, and blocks of an item. */
#define CODEX_ROW_KEYS(X) \
	X(CODEX_R_TYPE,      "type",      SCAN_TOP) \
	X(CODEX_R_ROLE,      "role",      SCAN_TOP) \
	X(CODEX_R_NAME,      "name",      SCAN_TOP) \
	X(CODEX_R_CALL,      "call_id",   SCAN_TOP) \
	X(CODEX_R_CONTENT,   "content",   SCAN_TOP) \
	X(CODEX_R_ARGUMENTS, "arguments", SCAN_TOP) \
	X(CODEX_R_INPUT,     "input",     SCAN_TOP) \
	X(CODEX_R_OUTPUT,    "output",    SCAN_TOP) \
	X(CODEX_R_TEXT,      "text",      SCAN_TOP) \
	X(CODEX_R_PICTURE,   "image_url", SCAN_TOP)
/* clang-format on */

#define X(id, name, under) id,
enum claude_key { CLAUDE_KEYS(X) CLAUDE_KEY_COUNT };
enum claude_block_key { BLOCK_KEYS(X) BLOCK_KEY_COUNT };
enum codex_key { CODEX_KEYS(X) CODEX_KEY_COUNT };
enum codex_row_key { CODEX_ROW_KEYS(X) CODEX_ROW_KEY_COUNT };
#undef X
enum { LINE_KEYS_MAX = SCAN_KEYS_MAX };

/* Lines of Codex without the outer object are brought to the usual shape when they are read:
 * CODEX_PAYLOAD is then the whole, and its keys are those of the top. */
enum codex_line {
	CODEX_LINE_OTHER,
	CODEX_LINE_META,
	CODEX_LINE_ITEM,
	CODEX_LINE_CONTEXT,
	CODEX_LINE_EVENT,
	CODEX_LINE_COMPACTED,
};
enum codex_line codex_line_of(const struct jval *vals);
/* Flags and message of the line in its chain. */
struct chain_entry codex_chain_entry(const struct jval *vals);

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

/* ---- texts ---- */

enum piece_kind {
	PIECE_PROMPT, /* words of the user */
	PIECE_NOTICE, /* words that a program put in */
	PIECE_SUMMARY, /* of what was compacted */
	PIECE_ANSWER,
	PIECE_THINKING,
	PIECE_CALL, /* what a tool was given */
	PIECE_RESULT, /* what it gave */
	PIECE_PICTURE, /* or a document */
	PIECE_COPY, /* of a result, for the screen: never sent */
	PIECE_DISPLAY, /* the same, as a member of the line that may go as a whole */
};
/* How the text of a piece is put into JSON. */
enum piece_shape {
	SHAPE_TEXT, /* a string, or a list of blocks with texts in them */
	SHAPE_STRINGS, /* all strings inside */
	SHAPE_JSON, /* a string that holds JSON: all strings inside that */
	SHAPE_WRAPPED, /* a string that holds JSON: its member "output" */
};
struct line_piece {
	enum piece_kind kind;
	enum piece_shape shape;
	bool counts; /* it is of the conversation, and no part of another piece */
	uint32_t answer; /* answers of one message have one number */
	uint32_t images; /* in it, whose tokens have nothing to do with bytes */
	uint64_t bytes; /* of its texts */
	struct jval val; /* what holds them; picture: the data, or the object with the data in it */
	struct jval block; /* picture: what becomes a text block */
	struct sv id, name; /* of the call; results and copies have the id alone */
};

/* What a line says of the context, in this order: a break, a model or call, the pieces. */
struct line_look {
	bool side; /* a sub-agent's: no piece counts */
	bool breaks; /* the history was compacted here */
	int64_t left; /* tokens that this left, with what it kept; 0: not told */
	bool called; /* the model answered: usage is set */
	struct usage usage;
	struct sv model; /* of the call; without one, of those to come. Empty: as before */
	struct sv message; /* id; empty: none */
	struct sv time;
	int64_t window, cache_life_ms; /* 0: not told */
	VEC(struct line_piece) pieces;
};

/* ---- what a new session changes ---- */

enum {
	LINE_ID = 1u << 0, /* the session's id */
	LINE_USAGE = 1u << 1, /* recorded tokens to 0 */
	LINE_ERRORS = 1u << 2, /* marks of API errors */
};
enum line_swap_what {
	SWAP_ID, /* for the new id */
	SWAP_JSON, /* for `json` */
	SWAP_ZEROS, /* see line_zeros() */
	SWAP_MODEL, /* for the model that answered last; none: it stays */
};
struct line_swap {
	struct jval val;
	enum line_swap_what what;
	struct sv json; /* lasts as long as the program */
};
struct line_swaps {
	VEC(struct line_swap) v;
	bool neutral; /* the words of an API error go: nothing else is to be done to the texts */
};

/* ---- reading ---- */

struct line {
	const struct transcript_format *format;
	struct sv text; /* one object */
	struct jval vals[LINE_KEYS_MAX]; /* by the format's own keys */
	struct scan_rows rows; /* … of the lists in it; cut: a list is one piece without a val */
};

/* For many lines of a format; one thread. */
struct line_reader {
	struct line line; /* what was read last */
	struct scan_table keys, row_keys;
	struct line_look look;
};
void line_reader_init(struct line_reader *r, const struct transcript_format *format);
void line_reader_release(struct line_reader *r);
/* False when the text is not one JSON object: then there are no rows, and no more vals than stand
 * before the fault. Text with a NUL in it is for the caller to refuse: the agents lose such a line.
 */
bool line_reader_read(struct line_reader *r, struct sv text);

/* The calls and results that a line of Claude Code holds, however many: { .line = line } at first.
 * An id is as it stands in the text. */
struct claude_tools {
	const struct line *line;
	size_t at;
	struct scan_iter it;
};
bool claude_tool_next(struct claude_tools *t, struct sv *ret_id, bool *ret_result);

/* Valid until the next line is read. */
const struct line_look *line_look(struct line_reader *r);
/* Appends what changes; `own`: the session's id till now. */
void line_swaps(const struct line *line, unsigned changes, struct sv own, struct line_swaps *out);
/* Appends the value with all numbers in it 0. */
void line_zeros(struct jval val, struct str *out);
/* The object that the note about where a session comes from is put into; J_NONE: not this line. */
struct jval line_note_place(const struct line *line);
/* The folder of work that a line names, of its members by the format's keys; J_NONE: none. */
struct jval line_cwd(const struct transcript_format *format, const struct jval *vals);
/* The line's model when one answered and its name is plain; else empty. */
struct sv line_model(const struct line *line);
/* The next record of a chain. `size` is that of its line. */
void chain_add(struct chain *c, const struct line *line, uint64_t size);

/* What a text block is called, and who answers, in this format's words. */
const char *line_text_type(const struct transcript_format *format);
const char *line_agent_title(const struct transcript_format *format);
/* An answer's usage is recorded behind its texts, not with them. */
bool line_usage_follows(const struct transcript_format *format);
