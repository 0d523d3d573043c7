/*
 * Claude Code: one object a line, chained by uuid and parentUuid; one content block a line as a
 * rule; titles, modes and the like in lines of their own.
 */
#include <string.h>

#include "base/mem.h"
#include "os/path.h"
#include "transcript/adapter.h"
#include "transcript/home.h"
#include "transcript/native-impl.h"

enum { TOKENS_LEFT_MAX = 1000000000 }; /* a context that can be */
enum { CACHE_SHORT_MS = 5 * 60 * 1000, CACHE_LONG_MS = 60 * 60 * 1000 };

#define X(id, name, under) [id] = SCAN_KEY(name, under),
static const struct scan_key keys[] = { CLAUDE_KEYS(X) };
static const struct scan_key block_keys[] = { BLOCK_KEYS(X) };
#undef X
_Static_assert(ARRAY_LEN(keys) <= LINE_KEYS_MAX && ARRAY_LEN(block_keys) <= SCAN_ROW_KEYS, "room");

enum claude_line claude_line_of(const struct jval *vals)
{
	struct sv type = scan_inner(vals[CLAUDE_TYPE]);

	if (sv_is(type, "assistant"))
		return CLAUDE_LINE_ASSISTANT;
	if (sv_is(type, "user"))
		return CLAUDE_LINE_USER;
	if (sv_is(type, "attachment"))
		return CLAUDE_LINE_ATTACHMENT;
	return sv_is(type, "system") ? CLAUDE_LINE_SYSTEM : CLAUDE_LINE_OTHER;
}

static bool is_synthetic(struct jval model)
{
	return scan_string_eq(model, SV("<synthetic>"));
}

/* ---- usage ---- */

static struct usage usage_of(
	struct jval input, struct jval read, struct jval write, struct jval output)
{
	return (struct usage){
		.input = value_tokens(input),
		.cache_read = value_tokens(read),
		.cache_write = value_tokens(write),
		.output = value_tokens(output),
	};
}

static struct usage claude_usage(struct jval usage)
{
	static const struct scan_key members[] = {
		SCAN_KEY("input_tokens", SCAN_TOP),
		SCAN_KEY("cache_read_input_tokens", SCAN_TOP),
		SCAN_KEY("cache_creation_input_tokens", SCAN_TOP),
		SCAN_KEY("output_tokens", SCAN_TOP),
	};
	struct jval v[ARRAY_LEN(members)];

	(void)scan_keys(usage.raw, members, ARRAY_LEN(members), v);
	return usage_of(v[0], v[1], v[2], v[3]);
}

/* ---- prompts ---- */

/*
 * The words of the user in a message: the string, or the first text block that no program put in.
 * A message with a tool's result has none; one of pictures alone counts with the picture.
 */
static bool prompt_of(struct jval content, struct str *tmp, struct jval *ret)
{
	if (content.type == J_STRING) {
		*ret = content;
		return !value_injected(TRANSCRIPT_CLAUDE, content, tmp);
	}
	bool found = false, image = false;
	struct jval block;
	struct scan_iter it = scan_iter(content);
	while (content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0) {
		if (value_is_type(block, "tool_result"))
			return false;
		struct jval text = line_member(block, "text");
		if (!found && text.type == J_STRING &&
			!value_injected(TRANSCRIPT_CLAUDE, text, tmp)) {
			*ret = text;
			found = true;
		}
		if (!found && value_is_type(block, "image") && !image) {
			*ret = block;
			image = true;
		}
	}
	return found || image;
}

/* What the user typed while the agent worked is attached to the running turn. */
static struct jval queued_prompt(struct jval attachment)
{
	struct jval mode = line_member(attachment, "commandMode");
	struct jval origin = line_member(line_member(attachment, "origin"), "kind");
	bool typed = (mode.type == J_NONE || scan_string_eq(mode, SV("prompt"))) &&
		(origin.type == J_NONE || scan_string_eq(origin, SV("human")));

	if (!typed || !value_is_type(attachment, "queued_command") ||
		scan_true(line_member(attachment, "isMeta")))
		return (struct jval){ .type = J_NONE };
	return line_member(attachment, "prompt");
}

/* What newer versions write down of their own prompt and tools: it is no message, and goes with
 * every request anyway. */
