/*
 * Claude Code: one object a line, chained by uuid and parentUuid; one content block a line as a
 * rule; titles, modes and the like in lines of their own.
 */
#include "base/mem.h"
#include "os/path.h"
#include "transcript/adapter.h"
#include "transcript/home.h"

enum {
	K_TYPE,
	K_TIME,
	K_UUID,
	K_PARENT,
	K_SIDE,
	K_META,
	K_SUMMARY,
	K_CWD,
	K_BRANCH,
	K_ENTRY,
	K_SUBTYPE,
	K_CONTENT_TOP,
	K_ATTACHMENT,
	K_TITLE,
	K_AGENT_NAME,
	K_KIND,
	K_TRIM,
	K_CONTINUE,
	K_OURS,
	K_API_ERROR,
	K_COMPACT,
	K_LEAF,
	K_MESSAGE,
	K_MSG_ID,
	K_MSG_MODEL,
	K_MSG_CONTENT,
	K_MSG_USAGE,
	K_COUNT
};

static const struct scan_key keys[] = {
	[K_TYPE] = SCAN_KEY("type", SCAN_TOP),
	[K_TIME] = SCAN_KEY("timestamp", SCAN_TOP),
	[K_UUID] = SCAN_KEY("uuid", SCAN_TOP),
	[K_PARENT] = SCAN_KEY("parentUuid", SCAN_TOP),
	[K_SIDE] = SCAN_KEY("isSidechain", SCAN_TOP),
	[K_META] = SCAN_KEY("isMeta", SCAN_TOP),
	[K_SUMMARY] = SCAN_KEY("isCompactSummary", SCAN_TOP),
	[K_CWD] = SCAN_KEY("cwd", SCAN_TOP),
	[K_BRANCH] = SCAN_KEY("gitBranch", SCAN_TOP),
	[K_ENTRY] = SCAN_KEY("entrypoint", SCAN_TOP),
	[K_SUBTYPE] = SCAN_KEY("subtype", SCAN_TOP),
	[K_CONTENT_TOP] = SCAN_KEY("content", SCAN_TOP),
	[K_ATTACHMENT] = SCAN_KEY("attachment", SCAN_TOP),
	[K_TITLE] = SCAN_KEY("customTitle", SCAN_TOP),
	[K_AGENT_NAME] = SCAN_KEY("agentName", SCAN_TOP),
	[K_KIND] = SCAN_KEY("sessionType", SCAN_TOP),
	[K_TRIM] = SCAN_KEY("trim_metadata", SCAN_TOP),
	[K_CONTINUE] = SCAN_KEY("continue_metadata", SCAN_TOP),
	[K_OURS] = SCAN_KEY(SESSION_NOTE_KEY, SCAN_TOP),
	[K_API_ERROR] = SCAN_KEY("isApiErrorMessage", SCAN_TOP),
	[K_COMPACT] = SCAN_KEY("compactMetadata", SCAN_TOP),
	[K_LEAF] = SCAN_KEY("leafUuid", SCAN_TOP),
	[K_MESSAGE] = SCAN_KEY("message", SCAN_TOP),
	[K_MSG_ID] = SCAN_KEY("id", K_MESSAGE),
	[K_MSG_MODEL] = SCAN_KEY("model", K_MESSAGE),
	[K_MSG_CONTENT] = SCAN_KEY("content", K_MESSAGE),
	[K_MSG_USAGE] = SCAN_KEY("usage", K_MESSAGE),
};

enum line { LINE_OTHER, LINE_USER, LINE_ASSISTANT, LINE_ATTACHMENT, LINE_SYSTEM };

static enum line line_of(struct jval type)
{
	if (scan_string_eq(type, SV("assistant")))
		return LINE_ASSISTANT;
	if (scan_string_eq(type, SV("user")))
		return LINE_USER;
	if (scan_string_eq(type, SV("attachment")))
		return LINE_ATTACHMENT;
	return scan_string_eq(type, SV("system")) ? LINE_SYSTEM : LINE_OTHER;
}

static bool is_synthetic(struct jval model)
{
	return scan_string_eq(model, SV("<synthetic>"));
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
		struct jval text = value_member(block, "text");
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
	struct jval mode = value_member(attachment, "commandMode");
	struct jval origin = value_member(value_member(attachment, "origin"), "kind");
	bool typed = (mode.type == J_NONE || scan_string_eq(mode, SV("prompt"))) &&
		(origin.type == J_NONE || scan_string_eq(origin, SV("human")));
	if (!typed || !value_is_type(attachment, "queued_command") ||
		scan_true(value_member(attachment, "isMeta")))
		return (struct jval){ .type = J_NONE };
	return value_member(attachment, "prompt");
}

static bool may_prompt(const struct jval *vals)
{
	return !scan_true(vals[K_META]) && !scan_true(vals[K_SUMMARY]);
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
	summary_field(s, &info->root, vals[K_UUID], SESSION_NAME_MAX);
	if (scan_true(vals[K_SIDE]))
		info->flags |= SESSION_SUBAGENT;
	if (sv_starts(scan_inner(vals[K_ENTRY]), SV("sdk")))
		info->flags |= SESSION_EXEC;
}

