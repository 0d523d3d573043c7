#include "agent/claude-stream.h"

#include "agent/fault.h"
#include "base/utf8.h"
#include "transcript/transcript.h"
#include "json/scan.h"
#include "json/write.h"

enum {
	K_TYPE,
	K_SUBTYPE,
	K_SESSION,
	K_PARENT,
	K_ERROR,
	K_EVENT,
	K_EVENT_TYPE,
	K_EVENT_DELTA,
	K_EVENT_BLOCK,
	K_EVENT_MESSAGE,
	K_MESSAGE,
	K_MESSAGE_ID,
	K_MESSAGE_MODEL,
	K_CONTENT,
	K_LIMIT,
	K_REQUEST_ID,
	K_REQUEST,
	K_REQUEST_SUBTYPE,
	K_COUNT
};

static const struct scan_key keys[K_COUNT] = {
	[K_TYPE] = SCAN_KEY("type", SCAN_TOP),
	[K_SUBTYPE] = SCAN_KEY("subtype", SCAN_TOP),
	[K_SESSION] = SCAN_KEY("session_id", SCAN_TOP),
	[K_PARENT] = SCAN_KEY("parent_tool_use_id", SCAN_TOP),
	[K_ERROR] = SCAN_KEY("error", SCAN_TOP),
	[K_EVENT] = SCAN_KEY("event", SCAN_TOP),
	[K_EVENT_TYPE] = SCAN_KEY("type", K_EVENT),
	[K_EVENT_DELTA] = SCAN_KEY("delta", K_EVENT),
	[K_EVENT_BLOCK] = SCAN_KEY("content_block", K_EVENT),
	[K_EVENT_MESSAGE] = SCAN_KEY("message", K_EVENT),
	[K_MESSAGE] = SCAN_KEY("message", SCAN_TOP),
	[K_MESSAGE_ID] = SCAN_KEY("id", K_MESSAGE),
	[K_MESSAGE_MODEL] = SCAN_KEY("model", K_MESSAGE),
	[K_CONTENT] = SCAN_KEY("content", K_MESSAGE),
	[K_LIMIT] = SCAN_KEY("rate_limit_info", SCAN_TOP),
	[K_REQUEST_ID] = SCAN_KEY("request_id", SCAN_TOP),
	[K_REQUEST] = SCAN_KEY("request", SCAN_TOP),
	[K_REQUEST_SUBTYPE] = SCAN_KEY("subtype", K_REQUEST),
};

/* ---- helpers ---- */

static void emit(struct claude_stream *s, const struct agent_event *ev)
{
	s->ops->event(s->data, ev);
}

static void forget_tools(struct claude_stream *s)
{
	vec_each (&s->tools, tool) {
		free(tool->id);
		free(tool->name);
		free(tool->about);
	}
	s->tools.n = 0;
}

/* ---- text ---- */

static void say(struct claude_stream *s, struct sv text)
{
	if (text.n == 0)
		return;
	if (s->spoke && !s->block_open)
		emit(s, &(struct agent_event){ .type = AGENT_EV_BREAK });
	s->block_open = s->spoke = true;
	emit(s, &(struct agent_event){ .type = AGENT_EV_TEXT, .text = text });
}

static void begin_block(struct claude_stream *s)
{
	s->block_sent = 0;
	s->block_open = false;
}

static void take_delta(struct claude_stream *s, struct jval delta)
{
	AUTO_STR tmp = STR_INIT;
	struct jval type = value_member(delta, "type");

	if (value_is(type, "text_delta")) {
		struct sv text = scan_string_view(value_member(delta, "text"), &tmp);
		say(s, text);
		s->block_sent += text.n;
	} else if (value_is(type, "thinking_delta")) {
		struct sv text = scan_string_view(value_member(delta, "thinking"), &tmp);
		emit(s, &(struct agent_event){ .type = AGENT_EV_THINKING, .text = text });
	}
}

/* Pieces of a message. Those of sub-agents are no answer to the user. */
static void take_stream_event(struct claude_stream *s, const struct jval *v)
{
	if (v[K_PARENT].type == J_STRING)
		return;
	if (value_is(v[K_EVENT_TYPE], "message_start")) {
		str_clear(&s->message);
		(void)scan_string(value_member(v[K_EVENT_MESSAGE], "id"), &s->message);
		begin_block(s);
	} else if (value_is(v[K_EVENT_TYPE], "content_block_start")) {
		begin_block(s);
	} else if (value_is(v[K_EVENT_TYPE], "content_block_delta")) {
		take_delta(s, v[K_EVENT_DELTA]);
	}
}