static bool is_snapshot(const struct jval *vals)
{
	return value_is_type(vals[CLAUDE_ATTACHMENT], "prompt_snapshot");
}

static bool may_prompt(const struct jval *vals)
{
	return !scan_true(vals[CLAUDE_META]) && !scan_true(vals[CLAUDE_SUMMARY]);
}

/* ---- summary ---- */

static void scan_cwd(struct summary *s, struct jval cwd)
{
	struct session_info *info = s->info;

	if (info->mark.flags & MARK_CWD_FITS || !summary_changed(&s->cwd, cwd))
		return;
	AUTO_STR path = STR_INIT;
	AUTO_STR name = STR_INIT;
	(void)scan_string(cwd, &path);
	claude_project_name(&name, str_sv(&path));
	bool fits = sv_eq(str_sv(&name), path_base(path_parent(sv_of(info->path))));
	if (fits)
		info->mark.flags |= MARK_CWD_FITS;
	if (fits || info->cwd[0] == '\0')
		summary_path(s, &info->cwd, cwd);
}

static void scan_first(struct summary *s, const struct jval *vals)
{
	struct session_info *info = s->info;

	if (info->mark.flags & MARK_CHAINED)
		return;
	info->mark.flags |= MARK_CHAINED;
	summary_field(s, &info->root, vals[CLAUDE_UUID], SESSION_NAME_MAX);
	if (scan_true(vals[CLAUDE_SIDE]))
		info->flags |= SESSION_SUBAGENT;
	if (sv_starts(scan_inner(vals[CLAUDE_ENTRY]), SV("sdk")))
		info->flags |= SESSION_EXEC;
}

static void scan_chained(struct summary *s, enum claude_line line, const struct jval *vals)
{
	scan_first(s, vals);
	scan_cwd(s, vals[CLAUDE_CWD]);
	if (summary_changed(&s->branch, vals[CLAUDE_BRANCH]))
		summary_field(s, &s->info->branch, vals[CLAUDE_BRANCH], SESSION_NAME_MAX);
	/* In a parent's file, the side chain is somebody else's work. */
	if (scan_true(vals[CLAUDE_SIDE]) && !(s->info->flags & SESSION_SUBAGENT))
		return;
	struct jval prompt, said = { .type = J_NONE };
	if (line == CLAUDE_LINE_USER && may_prompt(vals))
		said = vals[CLAUDE_MSG_CONTENT];
	else if (line == CLAUDE_LINE_ATTACHMENT)
		said = queued_prompt(vals[CLAUDE_ATTACHMENT]);
	if (said.type != J_NONE && prompt_of(said, &s->tmp, &prompt))
		summary_prompt(s, prompt);
	if (line == CLAUDE_LINE_ASSISTANT && !is_synthetic(vals[CLAUDE_MSG_MODEL])) {
		summary_usage(s, vals[CLAUDE_MSG_USAGE]);
		if (summary_changed(&s->model, vals[CLAUDE_MSG_MODEL]))
			summary_field(s, &s->info->model, vals[CLAUDE_MSG_MODEL], SESSION_NAME_MAX);
	}
}

static void claude_scan(struct summary *s, const struct line *line)
{
	const struct jval *vals = line->vals;
	enum claude_line kind = claude_line_of(vals);

	summary_time(s, vals[CLAUDE_TIME]);
	if (kind != CLAUDE_LINE_OTHER) {
		scan_chained(s, kind, vals);
	} else if (vals[CLAUDE_TITLE].type == J_STRING) {
		summary_field(s, &s->info->name, vals[CLAUDE_TITLE], SESSION_NAME_MAX);
	} else if (vals[CLAUDE_AGENT_NAME].type == J_STRING) {
		summary_field(s, &s->info->name, vals[CLAUDE_AGENT_NAME], SESSION_NAME_MAX);
	}
	summary_parent(s, vals[CLAUDE_TRIM], vals[CLAUDE_CONTINUE], vals[CLAUDE_OURS]);
	if (scan_string_eq(vals[CLAUDE_PURPOSE], SV("helper")))
		s->info->flags |= SESSION_HELPER;
}

/* ---- items ---- */

static struct item item_from(const struct item *base, enum item_kind kind, const struct jval *vals)
{
	struct item item = *base;

