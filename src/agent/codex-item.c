#include "agent/codex-item.h"

#include <sys/stat.h>
#include <unistd.h>

#include "agent/fault.h"
#include "base/utf8.h"
#include "os/file.h"
#include "json/scan.h"

enum { WHY_MAX = 200 }; /* bytes of its own words */

void codex_items_init(struct codex_items *items,
	void (*event)(void *data, const struct agent_event *ev), void *data)
{
	*items = (struct codex_items){ .event = event, .data = data, .message = STR_INIT };
}

void codex_items_release(struct codex_items *items)
{
	vec_each (&items->tools, tool) {
		free(tool->id);
		free(tool->about);
	}
	vec_release(&items->tools);
	str_release(&items->message);
	items->sent = 0;
	items->spoke = false;
}

static void emit(struct codex_items *items, const struct agent_event *ev)
{
	items->event(items->data, ev);
}

/* ---- words ---- */

/* Of the message with this id; it goes on where the last piece ended. */
static void say(struct codex_items *items, struct jval id, struct sv text)
{
	if (items->sent == 0 || !scan_string_eq(id, str_sv(&items->message))) {
		str_clear(&items->message);
		(void)scan_string(id, &items->message);
		items->sent = 0;
	}
	if (text.n == 0)
		return;
	if (items->sent == 0 && items->spoke)
		emit(items, &(struct agent_event){ .type = AGENT_EV_BREAK });
	items->spoke = true;
	items->sent += text.n;
	emit(items, &(struct agent_event){ .type = AGENT_EV_TEXT, .text = text });
}

void codex_item_piece(struct codex_items *items, struct jval id, struct jval text)
{
	AUTO_STR tmp = STR_INIT;

	say(items, id, scan_string_view(text, &tmp));
}

/* The whole message: what of it has not come in pieces. One that is another than its pieces were
 * may not even have a character that begins where they ended. */
static void say_rest(struct codex_items *items, struct jval id, struct sv text)
{
	if (items->sent > 0 && scan_string_eq(id, str_sv(&items->message)))
		text = sv_from(text, items->sent < text.n ? items->sent : text.n);
	if (utf8_valid(text))
		say(items, id, text);
	items->sent = 0;
}

/* ---- tools ---- */

/* What is no message and no thought is a tool: commands, file changes, searches, other servers. */
static const char *tool_name(struct jval type)
{
	static const struct {
		const char *exec, *server, *name;
	} names[] = { { "command_execution", "commandExecution", CODEX_SHELL },
		{ "file_change", "fileChange", CODEX_EDIT },
		{ "web_search", "webSearch", "WebSearch" },
		{ "mcp_tool_call", "mcpToolCall", CODEX_TOOL },
		{ "dynamic_tool_call", "dynamicToolCall", CODEX_TOOL },
		{ "collab_tool_call", "collabAgentToolCall", "Agent" },
		{ "image_view", "imageView", "ViewImage" } };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (value_is(type, names[i].exec) || value_is(type, names[i].server))
			return names[i].name;
	return NULL;
}

static void about_changes(struct str *out, struct jval changes)
{
	struct scan_iter it = scan_iter(changes);
	struct jval change;
	AUTO_STR tmp = STR_INIT;
	AUTO_STR all = STR_INIT;

	while (scan_next(&it, NULL, &change) > 0 && all.len < CODEX_ABOUT_MAX) {
		str_adds(&all, all.len ? ", " : "");
		str_add(&all, scan_string_view(value_member(change, "path"), &tmp));
	}
	tool_about_text(out, str_sv(&all), CODEX_ABOUT_MAX);
}

/* "/bin/bash -lc 'make all'", or one word that needs no quotation marks */
struct sv codex_command(struct sv command)
{
	static const char *const shells[] = { "/bash -lc ", "/bash -c ", "/zsh -lc ", "/sh -c " };
	size_t at;

