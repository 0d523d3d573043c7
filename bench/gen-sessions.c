/*
 * Writes synthetic sessions, the same for the same arguments:
 *
 *	gen-sessions FOLDER FILES BYTES       FOLDER/projects/<project>/<uuid>.jsonl, BYTES in all
 *	gen-sessions --single FILE BYTES      one session of Claude Code
 *	gen-sessions --codex FILE BYTES       one of Codex
 *	gen-sessions --search FOLDER FILES BYTES
 *
 * BYTES takes k, M, G. Parents chain, every tool use has its result, usage is repeated on the
 * lines of one message, as the agents do it. Lines are as long as in real sessions: 2 to 6 kB in
 * the mean, most of them a few hundred bytes, now and then one of up to 2 MB. What a tool gave
 * stands twice: in the message and for the screen.
 *
 * With --search the words are of a vocabulary of 300,000, common and rare as in real text (Zipf),
 * in English and German, with identifiers, paths, hashes and base64 among them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "gen-text.h"
#include "os/file.h"
#include "os/path.h"
#include "json/write.h"

enum {
	POOL_BYTES = 4 * 1024 * 1024,
	OUTPUT_MIN = 32,
	OUTPUT_MAX = 1024 * 1024,
	FILE_MIN = 4 * 1024,
	ID_MAX = 40,
	FLUSH_AT = 1024 * 1024,
};

static const int64_t epoch_ms = INT64_C(1735689600000); /* 2025-01-01 */

/* Of what a tool gives: a few words as a rule, a file or a log often, a heap of it now and then. */
static size_t rng_output(struct rng *r, size_t most)
{
	static const struct {
		size_t permille, low, high;
	} shares[] = {
		{ 560, OUTPUT_MIN, 512 },
		{ 382, 512, 8 * 1024 },
		{ 55, 8 * 1024, 32 * 1024 },
		{ 3, 32 * 1024, OUTPUT_MAX },
	};
	size_t at = rng_below(r, 1000), i = 0;

	while (at >= shares[i].permille)
		at -= shares[i++].permille;
	size_t size = rng_size(r, shares[i].low, shares[i].high);
	return size < most ? size : most;
}

static void rng_id(struct rng *r, const char *prefix, char out[static ID_MAX])
{
	(void)snprintf(out, ID_MAX, "%s_01%016" PRIx64, prefix, rng_next(r));
}

/* A piece of the pool, which is much cheaper than new text; it begins and ends at lines. */
static struct sv pool_piece(const struct str *pool, struct rng *r, size_t size)
{
	const char *from = pool->buf + rng_below(r, pool->len - size - 4096);
	const char *start = strchr(from, '\n') + 1;
	const char *stop = strchr(start + size, '\n');

	return sv_make(start, (size_t)(stop - start));
}

/* ---- one session ---- */

struct gen {
	struct rng rng;
	const struct str *pool;
	int fd;
	struct str buf; /* lines not yet written */
	uint64_t bytes;
	char session[UUID_TEXT];
	char parent[UUID_TEXT]; /* empty: none yet; Codex: id of the turn */
	char cwd[256];
	int64_t now_ms;
	int64_t context; /* tokens so far */
	bool codex;
	int64_t ordinal; /* of the next line, Codex */
};

static void end_line(struct gen *g, struct jw *w)
{
	jw_end(w);
	str_addc(&g->buf, '\n');
}

static void put_time(struct gen *g, struct jw *w)
{
	char text[CLOCK_TEXT_MAX];

	g->now_ms += 50 + (int64_t)rng_below(&g->rng, 20000);
	clock_format_iso(g->now_ms, text);
	jw_put_cstr(w, "timestamp", text);
}

static void begin_chained(struct gen *g, struct jw *w)
{
	jw_object(w);
	jw_put_cstr(w, "parentUuid", g->parent[0] ? g->parent : NULL);
	jw_put_bool(w, "isSidechain", false);
}