	item.kind = kind;
	item.type = scan_inner(vals[CLAUDE_TYPE]);
	item.time = scan_inner(vals[CLAUDE_TIME]);
	item.uuid = item.prompt_id = scan_inner(vals[CLAUDE_UUID]);
	item.parent = scan_inner(vals[CLAUDE_PARENT]);
	item.body = item.object;
	if (scan_true(vals[CLAUDE_SIDE]))
		item.flags |= ITEM_SIDECHAIN;
	return item;
}

/* The part of a block that holds its words. */
static struct jval block_text(struct jval block)
{
	static const char *const members[] = { "text", "thinking", "content", "input" };

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		struct jval val = line_member(block, members[i]);
		if (val.type != J_NONE && val.type != J_NULL)
			return val;
	}
	return (struct jval){ .type = J_NONE };
}

static enum item_kind block_kind(struct jval block, enum item_kind plain)
{
	struct sv type = scan_inner(line_member(block, "type"));

	if (sv_is(type, "thinking") || sv_is(type, "redacted_thinking"))
		return ITEM_THINKING;
	if (sv_ends(type, SV("tool_use")))
		return ITEM_TOOL_CALL;
	return sv_ends(type, SV("tool_result")) ? ITEM_TOOL_RESULT : plain;
}

static void push_block(struct item_list *list, const struct item *whole, struct jval block)
{
	struct item item = *whole;

	item.body = block;
	item.text = block.type == J_STRING ? block : block_text(block);
	item.kind = block_kind(block, whole->kind);
	if (item.kind == ITEM_TOOL_CALL) {
		item.tool = scan_inner(line_member(block, "name"));
		item.tool_id = scan_inner(line_member(block, "id"));
	} else if (item.kind == ITEM_TOOL_RESULT) {
		item.tool_id = scan_inner(line_member(block, "tool_use_id"));
		if (scan_true(line_member(block, "is_error")))
			item.flags |= ITEM_FAILED;
	} else if (value_is_type(block, "image") || value_is_type(block, "document")) {
		item.flags |= ITEM_IMAGE;
	}
	vec_push(&list->items, item);
}

static void push_content(struct item_list *list, const struct item *whole, struct jval content)
{
	size_t before = list->items.n;
	struct jval block;
	struct scan_iter it = scan_iter(content);

	while (content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0)
		push_block(list, whole, block);
	if (list->items.n > before)
		return;
	struct item item = *whole;
	item.text = content;
	vec_push(&list->items, item);
}

/* Marks the one item that is the user's words, and those that programs put in. */
static void flag_prompts(struct item_list *list, size_t from, struct jval content, bool may)
{
	struct jval prompt = { .type = J_NONE };
	bool real = may && prompt_of(content, &list->tmp, &prompt);

	for (size_t i = from; i < list->items.n; i++) {
		struct item *item = &list->items.v[i];
		if (item->kind != ITEM_USER)
			continue;
		if (real && (item->text.raw.p == prompt.raw.p || item->body.raw.p == prompt.raw.p))
			item->flags |= ITEM_PROMPT;
		else if (!real || value_injected(TRANSCRIPT_CLAUDE, item->text, &list->tmp))
			item->flags |= ITEM_INJECTED;
	}
}

static void push_user(struct item_list *list, const struct item *base, const struct jval *vals)
{
	struct item item = item_from(base, ITEM_USER, vals);

	if (scan_true(vals[CLAUDE_SUMMARY]))
		item.flags |= ITEM_SUMMARY;
	size_t from = list->items.n;
	push_content(list, &item, vals[CLAUDE_MSG_CONTENT]);
	flag_prompts(list, from, vals[CLAUDE_MSG_CONTENT], may_prompt(vals));
}

static void push_attachment(
	struct item_list *list, const struct item *base, const struct jval *vals)
{
	struct jval queued = queued_prompt(vals[CLAUDE_ATTACHMENT]);
	size_t from = list->items.n;

