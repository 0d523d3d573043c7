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
#include "transcript/native-impl.h"

#define X(id, name, under) [id] = SCAN_KEY(name, under),
static const struct scan_key keys[] = { CODEX_KEYS(X) };
static const struct scan_key row_keys[] = { CODEX_ROW_KEYS(X) };
#undef X
_Static_assert(ARRAY_LEN(keys) <= LINE_KEYS_MAX && ARRAY_LEN(row_keys) <= SCAN_ROW_KEYS, "room");

/* Lines of the first year: what the keys of the payload say is made true of them too. */
static void codex_shape(struct line *line)
{
	static const struct {
		uint8_t payload, top;
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

	if (line->vals[CODEX_PAYLOAD].type == J_OBJECT ||
		scan_text(line->text, &line->vals[CODEX_PAYLOAD]) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		line->vals[pairs[i].payload] = line->vals[pairs[i].top];
	vec_each (&line->rows.v, row)
		if (row->level == 0)
			row->under = row->under == CODEX_CONTENT ? CODEX_P_CONTENT : CODEX_P_OUTPUT;
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
		if (sv_eq(scan_inner(vals[CODEX_TYPE]), names[i].name))
			return names[i].line;
	return CODEX_LINE_OTHER;
}

static struct jval at(struct jval obj, const char *path)
{
	struct jval val;

	if (scan_path(obj, path, &val) <= 0)
		return (struct jval){ .type = J_NONE };
	return val;
}

/* ---- usage ---- */

/* Codex counts cached tokens among the input. */
static struct usage usage_of(
	struct jval input, struct jval read, struct jval write, struct jval output)
{
	struct usage u = {
		.input = value_tokens(input),
		.cache_read = value_tokens(read),
		.cache_write = value_tokens(write),
		.output = value_tokens(output),
	};
	int64_t cached = u.cache_read + u.cache_write;

	u.input = u.input > cached ? u.input - cached : 0;
	return u;
}

static struct usage codex_usage(struct jval usage)
{
	static const struct scan_key members[] = {
		SCAN_KEY("input_tokens", SCAN_TOP),
		SCAN_KEY("cached_input_tokens", SCAN_TOP),
		SCAN_KEY("cache_write_input_tokens", SCAN_TOP),
		SCAN_KEY("output_tokens", SCAN_TOP),
	};
	struct jval v[ARRAY_LEN(members)];

	(void)scan_keys(usage.raw, members, ARRAY_LEN(members), v);
	return usage_of(v[0], v[1], v[2], v[3]);
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
		struct jval text = line_member(block, "text");
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
	return scan_string_eq(vals[CODEX_P_TYPE], SV("message")) &&
		scan_string_eq(vals[CODEX_P_ROLE], SV("user"));
}

/* ---- summary ---- */

static void scan_origin(struct summary *s, struct jval meta)
{
	struct session_info *info = s->info;
	struct jval source = line_member(meta, "source");
	struct jval parent = line_member(meta, "parent_thread_id");

	/* Through the app server every program is "vscode". */
	if (scan_string_eq(source, SV("exec")) ||
		scan_string_eq(line_member(meta, "originator"), SV("faden")))
		info->flags |= SESSION_EXEC;
	if (scan_string_eq(line_member(meta, "thread_source"), SV("subagent")) ||
		line_member(source, "subagent").type != J_NONE || parent.type == J_STRING) {
		info->flags |= SESSION_SUBAGENT;
		summary_field(s, &info->parent_id, parent, SESSION_NAME_MAX);
		return;
	}
	struct jval fork = line_member(meta, "forked_from_id");
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
	bool own = scan_string_eq(vals[CODEX_P_ID], sv_of(info->id));
	uint32_t seen = info->mark.flags & (MARK_META | MARK_META_OWN);

	if (seen & MARK_META_OWN || (seen && !own))
		return;
	info->mark.flags |= own ? MARK_META | MARK_META_OWN : MARK_META;
	struct jval meta = vals[CODEX_PAYLOAD];
	summary_field(s, &info->root, vals[CODEX_P_ID], SESSION_NAME_MAX);
	summary_path(s, &info->cwd, vals[CODEX_P_CWD]);
	summary_field(s, &info->branch, at(meta, "git.branch"), SESSION_NAME_MAX);
	summary_parent(s, line_member(meta, "trim_metadata"),
		line_member(meta, "continue_metadata"), vals[CODEX_P_OURS]);
	scan_origin(s, meta);
}

static void scan_event(struct summary *s, const struct jval *vals)
{
	if (!scan_string_eq(vals[CODEX_P_TYPE], SV("token_count")))
		return;
	struct jval usage = vals[CODEX_I_LAST];
	int64_t n;
	/* Codex writes an estimate without input after it compacted. */
	if (scan_i64(line_member(usage, "input_tokens"), &n) && n > 0)
		summary_usage(s, usage);
	if (scan_i64(vals[CODEX_I_WINDOW], &n) && n > 0)
		s->info->window = n;
}

static void scan_context(struct summary *s, const struct jval *vals)
{
	if (summary_changed(&s->model, vals[CODEX_P_MODEL]))
		summary_field(s, &s->info->model, vals[CODEX_P_MODEL], SESSION_NAME_MAX);
	if (s->info->cwd[0] == '\0')
		summary_path(s, &s->info->cwd, vals[CODEX_P_CWD]);
}

static void codex_scan(struct summary *s, const struct line *line)
{
	const struct jval *vals = line->vals;
	enum codex_line kind = codex_line_of(vals);
	struct jval prompt;

	summary_time(s, vals[CODEX_TIME]);
	summary_parent(s, vals[CODEX_TRIM], vals[CODEX_CONTINUE], vals[CODEX_OURS]);
	if (kind == CODEX_LINE_META)
		scan_meta(s, vals);
	else if (kind == CODEX_LINE_EVENT)
		scan_event(s, vals);
	else if (kind == CODEX_LINE_CONTEXT)
		scan_context(s, vals);
	else if (kind == CODEX_LINE_ITEM && is_user(vals) &&
		prompt_of(vals[CODEX_P_CONTENT], &s->tmp, &prompt))
		summary_prompt(s, prompt);
	if (scan_string_eq(vals[CODEX_PURPOSE], SV("helper")))
		s->info->flags |= SESSION_HELPER;
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
	item->tool_id = scan_inner(line_member(item->body, "call_id"));
	if (item->kind == ITEM_TOOL_CALL) {
		struct jval name = line_member(item->body, "name");
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
	item.type = scan_inner(line_member(body, "type"));
	const struct shape *shape = shape_of(item.type);
	item.kind = shape ? shape->kind : ITEM_META;
	if (shape)
		item.text = line_member(body, shape->text);
	item.message_id = scan_inner(line_member(body, "id"));
	if (sv_is(item.type, "message"))
		item.kind = kind_by_role(scan_inner(line_member(body, "role")));
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
	item.text = line_member(item.body, "message");
	vec_push(&list->items, item);
	if (!list->expand)
		return;
	struct jval history = line_member(item.body, "replacement_history"), part;
	struct scan_iter it = scan_iter(history);
	item.flags = (item.flags & ~(uint32_t)ITEM_SUMMARY) | ITEM_REPLACEMENT;
	item.text = (struct jval){ .type = J_NONE };
	while (history.type == J_ARRAY && scan_next(&it, NULL, &part) > 0)
		push_item(list, &item, part);
}

static void push_event(struct item_list *list, struct item item, const struct jval *vals)
{
	item.kind = ITEM_META;
	item.type = scan_inner(vals[CODEX_P_TYPE]);
	/* Of a user's message, which it repeats for the screen: only here with its id. */
	item.prompt_id = scan_inner(line_member(vals[CODEX_P_ITEM], "client_id"));
	struct jval usage = vals[CODEX_I_LAST];
	if (usage.type == J_OBJECT) {
		item.usage = codex_usage(usage);
		item.flags |= ITEM_USAGE;
	}
	if (sv_is(item.type, "error")) {
		item.kind = ITEM_SYSTEM;
		item.flags |= ITEM_FAILED;
		item.text = line_member(item.body, "message");
	}
	vec_push(&list->items, item);
}

static void codex_items(struct item_list *list, const struct item *base, const struct line *line)
{
	const struct jval *vals = line->vals;
	enum codex_line kind = codex_line_of(vals);
	struct item item = *base;

	item.kind = ITEM_META;
	item.object = (struct jval){ line->text, J_OBJECT };
	item.body = vals[CODEX_PAYLOAD];
	item.type = scan_inner(vals[CODEX_TYPE]);
	item.time = scan_inner(vals[CODEX_TIME]);
	if (kind == CODEX_LINE_ITEM) {
		push_item(list, &item, item.body);
	} else if (kind == CODEX_LINE_COMPACTED) {
		push_compacted(list, item);
	} else if (kind == CODEX_LINE_EVENT) {
		push_event(list, item, vals);
	} else {
		if (kind == CODEX_LINE_CONTEXT)
			item.model = scan_inner(vals[CODEX_P_MODEL]);
		vec_push(&list->items, item);
	}
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

struct chain_entry codex_chain_entry(const struct jval *vals)
{
	enum codex_line line = codex_line_of(vals);
	struct chain_entry entry = { .flags = 0 };
	AUTO_STR tmp = STR_INIT;
	struct jval prompt;
	int64_t turns;

	if (line == CODEX_LINE_COMPACTED) {
		entry.flags = LINK_BOUNDARY | LINK_SENT;
	} else if (line == CODEX_LINE_ITEM && shape_of(scan_inner(vals[CODEX_P_TYPE]))) {
		entry.flags = LINK_SENT;
		if (is_user(vals) && prompt_of(vals[CODEX_P_CONTENT], &tmp, &prompt))
			entry.flags |= LINK_PROMPT;
	} else if (line == CODEX_LINE_EVENT &&
		scan_string_eq(vals[CODEX_P_TYPE], SV("thread_rolled_back")) &&
		scan_i64(vals[CODEX_P_TURNS], &turns) && turns > 0) {
		entry.message = (uint64_t)turns;
	}
	return entry;
}

static void codex_link(struct links *links, const struct line *line)
{
	const struct chain_entry entry = codex_chain_entry(line->vals);

	if (codex_line_of(line->vals) == CODEX_LINE_META)
		link_base(links, line->vals[CODEX_PAYLOAD]);
	vec_push(&links->v, (struct link){ .rollback = entry.message, .flags = entry.flags });
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

/* ---- texts ---- */

/* An item of the conversation, alone on its line or one of a compacted history. */
struct item_vals {
	struct jval type, role, name, call, content, arguments, input, output, summary;
	size_t rows; /* where those of its lists begin */
	unsigned level;
	unsigned content_key, output_key; /* as its rows say */
	bool counts;
	uint32_t answer;
};

static struct item_vals item_of_line(const struct jval *vals)
{
	return (struct item_vals){
		.type = vals[CODEX_P_TYPE],
		.role = vals[CODEX_P_ROLE],
		.name = vals[CODEX_P_NAME],
		.call = vals[CODEX_P_CALL],
		.content = vals[CODEX_P_CONTENT],
		.arguments = vals[CODEX_P_ARGUMENTS],
		.input = vals[CODEX_P_INPUT],
		.output = vals[CODEX_P_OUTPUT],
		.summary = vals[CODEX_P_SUMMARY],
		.content_key = CODEX_P_CONTENT,
		.output_key = CODEX_P_OUTPUT,
		.counts = true,
	};
}

static struct item_vals item_of_row(const struct jval *vals)
{
	return (struct item_vals){
		.type = vals[CODEX_R_TYPE],
		.role = vals[CODEX_R_ROLE],
		.name = vals[CODEX_R_NAME],
		.call = vals[CODEX_R_CALL],
		.content = vals[CODEX_R_CONTENT],
		.arguments = vals[CODEX_R_ARGUMENTS],
		.input = vals[CODEX_R_INPUT],
		.output = vals[CODEX_R_OUTPUT],
		.level = 1,
		.content_key = CODEX_R_CONTENT,
		.output_key = CODEX_R_OUTPUT,
	};
}

/* The next block of the item's content from *at on; NULL when there is none. */
static const struct scan_row *next_block(
	const struct line *line, const struct item_vals *item, size_t *at)
{
	for (; *at < line->rows.v.n && line->rows.v.v[*at].level >= item->level; ++*at) {
		const struct scan_row *row = &line->rows.v.v[*at];
		if (row->level == item->level && row->under == item->content_key) {
			++*at;
			return row;
		}
	}
	return NULL;
}

/* Whose words a message is: its first text tells. */
static enum piece_kind message_kind(const struct line *line, const struct item_vals *item)
{
	size_t at = item->rows;
	const struct scan_row *first = next_block(line, item, &at);
	struct jval text = first ? first->vals[CODEX_R_TEXT] : item->content;

	if (scan_string_eq(item->role, SV("assistant")))
		return PIECE_ANSWER;
	return scan_string_eq(item->role, SV("user")) &&
			!transcript_injected(TRANSCRIPT_CODEX, scan_inner(text))
		? PIECE_PROMPT
		: PIECE_NOTICE;
}

static void look_message(
	const struct line *line, const struct item_vals *item, struct line_look *look)
{
	struct line_piece piece = { .kind = message_kind(line, item),
		.counts = item->counts,
		.answer = item->answer,
		.val = item->content,
		.bytes = item->content.raw.n };
	const struct scan_row *row;
	size_t at = item->rows;

	if (line->rows.cut)
		piece.val = (struct jval){ .type = J_NONE };
	if (item->content.type != J_ARRAY || line->rows.cut) {
		vec_push(&look->pieces, piece);
		return;
	}
	while ((row = next_block(line, item, &at))) {
		struct line_piece part = piece;
		part.val = row->vals[CODEX_R_TEXT];
		part.bytes = part.val.raw.n;
		if (part.val.type != J_STRING) {
			part.kind = PIECE_PICTURE;
			part.images = 1;
			part.bytes = 0;
			part.val = row->vals[CODEX_R_PICTURE];
			part.block = row->item;
		}
		vec_push(&look->pieces, part);
	}
}

static void look_item(const struct line *line, const struct item_vals *item, struct line_look *look)
{
	struct sv type = scan_inner(item->type), name = scan_inner(item->name);
	struct line_piece piece = { .counts = item->counts, .id = scan_inner(item->call) };

	if (sv_is(type, "message")) {
		look_message(line, item, look);
	} else if (sv_is(type, "reasoning")) {
		piece.kind = PIECE_THINKING;
		piece.bytes = item->summary.raw.n;
		vec_push(&look->pieces, piece);
	} else if (sv_ends(type, SV("_output"))) {
		piece.kind = PIECE_RESULT;
		piece.val = item->output;
		piece.bytes = item->output.raw.n;
		if (line->rows.cut)
			piece.val = (struct jval){ .type = J_NONE };
		else if (item->output.type == J_ARRAY)
			line_count_blocks(line, item->rows, item->level, item->output_key,
				CODEX_R_TEXT, &piece);
		else if (item->output.type == J_OBJECT)
			piece.val = line_member(item->output, "content");
		else if (sv_starts(scan_inner(item->output), SV("{\\\"output\\\"")))
			piece.shape = SHAPE_WRAPPED;
		vec_push(&look->pieces, piece);
	} else if (sv_ends(type, SV("_call"))) {
		bool json = item->arguments.type == J_STRING;
		piece.kind = PIECE_CALL;
		piece.name = name.n ? name : type;
		piece.shape = json ? SHAPE_JSON : SHAPE_TEXT;
		piece.val = json ? item->arguments : item->input;
		piece.bytes = piece.val.raw.n;
		vec_push(&look->pieces, piece);
	}
}

/* What stands for the history so far: the items put in place, else the summary alone. */
static void look_compacted(const struct line *line, struct line_look *look)
{
	struct jval history = line->vals[CODEX_P_HISTORY];
	uint32_t answer = 0;

	look->breaks = true;
	vec_push(&look->pieces,
		(struct line_piece){ .kind = PIECE_SUMMARY,
			.counts = true,
			.bytes = history.type == J_ARRAY ? history.raw.n
							 : line->vals[CODEX_P_MESSAGE].raw.n });
	for (size_t i = 0; i < line->rows.v.n; i++) {
		const struct scan_row *row = &line->rows.v.v[i];
		if (row->level != 0 || row->under != CODEX_P_HISTORY)
			continue;
		struct item_vals item = item_of_row(row->vals);
		item.rows = i + 1;
		item.answer = answer++;
		look_item(line, &item, look);
	}
}

static void look_event(const struct jval *vals, struct line_look *look)
{
	static const uint8_t copies[][2] = {
		{ CODEX_P_AGGREGATED, CODEX_T_AGGREGATED },
		{ CODEX_P_FORMATTED, CODEX_T_FORMATTED },
		{ CODEX_P_STDOUT, CODEX_T_STDOUT },
		{ CODEX_P_STDERR, CODEX_T_STDERR },
	};
	bool item = vals[CODEX_P_ITEM].type == J_OBJECT;
	struct jval call = vals[item ? CODEX_T_ID : CODEX_P_CALL];

	if (vals[CODEX_I_LAST].type == J_OBJECT) {
		look->called = true;
		look->usage = usage_of(vals[CODEX_L_INPUT], vals[CODEX_L_READ], vals[CODEX_L_WRITE],
			vals[CODEX_L_OUTPUT]);
		look->time = scan_inner(vals[CODEX_TIME]);
		look->window = value_tokens(vals[CODEX_I_WINDOW]);
	}
	for (size_t i = 0; call.type == J_STRING && i < ARRAY_LEN(copies); i++)
		if (vals[copies[i][item]].type == J_STRING)
			vec_push(&look->pieces,
				(struct line_piece){ .kind = PIECE_COPY,
					.val = vals[copies[i][item]],
					.id = scan_inner(call) });
}

static void codex_look(const struct line *line, struct line_look *look)
{
	const struct item_vals item = item_of_line(line->vals);

	switch (codex_line_of(line->vals)) {
	case CODEX_LINE_ITEM:
		look_item(line, &item, look);
		break;
	case CODEX_LINE_COMPACTED:
		look_compacted(line, look);
		break;
	case CODEX_LINE_EVENT:
		look_event(line->vals, look);
		break;
	case CODEX_LINE_CONTEXT:
		look->model = scan_inner(line->vals[CODEX_P_MODEL]);
		break;
	case CODEX_LINE_META:
	case CODEX_LINE_OTHER:
		break;
	}
}

/* ---- a new session ---- */

static void codex_swaps(
	const struct line *line, unsigned changes, struct sv own, struct line_swaps *out)
{
	static const uint8_t ids[] = { CODEX_P_ID, CODEX_P_SESSION, CODEX_P_THREAD };
	const struct jval *vals = line->vals;
	enum codex_line kind = codex_line_of(vals);

	/* Headers of ancestors, which a fork repeats, keep their ids. */
	for (size_t i = kind == CODEX_LINE_META ? 0 : 1; changes & LINE_ID && i < ARRAY_LEN(ids);
		i++)
		if (scan_string_eq(vals[ids[i]], own))
			vec_push(&out->v, (struct line_swap){ vals[ids[i]], SWAP_ID, SV("") });
	if (!(changes & LINE_USAGE))
		return;
	/* The window's size stays: it is the model's. */
	if (kind == CODEX_LINE_EVENT) {
		line_zero_usage(vals[CODEX_I_TOTAL], out);
		line_zero_usage(vals[CODEX_I_LAST], out);
	} else if (scan_string_eq(vals[CODEX_TYPE], SV("token_usage_record"))) {
		line_zero_usage(vals[CODEX_P_USAGE], out);
		line_zero_usage(vals[CODEX_P_USAGE_TURN], out);
		line_zero_usage(vals[CODEX_P_USAGE_ALL], out);
	}
}

static struct jval codex_note_place(const struct line *line)
{
	return codex_line_of(line->vals) == CODEX_LINE_META ? line->vals[CODEX_PAYLOAD]
							    : (struct jval){ .type = J_NONE };
}

/* Where the agent looks for it: in the folder of the day, below the parent's home. */
static char *codex_sibling_path(
	const char *parent, const char *out_dir, const char *id, int64_t wall_ms)
{
	struct sv folder = out_dir ? sv_of(out_dir) : path_parent(sv_of(parent));
	AUTO_FREE char *root = NULL;

	for (struct sv up = folder; !out_dir && !root && up.n > 1; up = path_parent(up)) {
		struct sv base = path_base(up);
		if (sv_is(up, "."))
			break;
		if (sv_is(base, "sessions") || sv_is(base, "archived_sessions")) {
			struct sv home = path_parent(up);
			root = xmemdup0(home.p, home.n);
		}
	}
	AUTO_FREE char *path = codex_rollout_path(root ? root : "", wall_ms, id);
	if (root)
		return TAKE_PTR(path);
	struct sv name = path_base(sv_of(path));
	return xasprintf("%.*s/%.*s", SV_ARG(folder), SV_ARG(name));
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
	.number = 1,
	.recognises = codex_recognises,
	.places = &codex_places,
	.speaks = "\"role\"",
	.forks_share = true,
	.injected_tags = injected_tags,
	.injected_words = injected_words,
	.interrupted = "<turn_aborted",
	.keys = keys,
	.n_keys = ARRAY_LEN(keys),
	.row_keys = row_keys,
	.n_row_keys = ARRAY_LEN(row_keys),
	.lists = UINT64_C(1) << CODEX_P_CONTENT | UINT64_C(1) << CODEX_P_OUTPUT |
		UINT64_C(1) << CODEX_P_HISTORY | UINT64_C(1) << CODEX_CONTENT |
		UINT64_C(1) << CODEX_OUTPUT,
	.row_lists = UINT64_C(1) << CODEX_R_CONTENT | UINT64_C(1) << CODEX_R_OUTPUT,
	.shape = codex_shape,
	.scan = codex_scan,
	.items = codex_items,
	.link = codex_link,
	.look = codex_look,
	.swaps = codex_swaps,
	.note_place = codex_note_place,
	.usage = codex_usage,
	.cwd_key = CODEX_P_CWD,
	.sibling_path = codex_sibling_path,
	.text_type = "input_text",
	.title = "Codex",
	.usage_follows = true,
	.glued_read = 0,
	.mark = live_codex,
	.native = &native_codex,
};