/* The common end of chained lines; the line becomes the parent of the next. */
static void end_chained(struct gen *g, struct jw *w, const char *type)
{
	rng_uuid(&g->rng, g->parent);
	jw_put_cstr(w, "type", type);
	jw_put_cstr(w, "uuid", g->parent);
	put_time(g, w);
	jw_put_cstr(w, "userType", "external");
	jw_put_cstr(w, "entrypoint", "cli");
	jw_put_cstr(w, "cwd", g->cwd);
	jw_put_cstr(w, "sessionId", g->session);
	jw_put_cstr(w, "version", "2.1.197");
	jw_put_cstr(w, "gitBranch", "main");
	end_line(g, w);
}

static void line_prompt(struct gen *g)
{
	AUTO_STR text = STR_INIT;
	struct jw w = JW_INIT(&g->buf);

	add_words(&text, &g->rng, 4 + rng_below(&g->rng, 40));
	begin_chained(g, &w);
	jw_key(&w, "message");
	jw_object(&w);
	jw_put_cstr(&w, "role", "user");
	jw_put_string(&w, "content", str_sv(&text));
	jw_end(&w);
	jw_put_cstr(&w, "permissionMode", "default");
	jw_put_cstr(&w, "promptSource", "typed");
	g->context += (int64_t)text.len / 4;
	end_chained(g, &w, "user");
}

static void put_usage(struct gen *g, struct jw *w)
{
	jw_key(w, "usage");
	jw_object(w);
	jw_put_i64(w, "input_tokens", 4);
	jw_put_i64(w, "cache_creation_input_tokens", g->context / 20);
	jw_put_i64(w, "cache_read_input_tokens", g->context - g->context / 20);
	jw_put_i64(w, "output_tokens", 1 + (int64_t)rng_below(&g->rng, 900));
	jw_key(w, "server_tool_use");
	jw_object(w);
	jw_put_i64(w, "web_search_requests", 0);
	jw_put_i64(w, "web_fetch_requests", 0);
	jw_end(w);
	jw_put_cstr(w, "service_tier", "standard");
	jw_key(w, "cache_creation");
	jw_object(w);
	jw_put_i64(w, "ephemeral_1h_input_tokens", 0);
	jw_put_i64(w, "ephemeral_5m_input_tokens", g->context / 20);
	jw_end(w);
	jw_put_cstr(w, "speed", "standard");
	jw_end(w);
}

static void begin_assistant(struct gen *g, struct jw *w, const char *message_id)
{
	begin_chained(g, w);
	jw_key(w, "message");
	jw_object(w);
	jw_put_cstr(w, "id", message_id);
	jw_put_cstr(w, "type", "message");
	jw_put_cstr(w, "role", "assistant");
	jw_put_cstr(w, "model", "claude-opus-4-8");
	jw_key(w, "content");
	jw_array(w);
	jw_object(w);
}

static void end_assistant(struct gen *g, struct jw *w, const char *stop_reason)
{
	char request[ID_MAX];

	jw_end(w);
	jw_end(w);
	jw_put_cstr(w, "stop_reason", stop_reason);
	jw_put_cstr(w, "stop_sequence", NULL);
	put_usage(g, w);
	jw_end(w);
	rng_id(&g->rng, "req", request);
	jw_put_cstr(w, "requestId", request);
	end_chained(g, w, "assistant");
}

static void line_text(struct gen *g, const char *message_id)
{
	struct jw w = JW_INIT(&g->buf);
	struct sv text = pool_piece(g->pool, &g->rng, rng_size(&g->rng, 64, 2048));

	begin_assistant(g, &w, message_id);
	jw_put_cstr(&w, "type", "text");
	jw_put_string(&w, "text", text);
	g->context += (int64_t)text.n / 4;
	end_assistant(g, &w, "end_turn");
}

static void line_thinking(struct gen *g, const char *message_id)
{
	struct jw w = JW_INIT(&g->buf);
	AUTO_STR signature = STR_INIT;

	for (int i = 0; i < 24; i++)
		str_addf(&signature, "%016" PRIx64, rng_next(&g->rng));
	begin_assistant(g, &w, message_id);
	jw_put_cstr(&w, "type", "thinking");
	jw_put_string(&w, "thinking", pool_piece(g->pool, &g->rng, rng_size(&g->rng, 64, 4096)));
	jw_put_string(&w, "signature", str_sv(&signature));
	end_assistant(g, &w, "tool_use");
}

enum tool { TOOL_BASH, TOOL_READ, TOOL_EDIT, TOOLS };
static const char *const tool_names[] = { "Bash", "Read", "Edit" };

