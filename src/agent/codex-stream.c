#include "agent/codex-stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "os/file.h"
#include "json/scan.h"
#include "json/write.h"

enum { K_TYPE, K_THREAD, K_ITEM, K_ITEM_ID, K_ITEM_TYPE, K_MESSAGE, K_ERROR, K_USAGE, K_COUNT };

static const struct scan_key keys[K_COUNT] = {
	[K_TYPE] = SCAN_KEY("type", SCAN_TOP),
	[K_THREAD] = SCAN_KEY("thread_id", SCAN_TOP),
	[K_ITEM] = SCAN_KEY("item", SCAN_TOP),
	[K_ITEM_ID] = SCAN_KEY("id", K_ITEM),
	[K_ITEM_TYPE] = SCAN_KEY("type", K_ITEM),
	[K_MESSAGE] = SCAN_KEY("message", SCAN_TOP),
	[K_ERROR] = SCAN_KEY("error", SCAN_TOP),
	[K_USAGE] = SCAN_KEY("usage", SCAN_TOP),
};

static const char reconnecting[] = "Reconnecting";

static void emit(struct codex_stream *s, const struct agent_event *ev)
{
	s->ops->event(s->data, ev);
}

static void take_session(struct codex_stream *s, struct jval thread)
{
	AUTO_STR id = STR_INIT;

	if (s->told_session || !scan_string(thread, &id) || id.len == 0)
		return;
	s->told_session = true;
	emit(s, &(struct agent_event){ .type = AGENT_EV_SESSION, .session = id.buf });
}

/* ---- items ---- */

static void say(struct codex_stream *s, struct sv text)
{
	if (text.n == 0)
		return;
	if (s->spoke)
		emit(s, &(struct agent_event){ .type = AGENT_EV_BREAK });
	s->spoke = true;
	emit(s, &(struct agent_event){ .type = AGENT_EV_TEXT, .text = text });
}

