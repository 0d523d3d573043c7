/*
 * Codex: {"timestamp","type","payload"} a line. The conversation is in response_item lines; event
 * lines repeat it for the screen. Rollouts of the first year have a header without type, then
 * items without the outer object.
 */
#include "base/mem.h"
#include "base/uuid.h"
#include "os/path.h"
#include "transcript/adapter.h"
#include "transcript/home.h"

enum {
	K_TYPE,
	K_TIME,
	K_PAYLOAD,
	K_P_TYPE,
	K_P_ROLE,
	K_P_CONTENT,
	K_P_ID,
	K_P_MODEL,
	K_P_CWD,
	K_P_INFO,
	K_P_TURNS,
	K_P_OURS,
	K_TRIM,
	K_CONTINUE,
	K_OURS,
	K_KIND,
	/* without the outer object */
	K_ROLE,
	K_CONTENT,
	K_ID,
	K_COUNT
};

static const struct scan_key keys[] = {
	[K_TYPE] = SCAN_KEY("type", SCAN_TOP),
	[K_TIME] = SCAN_KEY("timestamp", SCAN_TOP),
	[K_PAYLOAD] = SCAN_KEY("payload", SCAN_TOP),
	[K_P_TYPE] = SCAN_KEY("type", K_PAYLOAD),
	[K_P_ROLE] = SCAN_KEY("role", K_PAYLOAD),
	[K_P_CONTENT] = SCAN_KEY("content", K_PAYLOAD),
	[K_P_ID] = SCAN_KEY("id", K_PAYLOAD),
	[K_P_MODEL] = SCAN_KEY("model", K_PAYLOAD),
	[K_P_CWD] = SCAN_KEY("cwd", K_PAYLOAD),
	[K_P_INFO] = SCAN_KEY("info", K_PAYLOAD),
	[K_P_TURNS] = SCAN_KEY("num_turns", K_PAYLOAD),
	[K_P_OURS] = SCAN_KEY(SESSION_NOTE_KEY, K_PAYLOAD),
	[K_TRIM] = SCAN_KEY("trim_metadata", SCAN_TOP),
	[K_CONTINUE] = SCAN_KEY("continue_metadata", SCAN_TOP),
	[K_OURS] = SCAN_KEY(SESSION_NOTE_KEY, SCAN_TOP),
	[K_KIND] = SCAN_KEY("sessionType", SCAN_TOP),
	[K_ROLE] = SCAN_KEY("role", SCAN_TOP),
	[K_CONTENT] = SCAN_KEY("content", SCAN_TOP),
	[K_ID] = SCAN_KEY("id", SCAN_TOP),
};

enum line { LINE_OTHER, LINE_META, LINE_ITEM, LINE_CONTEXT, LINE_EVENT, LINE_COMPACTED };