static void line_tool_use(struct gen *g, const char *message_id, enum tool tool,
	const char *tool_id, struct sv output)
{
	struct jw w = JW_INIT(&g->buf);

	begin_assistant(g, &w, message_id);
	jw_put_cstr(&w, "type", "tool_use");
	jw_put_cstr(&w, "id", tool_id);
	jw_put_cstr(&w, "name", tool_names[tool]);
	jw_key(&w, "input");
	jw_object(&w);
	if (tool == TOOL_BASH) {
		jw_put_cstr(&w, "command", "grep -rn \"needle\" src | head -50");
		jw_put_cstr(&w, "description", "Look for the needle");
	} else {
		jw_put_cstr(&w, "file_path", "/home/ada/work/src/main.c");
	}
	if (tool == TOOL_EDIT) {
		jw_put_string(&w, "old_string", sv_head(output, 200));
		jw_put_string(&w, "new_string", sv_head(output, 400));
	}
	jw_end(&w);
	end_assistant(g, &w, "tool_use");
}

static void put_read_result(struct jw *w, struct sv output)
{
	jw_put_cstr(w, "type", "text");
	jw_key(w, "file");
	jw_object(w);
	jw_put_cstr(w, "filePath", "/home/ada/work/src/main.c");
	jw_put_string(w, "content", output);
	jw_put_i64(w, "numLines", 120);
	jw_put_i64(w, "startLine", 1);
	jw_put_i64(w, "totalLines", 120);
	jw_end(w);
}

static void put_patch(struct jw *w, struct sv output)
{
	struct sv line;

	jw_key(w, "structuredPatch");
	jw_array(w);
	jw_object(w);
	jw_put_i64(w, "oldStart", 1);
	jw_put_i64(w, "newStart", 1);
	jw_key(w, "lines");
	jw_array(w);
	while (sv_split(&output, '\n', &line))
		jw_string(w, line);
	jw_end(w);
	jw_end(w);
	jw_end(w);
}

static void put_tool_result(struct jw *w, enum tool tool, struct sv output)
{
	jw_key(w, "toolUseResult");
	jw_object(w);
	switch (tool) {
	case TOOL_READ:
		put_read_result(w, output);
		break;
	case TOOL_EDIT:
		jw_put_cstr(w, "filePath", "/home/ada/work/src/main.c");
		jw_put_string(w, "originalFile", output);
		put_patch(w, sv_head(output, 4096));
		break;
	case TOOL_BASH:
	case TOOLS:
		jw_put_string(w, "stdout", output);
		jw_put_cstr(w, "stderr", "");
		jw_put_bool(w, "interrupted", false);
		jw_put_bool(w, "isImage", false);
		break;
	}
	jw_end(w);
}

/* `source` is the line of the tool use: its parent too. */
static void line_tool_result(struct gen *g, enum tool tool, const char *tool_id,
	const char source[static UUID_TEXT], struct sv output)
{
	struct jw w = JW_INIT(&g->buf);

	memcpy(g->parent, source, UUID_TEXT);
	begin_chained(g, &w);
	jw_key(&w, "message");
	jw_object(&w);
	jw_put_cstr(&w, "role", "user");
	jw_key(&w, "content");
	jw_array(&w);
	jw_object(&w);
	jw_put_cstr(&w, "tool_use_id", tool_id);
	jw_put_cstr(&w, "type", "tool_result");
	jw_put_string(&w, "content", output);
	jw_put_bool(&w, "is_error", false);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	put_tool_result(&w, tool, output);
	jw_put_cstr(&w, "sourceToolAssistantUUID", source);
	g->context += (int64_t)output.n / 4;
	end_chained(g, &w, "user");
}