	if (queued.type != J_NONE) {
		struct item said = item_from(base, ITEM_USER, vals);
		push_content(list, &said, queued);
		flag_prompts(list, from, queued, true);
		return;
	}
	struct item item = item_from(base, is_snapshot(vals) ? ITEM_META : ITEM_SYSTEM, vals);
	if (item.kind == ITEM_META) {
		item.prompt_id = (struct sv){ 0 };
		vec_push(&list->items, item);
		return;
	}
	item.text = line_member(vals[CLAUDE_ATTACHMENT], "content");
	item.body = vals[CLAUDE_ATTACHMENT];
	vec_push(&list->items, item);
}

static void push_assistant(struct item_list *list, const struct item *base, const struct jval *vals)
{
	struct item item = item_from(base, ITEM_ASSISTANT, vals);

	item.message_id = scan_inner(vals[CLAUDE_MSG_ID]);
	item.model = scan_inner(vals[CLAUDE_MSG_MODEL]);
	if (is_synthetic(vals[CLAUDE_MSG_MODEL]))
		item.flags |= ITEM_SYNTHETIC;
	if (scan_true(vals[CLAUDE_API_ERROR]))
		item.flags |= ITEM_FAILED;
	if (vals[CLAUDE_MSG_USAGE].type == J_OBJECT) {
		item.usage = claude_usage(vals[CLAUDE_MSG_USAGE]);
		item.flags |= ITEM_USAGE;
	}
	push_content(list, &item, vals[CLAUDE_MSG_CONTENT]);
}

static bool is_boundary(struct jval subtype)
{
	return scan_string_eq(subtype, SV("compact_boundary"));
}

/* Newer versions write beside a compaction how much it left. */
static int64_t tokens_left(const struct jval *vals)
{
	int64_t left = 0;

	return scan_i64(line_member(vals[CLAUDE_COMPACT], "postTokens"), &left) && left > 0 &&
			left <= TOKENS_LEFT_MAX
		? left
		: 0;
}

/* The type stands behind the message. */
static void claude_complete(struct line *line)
{
	if (line->vals[CLAUDE_TYPE].type == J_NONE)
		line->vals[CLAUDE_TYPE] = line->vals[CLAUDE_MSG_ROLE];
}

static void claude_items(struct item_list *list, const struct item *base, const struct line *line)
{
	const struct jval *vals = line->vals;
	struct item whole = *base, item;

	whole.object = (struct jval){ line->text, J_OBJECT };
	switch (claude_line_of(vals)) {
	case CLAUDE_LINE_USER:
		push_user(list, &whole, vals);
		break;
	case CLAUDE_LINE_ASSISTANT:
		push_assistant(list, &whole, vals);
		break;
	case CLAUDE_LINE_ATTACHMENT:
		push_attachment(list, &whole, vals);
		break;
	case CLAUDE_LINE_SYSTEM:
		item = item_from(&whole,
			is_boundary(vals[CLAUDE_SUBTYPE]) ? ITEM_COMPACTION : ITEM_SYSTEM, vals);
		item.text = vals[CLAUDE_CONTENT_TOP];
		item.left = tokens_left(vals);
		vec_push(&list->items, item);
		break;
	case CLAUDE_LINE_OTHER:
		vec_push(&list->items, item_from(&whole, ITEM_META, vals));
		break;
	}
}

/* ---- live chain ---- */

static void link_kept_list(struct links *links, struct jval uuids)
{
	struct jval id;
	struct scan_iter it = scan_iter(uuids);

	while (uuids.type == J_ARRAY && scan_next(&it, NULL, &id) > 0)
		vec_push(&links->kept,
			(struct link_kept){ link_hash(scan_inner(id)), (uint32_t)links->v.n });
}

static void link_boundary(struct links *links, struct jval compact)
{
	struct jval kept = line_member(compact, "preservedMessages");

	link_kept_list(links, line_member(kept, "uuids"));
	link_kept_list(links, line_member(kept, "allUuids"));
}

static uint32_t link_flags(const struct jval *vals)
{
	static const uint32_t by_line[] = {
		[CLAUDE_LINE_OTHER] = 0,
		[CLAUDE_LINE_USER] = LINK_SPOKEN | LINK_SENT,
		[CLAUDE_LINE_ASSISTANT] = LINK_SPOKEN | LINK_SENT | LINK_ASSISTANT,
		[CLAUDE_LINE_ATTACHMENT] = LINK_SENT,
		[CLAUDE_LINE_SYSTEM] = 0,
	};
	enum claude_line line = claude_line_of(vals);

	if (scan_true(vals[CLAUDE_SIDE]))
		return LINK_SIDE | LINK_SENT;
	if (line == CLAUDE_LINE_ATTACHMENT && is_snapshot(vals))
		return 0;
	return line == CLAUDE_LINE_SYSTEM && is_boundary(vals[CLAUDE_SUBTYPE]) ? LINK_BOUNDARY
									       : by_line[line];
}

