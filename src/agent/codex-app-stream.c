#include "agent/codex-app-stream.h"

#include "json/scan.h"

enum {
	K_ID,
	K_METHOD,
	K_RESULT,
	K_ERROR,
	K_ERROR_CODE,
	K_ERROR_MESSAGE,
	K_PARAMS,
	K_THREAD,
	K_TURN,
	K_ITEM,
	K_ITEM_ID,
	K_COUNT
};

static const struct scan_key keys[K_COUNT] = {
	[K_ID] = SCAN_KEY("id", SCAN_TOP),
	[K_METHOD] = SCAN_KEY("method", SCAN_TOP),
	[K_RESULT] = SCAN_KEY("result", SCAN_TOP),
	[K_ERROR] = SCAN_KEY("error", SCAN_TOP),
	[K_ERROR_CODE] = SCAN_KEY("code", K_ERROR),
	[K_ERROR_MESSAGE] = SCAN_KEY("message", K_ERROR),
	[K_PARAMS] = SCAN_KEY("params", SCAN_TOP),
	[K_THREAD] = SCAN_KEY("threadId", K_PARAMS),
	[K_TURN] = SCAN_KEY("turnId", K_PARAMS),
	[K_ITEM] = SCAN_KEY("item", K_PARAMS),
	[K_ITEM_ID] = SCAN_KEY("itemId", K_PARAMS),
};

enum { METHOD_NOT_FOUND = -32601, FULL = 100 /* per cent */ };

/* ---- answers to ours ---- */

static void take_reply(struct codex_app *s, const struct jval *v)
{
	AUTO_STR said = STR_INIT;
	struct codex_reply reply = { .failed = v[K_ERROR].type != J_NONE, .result = v[K_RESULT] };
	int64_t code = 0;

	if (!scan_i64(v[K_ID], &reply.id))
		return;
	if (reply.failed) {
		codex_error_words(&said, v[K_ERROR_MESSAGE]);
		(void)scan_i64(v[K_ERROR_CODE], &code);
		reply.said = str_sv(&said);
		reply.unknown = code == METHOD_NOT_FOUND ||
			sv_find(reply.said, SV("unknown variant"), NULL);
	}
	s->ops->reply(s->data, &reply);
}

/* ---- requests of its own ---- */

static const struct {
	const char *method, *tool, *scope;
	enum codex_request_kind kind;
} requests[] = {
	{ "item/commandExecution/requestApproval", CODEX_SHELL, "this command",
		CODEX_ASKS_DECISION },
	{ "item/fileChange/requestApproval", CODEX_EDIT, "these files", CODEX_ASKS_DECISION },
	{ "item/permissions/requestApproval", "Permission", "", CODEX_ASKS_GRANT },
	{ "mcpServer/elicitation/request", CODEX_TOOL, "this tool", CODEX_ASKS_CONSENT },
};

/* The command as a whole, the rights, what the tool is given, or the files of the item; with the
 * reason that it gives. Nobody decides on what is not shown. */
static void about_request(struct codex_app *s, const struct jval *v, struct str *out)
{
	AUTO_STR tmp = STR_INIT;
	AUTO_STR text = STR_INIT;
	const char *files = codex_item_about(&s->items, v[K_ITEM_ID]);
	struct jval given = value_member(v[K_PARAMS], "permissions");
	struct sv command = scan_string_view(value_member(v[K_PARAMS], "command"), &tmp);

	if (given.type == J_NONE)
		given = value_member(value_member(v[K_PARAMS], "_meta"), "tool_params");
	if (command.n)
		str_add(&text, codex_command(command));
	else if (given.type == J_OBJECT)
		str_add(&text, given.raw);
	else
		str_adds(&text, files ? files : "");
	struct sv reason = scan_string_view(value_member(v[K_PARAMS], "reason"), &tmp);
	if (reason.n == 0)
		reason = scan_string_view(value_member(v[K_PARAMS], "message"), &tmp);
	if (reason.n)
		str_addf(&text, "%s%.*s%s", text.len ? " (" : "", SV_ARG(reason),
			text.len ? ")" : "");
	tool_about_text(out, str_sv(&text), CODEX_ASK_MAX);
}