static void scan_chained(struct summary *s, enum line line, const struct jval *vals)
{
	scan_first(s, vals);
	scan_cwd(s, vals[K_CWD]);
	if (summary_changed(&s->branch, vals[K_BRANCH]))
		summary_field(s, &s->info->branch, vals[K_BRANCH], SESSION_NAME_MAX);
	/* In a parent's file, the side chain is somebody else's work. */
	if (scan_true(vals[K_SIDE]) && !(s->info->flags & SESSION_SUBAGENT))
		return;
	struct jval prompt, said = { .type = J_NONE };
	if (line == LINE_USER && may_prompt(vals))
		said = vals[K_MSG_CONTENT];
	else if (line == LINE_ATTACHMENT)
		said = queued_prompt(vals[K_ATTACHMENT]);
	if (said.type != J_NONE && prompt_of(said, &s->tmp, &prompt))
		summary_prompt(s, prompt);
	if (line == LINE_ASSISTANT && !is_synthetic(vals[K_MSG_MODEL])) {
		summary_usage(s, vals[K_MSG_USAGE]);
		if (summary_changed(&s->model, vals[K_MSG_MODEL]))
			summary_field(s, &s->info->model, vals[K_MSG_MODEL], SESSION_NAME_MAX);
	}
}

static int claude_scan(struct summary *s, struct sv text)
{
	struct jval vals[K_COUNT];
	if (record_keys(text, keys, K_COUNT, vals) < 0)
		return ERR_INPUT;
	summary_time(s, vals[K_TIME]);
	enum line line = line_of(vals[K_TYPE]);
	if (line != LINE_OTHER) {
		scan_chained(s, line, vals);
	} else if (vals[K_TITLE].type == J_STRING) {
		summary_field(s, &s->info->name, vals[K_TITLE], SESSION_NAME_MAX);
	} else if (vals[K_AGENT_NAME].type == J_STRING) {
		summary_field(s, &s->info->name, vals[K_AGENT_NAME], SESSION_NAME_MAX);
	}
	summary_parent(s, vals[K_TRIM], vals[K_CONTINUE], vals[K_OURS]);
	if (scan_string_eq(vals[K_KIND], SV("helper")))
		s->info->flags |= SESSION_HELPER;
	return 0;
}

/* ---- items ---- */

static struct item item_from(const struct item *base, enum item_kind kind, const struct jval *vals)
{
	struct item item = *base;
	item.kind = kind;
	item.type = scan_inner(vals[K_TYPE]);
	item.time = scan_inner(vals[K_TIME]);
	item.uuid = scan_inner(vals[K_UUID]);
	item.parent = scan_inner(vals[K_PARENT]);
	item.body = item.object;
	if (scan_true(vals[K_SIDE]))
		item.flags |= ITEM_SIDECHAIN;
	return item;
}

/* The part of a block that holds its words. */
static struct jval block_text(struct jval block)
{
	static const char *const members[] = { "text", "thinking", "content", "input" };
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		struct jval val = value_member(block, members[i]);
		if (val.type != J_NONE && val.type != J_NULL)
			return val;
	}
	return (struct jval){ .type = J_NONE };
}

static enum item_kind block_kind(struct jval block, enum item_kind plain)
{
	struct sv type = scan_inner(value_member(block, "type"));
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
		item.tool = scan_inner(value_member(block, "name"));
		item.tool_id = scan_inner(value_member(block, "id"));
	} else if (item.kind == ITEM_TOOL_RESULT) {
		item.tool_id = scan_inner(value_member(block, "tool_use_id"));
		if (scan_true(value_member(block, "is_error")))
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
	if (scan_true(vals[K_SUMMARY]))
		item.flags |= ITEM_SUMMARY;
	size_t from = list->items.n;
	push_content(list, &item, vals[K_MSG_CONTENT]);
	flag_prompts(list, from, vals[K_MSG_CONTENT], may_prompt(vals));
}

static void push_attachment(
	struct item_list *list, const struct item *base, const struct jval *vals)
{
	struct jval queued = queued_prompt(vals[K_ATTACHMENT]);
	size_t from = list->items.n;
	if (queued.type != J_NONE) {
		struct item said = item_from(base, ITEM_USER, vals);
		push_content(list, &said, queued);
		flag_prompts(list, from, queued, true);
		return;
	}
	struct item item = item_from(base, ITEM_SYSTEM, vals);
	item.text = value_member(vals[K_ATTACHMENT], "content");
	item.body = vals[K_ATTACHMENT];
	vec_push(&list->items, item);
}

static void push_assistant(struct item_list *list, const struct item *base, const struct jval *vals)
{
	struct item item = item_from(base, ITEM_ASSISTANT, vals);
	item.message_id = scan_inner(vals[K_MSG_ID]);
	item.model = scan_inner(vals[K_MSG_MODEL]);
	if (is_synthetic(vals[K_MSG_MODEL]))
		item.flags |= ITEM_SYNTHETIC;
	if (scan_true(vals[K_API_ERROR]))
		item.flags |= ITEM_FAILED;
	if (vals[K_MSG_USAGE].type == J_OBJECT) {
		item.usage = usage_claude(vals[K_MSG_USAGE]);
		item.flags |= ITEM_USAGE;
	}
	push_content(list, &item, vals[K_MSG_CONTENT]);
}