static bool tool_of(const struct jval *block, struct sv *ret_id, bool *ret_result)
{
	struct jval id = block[BLOCK_USE_ID];

	*ret_result = id.type == J_STRING;
	if (!*ret_result && scan_string_eq(block[BLOCK_TYPE], SV("tool_use")))
		id = block[BLOCK_ID];
	*ret_id = scan_inner(id);
	return id.type == J_STRING;
}

bool claude_tool_next(struct claude_tools *t, struct sv *ret_id, bool *ret_result)
{
	const struct scan_rows *rows = &t->line->rows;
	struct jval content = t->line->vals[CLAUDE_MSG_CONTENT], item, vals[BLOCK_KEY_COUNT];

	while (t->at < rows->v.n) {
		const struct scan_row *row = &rows->v.v[t->at++];
		if (row->level == 0 && tool_of(row->vals, ret_id, ret_result))
			return true;
	}
	if (!rows->cut || content.type != J_ARRAY)
		return false;
	if (t->at++ == 0)
		t->it = scan_iter(content);
	while (scan_next(&t->it, NULL, &item) > 0)
		if (scan_keys(item.raw, block_keys, BLOCK_KEY_COUNT, vals) > 0 &&
			tool_of(vals, ret_id, ret_result))
			return true;
	return false;
}

static void claude_link(struct links *links, const struct line *line)
{
	const struct jval *vals = line->vals;
	struct link link = { .size = 0 };

	/* Lines of any type may be part of the chain. */
	if (vals[CLAUDE_UUID].type == J_STRING) {
		link.id = link_hash(scan_inner(vals[CLAUDE_UUID]));
		link.parent = link_hash(scan_inner(vals[CLAUDE_PARENT]));
		link.message = link_hash(scan_inner(vals[CLAUDE_MSG_ID]));
		link.flags = link_flags(vals);
		if (link.flags & LINK_BOUNDARY)
			link_boundary(links, vals[CLAUDE_COMPACT]);
	}
	/* Only lines of their own are notes: what an entry carries along says nothing. */
	if (link.id == 0 && vals[CLAUDE_LEAF].type == J_STRING)
		links->noted = link_hash(scan_inner(vals[CLAUDE_LEAF]));
	vec_push(&links->v, link);
	size_t at = links->v.n - 1;
	if (links->v.v[at].id == 0 || links->v.v[at].flags & LINK_SIDE)
		return;
	struct claude_tools tools = { .line = line };
	struct sv id;
	bool result;
	while (claude_tool_next(&tools, &id, &result)) {
		links->v.v[at].flags |= result ? LINK_RESULT : LINK_CALL;
		vec_push(&links->tools, (struct link_tool){ link_hash(id), (uint32_t)at, result });
	}
}

/* ---- texts ---- */

static void look_call(const struct jval *vals, struct line_look *look)
{
	struct jval usage = vals[CLAUDE_MSG_USAGE];
	struct sv model = scan_inner(vals[CLAUDE_MSG_MODEL]);

	if (usage.type != J_OBJECT || sv_is(model, "<synthetic>"))
		return;
	look->called = true;
	look->usage = usage_of(vals[CLAUDE_U_INPUT], vals[CLAUDE_U_READ], vals[CLAUDE_U_WRITE],
		vals[CLAUDE_U_OUTPUT]);
	look->cache_life_ms = value_tokens(vals[CLAUDE_U_LONG]) > 0 ? CACHE_LONG_MS
		: value_tokens(vals[CLAUDE_U_SHORT]) > 0	    ? CACHE_SHORT_MS
								    : 0;
	look->model = model;
	look->message = scan_inner(vals[CLAUDE_MSG_ID]);
	look->time = scan_inner(vals[CLAUDE_TIME]);
}