/* The whole block, after its pieces or instead of them: says what was not said yet. */
static void take_text(struct claude_stream *s, const struct jval *v, struct jval block)
{
	AUTO_STR tmp = STR_INIT;
	struct sv text = scan_string_view(value_member(block, "text"), &tmp);
	bool streamed = s->message.len && scan_string_eq(v[K_MESSAGE_ID], str_sv(&s->message));

	if (!streamed)
		begin_block(s);
	/* The pieces were other than the whole, which nothing promises: no half characters. */
	struct sv rest = sv_from(text, s->block_sent);
	while (rest.n && ((unsigned char)rest.p[0] & 0xc0) == 0x80)
		rest = sv_from(rest, 1);
	say(s, rest);
	begin_block(s);
}

/* ---- tools ---- */

static void begin_tool(struct claude_stream *s, struct jval block)
{
	AUTO_STR id = STR_INIT;
	AUTO_STR name = STR_INIT;
	AUTO_STR about = STR_INIT;

	if (!scan_string(value_member(block, "id"), &id) || s->tools.n >= CLAUDE_TOOLS_MAX)
		return;
	(void)scan_string(value_member(block, "name"), &name);
	if (s->by_schema && sv_is(str_sv(&name), "StructuredOutput")) {
		begin_block(s);
		say(s, value_member(block, "input").raw);
		begin_block(s);
		return;
	}
	tool_about(&about, value_member(block, "input"), CLAUDE_ABOUT_MAX);
	emit(s,
		&(struct agent_event){ .type = AGENT_EV_TOOL_BEGIN,
			.tool = str_sv(&name),
			.text = str_sv(&about) });
	vec_push(&s->tools,
		(struct claude_tool){ .id = str_detach(&id),
			.name = str_detach(&name),
			.about = str_detach(&about) });
}

/* Called all the same, by a model that had it before: nothing ran. */
static const char no_such_tool[] = "<tool_use_error>Error: No such tool available:";

static void end_tool(struct claude_stream *s, struct jval block)
{
	struct jval id = value_member(block, "tool_use_id");
	AUTO_STR tmp = STR_INIT;
	struct sv said = scan_string_view(value_member(block, "content"), &tmp);

	for (size_t i = 0; i < s->tools.n; i++) {
		struct claude_tool tool = s->tools.v[i];
		if (!value_is(id, tool.id))
			continue;
		s->tools.v[i] = s->tools.v[--s->tools.n];
		s->tools.v[s->tools.n] = (struct claude_tool){ .id = NULL };
		emit(s,
			&(struct agent_event){ .type = AGENT_EV_TOOL_END,
				.tool = sv_of(tool.name),
				.failed = scan_true(value_member(block, "is_error")) });
		if (sv_starts(said, sv_of(no_such_tool)))
			s->ops->denied(
				s->data, sv_of(tool.id), sv_of(tool.name), sv_of(tool.about));
		free(tool.id);
		free(tool.name);
		free(tool.about);
		return;
	}
}

/* ---- permission ---- */

/* "Bash(git push *)", "Write" */
static void name_rules(struct str *out, struct jval suggestion)
{
	struct scan_iter it = scan_iter(value_member(suggestion, "rules"));
	AUTO_STR tmp = STR_INIT;
	struct jval rule;

	while (scan_next(&it, NULL, &rule) > 0) {
		str_adds(out, out->len ? ", " : "");
		str_add(out, scan_string_view(value_member(rule, "toolName"), &tmp));
		struct sv content = scan_string_view(value_member(rule, "ruleContent"), &tmp);
		if (content.n)
			str_addf(out, "(%.*s)", SV_ARG(content));
	}
}

/* The same suggestion for this session alone: others would change files of the project. */
static void add_for_session(struct jw *w, struct jval suggestion)
{
	struct scan_iter it = scan_iter(suggestion);
	AUTO_STR key = STR_INIT;
	struct sv spelt;
	struct jval val;

	jw_object(w);
	while (scan_next(&it, &spelt, &val) > 0) {
		str_clear(&key);
		if (scan_string((struct jval){ .raw = spelt, .type = J_STRING }, &key) &&
			strcmp(key.buf, "destination") != 0)
			jw_put_raw(w, key.buf, val.raw);
	}
	jw_put_cstr(w, "destination", "session");
	jw_end(w);
}