static bool is_boundary(struct jval subtype)
{
	return scan_string_eq(subtype, SV("compact_boundary"));
}

static int claude_items(struct item_list *list, const struct item *base, struct sv text)
{
	struct jval vals[K_COUNT];
	if (record_keys(text, keys, K_COUNT, vals) < 0)
		return ERR_INPUT;
	struct item whole = *base;
	whole.object = (struct jval){ text, J_OBJECT };
	struct item item;
	switch (line_of(vals[K_TYPE])) {
	case LINE_USER:
		push_user(list, &whole, vals);
		return 0;
	case LINE_ASSISTANT:
		push_assistant(list, &whole, vals);
		return 0;
	case LINE_SYSTEM:
		item = item_from(
			&whole, is_boundary(vals[K_SUBTYPE]) ? ITEM_COMPACTION : ITEM_SYSTEM, vals);
		item.text = vals[K_CONTENT_TOP];
		break;
	case LINE_ATTACHMENT:
		push_attachment(list, &whole, vals);
		return 0;
	case LINE_OTHER:
	default:
		item = item_from(&whole, ITEM_META, vals);
		break;
	}
	vec_push(&list->items, item);
	return 0;
}

/* ---- live chain ---- */

static void link_tools(struct links *links, uint32_t record, struct jval content, uint32_t *flags)
{
	struct jval block;
	struct scan_iter it = scan_iter(content);
	while (content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0) {
		struct jval id = value_member(block, "tool_use_id");
		bool result = id.type == J_STRING;
		if (!result && value_is_type(block, "tool_use"))
			id = value_member(block, "id");
		if (id.type != J_STRING)
			continue;
		*flags |= result ? LINK_RESULT : LINK_CALL;
		vec_push(&links->tools,
			(struct link_tool){ link_hash(scan_inner(id)), record, result });
	}
}

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
	struct jval kept = value_member(compact, "preservedMessages");
	link_kept_list(links, value_member(kept, "uuids"));
	link_kept_list(links, value_member(kept, "allUuids"));
}

static uint32_t link_flags(const struct chain_claude *record)
{
	static const uint32_t by_line[] = {
		[LINE_OTHER] = 0,
		[LINE_USER] = LINK_SPOKEN | LINK_SENT,
		[LINE_ASSISTANT] = LINK_SPOKEN | LINK_SENT | LINK_ASSISTANT,
		[LINE_ATTACHMENT] = LINK_SENT,
		[LINE_SYSTEM] = 0,
	};
	enum line line = line_of(record->type);
	uint32_t flags = by_line[line];
	if (line == LINE_SYSTEM && is_boundary(record->subtype))
		flags |= LINK_BOUNDARY;
	return flags;
}

void claude_link_fields(struct links *links, const struct chain_claude *record)
{
	struct link link = { .size = 0 };
	/* Lines of any type may be part of the chain. */
	if (record->uuid.type == J_STRING) {
		link.id = link_hash(scan_inner(record->uuid));
		link.parent = link_hash(scan_inner(record->parent));
		link.message = link_hash(scan_inner(record->message_id));
		link.flags = scan_true(record->side) ? LINK_SIDE | LINK_SENT : link_flags(record);
		if (link.flags & LINK_BOUNDARY)
			link_boundary(links, record->compact);
	}
	/* Only lines of their own are notes: what an entry carries along says nothing. */
	if (link.id == 0 && record->leaf.type == J_STRING)
		links->noted = link_hash(scan_inner(record->leaf));
	vec_push(&links->v, link);
}

static int claude_link(struct links *links, struct sv text)
{
	struct jval vals[K_COUNT];
	if (record_keys(text, keys, K_COUNT, vals) < 0)
		return ERR_INPUT;
	const struct chain_claude record = {
		.type = vals[K_TYPE],
		.subtype = vals[K_SUBTYPE],
		.uuid = vals[K_UUID],
		.parent = vals[K_PARENT],
		.side = vals[K_SIDE],
		.message_id = vals[K_MSG_ID],
		.compact = vals[K_COMPACT],
		.leaf = vals[K_LEAF],
	};
	claude_link_fields(links, &record);
	size_t at = links->v.n - 1;
	if (links->v.v[at].id != 0 && !(links->v.v[at].flags & LINK_SIDE))
		link_tools(links, (uint32_t)at, vals[K_MSG_CONTENT], &links->v.v[at].flags);
	return 0;
}

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
	NULL,
};

const struct transcript_format transcript_claude = {
	.name = "claude",
	.number = 0,
	.recognises = claude_recognises,
	.places = &claude_places,
	.forks_silently = true,
	.injected_tags = injected_tags,
	.injected_words = injected_words,
	.scan = claude_scan,
	.items = claude_items,
	.link = claude_link,
	.glued_read = 1,
	.mark = live_claude,
};
