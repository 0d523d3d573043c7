/*
 * Lines of Codex: the session, then items as they are sent to the model. Words stand there twice,
 * for the model and for its own screen.
 */
#include "base/mem.h"
#include "transcript/home.h"
#include "transcript/line.h"
#include "transcript/native-impl.h"

static void begin(struct native_lines *l, const char *type)
{
	native_line(l);
	native_time(l, "timestamp");
	if (l->ordinal >= 0)
		jw_put_i64(&l->w, "ordinal", l->ordinal++);
	jw_put_cstr(&l->w, "type", type);
	jw_key(&l->w, "payload");
	jw_object(&l->w);
}

static void end(struct native_lines *l)
{
	jw_end(&l->w);
	native_line_end(l);
}

/* The provider that the first line of a session names; appends. */
static void provider_of(const char *path, struct str *out)
{
	struct transcript_reader *reader = NULL;
	struct item item;

	if (transcript_open(path, TRANSCRIPT_CODEX, NULL, &reader, NULL) >= 0 &&
		transcript_next(reader, &item, NULL) > 0)
		(void)scan_string(
			line_member(line_member(item.object, "payload"), "model_provider"), out);
	transcript_close(reader);
}

/* Codex goes on with no session that does not say whose model answers. */
static void put_provider(struct native_lines *l)
{
	AUTO_STR provider = STR_INIT;

	if (l->like)
		provider_of(l->like, &provider);
	/* One that was set up then and is not now would be refused. */
	if (l->root && !codex_has_provider(l->root, str_sv(&provider)))
		str_clear(&provider);
	if (provider.len == 0)
		codex_provider(l->root, &provider);
	jw_put_string(&l->w, "model_provider", str_sv(&provider));
}

static void head(struct native_lines *l)
{
	struct jw *w = &l->w;

	begin(l, "session_meta");
	jw_put_cstr(w, "id", l->id);
	jw_put_cstr(w, "session_id", l->id);
	native_time(l, "timestamp");
	jw_put_cstr(w, "cwd", l->dir);
	jw_put_cstr(w, "originator", "faden");
	jw_put_cstr(w, "cli_version", FADEN_VERSION);
	jw_put_cstr(w, "source", "cli");
	put_provider(l);
	if (l->branch && l->branch[0]) {
		jw_key(w, "git");
		jw_object(w);
		jw_put_cstr(w, "branch", l->branch);
		jw_end(w);
	}
	native_note(l);
	end(l);
}

static void put_words(struct native_lines *l, const struct native_item *item)
{
	bool user = item->kind == ITEM_USER;
	struct jw *w = &l->w;

	begin(l, "response_item");
	jw_put_cstr(w, "type", "message");
	jw_put_cstr(w, "role", user ? "user" : "assistant");
	jw_key(w, "content");
	jw_array(w);
	jw_object(w);
	jw_put_cstr(w, "type", user ? "input_text" : "output_text");
	jw_put_string(w, "text", item->text);
	jw_end(w);
	jw_end(w);
	end(l);
	begin(l, "event_msg");
	jw_put_cstr(w, "type", user ? "user_message" : "agent_message");
	jw_put_string(w, "message", item->text);
	end(l);
}

static void put(struct native_lines *l, const struct native_item *item)
{
	if (item->kind == ITEM_USER || item->kind == ITEM_ASSISTANT) {
		put_words(l, item);
		return;
	}
	begin(l, "response_item");
	if (item->kind == ITEM_TOOL_CALL) {
		jw_put_cstr(&l->w, "type", "function_call");
		jw_put_string(&l->w, "name", item->tool);
		jw_put_string(&l->w, "arguments", item->text);
		jw_put_string(&l->w, "call_id", item->tool_id);
	} else {
		jw_put_cstr(&l->w, "type", "function_call_output");
		jw_put_string(&l->w, "call_id", item->tool_id);
		jw_put_string(&l->w, "output", item->text);
	}
	end(l);
}

const struct native_writer native_codex = {
	.head_lines = 1,
	.text_lines = 2,
	.shell_tool = "exec_command",
	.shell_key = "cmd",
	.head = head,
	.put = put,
};