/* "Do not ask again" as it suggests it. Several suggestions are several ways: where one is about
 * rules for the tool, folders and modes beyond that are not taken. */
static void suggest_always(struct jval list, struct str *json, struct str *scope)
{
	struct scan_iter rules = scan_iter(list);
	struct scan_iter it = scan_iter(list);
	struct jw w = JW_INIT(json);
	AUTO_STR said = STR_INIT;
	AUTO_STR tmp = STR_INIT;
	struct jval one;
	bool has_rules = false;

	while (scan_next(&rules, NULL, &one) > 0)
		has_rules |= value_is(value_member(one, "type"), "addRules");
	jw_array(&w);
	while (scan_next(&it, NULL, &one) > 0) {
		bool rule = value_is(value_member(one, "type"), "addRules");
		if (one.type != J_OBJECT || rule != has_rules)
			continue;
		add_for_session(&w, one);
		struct sv mode = scan_string_view(value_member(one, "mode"), &tmp);
		if (rule)
			name_rules(&said, one);
		else if (sv_is(mode, "acceptEdits"))
			/* Its mode covers the commands that change files, too. */
			str_adds(&said, "all edits (rm and mv too)");
		else if (mode.n)
			str_addf(&said, "mode %.*s", SV_ARG(mode));
	}
	jw_end(&w);
	if (json->len <= strlen("[]"))
		str_clear(json);
	tool_about_text(scope, str_sv(&said), CLAUDE_ABOUT_MAX);
}

static void take_request(struct claude_stream *s, const struct jval *v)
{
	struct jval input = value_member(v[K_REQUEST], "input");
	AUTO_STR id = STR_INIT;
	AUTO_STR call = STR_INIT;
	AUTO_STR tool = STR_INIT;
	AUTO_STR about = STR_INIT;
	AUTO_STR always = STR_INIT;
	AUTO_STR scope = STR_INIT;

	if (!scan_string(v[K_REQUEST_ID], &id))
		return;
	if (!value_is(v[K_REQUEST_SUBTYPE], "can_use_tool") || input.type != J_OBJECT) {
		s->ops->request(s->data, str_sv(&id));
		return;
	}
	(void)scan_string(value_member(v[K_REQUEST], "tool_use_id"), &call);
	(void)scan_string(value_member(v[K_REQUEST], "tool_name"), &tool);
	/* Nobody decides on what is not shown. */
	tool_about(&about, input, CLAUDE_ASK_MAX);
	if (about.len == 0)
		tool_about_text(&about, input.raw, CLAUDE_ASK_MAX);
	suggest_always(value_member(v[K_REQUEST], "permission_suggestions"), &always, &scope);
	s->ops->ask(s->data,
		&(struct claude_ask){ .id = str_sv(&id),
			.call = str_sv(&call),
			.tool = str_sv(&tool),
			.about = str_sv(&about),
			.input = input.raw,
			.always = str_sv(&always),
			.scope = str_sv(&scope) });
}

static void take_over(struct claude_stream *s, const struct jval *v)
{
	AUTO_STR id = STR_INIT;

	if (scan_string(v[K_REQUEST_ID], &id))
		s->ops->ask_over(s->data, str_sv(&id));
}

/* ---- messages ---- */

/* Errors and remarks of the program itself come as messages of a model that does not exist. They
 * are told again in the result. */
static bool is_remark(const struct jval *v)
{
	return v[K_ERROR].type == J_STRING || value_is(v[K_MESSAGE_MODEL], "<synthetic>");
}

static void take_assistant(struct claude_stream *s, const struct jval *v)
{
	struct scan_iter it = scan_iter(v[K_CONTENT]);
	struct jval block;

	if (v[K_ERROR].type == J_STRING) {
		str_clear(&s->error);
		(void)scan_string(v[K_ERROR], &s->error);
	}
	if (is_remark(v))
		return;
	while (scan_next(&it, NULL, &block) > 0) {
		struct jval type = value_member(block, "type");
		if (value_is(type, "tool_use"))
			begin_tool(s, block);
		else if (value_is(type, "text") && v[K_PARENT].type != J_STRING)
			take_text(s, v, block);
	}
}