/* What is no message and no thought is a tool: commands, file changes, searches, other servers. */
static const char *tool_name(struct jval type)
{
	static const struct {
		const char *type, *name;
	} names[] = { { "command_execution", "Shell" }, { "file_change", "Edit" },
		{ "web_search", "WebSearch" }, { "mcp_tool_call", "Tool" },
		{ "collab_tool_call", "Agent" } };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (value_is(type, names[i].type))
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

static void about_item(struct str *out, struct jval item)
{
	AUTO_STR tmp = STR_INIT;
	struct jval changes = value_member(item, "changes");

	if (changes.type == J_ARRAY)
		about_changes(out, changes);
	else
		tool_about(out, item, CODEX_ABOUT_MAX);
	if (out->len == 0)
		tool_about_text(
			out, scan_string_view(value_member(item, "tool"), &tmp), CODEX_ABOUT_MAX);
}

static bool take_running(struct codex_stream *s, struct jval id)
{
	for (size_t i = 0; i < s->tools.n; i++) {
		if (!value_is(id, s->tools.v[i]))
			continue;
		free(s->tools.v[i]);
		s->tools.v[i] = s->tools.v[--s->tools.n];
		s->tools.v[s->tools.n] = NULL;
		return true;
	}
	return false;
}

static void begin_tool(struct codex_stream *s, const struct jval *v, const char *name)
{
	AUTO_STR about = STR_INIT;

	about_item(&about, v[K_ITEM]);
	emit(s,
		&(struct agent_event){
			.type = AGENT_EV_TOOL_BEGIN, .tool = sv_of(name), .text = str_sv(&about) });
}

static void start_item(struct codex_stream *s, const struct jval *v)
{
	AUTO_STR id = STR_INIT;
	const char *name = tool_name(v[K_ITEM_TYPE]);

	if (!name || s->tools.n >= CODEX_TOOLS_MAX || !scan_string(v[K_ITEM_ID], &id))
		return;
	begin_tool(s, v, name);
	strv_take(&s->tools, str_detach(&id));
}

/* Some tools are told of only when they are done. */
static void complete_tool(struct codex_stream *s, const struct jval *v, const char *name)
{
	if (!take_running(s, v[K_ITEM_ID]))
		begin_tool(s, v, name);
	emit(s,
		&(struct agent_event){ .type = AGENT_EV_TOOL_END,
			.tool = sv_of(name),
			.failed = value_is(value_member(v[K_ITEM], "status"), "failed") });
}

static void complete_item(struct codex_stream *s, const struct jval *v)
{
	AUTO_STR tmp = STR_INIT;
	struct sv text = scan_string_view(value_member(v[K_ITEM], "text"), &tmp);
	const char *tool = tool_name(v[K_ITEM_TYPE]);

	if (value_is(v[K_ITEM_TYPE], "agent_message"))
		say(s, text);
	else if (value_is(v[K_ITEM_TYPE], "reasoning"))
		emit(s, &(struct agent_event){ .type = AGENT_EV_THINKING, .text = text });
	else if (tool)
		complete_tool(s, v, tool);
}

/* ---- the turn ---- */

static int64_t count_of(struct jval obj, const char *key)
{
	int64_t n;

	return scan_i64(value_member(obj, key), &n) && n >= 0 ? n : 0;
}

struct agent_usage codex_usage(const struct jval *counts)
{
	struct agent_usage usage = AGENT_USAGE_NONE;

	if (counts->type != J_OBJECT)
		return usage;
	int64_t all = count_of(*counts, "input_tokens");
	usage.cache_read = count_of(*counts, "cached_input_tokens");
	usage.cache_write = count_of(*counts, "cache_write_input_tokens");
	usage.input = all - usage.cache_read;
	usage.input = usage.input > usage.cache_write ? usage.input - usage.cache_write : 0;
	usage.output = count_of(*counts, "output_tokens");
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

/* Errors of the model's server are passed on as they came: JSON in a string. */
static void error_words(struct str *out, struct jval message)
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

enum { WHY_MAX = 200 }; /* bytes of its own words */

void codex_retry_words(struct str *out, struct sv line)
{
	size_t open;

	str_adds(out, "the connection to the model broke");
	if (sv_find(line, SV("("), &open) && sv_ends(line, SV(")"))) {
		struct sv why = sv_head(sv_from(line, open + 1), line.n - open - 2);
		str_adds(out, ": ");
		utf8_scrub_line(out, utf8_cut(sv_trim(why), WHY_MAX));
	}
}

static void take_error(struct codex_stream *s, struct jval message)
{
	AUTO_STR text = STR_INIT;

	AUTO_STR why = STR_INIT;

	error_words(&text, message);
	if (!sv_starts(str_sv(&text), sv_of(reconnecting)))
		return;
	codex_retry_words(&why, str_sv(&text));
	emit(s, &(struct agent_event){ .type = AGENT_EV_RETRY, .text = str_sv(&why) });
}

static void take_end(struct codex_stream *s, const struct jval *v, bool failed)
{
	AUTO_STR said = STR_INIT;
	struct codex_result result = { .failed = failed, .total = codex_usage(&v[K_USAGE]) };

	if (failed)
		error_words(&said, value_member(v[K_ERROR], "message"));
	result.said = str_sv(&said);
	s->ops->result(s->data, &result);
}

static void take_line(void *data, struct sv line)
{
	struct codex_stream *s = data;
	struct jval v[K_COUNT];

	if (scan_keys(line, keys, K_COUNT, v) < 0)
		return;
	if (value_is(v[K_TYPE], "thread.started"))
		take_session(s, v[K_THREAD]);
	else if (value_is(v[K_TYPE], "turn.started"))
		s->ops->working(s->data);
	else if (value_is(v[K_TYPE], "item.started"))
		start_item(s, v);
	else if (value_is(v[K_TYPE], "item.completed"))
		complete_item(s, v);
	else if (value_is(v[K_TYPE], "error"))
		take_error(s, v[K_MESSAGE]);
	else if (value_is(v[K_TYPE], "turn.completed"))
		take_end(s, v, false);
	else if (value_is(v[K_TYPE], "turn.failed"))
		take_end(s, v, true);
}

/* ---- the stream ---- */

void codex_stream_init(struct codex_stream *s, const struct codex_stream_ops *ops, void *data)
{
	*s = (struct codex_stream){ .ops = ops, .data = data, .tools = STRV_INIT };
	lines_init(&s->lines, CODEX_LINE_MAX);
}

void codex_stream_release(struct codex_stream *s)
{
	strv_release(&s->tools);
	lines_release(&s->lines);
}

void codex_stream_restart(struct codex_stream *s)
{
	strv_release(&s->tools);
	lines_clear(&s->lines);
	s->spoke = s->told_session = false;
}

void codex_stream_feed(struct codex_stream *s, struct sv bytes)
{
	lines_feed(&s->lines, bytes, take_line, s);
}

void codex_stream_end(struct codex_stream *s)
{
	lines_end(&s->lines, take_line, s);
}

/* TOML forbids DEL in a string; the rest of JSON's
 * spelling is TOML's as well. */
void codex_toml_string(struct str *out, struct sv text)
{
	AUTO_STR json = STR_INIT;

	json_quote(&json, text);
	for (size_t i = 0; i < json.len; i++) {
		if (json.buf[i] == '\x7f')
			str_adds(out, "\\u007f");
		else
			str_addc(out, json.buf[i]);
	}
}