	for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
		struct sv shell = sv_of(shells[i]);
		if (!sv_find(command, shell, &at) || memchr(command.p, ' ', at))
			continue;
		struct sv rest = sv_from(command, at + shell.n);
		if (rest.n > 2 && rest.p[0] == '\'' && rest.p[rest.n - 1] == '\'' &&
			!memchr(rest.p + 1, '\'', rest.n - 2))
			return sv_make(rest.p + 1, rest.n - 2);
		size_t n = 0;
		while (n < rest.n && (unsigned char)rest.p[n] > ' ' &&
			!strchr("'\"\\$`", rest.p[n]))
			n++;
		if (n > 0 && n == rest.n)
			return rest;
	}
	return command;
}

static void about_item(struct str *out, struct jval item)
{
	AUTO_STR tmp = STR_INIT;
	struct jval changes = value_member(item, "changes");
	struct sv command = scan_string_view(value_member(item, "command"), &tmp);

	if (changes.type == J_ARRAY)
		about_changes(out, changes);
	else if (command.n)
		tool_about_text(out, codex_command(command), CODEX_ABOUT_MAX);
	else
		tool_about(out, item, CODEX_ABOUT_MAX);
	if (out->len == 0)
		tool_about_text(
			out, scan_string_view(value_member(item, "tool"), &tmp), CODEX_ABOUT_MAX);
}

const char *codex_item_about(const struct codex_items *items, struct jval id)
{
	vec_each (&items->tools, tool)
		if (value_is(id, tool->id))
			return tool->about;
	return NULL;
}

static void begin_tool(struct codex_items *items, const char *name, struct sv about)
{
	emit(items,
		&(struct agent_event){
			.type = AGENT_EV_TOOL_BEGIN, .tool = sv_of(name), .text = about });
}

static bool take_running(struct codex_items *items, struct jval id)
{
	for (size_t i = 0; i < items->tools.n; i++) {
		if (!value_is(id, items->tools.v[i].id))
			continue;
		free(items->tools.v[i].id);
		free(items->tools.v[i].about);
		items->tools.v[i] = items->tools.v[--items->tools.n];
		return true;
	}
	return false;
}

void codex_item_begin(struct codex_items *items, struct jval item)
{
	const char *name = tool_name(value_member(item, "type"));
	AUTO_STR id = STR_INIT;
	AUTO_STR about = STR_INIT;

	if (value_is(value_member(item, "type"), "reasoning"))
		emit(items, &(struct agent_event){ .type = AGENT_EV_THINKING });
	if (!name || items->tools.n >= CODEX_TOOLS_MAX ||
		!scan_string(value_member(item, "id"), &id))
		return;
	about_item(&about, item);
	begin_tool(items, name, str_sv(&about));
	vec_push(&items->tools,
		(struct codex_tool){ .id = str_detach(&id), .about = str_detach(&about) });
}

/* Some tools are told of only when they are done. */
static void end_tool(struct codex_items *items, struct jval item, const char *name)
{
	AUTO_STR about = STR_INIT;
	struct jval status = value_member(item, "status");

	if (!take_running(items, value_member(item, "id"))) {
		about_item(&about, item);
		begin_tool(items, name, str_sv(&about));
	}
	emit(items,
		&(struct agent_event){ .type = AGENT_EV_TOOL_END,
			.tool = sv_of(name),
			.failed = value_is(status, "failed") || value_is(status, "declined") });
}

void codex_item_end(struct codex_items *items, struct jval item)
{
	struct jval type = value_member(item, "type");
	const char *tool = tool_name(type);
	AUTO_STR tmp = STR_INIT;
	struct sv text = scan_string_view(value_member(item, "text"), &tmp);

	if (value_is(type, "agent_message") || value_is(type, "agentMessage"))
		say_rest(items, value_member(item, "id"), text);
	else if (value_is(type, "reasoning") && text.n)
		emit(items, &(struct agent_event){ .type = AGENT_EV_THINKING, .text = text });
	else if (tool)
		end_tool(items, item, tool);
}