static void take_user(struct claude_stream *s, const struct jval *v)
{
	struct scan_iter it = scan_iter(v[K_CONTENT]);
	struct jval block;

	while (scan_next(&it, NULL, &block) > 0)
		if (value_is(value_member(block, "type"), "tool_result"))
			end_tool(s, block);
}

/* ---- what it used ---- */

static int64_t count_of(struct jval obj, const char *key)
{
	int64_t n;

	/* Sums of what is added up from one line must not overflow. */
	return scan_i64(value_member(obj, key), &n) && n > 0 && n < INT64_MAX / 1024 ? n : 0;
}

static double cost_of(struct jval obj, const char *key)
{
	double cost;

	return scan_double(value_member(obj, key), &cost) && cost > 0 ? cost : 0;
}

/* Sums an object of models. False when it is none. */
static bool sum_models(struct jval models, struct agent_usage *sum)
{
	struct scan_iter it = scan_iter(models);
	struct jval model;

	enum { MODELS_MAX = 64 };

	*sum = (struct agent_usage){ 0 };
	if (models.type != J_OBJECT)
		return false;
	for (int i = 0; i < MODELS_MAX && scan_next(&it, NULL, &model) > 0; i++) {
		sum->input += count_of(model, "inputTokens");
		sum->cache_read += count_of(model, "cacheReadInputTokens");
		sum->cache_write += count_of(model, "cacheCreationInputTokens");
		sum->output += count_of(model, "outputTokens");
		sum->cost_usd += cost_of(model, "costUSD");
	}
	return true;
}

/* A count that went down was begun anew. */
static int64_t since(int64_t now, int64_t before)
{
	return now >= before ? now - before : now;
}

static struct agent_usage difference(
	const struct agent_usage *now, const struct agent_usage *before)
{
	return (struct agent_usage){
		.input = since(now->input, before->input),
		.cache_read = since(now->cache_read, before->cache_read),
		.cache_write = since(now->cache_write, before->cache_write),
		.output = since(now->output, before->output),
		.cost_usd = now->cost_usd >= before->cost_usd ? now->cost_usd - before->cost_usd
							      : now->cost_usd,
	};
}

/* No count by model: the result's own sums, which are of the turn, and the cost, which is not. */
static struct agent_usage plain_usage(struct jval result, const struct agent_usage *before)
{
	struct agent_usage none = AGENT_USAGE_NONE;
	struct jval usage = value_member(result, "usage");

	if (usage.type != J_OBJECT)
		return none;
	struct agent_usage now = { .cost_usd = cost_of(result, "total_cost_usd") };
	return (struct agent_usage){
		.input = count_of(usage, "input_tokens"),
		.cache_read = count_of(usage, "cache_read_input_tokens"),
		.cache_write = count_of(usage, "cache_creation_input_tokens"),
		.output = count_of(usage, "output_tokens"),
		.cost_usd = difference(&now, before).cost_usd,
	};
}

/* What a turn used, from the line that ends it. Newer versions say what was used since the last
 * result. The others count from the start of the process, so that the turn is the difference:
 * *total is what the process had used before (all 0 at its start) and is brought up to date. */
static struct agent_usage claude_usage(struct jval result, struct agent_usage *total)
{
	struct agent_usage now, turn;
	bool counted = sum_models(value_member(result, "modelUsage"), &now);

	if (!sum_models(value_member(result, "model_usage_since_last_result"), &turn))
		turn = counted ? difference(&now, total) : plain_usage(result, total);
	if (counted)
		*total = now;
	return turn;
}

/* ---- the program's own events ---- */

enum { WHY_MAX = 200 }; /* bytes of the agent's own words */

static const char log_in_refused[] = "the log-in was refused";
static const struct {
	const char *name;
	int64_t status;
	const char *words;
} causes[] = {
	{ "rate_limit", 429, "the limit of requests is reached" },
	{ "overloaded", 529, "the model is overloaded" },
	{ "authentication_failed", 401, log_in_refused },
	{ "authentication_failed", 403, log_in_refused },
	{ "billing_error", 402, "the account cannot pay for it" },
	{ "server_error", 500, "the model's server has an error" },
	{ "server_error", 502, "the model's server cannot be reached" },
	{ "server_error", 503, "the model's server is not available" },
	{ "server_error", 504, "the model's server does not answer in time" },
};