/* One or two tools in one message; each result hangs on its own use. */
static void tool_round(struct gen *g, size_t most)
{
	char message_id[ID_MAX], tool_ids[2][ID_MAX], sources[2][UUID_TEXT];
	struct sv outputs[2];
	enum tool tools[2];
	size_t n = 1 + (rng_below(&g->rng, 5) == 0);

	rng_id(&g->rng, "msg", message_id);
	if (rng_below(&g->rng, 3) == 0)
		line_thinking(g, message_id);
	for (size_t i = 0; i < n; i++) {
		rng_id(&g->rng, "toolu", tool_ids[i]);
		tools[i] = (enum tool)rng_below(&g->rng, TOOLS);
		outputs[i] = pool_piece(g->pool, &g->rng, rng_output(&g->rng, most));
		line_tool_use(g, message_id, tools[i], tool_ids[i], outputs[i]);
		memcpy(sources[i], g->parent, UUID_TEXT);
	}
	for (size_t i = 0; i < n; i++)
		line_tool_result(g, tools[i], tool_ids[i], sources[i], outputs[i]);
}

static void line_unchained(struct gen *g, const char *type, const char *key, const char *value)
{
	struct jw w = JW_INIT(&g->buf);

	jw_object(&w);
	jw_put_cstr(&w, "type", type);
	jw_put_cstr(&w, key, value);
	jw_put_cstr(&w, "sessionId", g->session);
	end_line(g, &w);
}

/* What the agent notes before a prompt and behind an answer. */
static void line_snapshot(struct gen *g)
{
	struct jw w = JW_INIT(&g->buf);
	char id[UUID_TEXT];

	rng_uuid(&g->rng, id);
	jw_object(&w);
	jw_put_cstr(&w, "type", "file-history-snapshot");
	jw_put_cstr(&w, "messageId", id);
	jw_key(&w, "snapshot");
	jw_object(&w);
	jw_put_cstr(&w, "messageId", id);
	jw_key(&w, "trackedFileBackups");
	jw_object(&w);
	jw_end(&w);
	put_time(g, &w);
	jw_end(&w);
	jw_put_bool(&w, "isSnapshotUpdate", false);
	end_line(g, &w);
}

static void line_duration(struct gen *g)
{
	struct jw w = JW_INIT(&g->buf);

	begin_chained(g, &w);
	jw_put_cstr(&w, "subtype", "turn_duration");
	jw_put_i64(&w, "durationMs", 200 + (int64_t)rng_below(&g->rng, 200000));
	jw_put_bool(&w, "isMeta", false);
	end_chained(g, &w, "system");
}

static int flush(struct gen *g, struct err *reterr)
{
	int r = file_write_all(g->fd, str_sv(&g->buf), reterr);

	g->bytes += g->buf.len;
	str_clear(&g->buf);
	return r;
}

/* The largest output of the next round: four of them (two tools, twice each) fit what is left. */
static size_t output_max(const struct gen *g, uint64_t target)
{
	uint64_t have = g->bytes + g->buf.len;
	uint64_t most = target > have ? (target - have) / 4 : 0;

	if (most < OUTPUT_MIN)
		return OUTPUT_MIN;
	return most < OUTPUT_MAX ? (size_t)most : OUTPUT_MAX;
}

static void turn(struct gen *g, uint64_t target)
{
	char message_id[ID_MAX];
	size_t rounds = rng_below(&g->rng, 12);

	line_snapshot(g);
	line_prompt(g);
	for (size_t i = 0; i < rounds && g->bytes + g->buf.len < target; i++)
		tool_round(g, output_max(g, target));
	rng_id(&g->rng, "msg", message_id);
	line_text(g, message_id);
	line_duration(g);
}

/* ---- Codex ---- */

/* The payload of a line is open afterwards. */
static void begin_codex(struct gen *g, struct jw *w, const char *type, const char *inner)
{
	jw_object(w);
	put_time(g, w);
	jw_put_i64(w, "ordinal", g->ordinal++);
	jw_put_cstr(w, "type", type);
	jw_key(w, "payload");
	jw_object(w);
	if (inner)
		jw_put_cstr(w, "type", inner);
}

static void end_codex(struct gen *g, struct jw *w)
{
	jw_end(w);
	end_line(g, w);
}

/* What stands at the end of the payload of every item. */
static void end_item(struct gen *g, struct jw *w)
{
	jw_key(w, "internal_chat_message_metadata_passthrough");
	jw_object(w);
	jw_put_cstr(w, "turn_id", g->parent);
	jw_end(w);
	jw_end(w);
	jw_key(w, "metadata");
	jw_object(w);
	jw_put_bool(w, "client_authored", false);
	jw_end(w);
	end_line(g, w);
}