static enum line line_of(struct jval type)
{
	static const struct {
		struct sv name;
		enum line line;
	} names[] = {
		{ { "response_item", 13 }, LINE_ITEM },
		{ { "event_msg", 9 }, LINE_EVENT },
		{ { "turn_context", 12 }, LINE_CONTEXT },
		{ { "session_meta", 12 }, LINE_META },
		{ { "compacted", 9 }, LINE_COMPACTED },
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (scan_string_eq(type, names[i].name))
			return names[i].line;
	return LINE_OTHER;
}

/* Brings old and new lines to one shape: what K_P_ keys say is true of both. */
static int read_line(struct sv text, struct jval *vals, enum line *ret_line)
{
	if (record_keys(text, keys, K_COUNT, vals) < 0)
		return ERR_INPUT;
	*ret_line = line_of(vals[K_TYPE]);
	if (vals[K_PAYLOAD].type == J_OBJECT)
		return 0;
	vals[K_PAYLOAD] = (struct jval){ text, J_OBJECT };
	vals[K_P_TYPE] = vals[K_TYPE];
	vals[K_P_ROLE] = vals[K_ROLE];
	vals[K_P_CONTENT] = vals[K_CONTENT];
	vals[K_P_ID] = vals[K_ID];
	if (vals[K_TYPE].type == J_STRING)
		*ret_line = LINE_ITEM;
	else if (vals[K_ID].type == J_STRING && vals[K_TIME].type == J_STRING)
		*ret_line = LINE_META;
	return 0;
}

static struct jval at(struct jval obj, const char *path)
{
	struct jval val;
	if (scan_path(obj, path, &val) <= 0)
		return (struct jval){ .type = J_NONE };
	return val;
}

/* ---- prompts ---- */

/* The first text of a user message that no program put in. */
static bool prompt_of(struct jval content, struct str *tmp, struct jval *ret)
{
	if (content.type == J_STRING) {
		*ret = content;
		return !value_injected(TRANSCRIPT_CODEX, content, tmp);
	}
	bool image = false;
	struct jval block;
	struct scan_iter it = scan_iter(content);
	while (content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0) {
		struct jval text = value_member(block, "text");
		if (text.type == J_STRING && !value_injected(TRANSCRIPT_CODEX, text, tmp)) {
			*ret = text;
			return true;
		}
		if (!image && value_is_type(block, "input_image")) {
			*ret = block;
			image = true;
		}
	}
	return image;
}

static bool is_user(const struct jval *vals)
{
	return scan_string_eq(vals[K_P_TYPE], SV("message")) &&
		scan_string_eq(vals[K_P_ROLE], SV("user"));
}

/* ---- summary ---- */

static void scan_origin(struct summary *s, struct jval meta)
{
	struct session_info *info = s->info;
	struct jval source = value_member(meta, "source");
	struct jval parent = value_member(meta, "parent_thread_id");
	if (scan_string_eq(source, SV("exec")))
		info->flags |= SESSION_EXEC;
	if (scan_string_eq(value_member(meta, "thread_source"), SV("subagent")) ||
		value_member(source, "subagent").type != J_NONE || parent.type == J_STRING) {
		info->flags |= SESSION_SUBAGENT;
		summary_field(s, &info->parent_id, parent, SESSION_NAME_MAX);
		return;
	}
	struct jval fork = value_member(meta, "forked_from_id");
	if (fork.type != J_STRING)
		fork = at(meta, "history_base.thread_id");
	if (fork.type == J_STRING && info->relation == SESSION_ROOT) {
		info->relation = SESSION_FORKED;
		summary_field(s, &info->parent_id, fork, SESSION_NAME_MAX);
	}
}

/* Forks replay the headers of their ancestors: ours is the one with the file's id, else the
 * first. */
static void scan_meta(struct summary *s, const struct jval *vals)
{
	struct session_info *info = s->info;
	bool own = scan_string_eq(vals[K_P_ID], sv_of(info->id));
	uint32_t seen = info->mark.flags & (MARK_META | MARK_META_OWN);
	if (seen & MARK_META_OWN || (seen && !own))
		return;
	info->mark.flags |= own ? MARK_META | MARK_META_OWN : MARK_META;
	struct jval meta = vals[K_PAYLOAD];
	summary_field(s, &info->root, vals[K_P_ID], SESSION_NAME_MAX);
	summary_path(s, &info->cwd, vals[K_P_CWD]);
	summary_field(s, &info->branch, at(meta, "git.branch"), SESSION_NAME_MAX);
	summary_parent(s, value_member(meta, "trim_metadata"),
		value_member(meta, "continue_metadata"), vals[K_P_OURS]);
	scan_origin(s, meta);
}

static void scan_event(struct summary *s, const struct jval *vals)
{
	if (!scan_string_eq(vals[K_P_TYPE], SV("token_count")))
		return;
	struct jval usage = value_member(vals[K_P_INFO], "last_token_usage");
	int64_t n;
	/* Codex writes an estimate without input after it compacted. */
	if (scan_i64(value_member(usage, "input_tokens"), &n) && n > 0)
		summary_usage(s, usage);
	if (scan_i64(value_member(vals[K_P_INFO], "model_context_window"), &n) && n > 0)
		s->info->window = n;
}

static void scan_context(struct summary *s, const struct jval *vals)
{
	if (summary_changed(&s->model, vals[K_P_MODEL]))
		summary_field(s, &s->info->model, vals[K_P_MODEL], SESSION_NAME_MAX);
	if (s->info->cwd[0] == '\0')
		summary_path(s, &s->info->cwd, vals[K_P_CWD]);
}

static int codex_scan(struct summary *s, struct sv text)
{
	struct jval vals[K_COUNT];
	enum line line;
	struct jval prompt;
	if (read_line(text, vals, &line) < 0)
		return ERR_INPUT;
	summary_time(s, vals[K_TIME]);
	summary_parent(s, vals[K_TRIM], vals[K_CONTINUE], vals[K_OURS]);
	if (line == LINE_META)
		scan_meta(s, vals);
	else if (line == LINE_EVENT)
		scan_event(s, vals);
	else if (line == LINE_CONTEXT)
		scan_context(s, vals);
	else if (line == LINE_ITEM && is_user(vals) &&
		prompt_of(vals[K_P_CONTENT], &s->tmp, &prompt))
		summary_prompt(s, prompt);
	if (scan_string_eq(vals[K_KIND], SV("helper")))
		s->info->flags |= SESSION_HELPER;
	return 0;
}

/* ---- items ---- */

/* What a response item is, and which member holds its words. */
struct shape {
	const char *type;
	enum item_kind kind;
	const char *text;
};
static const struct shape shapes[] = {
	{ "message", ITEM_ASSISTANT, "content" },
	{ "reasoning", ITEM_THINKING, "summary" },
	{ "function_call", ITEM_TOOL_CALL, "arguments" },
	{ "custom_tool_call", ITEM_TOOL_CALL, "input" },
	{ "local_shell_call", ITEM_TOOL_CALL, "action" },
	{ "web_search_call", ITEM_TOOL_CALL, "action" },
	{ "function_call_output", ITEM_TOOL_RESULT, "output" },
	{ "custom_tool_call_output", ITEM_TOOL_RESULT, "output" },
	{ "agent_message", ITEM_ASSISTANT, "content" },
	{ "compaction", ITEM_COMPACTION, "summary" },
};

static const struct shape *shape_of(struct sv type)
{
	/* Calls of tools that came later. */
	static const struct shape call = { "", ITEM_TOOL_CALL, "arguments" };
	static const struct shape output = { "", ITEM_TOOL_RESULT, "output" };
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		if (sv_is(type, shapes[i].type))
			return &shapes[i];
	if (sv_ends(type, SV("_call")))
		return &call;
	return sv_ends(type, SV("_output")) ? &output : NULL;
}

static enum item_kind kind_by_role(struct sv role)
{
	if (sv_is(role, "user"))
		return ITEM_USER;
	return sv_is(role, "assistant") ? ITEM_ASSISTANT : ITEM_SYSTEM;
}

static void fill_tool(struct item *item)
{
	item->tool_id = scan_inner(value_member(item->body, "call_id"));
	if (item->kind == ITEM_TOOL_CALL) {
		struct jval name = value_member(item->body, "name");
		item->tool = name.type == J_STRING ? scan_inner(name) : item->type;
	}
}

static void fill_user(struct item *item, struct str *tmp)
{
	struct jval prompt;
	item->flags |= prompt_of(item->text, tmp, &prompt) ? ITEM_PROMPT : ITEM_INJECTED;
}

static void push_item(struct item_list *list, const struct item *base, struct jval body)
{
	struct item item = *base;
	item.body = body;
	item.type = scan_inner(value_member(body, "type"));
	const struct shape *shape = shape_of(item.type);
	item.kind = shape ? shape->kind : ITEM_META;
	if (shape)
		item.text = value_member(body, shape->text);
	item.message_id = scan_inner(value_member(body, "id"));
	if (sv_is(item.type, "message"))
		item.kind = kind_by_role(scan_inner(value_member(body, "role")));
	if (item.kind == ITEM_USER)
		fill_user(&item, &list->tmp);
	else if (item.kind == ITEM_TOOL_CALL || item.kind == ITEM_TOOL_RESULT)
		fill_tool(&item);
	vec_push(&list->items, item);
}

static void push_compacted(struct item_list *list, struct item item)
{
	item.kind = ITEM_COMPACTION;
	item.flags |= ITEM_SUMMARY;
	item.text = value_member(item.body, "message");
	vec_push(&list->items, item);
	if (!list->expand)
		return;
	struct jval history = value_member(item.body, "replacement_history"), part;
	struct scan_iter it = scan_iter(history);
	item.flags = (item.flags & ~(uint32_t)ITEM_SUMMARY) | ITEM_REPLACEMENT;
	item.text = (struct jval){ .type = J_NONE };
	while (history.type == J_ARRAY && scan_next(&it, NULL, &part) > 0)
		push_item(list, &item, part);
}

static void push_event(struct item_list *list, struct item item, const struct jval *vals)
{
	item.kind = ITEM_META;
	item.type = scan_inner(vals[K_P_TYPE]);
	struct jval usage = value_member(vals[K_P_INFO], "last_token_usage");
	if (usage.type == J_OBJECT) {
		item.usage = usage_codex(usage);
		item.flags |= ITEM_USAGE;
	}
	if (sv_is(item.type, "error")) {
		item.kind = ITEM_SYSTEM;
		item.flags |= ITEM_FAILED;
		item.text = value_member(item.body, "message");
	}
	vec_push(&list->items, item);
}

static int codex_items(struct item_list *list, const struct item *base, struct sv text)
{
	struct jval vals[K_COUNT];
	enum line line;
	if (read_line(text, vals, &line) < 0)
		return ERR_INPUT;
	struct item item = *base;
	item.kind = ITEM_META;
	item.object = (struct jval){ text, J_OBJECT };
	item.body = vals[K_PAYLOAD];
	item.type = scan_inner(vals[K_TYPE]);
	item.time = scan_inner(vals[K_TIME]);
	if (line == LINE_ITEM) {
		push_item(list, &item, item.body);
	} else if (line == LINE_COMPACTED) {
		push_compacted(list, item);
	} else if (line == LINE_EVENT) {
		push_event(list, item, vals);
	} else {
		if (line == LINE_CONTEXT)
			item.model = scan_inner(vals[K_P_MODEL]);
		vec_push(&list->items, item);
	}
	return 0;
}

/* ---- live history ---- */

static void link_base(struct links *links, struct jval meta)
{
	struct jval id = at(meta, "history_base.thread_id");
	int64_t offset;
	if (links->base_id || id.type != J_STRING)
		return;
	struct sv inner = scan_inner(id);
	links->base_id = xmemdup0(inner.p, inner.n);
	if (scan_i64(at(meta, "history_base.end_byte_offset"), &offset) && offset > 0)
		links->base_offset = (uint64_t)offset;
}

static bool is_prompt(const struct chain_codex *record)
{
	AUTO_STR tmp = STR_INIT;
	struct jval prompt;
	return scan_string_eq(record->type, SV("message")) &&
		scan_string_eq(record->role, SV("user")) &&
		prompt_of(record->content, &tmp, &prompt);
}

struct chain_entry chain_codex_entry(const struct chain_codex *record)
{
	struct chain_entry entry = { .flags = 0 };
	int64_t turns;