static const char *known_cause(struct sv name, int64_t status)
{
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (status ? causes[i].status == status : sv_is(name, causes[i].name))
			return causes[i].words;
	return NULL;
}

void claude_retry_words(struct str *out, struct sv name, int64_t status)
{
	const char *words = known_cause(name, status);

	if (words)
		str_adds(out, words);
	else if (status)
		str_adds(out, "the model's server refused");
	else if (name.n == 0 || sv_is(name, "unknown"))
		str_adds(out, "the model cannot be reached");
	else
		utf8_scrub_line(out, utf8_cut(name, WHY_MAX));
	if (status)
		str_addf(out, " (%lld)", (long long)status);
	/* It tries for minutes, and no other try helps. */
	if (words == log_in_refused)
		str_adds(out, ": " FAULT_LOG_IN);
}

static void take_retry(struct claude_stream *s, struct jval line)
{
	AUTO_STR why = STR_INIT;
	AUTO_STR name = STR_INIT;
	int64_t status = 0;
	double delay = 0;

	(void)scan_i64(value_member(line, "error_status"), &status);
	(void)scan_double(value_member(line, "retry_delay_ms"), &delay);
	(void)scan_string(value_member(line, "error"), &name);
	claude_retry_words(&why, str_sv(&name), status > 0 && status < 1000 ? status : 0);
	emit(s,
		&(struct agent_event){ .type = AGENT_EV_RETRY,
			.text = str_sv(&why),
			.delay_ms = delay >= 0 && delay < 1e12 ? (int64_t)delay : 0 });
}

static void take_session(struct claude_stream *s, struct jval session)
{
	AUTO_STR id = STR_INIT;

	if (s->told_session || !scan_string(session, &id) || id.len == 0)
		return;
	s->told_session = true;
	emit(s, &(struct agent_event){ .type = AGENT_EV_SESSION, .session = id.buf });
}

/* Newer versions tell at once what the result repeats. */
static void take_denied(struct claude_stream *s, struct jval line)
{
	AUTO_STR id = STR_INIT;

	(void)scan_string(value_member(line, "tool_use_id"), &id);
	vec_each (&s->tools, tool) {
		if (sv_is(str_sv(&id), tool->id))
			s->ops->denied(s->data, str_sv(&id), sv_of(tool->name), sv_of(tool->about));
	}
}

static void take_system(struct claude_stream *s, struct jval line, const struct jval *v)
{
	if (value_is(v[K_SUBTYPE], "init"))
		take_session(s, v[K_SESSION]);
	else if (value_is(v[K_SUBTYPE], "api_retry"))
		take_retry(s, line);
	else if (value_is(v[K_SUBTYPE], "permission_denied"))
		take_denied(s, line);
	else if (value_is(v[K_SUBTYPE], "compact_boundary"))
		emit(s,
			&(struct agent_event){ .type = AGENT_EV_NOTICE,
				.text = SV("the agent has compacted the conversation") });
	else if (value_is(v[K_SUBTYPE], "status") &&
		value_is(value_member(line, "status"), "requesting"))
		s->ops->working(s->data);
}

static void take_limit(struct claude_stream *s, const struct jval *v)
{
	int64_t seconds = 0;

	if (!value_is(value_member(v[K_LIMIT], "status"), "rejected"))
		return;
	(void)scan_i64(value_member(v[K_LIMIT], "resetsAt"), &seconds);
	s->ops->limited(s->data, seconds > 0 && seconds < INT64_MAX / 1000 ? seconds * 1000 : 0);
}

static void join_errors(struct str *out, struct jval list)
{
	struct scan_iter it = scan_iter(list);
	struct jval item;
	AUTO_STR tmp = STR_INIT;

	while (scan_next(&it, NULL, &item) > 0) {
		struct sv text = scan_string_view(item, &tmp);
		if (text.n == 0 || sv_starts(text, SV("[ede_diagnostic]")))
			continue;
		str_adds(out, out->len ? "; " : "");
		str_add(out, text);
	}
}