/* Whose words the plain texts of a line are. */
static enum piece_kind plain_kind(const struct line *line, enum claude_line kind)
{
	const struct jval *vals = line->vals;
	struct jval text = vals[CLAUDE_MSG_CONTENT];

	if (kind == CLAUDE_LINE_ASSISTANT)
		return PIECE_ANSWER;
	if (scan_true(vals[CLAUDE_SUMMARY]))
		return PIECE_SUMMARY;
	if (text.type == J_ARRAY && line->rows.v.n > 0)
		text = line->rows.v.v[0].vals[BLOCK_TEXT];
	bool put_in = scan_true(vals[CLAUDE_META]) ||
		(text.type == J_STRING && transcript_injected(TRANSCRIPT_CLAUDE, scan_inner(text)));
	return put_in ? PIECE_NOTICE : PIECE_PROMPT;
}

static void look_block(
	const struct line *line, size_t at, struct line_piece piece, struct line_look *look)
{
	const struct jval *vals = line->rows.v.v[at].vals;
	struct sv type = scan_inner(vals[BLOCK_TYPE]);

	if (sv_is(type, "text")) {
		piece.val = vals[BLOCK_TEXT];
	} else if (sv_is(type, "tool_use")) {
		piece.kind = PIECE_CALL;
		piece.shape = SHAPE_STRINGS;
		piece.val = vals[BLOCK_INPUT];
		piece.id = scan_inner(vals[BLOCK_ID]);
		piece.name = scan_inner(vals[BLOCK_NAME]);
	} else if (sv_is(type, "tool_result")) {
		piece.kind = PIECE_RESULT;
		piece.val = vals[BLOCK_CONTENT];
		piece.id = scan_inner(vals[BLOCK_USE_ID]);
	} else if (sv_is(type, "image") || sv_is(type, "document")) {
		piece.kind = PIECE_PICTURE;
		piece.images = 1;
		piece.val = vals[BLOCK_SOURCE];
		piece.block = line->rows.v.v[at].item;
	} else if (vals[BLOCK_THINKING].type == J_STRING) {
		piece.kind = PIECE_THINKING;
		piece.val = vals[BLOCK_THINKING];
	} else {
		return;
	}
	if (piece.kind != PIECE_PICTURE)
		piece.bytes = piece.val.raw.n;
	if (piece.kind == PIECE_RESULT && piece.val.type == J_ARRAY)
		line_count_blocks(line, at + 1, 1, BLOCK_CONTENT, BLOCK_TEXT, &piece);
	vec_push(&look->pieces, piece);
	/* What the agent shows on its screen stands a second time in the line. */
	if (piece.kind == PIECE_RESULT && line->vals[CLAUDE_TOOL_RESULT].type != J_NONE)
		vec_push(&look->pieces,
			(struct line_piece){ .kind = PIECE_DISPLAY,
				.val = line->vals[CLAUDE_TOOL_RESULT],
				.id = piece.id });
}

static void claude_look(const struct line *line, struct line_look *look)
{
	const struct jval *vals = line->vals;
	enum claude_line kind = claude_line_of(vals);
	bool spoken = kind == CLAUDE_LINE_USER || kind == CLAUDE_LINE_ASSISTANT;

	look->side = scan_true(vals[CLAUDE_SIDE]);
	look->breaks =
		kind == CLAUDE_LINE_SYSTEM && !look->side && is_boundary(vals[CLAUDE_SUBTYPE]);
	if (look->breaks)
		look->left = tokens_left(vals);
	if (kind == CLAUDE_LINE_ATTACHMENT)
		vec_push(&look->pieces,
			(struct line_piece){ .kind = PIECE_NOTICE,
				.bytes = vals[CLAUDE_ATTACHMENT].raw.n,
				.counts = !look->side && !is_snapshot(vals) });
	if (spoken && !look->side)
		look_call(vals, look);
	if (vals[CLAUDE_MESSAGE].type == J_NONE)
		return;
	struct line_piece piece = { .kind = plain_kind(line, kind),
		.counts = spoken && !look->side };
	if (vals[CLAUDE_MSG_CONTENT].type == J_STRING) {
		piece.val = vals[CLAUDE_MSG_CONTENT];
		piece.bytes = piece.val.raw.n;
		vec_push(&look->pieces, piece);
	} else if (line->rows.cut) {
		piece.bytes = vals[CLAUDE_MSG_CONTENT].raw.n;
		vec_push(&look->pieces, piece);
	}
	for (size_t i = 0; i < line->rows.v.n; i++)
		if (line->rows.v.v[i].level == 0)
			look_block(line, i, piece, look);
}