/* A message and what the screen shows of it. */
static void codex_message(struct gen *g, const char *role, struct sv text)
{
	bool user = strcmp(role, "user") == 0;
	struct jw w = JW_INIT(&g->buf), screen = JW_INIT(&g->buf);
	char id[ID_MAX];

	rng_id(&g->rng, "msg", id);
	begin_codex(g, &screen, "event_msg", "item_completed");
	jw_put_cstr(&screen, "thread_id", g->session);
	jw_put_cstr(&screen, "turn_id", g->parent);
	jw_key(&screen, "item");
	jw_object(&screen);
	jw_put_cstr(&screen, "type", user ? "UserMessage" : "AgentMessage");
	jw_put_cstr(&screen, "id", id);
	jw_key(&screen, "content");
	jw_array(&screen);
	jw_object(&screen);
	jw_put_cstr(&screen, "type", "text");
	jw_put_string(&screen, "text", text);
	jw_end(&screen);
	jw_end(&screen);
	jw_end(&screen);
	end_codex(g, &screen);
	begin_codex(g, &w, "response_item", "message");
	jw_put_cstr(&w, "id", id);
	jw_put_cstr(&w, "role", role);
	jw_key(&w, "content");
	jw_array(&w);
	jw_object(&w);
	jw_put_cstr(&w, "type", user ? "input_text" : "output_text");
	jw_put_string(&w, "text", text);
	jw_end(&w);
	jw_end(&w);
	end_item(g, &w);
	g->context += (int64_t)text.n / 4;
}

static void put_codex_usage(struct gen *g, struct jw *w, const char *key)
{
	jw_key(w, key);
	jw_object(w);
	jw_put_i64(w, "input_tokens", g->context);
	jw_put_i64(w, "cached_input_tokens", g->context - g->context / 20);
	jw_put_i64(w, "output_tokens", 1 + (int64_t)rng_below(&g->rng, 900));
	jw_put_i64(w, "reasoning_output_tokens", 0);
	jw_put_i64(w, "total_tokens", g->context + 100);
	jw_end(w);
}

static void codex_usage(struct gen *g)
{
	struct jw w = JW_INIT(&g->buf);

	begin_codex(g, &w, "event_msg", "token_count");
	jw_key(&w, "info");
	jw_object(&w);
	put_codex_usage(g, &w, "total_token_usage");
	put_codex_usage(g, &w, "last_token_usage");
	jw_put_i64(&w, "model_context_window", 258400);
	jw_end(&w);
	jw_key(&w, "rate_limits");
	jw_object(&w);
	jw_put_cstr(&w, "limit_id", "codex");
	jw_put_cstr(&w, "primary", NULL);
	jw_put_cstr(&w, "secondary", NULL);
	jw_end(&w);
	end_codex(g, &w);
}

static void codex_reasoning(struct gen *g)
{
	struct jw w = JW_INIT(&g->buf);
	AUTO_STR sealed = STR_INIT;
	char id[ID_MAX];

	for (size_t i = rng_below(&g->rng, 120); i-- > 0;)
		str_addf(&sealed, "%016" PRIx64, rng_next(&g->rng));
	rng_id(&g->rng, "rs", id);
	begin_codex(g, &w, "response_item", "reasoning");
	jw_put_cstr(&w, "id", id);
	jw_key(&w, "summary");
	jw_array(&w);
	jw_end(&w);
	jw_put_cstr(&w, "content", NULL);
	jw_put_string(&w, "encrypted_content", str_sv(&sealed));
	end_item(g, &w);
}