static void take_denials(struct claude_stream *s, struct jval list)
{
	struct scan_iter it = scan_iter(list);
	struct jval item;
	AUTO_STR id = STR_INIT;
	AUTO_STR name = STR_INIT;
	AUTO_STR about = STR_INIT;

	while (scan_next(&it, NULL, &item) > 0) {
		str_clear(&id);
		str_clear(&name);
		str_clear(&about);
		if (!scan_string(value_member(item, "tool_name"), &name))
			continue;
		(void)scan_string(value_member(item, "tool_use_id"), &id);
		tool_about(&about, value_member(item, "tool_input"), CLAUDE_ABOUT_MAX);
		s->ops->denied(s->data, str_sv(&id), str_sv(&name), str_sv(&about));
	}
}

static void take_result(struct claude_stream *s, struct jval line, const struct jval *v)
{
	AUTO_STR said = STR_INIT;
	AUTO_STR errors = STR_INIT;
	int64_t status = 0;
	struct jval reason = value_member(line, "terminal_reason");
	struct claude_result result = {
		.failed = scan_true(value_member(line, "is_error")) ||
			!value_is(v[K_SUBTYPE], "success"),
		.interrupted =
			value_is(reason, "aborted_streaming") || value_is(reason, "aborted_tools"),
		.over_budget = value_is(v[K_SUBTYPE], "error_max_budget_usd"),
	};

	if (!result.failed)
		take_session(s, v[K_SESSION]);
	if (scan_i64(value_member(line, "api_error_status"), &status) && status > 0 &&
		status < 1000)
		result.status = (int)status;
	(void)scan_string(value_member(line, "result"), &said);
	join_errors(&errors, value_member(line, "errors"));
	if (errors.len == 0)
		str_add(&errors, str_sv(&s->error));
	/* A command of the program itself (/context) answers nowhere but here. */
	if (!result.failed && !s->spoke && !transcript_is_filler(str_sv(&said)))
		say(s, str_sv(&said));
	result.said = str_sv(&said);
	result.errors = str_sv(&errors);
	result.usage = claude_usage(line, &s->total);
	take_denials(s, value_member(line, "permission_denials"));
	forget_tools(s);
	s->ops->result(s->data, &result);
}

static void take_line(void *data, struct sv line)
{
	struct claude_stream *s = data;
	struct jval v[K_COUNT];
	struct jval whole;

	if (scan_text(line, &whole) < 0 || whole.type != J_OBJECT ||
		scan_keys(line, keys, K_COUNT, v) < 0)
		return;
	if (value_is(v[K_TYPE], "stream_event") || value_is(v[K_TYPE], "assistant"))
		s->ops->working(s->data);
	if (value_is(v[K_TYPE], "stream_event"))
		take_stream_event(s, v);
	else if (value_is(v[K_TYPE], "assistant"))
		take_assistant(s, v);
	else if (value_is(v[K_TYPE], "user"))
		take_user(s, v);
	else if (value_is(v[K_TYPE], "system"))
		take_system(s, whole, v);
	else if (value_is(v[K_TYPE], "result"))
		take_result(s, whole, v);
	else if (value_is(v[K_TYPE], "rate_limit_event"))
		take_limit(s, v);
	else if (value_is(v[K_TYPE], "control_request"))
		take_request(s, v);
	else if (value_is(v[K_TYPE], "control_cancel_request"))
		take_over(s, v);
}

/* ---- the stream ---- */

void claude_stream_init(struct claude_stream *s, const struct claude_stream_ops *ops, void *data)
{
	*s = (struct claude_stream){
		.ops = ops, .data = data, .message = STR_INIT, .error = STR_INIT
	};
	lines_init(&s->lines, CLAUDE_LINE_MAX);
	claude_stream_restart(s);
}

void claude_stream_release(struct claude_stream *s)
{
	forget_tools(s);
	vec_release(&s->tools);
	lines_release(&s->lines);
	str_release(&s->message);
	str_release(&s->error);
}

void claude_stream_restart(struct claude_stream *s)
{
	lines_clear(&s->lines);
	s->total = (struct agent_usage){ 0 };
	claude_stream_turn(s);
}

void claude_stream_turn(struct claude_stream *s)
{
	forget_tools(s);
	str_clear(&s->message);
	str_clear(&s->error);
	begin_block(s);
	s->spoke = s->told_session = false;
}

void claude_stream_feed(struct claude_stream *s, struct sv bytes)
{
	lines_feed(&s->lines, bytes, take_line, s);
}

void claude_stream_end(struct claude_stream *s)
{
	lines_end(&s->lines, take_line, s);
}