/* ---- a new session ---- */

/* Stands for the words of an API error. Not empty: an empty text would be dropped, and with it the
 * answer that the chain leads through. */
#define ERROR_CONTENT "[{\"type\":\"text\",\"text\":\"[API error in parent session - removed]\"}]"

/*
 * The agent refuses to go on behind such an answer, and dropping the line would break the chain.
 * Its model must be a real one: the next call takes the last model of the file.
 */
static void neutralise(const struct jval *vals, struct line_swaps *out)
{
	if (scan_true(vals[CLAUDE_API_ERROR]))
		vec_push(&out->v,
			(struct line_swap){ vals[CLAUDE_API_ERROR], SWAP_JSON, SV("false") });
	if (vals[CLAUDE_ERROR].type == J_STRING)
		vec_push(&out->v, (struct line_swap){ vals[CLAUDE_ERROR], SWAP_JSON, SV("null") });
	if (claude_line_of(vals) != CLAUDE_LINE_ASSISTANT ||
		vals[CLAUDE_MSG_CONTENT].type == J_NONE)
		return;
	vec_push(&out->v,
		(struct line_swap){ vals[CLAUDE_MSG_CONTENT], SWAP_JSON, SV(ERROR_CONTENT) });
	if (is_synthetic(vals[CLAUDE_MSG_MODEL]))
		vec_push(&out->v, (struct line_swap){ vals[CLAUDE_MSG_MODEL], SWAP_MODEL, SV("") });
	out->neutral = true;
}

static void claude_swaps(
	const struct line *line, unsigned changes, struct sv own UNUSED, struct line_swaps *out)
{
	const struct jval *vals = line->vals;

	if (changes & LINE_ID && vals[CLAUDE_SESSION].type == J_STRING)
		vec_push(&out->v, (struct line_swap){ vals[CLAUDE_SESSION], SWAP_ID, SV("") });
	if (changes & LINE_USAGE)
		line_zero_usage(vals[CLAUDE_MSG_USAGE], out);
	if (changes & LINE_ERRORS &&
		(scan_true(vals[CLAUDE_API_ERROR]) ||
			scan_string_eq(vals[CLAUDE_ERROR], SV("invalid_request"))))
		neutralise(vals, out);
}

/* Any line will do, and the first is the one. */
static struct jval claude_note_place(const struct line *line)
{
	struct jval whole;

	if (scan_text(line->text, &whole) < 0)
		whole = (struct jval){ .type = J_NONE };
	return whole;
}

static struct sv claude_model(const struct line *line)
{
	struct sv name = scan_inner(line->vals[CLAUDE_MSG_MODEL]);

	return name.n == 0 || name.p[0] == '<' || memchr(name.p, '\\', name.n) ? SV("") : name;
}

static char *claude_sibling_path(
	const char *parent, const char *out_dir, const char *id, int64_t wall_ms UNUSED)
{
	struct sv folder = out_dir ? sv_of(out_dir) : path_parent(sv_of(parent));

	return xasprintf("%.*s/%s.jsonl", SV_ARG(folder), id);
}

/* ---- files ---- */

static int claude_recognises(struct sv text)
{
	enum { R_TYPE, R_PAYLOAD, R_SESSION, R_UUID, R_COUNT };
	static const struct scan_key marks[] = {
		[R_TYPE] = SCAN_KEY("type", SCAN_TOP),
		[R_PAYLOAD] = SCAN_KEY("payload", SCAN_TOP),
		[R_SESSION] = SCAN_KEY("sessionId", SCAN_TOP),
		[R_UUID] = SCAN_KEY("uuid", SCAN_TOP),
	};
	struct jval v[R_COUNT];

	if (record_keys(text, marks, R_COUNT, v) < 0)
		return ERR_INPUT;
	return v[R_TYPE].type == J_STRING && v[R_PAYLOAD].type != J_OBJECT &&
		(v[R_SESSION].type == J_STRING || v[R_UUID].type == J_STRING);
}