static void take_request(struct codex_app *s, const struct jval *v)
{
	AUTO_STR about = STR_INIT;
	struct codex_request request = { .id = v[K_ID].raw,
		.kind = CODEX_ASKS_OTHER,
		.tool = SV(""),
		.scope = SV(""),
		.grant = value_member(v[K_PARAMS], "permissions").raw };

	for (size_t i = 0; i < ARRAY_LEN(requests); i++)
		if (value_is(v[K_METHOD], requests[i].method)) {
			request.kind = requests[i].kind;
			request.tool = sv_of(requests[i].tool);
			request.scope = sv_of(requests[i].scope);
		}
	struct jval kind = value_member(value_member(v[K_PARAMS], "_meta"), "codex_approval_kind");
	if (request.kind == CODEX_ASKS_CONSENT && !value_is(kind, "mcp_tool_call"))
		request.kind = CODEX_ASKS_OTHER;
	about_request(s, v, &about);
	request.about = str_sv(&about);
	s->ops->request(s->data, &request);
}

/* ---- the turn ---- */

static void take_thought(struct codex_app *s, const struct jval *v)
{
	AUTO_STR tmp = STR_INIT;

	s->ops->event(s->data,
		&(struct agent_event){ .type = AGENT_EV_THINKING,
			.text = scan_string_view(value_member(v[K_PARAMS], "delta"), &tmp) });
}

static void take_error(struct codex_app *s, const struct jval *v)
{
	struct jval error = value_member(v[K_PARAMS], "error");
	AUTO_STR tmp = STR_INIT;
	AUTO_STR words = STR_INIT;

	if (!scan_true(value_member(v[K_PARAMS], "willRetry")))
		return;
	codex_retry_words(&words, scan_string_view(value_member(error, "additionalDetails"), &tmp));
	s->ops->event(
		s->data, &(struct agent_event){ .type = AGENT_EV_RETRY, .text = str_sv(&words) });
}

/* When the last of the limits ends that are used up, in seconds since 1970. */
static void take_limits(struct codex_app *s, const struct jval *v)
{
	static const char *const windows[] = { "primary", "secondary" };
	struct jval limits = value_member(v[K_PARAMS], "rateLimits");
	int64_t used, end;

	s->limit_ends_ms = 0;
	for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
		struct jval window = value_member(limits, windows[i]);
		if (scan_i64(value_member(window, "usedPercent"), &used) && used >= FULL &&
			scan_i64(value_member(window, "resetsAt"), &end) && end > 0 &&
			end < INT64_MAX / 1000 && end * 1000 > s->limit_ends_ms)
			s->limit_ends_ms = end * 1000;
	}
}

/* What it calls the error: a name, or {name: {httpStatusCode}}. */
static void name_error(struct jval info, struct codex_end *end)
{
	static const struct {
		const char *name;
		enum agent_fail kind;
	} names[] = { { "contextWindowExceeded", AGENT_CONTEXT_FULL },
		{ "usageLimitExceeded", AGENT_RATE_LIMITED },
		{ "rateLimitExceeded", AGENT_RATE_LIMITED },
		{ "unauthorized", AGENT_NOT_LOGGED_IN } };
	struct scan_iter it = scan_iter(info);
	struct jval detail;
	int64_t status;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (value_is(info, names[i].name))
			end->kind = names[i].kind;
	if (info.type == J_OBJECT && scan_next(&it, NULL, &detail) > 0 &&
		scan_i64(value_member(detail, "httpStatusCode"), &status) && status > 0 &&
		status < 1000)
		end->status = (int)status;
}

static void take_end(struct codex_app *s, struct jval turn)
{
	AUTO_STR said = STR_INIT;
	struct jval status = value_member(turn, "status");
	struct jval error = value_member(turn, "error");
	struct codex_end end = { .interrupted = value_is(status, "interrupted"),
		.failed = !value_is(status, "completed"),
		.kind = AGENT_FAILED,
		.total = s->total,
		.limit_ends_ms = s->limit_ends_ms };

	if (!scan_string_eq(value_member(turn, "id"), str_sv(&s->turn)))
		return;
	codex_error_words(&said, value_member(error, "message"));
	name_error(value_member(error, "codexErrorInfo"), &end);
	end.said = str_sv(&said);
	str_clear(&s->turn);
	codex_items_release(&s->items);
	s->ops->end(s->data, &end);
}