	if (record->line == CHAIN_COMPACTED) {
		entry.flags = LINK_BOUNDARY | LINK_SENT;
	} else if (record->line == CHAIN_ITEM && shape_of(scan_inner(record->type))) {
		entry.flags = is_prompt(record) ? LINK_SENT | LINK_PROMPT : LINK_SENT;
	} else if (record->line == CHAIN_EVENT &&
		scan_string_eq(record->type, SV("thread_rolled_back")) &&
		scan_i64(record->turns, &turns) && turns > 0) {
		entry.message = (uint64_t)turns;
	}
	return entry;
}

void codex_link_fields(struct links *links, const struct chain_codex *record)
{
	const struct chain_entry entry = chain_codex_entry(record);

	if (record->line == CHAIN_META)
		link_base(links, record->payload);
	vec_push(&links->v, (struct link){ .rollback = entry.message, .flags = entry.flags });
}

static int codex_link(struct links *links, struct sv text)
{
	static const enum chain_line lines[] = {
		[LINE_OTHER] = CHAIN_OTHER,
		[LINE_META] = CHAIN_META,
		[LINE_ITEM] = CHAIN_ITEM,
		[LINE_CONTEXT] = CHAIN_OTHER,
		[LINE_EVENT] = CHAIN_EVENT,
		[LINE_COMPACTED] = CHAIN_COMPACTED,
	};
	struct jval vals[K_COUNT];
	enum line line;
	if (read_line(text, vals, &line) < 0)
		return ERR_INPUT;
	const struct chain_codex record = {
		.payload = vals[K_PAYLOAD],
		.type = vals[K_P_TYPE],
		.role = vals[K_P_ROLE],
		.content = vals[K_P_CONTENT],
		.turns = vals[K_P_TURNS],
		.line = lines[line],
	};
	codex_link_fields(links, &record);
	return 0;
}

/* Records since the last compaction that nobody took back: each goes in and out once, so that a
 * file of nothing but roll-backs costs no more than any other. */
struct standing {
	VEC(uint32_t) v;
};

static void roll_back(
	const struct links *links, struct standing *standing, unsigned char *state, uint64_t turns)
{
	while (standing->v.n > 0 && turns > 0) {
		uint32_t at = standing->v.v[--standing->v.n];
		turns -= (links->v.v[at].flags & LINK_PROMPT) != 0;
		state[at] = 0;
	}
}

static void live_codex(
	const struct links *links, unsigned char *state, struct transcript_live *live)
{
	struct standing standing = { VEC_INIT };
	size_t from = 0;
	for (size_t i = 0; i < links->v.n; i++) {
		const struct link *link = &links->v.v[i];
		if (link->flags & LINK_BOUNDARY) {
			memset(state + from, 0, i - from);
			from = i;
			live->compacted = true;
			live->compaction = i;
			standing.v.n = 0;
		} else {
			roll_back(links, &standing, state, link->rollback);
			vec_push(&standing.v, (uint32_t)i);
		}
		state[i] = 1;
	}
	vec_release(&standing.v);
}

/* ---- the format ---- */

static int codex_recognises(struct sv text)
{
	enum { R_TYPE, R_PAYLOAD, R_ID, R_TIME, R_COUNT };
	static const struct scan_key marks[] = {
		[R_TYPE] = SCAN_KEY("type", SCAN_TOP),
		[R_PAYLOAD] = SCAN_KEY("payload", SCAN_TOP),
		[R_ID] = SCAN_KEY("id", SCAN_TOP),
		[R_TIME] = SCAN_KEY("timestamp", SCAN_TOP),
	};
	struct jval v[R_COUNT];

	if (record_keys(text, marks, R_COUNT, v) < 0)
		return ERR_INPUT;
	bool first_year =
		v[R_TYPE].type == J_NONE && v[R_ID].type == J_STRING && v[R_TIME].type == J_STRING;
	return first_year || (v[R_TYPE].type == J_STRING && v[R_PAYLOAD].type == J_OBJECT);
}

static const char *const injected_tags[] = {
	"environment_context",
	"permissions instructions",
	"user_instructions",
	"turn_aborted",
	"user_shell_command",
	"skills_instructions",
	"apps_instructions",
	"plugins_instructions",
	"recommended_plugins",
	"multi_agent_mode",
	"collaboration_mode",
	"codex_internal_context",
	"subagent_notification",
	"skill",
	NULL,
};
static const char *const injected_words[] = { "# AGENTS.md instructions", NULL };

const struct transcript_format transcript_codex = {
	.name = "codex",
	.number = 1,
	.recognises = codex_recognises,
	.places = &codex_places,
	.forks_share = true,
	.injected_tags = injected_tags,
	.injected_words = injected_words,
	.scan = codex_scan,
	.items = codex_items,
	.link = codex_link,
	.glued_read = 0,
	.mark = live_codex,
};
