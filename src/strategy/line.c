#include "strategy/line.h"

#include <string.h>

#include "base/attr.h"

static const struct scan_key claude_keys[] = {
#define X(id, name, under) [id] = SCAN_KEY(name, under),
	CLAUDE_KEYS(X)
#undef X
};
static const struct scan_key codex_keys[] = {
#define X(id, name, under) [id] = SCAN_KEY(name, under),
	CODEX_KEYS(X)
#undef X
};
static const struct scan_key block_keys[] = {
#define X(id, name, under) [id] = SCAN_KEY(name, under),
	BLOCK_KEYS(X)
#undef X
};
_Static_assert(ARRAY_LEN(claude_keys) <= LINE_KEYS_MAX, "LINE_KEYS_MAX");
_Static_assert(ARRAY_LEN(codex_keys) <= LINE_KEYS_MAX, "LINE_KEYS_MAX");

size_t line_key_count(const struct transcript_format *format)
{
	return format == TRANSCRIPT_CODEX ? CODEX_KEY_COUNT : CLAUDE_KEY_COUNT;
}

/* Lines of the first year: what the keys of the payload say is made true of them too. */
static void unwrap(struct sv text, struct jval *vals)
{
	static const struct {
		enum codex_key payload, top;
	} pairs[] = {
		{ CODEX_P_TYPE, CODEX_TYPE },
		{ CODEX_P_ROLE, CODEX_ROLE },
		{ CODEX_P_ID, CODEX_ID },
		{ CODEX_P_NAME, CODEX_NAME },
		{ CODEX_P_CALL, CODEX_CALL },
		{ CODEX_P_CONTENT, CODEX_CONTENT },
		{ CODEX_P_ARGUMENTS, CODEX_ARGUMENTS },
		{ CODEX_P_INPUT, CODEX_INPUT },
		{ CODEX_P_OUTPUT, CODEX_OUTPUT },
	};
	if (vals[CODEX_PAYLOAD].type == J_OBJECT || scan_text(text, &vals[CODEX_PAYLOAD]) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		vals[pairs[i].payload] = vals[pairs[i].top];
}

static bool is_object(struct sv text)
{
	static const struct sv mark = { "\xef\xbb\xbf", 3 };
	struct sv rest = sv_trim(sv_starts(text, mark) ? sv_from(text, mark.n) : text);
	return rest.n > 0 && rest.p[0] == '{';
}

bool line_read(const struct transcript_format *format, struct sv text, struct jval *vals)
{
	bool codex = format == TRANSCRIPT_CODEX;
	if (!is_object(text) ||
		scan_keys(text, codex ? codex_keys : claude_keys, line_key_count(format), vals) < 0)
		return false;
	if (codex)
		unwrap(text, vals);
	return true;
}

enum codex_line codex_line_of(const struct jval *vals)
{
	static const struct {
		struct sv name;
		enum codex_line line;
	} names[] = {
		{ { "response_item", 13 }, CODEX_LINE_ITEM },
		{ { "event_msg", 9 }, CODEX_LINE_EVENT },
		{ { "turn_context", 12 }, CODEX_LINE_CONTEXT },
		{ { "session_meta", 12 }, CODEX_LINE_META },
		{ { "compacted", 9 }, CODEX_LINE_COMPACTED },
	};
	bool bare = vals[CODEX_PAYLOAD].raw.p && vals[CODEX_TYPE].raw.p == vals[CODEX_P_TYPE].raw.p;
	if (bare)
		return vals[CODEX_TYPE].type == J_STRING ? CODEX_LINE_ITEM
			: vals[CODEX_ID].type == J_STRING && vals[CODEX_TIME].type == J_STRING
			? CODEX_LINE_META
			: CODEX_LINE_OTHER;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (scan_string_eq(vals[CODEX_TYPE], names[i].name))
			return names[i].line;
	return CODEX_LINE_OTHER;
}

struct chain_codex codex_chain_record(const struct jval *vals, enum codex_line line)
{
	static const enum chain_line lines[] = {
		[CODEX_LINE_OTHER] = CHAIN_OTHER,
		[CODEX_LINE_META] = CHAIN_META,
		[CODEX_LINE_ITEM] = CHAIN_ITEM,
		[CODEX_LINE_CONTEXT] = CHAIN_OTHER,
		[CODEX_LINE_EVENT] = CHAIN_EVENT,
		[CODEX_LINE_COMPACTED] = CHAIN_COMPACTED,
	};
	return (struct chain_codex){
		.payload = vals[CODEX_PAYLOAD],
		.type = vals[CODEX_P_TYPE],
		.role = vals[CODEX_P_ROLE],
		.content = vals[CODEX_P_CONTENT],
		.turns = vals[CODEX_P_TURNS],
		.line = lines[line],
	};
}

enum claude_line claude_line_of(const struct jval *vals)
{
	struct jval type = vals[CLAUDE_TYPE];
	if (scan_string_eq(type, SV("assistant")))
		return CLAUDE_LINE_ASSISTANT;
	if (scan_string_eq(type, SV("user")))
		return CLAUDE_LINE_USER;
	if (scan_string_eq(type, SV("attachment")))
		return CLAUDE_LINE_ATTACHMENT;
	return scan_string_eq(type, SV("system")) ? CLAUDE_LINE_SYSTEM : CLAUDE_LINE_OTHER;
}

struct jval line_member(struct jval obj, const char *key)
{
	struct jval val;
	return scan_get(obj, sv_of(key), &val) > 0 ? val : (struct jval){ .type = J_NONE };
}

static enum block_type block_type_of(struct sv type)
{
	if (sv_is(type, "text"))
		return BLOCK_IS_TEXT;
	if (sv_is(type, "tool_use"))
		return BLOCK_IS_USE;
	if (sv_is(type, "tool_result"))
		return BLOCK_IS_RESULT;
	return sv_is(type, "image") || sv_is(type, "document") ? BLOCK_IS_IMAGE : BLOCK_OTHER;
}

bool line_block_read(struct jval block, struct line_block *ret)
{
	ret->block = block;
	ret->type = BLOCK_OTHER;
	if (scan_keys(block.raw, block_keys, BLOCK_KEY_COUNT, ret->vals) < 0)
		return false;
	ret->type = block_type_of(scan_inner(ret->vals[BLOCK_TYPE]));
	return true;
}