static void take_item(struct codex_app *s, const struct jval *v)
{
	if (value_is(v[K_METHOD], "item/agentMessage/delta"))
		codex_item_piece(&s->items, v[K_ITEM_ID], value_member(v[K_PARAMS], "delta"));
	else if (value_is(v[K_METHOD], "item/reasoning/summaryTextDelta") ||
		value_is(v[K_METHOD], "item/reasoning/textDelta"))
		take_thought(s, v);
	else if (value_is(v[K_METHOD], "item/started"))
		codex_item_begin(&s->items, v[K_ITEM]);
	else if (!value_is(v[K_METHOD], "item/completed"))
		return;
	else if (value_is(value_member(v[K_ITEM], "type"), "userMessage"))
		s->ops->working(s->data);
	else
		codex_item_end(&s->items, v[K_ITEM]);
}

static void take_notification(struct codex_app *s, const struct jval *v)
{
	if (value_is(v[K_METHOD], "account/rateLimits/updated")) {
		take_limits(s, v);
	} else if (value_is(v[K_METHOD], "serverRequest/resolved")) {
		s->ops->settled(s->data, value_member(v[K_PARAMS], "requestId").raw);
	} else if (s->turn.len == 0 || !scan_string_eq(v[K_THREAD], str_sv(&s->thread))) {
		return;
	} else if (value_is(v[K_METHOD], "turn/completed")) {
		take_end(s, value_member(v[K_PARAMS], "turn"));
	} else if (!scan_string_eq(v[K_TURN], str_sv(&s->turn))) {
		return;
	} else if (value_is(v[K_METHOD], "thread/tokenUsage/updated")) {
		struct jval counts = value_member(value_member(v[K_PARAMS], "tokenUsage"), "total");
		s->total = codex_usage(&counts);
	} else if (value_is(v[K_METHOD], "error")) {
		take_error(s, v);
	} else {
		take_item(s, v);
	}
}

static void take_line(void *data, struct sv line)
{
	struct codex_app *s = data;
	struct jval v[K_COUNT];

	if (scan_keys(line, keys, K_COUNT, v) < 0)
		return;
	if (v[K_METHOD].type == J_NONE)
		take_reply(s, v);
	else if (v[K_ID].type == J_NUMBER || v[K_ID].type == J_STRING)
		take_request(s, v);
	else
		take_notification(s, v);
}

/* ---- the stream ---- */

void codex_app_init(struct codex_app *s, const struct codex_app_ops *ops, void *data)
{
	*s = (struct codex_app){ .ops = ops,
		.data = data,
		.thread = STR_INIT,
		.turn = STR_INIT,
		.total = AGENT_USAGE_NONE };
	codex_items_init(&s->items, ops->event, data);
	lines_init(&s->lines, CODEX_LINE_MAX);
}

void codex_app_release(struct codex_app *s)
{
	codex_items_release(&s->items);
	lines_release(&s->lines);
	str_release(&s->thread);
	str_release(&s->turn);
}

void codex_app_restart(struct codex_app *s)
{
	const struct codex_app_ops *ops = s->ops;
	void *data = s->data;

	codex_app_release(s);
	codex_app_init(s, ops, data);
}

void codex_app_thread(struct codex_app *s, struct sv thread)
{
	str_clear(&s->thread);
	str_clear(&s->turn);
	str_add(&s->thread, thread);
}

void codex_app_turn(struct codex_app *s, struct sv turn)
{
	codex_items_release(&s->items);
	str_clear(&s->turn);
	str_add(&s->turn, turn);
}

void codex_app_feed(struct codex_app *s, struct sv bytes)
{
	lines_feed(&s->lines, bytes, take_line, s);
}

void codex_app_end(struct codex_app *s)
{
	lines_end(&s->lines, take_line, s);
}