/* A call, what the screen shows of it, its result, and what it took. */
static void codex_round(struct gen *g, size_t most)
{
	struct jw call = JW_INIT(&g->buf), screen = JW_INIT(&g->buf), result = JW_INIT(&g->buf);
	struct sv output = pool_piece(g->pool, &g->rng, rng_output(&g->rng, most));
	char id[ID_MAX];

	if (rng_below(&g->rng, 3) == 0)
		codex_reasoning(g);
	rng_id(&g->rng, "call", id);
	begin_codex(g, &call, "response_item", "function_call");
	jw_put_cstr(&call, "status", "completed");
	jw_put_cstr(&call, "name", "exec_command");
	jw_put_cstr(&call, "arguments", "{\"cmd\": \"grep -rn \\\"needle\\\" src | head -50\"}");
	jw_put_cstr(&call, "call_id", id);
	end_item(g, &call);
	begin_codex(g, &screen, "event_msg", "item_completed");
	jw_put_cstr(&screen, "thread_id", g->session);
	jw_put_cstr(&screen, "turn_id", g->parent);
	jw_key(&screen, "item");
	jw_object(&screen);
	jw_put_cstr(&screen, "type", "CommandExecution");
	jw_put_cstr(&screen, "id", id);
	jw_put_cstr(&screen, "cwd", g->cwd);
	jw_put_cstr(&screen, "status", "completed");
	jw_put_string(&screen, "aggregated_output", output);
	jw_put_i64(&screen, "exit_code", 0);
	jw_end(&screen);
	end_codex(g, &screen);
	begin_codex(g, &result, "response_item", "function_call_output");
	jw_put_cstr(&result, "call_id", id);
	jw_put_string(&result, "output", output);
	end_item(g, &result);
	g->context += (int64_t)output.n / 4;
	codex_usage(g);
}

static void codex_turn(struct gen *g, uint64_t target)
{
	AUTO_STR text = STR_INIT;
	struct jw w = JW_INIT(&g->buf);

	rng_uuid(&g->rng, g->parent); /* of the turn */
	begin_codex(g, &w, "turn_context", NULL);
	jw_put_cstr(&w, "turn_id", g->parent);
	jw_put_cstr(&w, "cwd", g->cwd);
	jw_put_cstr(&w, "approval_policy", "never");
	jw_put_cstr(&w, "model", "gpt-5.2-codex");
	jw_put_cstr(&w, "summary", "none");
	end_codex(g, &w);
	add_words(&text, &g->rng, 4 + rng_below(&g->rng, 40));
	codex_message(g, "user", str_sv(&text));
	for (size_t i = rng_below(&g->rng, 12); i-- > 0 && g->bytes + g->buf.len < target;)
		codex_round(g, output_max(g, target));
	codex_message(g, "assistant", pool_piece(g->pool, &g->rng, rng_size(&g->rng, 64, 2048)));
	codex_usage(g);
}

static void codex_header(struct gen *g)
{
	struct jw w = JW_INIT(&g->buf);

	begin_codex(g, &w, "session_meta", NULL);
	jw_put_cstr(&w, "session_id", g->session);
	jw_put_cstr(&w, "id", g->session);
	put_time(g, &w);
	jw_put_cstr(&w, "cwd", g->cwd);
	jw_put_cstr(&w, "originator", "codex_exec");
	jw_put_cstr(&w, "cli_version", "0.166.0");
	jw_key(&w, "base_instructions");
	jw_object(&w);
	jw_put_string(&w, "text", pool_piece(g->pool, &g->rng, 20000));
	jw_end(&w);
	end_codex(g, &w);
}

/* ---- a file ---- */

static int set_time(const struct gen *g, struct err *reterr)
{
	struct timespec at = { .tv_sec = g->now_ms / 1000, .tv_nsec = g->now_ms % 1000 * 1000000 };
	const struct timespec both[2] = { at, at };

	return futimens(g->fd, both) < 0 ? err_errno(reterr, errno, "futimens") : 0;
}

static int write_session(struct gen *g, uint64_t target, struct err *reterr)
{
	int r = 0;

	if (g->codex)
		codex_header(g);
	else
		line_unchained(g, "permission-mode", "permissionMode", "default");
	while (r == 0 && g->bytes + g->buf.len < target) {
		if (g->codex)
			codex_turn(g, target);
		else
			turn(g, target);
		if (g->context > 150000)
			g->context = 20000;
		if (g->buf.len >= FLUSH_AT)
			r = flush(g, reterr);
	}
	if (!g->codex && rng_below(&g->rng, 4) == 0)
		line_unchained(g, "custom-title", "customTitle", common_word(&g->rng));
	if (!g->codex)
		line_unchained(g, "last-prompt", "leafUuid", g->parent);
	if (r == 0)
		r = flush(g, reterr);
	return r == 0 ? set_time(g, reterr) : r;
}