/* ---- tokens ---- */

static int64_t count_of(struct jval obj, const char *exec, const char *server)
{
	int64_t n;

	return (scan_i64(value_member(obj, exec), &n) || scan_i64(value_member(obj, server), &n)) &&
			n >= 0
		? n
		: 0;
}

struct agent_usage codex_usage(const struct jval *counts)
{
	struct agent_usage usage = AGENT_USAGE_NONE;

	if (counts->type != J_OBJECT)
		return usage;
	int64_t all = count_of(*counts, "input_tokens", "inputTokens");
	usage.cache_read = count_of(*counts, "cached_input_tokens", "cachedInputTokens");
	usage.cache_write = count_of(*counts, "cache_write_input_tokens", "cacheWriteInputTokens");
	usage.input = all - usage.cache_read;
	usage.input = usage.input > usage.cache_write ? usage.input - usage.cache_write : 0;
	usage.output = count_of(*counts, "output_tokens", "outputTokens");
	return usage;
}

enum { TAIL = 1024 * 1024 }; /* a count follows every answer, so it is near the end */

static bool read_tail(const char *path, struct str *out)
{
	struct stat st;
	AUTO_CLOSE int fd = file_open(path, &st, NULL);

	if (fd < 0)
		return false;
	off_t from = st.st_size > TAIL ? st.st_size - TAIL : 0;
	if (!str_reserve(out, TAIL))
		return false;
	ssize_t n = pread(fd, out->buf, TAIL, from);
	if (n <= 0)
		return false;
	out->len = (size_t)n;
	out->buf[n] = '\0';
	return true;
}

struct agent_usage codex_usage_of_file(const char *path)
{
	struct agent_usage usage = AGENT_USAGE_NONE;
	AUTO_STR text = STR_INIT;
	struct sv line, rest;
	struct jval whole, counts;

	if (!path || !read_tail(path, &text))
		return usage;
	rest = str_sv(&text);
	while (sv_split(&rest, '\n', &line)) {
		if (!sv_find(line, SV("\"total_token_usage\""), NULL) ||
			scan_text(line, &whole) < 0 ||
			scan_path(whole, "payload.info.total_token_usage", &counts) <= 0)
			continue;
		usage = codex_usage(&counts);
	}
	return usage;
}

static int64_t since(int64_t total, int64_t before)
{
	return total < 0 || before < 0 || total < before ? -1 : total - before;
}

struct agent_usage codex_usage_since(
	const struct agent_usage *total, const struct agent_usage *before)
{
	return (struct agent_usage){
		.input = since(total->input, before->input),
		.cache_read = since(total->cache_read, before->cache_read),
		.cache_write = since(total->cache_write, before->cache_write),
		.output = since(total->output, before->output),
		.cost_usd = -1,
	};
}

/* ---- errors ---- */

void codex_error_words(struct str *out, struct jval message)
{
	AUTO_STR text = STR_INIT;
	struct jval whole, inner;

	(void)scan_string(message, &text);
	if (scan_text(str_sv(&text), &whole) == 0 &&
		scan_path(whole, "error.message", &inner) > 0 && inner.type == J_STRING)
		(void)scan_string(inner, out);
	else
		str_add(out, str_sv(&text));
}

void codex_retry_words(struct str *out, struct sv why)
{
	bool refused = fault_of(0, why).kind == AGENT_NOT_LOGGED_IN;

	str_adds(out, refused ? "the log-in was refused" : "the connection to the model broke");
	if (sv_trim(why).n) {
		str_adds(out, ": ");
		utf8_scrub_line(out, utf8_cut(sv_trim(why), WHY_MAX));
	}
	if (refused)
		str_adds(out, " (" FAULT_LOG_IN ")");
}
