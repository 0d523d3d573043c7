/*
 * Lines of Claude Code: one a block, chained by their uuids. What one answer of the model holds,
 * words and calls, has one message id: by that it is put together again.
 */
#include <string.h>

#include "base/mem.h"
#include "transcript/native-impl.h"

static void head_of(struct native_lines *l, const char *type, const char *uuid)
{
	struct jw *w = &l->w;

	native_line(l);
	jw_put_cstr(w, "parentUuid", l->parent[0] ? l->parent : NULL);
	jw_put_bool(w, "isSidechain", false);
	jw_put_cstr(w, "userType", "external");
	jw_put_cstr(w, "cwd", l->dir);
	jw_put_cstr(w, "sessionId", l->id);
	if (l->branch && l->branch[0])
		jw_put_cstr(w, "gitBranch", l->branch);
	jw_put_cstr(w, "type", type);
	jw_put_cstr(w, "uuid", uuid);
	native_time(l, "timestamp");
}

static void put_block(struct jw *w, const struct native_item *item)
{
	jw_object(w);
	switch ((unsigned)item->kind) {
	case ITEM_TOOL_CALL:
		jw_put_cstr(w, "type", "tool_use");
		jw_put_string(w, "id", item->tool_id);
		jw_put_string(w, "name", item->tool);
		jw_put_raw(w, "input", item->text);
		break;
	case ITEM_TOOL_RESULT:
		jw_put_string(w, "tool_use_id", item->tool_id);
		jw_put_cstr(w, "type", "tool_result");
		jw_put_string(w, "content", item->text);
		jw_put_bool(w, "is_error", item->failed);
		break;
	default:
		jw_put_cstr(w, "type", "text");
		jw_put_string(w, "text", item->text);
		break;
	}
	jw_end(w);
}

static void put_answer(struct native_lines *l, const struct native_item *item)
{
	static const char *const tokens[] = { "input_tokens", "cache_creation_input_tokens",
		"cache_read_input_tokens", "output_tokens" };
	struct sv model = item->model.n ? item->model : sv_of(l->model ? l->model : "");
	struct jw *w = &l->w;
	AUTO_FREE char *id = xasprintf("msg_%s", l->message);

	jw_key(w, "message");
	jw_object(w);
	jw_put_cstr(w, "id", id);
	jw_put_cstr(w, "type", "message");
	jw_put_cstr(w, "role", "assistant");
	/* Without a model the agent waits for ever. */
	jw_put_string(w, "model", model.n ? model : SV("<synthetic>"));
	jw_key(w, "content");
	jw_array(w);
	put_block(w, item);
	jw_end(w);
	jw_put_cstr(w, "stop_reason", item->kind == ITEM_TOOL_CALL ? "tool_use" : "end_turn");
	jw_put_cstr(w, "stop_sequence", NULL);
	jw_key(w, "usage");
	jw_object(w);
	for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
		jw_put_i64(w, tokens[i], 0);
	jw_end(w);
	jw_end(w);
}

static void put_said(struct native_lines *l, const struct native_item *item)
{
	struct jw *w = &l->w;

	jw_key(w, "message");
	jw_object(w);
	jw_put_cstr(w, "role", "user");
	if (item->kind == ITEM_USER) {
		jw_put_string(w, "content", item->text);
	} else {
		jw_key(w, "content");
		jw_array(w);
		put_block(w, item);
		jw_end(w);
	}
	jw_end(w);
	l->message[0] = '\0';
}

static void put(struct native_lines *l, const struct native_item *item)
{
	bool answer = item->kind == ITEM_ASSISTANT || item->kind == ITEM_TOOL_CALL;
	char uuid[UUID_TEXT];

	uuid_new(uuid);
	if (answer && !l->message[0])
		uuid_new(l->message);
	head_of(l, answer ? "assistant" : "user", uuid);
	(answer ? put_answer : put_said)(l, item);
	if (!l->begun)
		native_note(l);
	native_line_end(l);
	memcpy(l->parent, uuid, UUID_TEXT);
}

const struct native_writer native_claude = {
	.text_lines = 1,
	.shell_tool = "Bash",
	.shell_key = "command",
	.put = put,
};