static int make_file(struct gen *g, const char *path, uint64_t target, struct err *reterr)
{
	g->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (g->fd < 0)
		return err_errno(reterr, errno, "open %s", path);
	int r = write_session(g, target, reterr);
	if (close(g->fd) < 0 && r == 0)
		r = err_errno(reterr, errno, "close %s", path);
	str_release(&g->buf);
	return r;
}

/* ---- many ---- */

static void gen_init(struct gen *g, uint64_t seed, const struct str *pool)
{
	*g = (struct gen){
		.rng = { .state = seed }, .pool = pool, .buf = STR_INIT, .context = 20000
	};
	rng_uuid(&g->rng, g->session);
	g->now_ms = epoch_ms + (int64_t)rng_below(&g->rng, 300u * 24 * 3600) * 1000;
	(void)snprintf(g->cwd, sizeof(g->cwd), "/home/ada/work/project");
}

static int make_one(const char *folder, const struct str *pool, bool zipf, size_t i, size_t files,
	uint64_t bytes, struct err *reterr)
{
	struct gen g;
	size_t project = i % (files / 20 + 1);

	gen_init(&g, i + 1, pool);
	g.rng.zipf = zipf;
	(void)snprintf(g.cwd, sizeof(g.cwd), "/home/ada/work/project-%zu", project);
	AUTO_FREE char *dir = xasprintf("%s/projects/-home-ada-work-project-%zu", folder, project);
	int r = file_mkdirs(dir, reterr);
	if (r < 0)
		return r;
	AUTO_FREE char *path = xasprintf("%s/%s.jsonl", dir, g.session);
	return make_file(&g, path, bytes, reterr);
}

static void fill_pool(struct str *pool, struct rng *rng)
{
	str_clear(pool);
	while (pool->len < POOL_BYTES)
		add_output_line(pool, rng);
}

/* Few large files and many small ones: weights over four doublings, with the given sum. */
static int make_many(const char *folder, size_t files, uint64_t bytes, struct str *pool,
	struct rng *rng, struct err *reterr)
{
	enum { POOL_FILES = 8 }; /* so many share what is printed in them */
	uint64_t weights = 0;
	int r = 0;

	for (size_t i = 0; i < files; i++)
		weights += UINT64_C(1) << i % 5;
	for (size_t i = 0; i < files && r == 0; i++) {
		uint64_t share = bytes / weights << i % 5;
		if (rng->zipf && i % POOL_FILES == 0)
			fill_pool(pool, rng);
		r = make_one(folder, pool, rng->zipf, i, files, share < FILE_MIN ? FILE_MIN : share,
			reterr);
	}
	return r;
}

static int make_single(
	const char *path, bool codex, uint64_t bytes, const struct str *pool, struct err *reterr)
{
	struct gen g;

	gen_init(&g, 1, pool);
	g.codex = codex;
	return make_file(&g, path, bytes, reterr);
}

static bool parse_bytes(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	unsigned shift = *end == 'k' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	if (errno || end == text || (shift ? end[1] : end[0]) != '\0' || n > UINT64_MAX >> shift)
		return false;
	*ret = n << shift;
	return true;
}

int main(int argc, char **argv)
{
	AUTO_STR pool = STR_INIT;
	struct rng rng = { .state = 7 };
	struct err err = ERR_INIT;
	uint64_t bytes, files = 0;
	bool codex = argc == 4 && strcmp(argv[1], "--codex") == 0;
	bool single = codex || (argc == 4 && strcmp(argv[1], "--single") == 0);

	if (argc == 5 && strcmp(argv[1], "--search") == 0) {
		rng.zipf = true;
		argv++;
		argc--;
	}
	if (argc != 4 || !parse_bytes(argv[3], &bytes) ||
		(!single && (!parse_bytes(argv[2], &files) || files == 0))) {
		fputs("usage: gen-sessions FOLDER FILES BYTES\n"
		      "       gen-sessions --single|--codex FILE BYTES\n"
		      "       gen-sessions --search FOLDER FILES BYTES\n",
			stderr);
		return 2;
	}
	fill_pool(&pool, &rng);
	int r = single ? make_single(argv[2], codex, bytes, &pool, &err)
		       : make_many(argv[1], (size_t)files, bytes, &pool, &rng, &err);
	if (r < 0)
		fprintf(stderr, "gen-sessions: %s\n", err.msg);
	return r < 0;
}