static const char *const injected_tags[] = {
	"command-name",
	"command-message",
	"command-args",
	"command-contents",
	"local-command-caveat",
	"local-command-stdout",
	"local-command-stderr",
	"bash-input",
	"bash-stdout",
	"bash-stderr",
	"task-notification",
	"system-reminder",
	"teammate-message",
	"user-prompt-submit-hook",
	"session-start-hook",
	"user-memory-input",
	"ide_opened_file",
	"ide_selection",
	"ide_diagnostics",
	NULL,
};
static const char *const injected_words[] = {
	"Caveat: The messages below were generated by the user while running local commands",
	"[Request interrupted by user",
	"[structured-output-enforce]",
	NULL,
};

/* What it takes from its input is queued first, and its last prompt is noted at its end, even when
 * that comes before anything was done with it. */
static struct jval claude_in_hand(const struct item *item)
{
	return sv_is(item->type, "last-prompt")	       ? line_member(item->object, "lastPrompt")
		: sv_is(item->type, "queue-operation") ? line_member(item->object, "content")
						       : (struct jval){ .type = J_NONE };
}

/* "/init now" is kept as the name of the command and its arguments, each in a tag. */
static bool claude_typed(struct sv text, struct str *out)
{
	const struct sv tags[][2] = {
		{ SV("<command-name>"), SV("</command-name>") },
		{ SV("<command-args>"), SV("</command-args>") },
	};
	size_t from, n;

	for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
		if (!sv_find(text, tags[i][0], &from) ||
			!sv_find(sv_from(text, from + tags[i][0].n), tags[i][1], &n))
			return i > 0;
		struct sv word = sv_trim(sv_head(sv_from(text, from + tags[i][0].n), n));
		str_addf(out, "%s%.*s", i > 0 && word.n > 0 ? " " : "", SV_ARG(word));
	}
	return true;
}

/* A text that says where the whole of it lies, with the head of it. Only the name counts: the
 * session may have been moved, and what the text says may be anybody's. */
static bool claude_spilled(const struct item *item, struct str *out)
{
	enum { STUB_MAX = 64 * 1024 };
	static const struct sv mark = { "<persisted-output>", 18 };
	AUTO_STR text = STR_INIT;
	struct sv rest, line;
	size_t at;

	if (item->text.raw.n > STUB_MAX || !sv_find(sv_head(item->text.raw, 256), mark, &at))
		return false;
	transcript_text(item, &text);
	rest = str_sv(&text);
	if (!sv_starts(rest, mark) || !sv_find(rest, SV("saved to: "), &at))
		return false;
	rest = sv_from(rest, at);
	(void)sv_split(&rest, '\n', &line);
	struct sv name = path_base(line);
	if (!sv_is(path_base(path_parent(line)), "tool-results") || name.n == 0 ||
		sv_is(name, ".") || sv_is(name, "..") || memchr(name.p, '\0', name.n))
		return false;
	str_addf(out, "tool-results/%.*s", SV_ARG(name));
	return true;
}

const struct transcript_format transcript_claude = {
	.number = 0,
	.recognises = claude_recognises,
	.places = &claude_places,
	.speaks = "\"role\"",
	.forks_silently = true,
	.injected_tags = injected_tags,
	.injected_words = injected_words,
	.interrupted = "[Request interrupted by user",
	.answer_tool = "StructuredOutput",
	.in_hand = claude_in_hand,
	.typed = claude_typed,
	.spilled = claude_spilled,
	.keys = keys,
	.n_keys = ARRAY_LEN(keys),
	.row_keys = block_keys,
	.n_row_keys = ARRAY_LEN(block_keys),
	.lists = UINT64_C(1) << CLAUDE_MSG_CONTENT,
	.row_lists = UINT64_C(1) << BLOCK_CONTENT,
	.complete = claude_complete,
	.scan = claude_scan,
	.items = claude_items,
	.link = claude_link,
	.look = claude_look,
	.swaps = claude_swaps,
	.note_place = claude_note_place,
	.model = claude_model,
	.cwd_key = CLAUDE_CWD,
	.usage = claude_usage,
	.sibling_path = claude_sibling_path,
	.text_type = "text",
	.title = "Claude",
	.glued_read = 1,
	.mark = live_claude,
	.native = &native_claude,
};
