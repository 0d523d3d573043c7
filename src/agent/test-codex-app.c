#include "agent/codex-app-stream.h"
#include "agent/test-stream.h"

struct heard {
	struct codex_app app;
	struct str text; /* one word a call */
	struct codex_end end;
	struct codex_reply reply;
	int ends, replies;
};

static void on_event(void *data, const struct agent_event *ev)
{
	struct heard *h = data;

	put_event(&h->text, ev);
}

static void on_reply(void *data, const struct codex_reply *reply)
{
	struct heard *h = data;

	h->replies++;
	h->reply = *reply;
	str_addf(&h->text, "<reply %lld%s%s %.*s>", (long long)reply->id,
		reply->failed ? " failed" : "", reply->unknown ? " unknown" : "",
		SV_ARG(reply->said));
}

static void on_request(void *data, const struct codex_request *request)
{
	struct heard *h = data;
	static const char *const kinds[] = { "decision", "grant", "consent", "other" };

	str_addf(&h->text, "<asks %.*s %s %.*s: %.*s>", SV_ARG(request->id), kinds[request->kind],
		SV_ARG(request->tool), SV_ARG(request->about));
	if (request->kind == CODEX_ASKS_GRANT)
		str_addf(&h->text, "<grant %.*s>", SV_ARG(request->grant));
}

static void on_settled(void *data, struct sv id)
{
	struct heard *h = data;

	str_addf(&h->text, "<settled %.*s>", SV_ARG(id));
}

static void on_working(void *data)
{
	struct heard *h = data;

	str_adds(&h->text, "<working>");
}

static void on_end(void *data, const struct codex_end *end)
{
	struct heard *h = data;

	h->ends++;
	h->end = *end;
	str_addf(&h->text, "<%s %.*s>",
		end->interrupted      ? "interrupted"
			: end->failed ? "failed"
				      : "completed",
		SV_ARG(end->said));
}

static const struct codex_app_ops ops = { .event = on_event,
	.reply = on_reply,
	.request = on_request,
	.settled = on_settled,
	.working = on_working,
	.end = on_end };

static int set_up(void **state)
{
	struct heard *h = xcalloc(1, sizeof(*h));

	h->text = (struct str)STR_INIT;
	codex_app_init(&h->app, &ops, h);
	codex_app_thread(&h->app, SV("T"));
	codex_app_turn(&h->app, SV("U"));
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	struct heard *h = *state;

	codex_app_release(&h->app);
	str_release(&h->text);
	free(h);
	return 0;
}

#define IN(thread, turn) "\"threadId\":\"" thread "\",\"turnId\":\"" turn "\""
#define HERE IN("T", "U")
#define ITEM(when, item) \
	"{\"method\":\"item/" when "\",\"params\":{\"item\":{" item "}," HERE "}}\n"
#define PIECE(id, text)                                                                 \
	"{\"method\":\"item/agentMessage/delta\",\"params\":{" HERE ",\"itemId\":\"" id \
	"\",\"delta\":\"" text "\"}}\n"
#define END(turn, rest)                                                                          \
	"{\"method\":\"turn/completed\",\"params\":{\"threadId\":\"T\",\"turn\":{\"id\":\"" turn \
	"\"," rest "}}}\n"

static void expect(struct heard *h, const char *lines, const char *text)
{
	codex_app_feed(&h->app, sv_of(lines));
	assert_string_equal(h->text.buf, text);
	str_clear(&h->text);
}

static void test_a_turn_streams(void **state)
{
	struct heard *h = *state;

	expect(h,
		ITEM("completed", "\"type\":\"userMessage\",\"id\":\"u\",\"clientId\":\"c\"") ITEM(
			"started",
			"\"type\":\"reasoning\",\"id\":\"r\"") "{\"method\":\"item/reasoning/"
							       "summaryTextDelta\",\"params\":"
							       "{" HERE
							       ",\"itemId\":\"r\",\"delta\":\"hm\"}"
							       "}\n" ITEM("completed",
								       "\"type\":\"reasoning\","
								       "\"id\":\"r\",\"summary\":["
								       "]"),
		"<working><think ><think hm>");
	expect(h,
		ITEM("started", "\"type\":\"agentMessage\",\"id\":\"m\",\"text\":\"\"")
			PIECE("m", "one ") PIECE("m", "two") ITEM("completed",
				"\"type\":\"agentMessage\",\"id\":\"m\",\"text\":\"one two\""),
		"<one ><two>");
	/* The next message, one without pieces, one whose last piece is missing. */
	expect(h, PIECE("n", "three"), "<|><three>");
	expect(h,
		ITEM("completed", "\"type\":\"agentMessage\",\"id\":\"o\",\"text\":\"four\"")
			PIECE("p", "fi") ITEM("completed",
				"\"type\":\"agentMessage\",\"id\":\"p\",\"text\":\"five\""),
		"<|><four><|><fi><ve>");
	expect(h, END("U", "\"status\":\"completed\",\"error\":null"), "<completed >");
	assert_false(h->end.failed);
	/* It is over: nothing of it counts any more. */
	expect(h, PIECE("q", "late") END("U", "\"status\":\"completed\""), "");
}

static void test_other_threads_and_turns_are_not_ours(void **state)
{
	struct heard *h = *state;

	expect(h,
		"{\"method\":\"item/agentMessage/delta\",\"params\":{" IN(
			"T", "V") ",\"itemId\":\"m\",\"delta\":\"x\"}}\n"
				  "{\"method\":\"item/agentMessage/delta\",\"params\":{" IN(
					  "S", "U") ",\"itemId\":\"m\",\"delta\":\"x\"}}\n"
						    "{\"method\":\"turn/completed\",\"params\":{"
						    "\"threadId\":\"S\",\"turn\":{\"id\":\"U\","
						    "\"status\":\"completed\"}}}\n" END(
							    "V", "\"status\":\"completed\""),
		"");
	assert_int_equal(h->ends, 0);
}

static void test_tools(void **state)
{
	struct heard *h = *state;

	expect(h,
		ITEM("started",
			"\"type\":\"commandExecution\",\"id\":\"c\",\"command\":\"make all\","
			"\"status\":\"inProgress\"") ITEM("completed",
			"\"type\":\"commandExecution\",\"id\":\"c\",\"command\":\"make all\","
			"\"status\":\"failed\",\"exitCode\":2"),
		"<begin Shell: make all><end Shell failed>");
	expect(h,
		ITEM("started",
			"\"type\":\"fileChange\",\"id\":\"f\",\"changes\":[{\"path\":\"/a\"},"
			"{\"path\":\"/b\"}]") ITEM("completed",
			"\"type\":\"fileChange\",\"id\":\"f\",\"changes\":[],"
			"\"status\":\"declined\""),
		"<begin Edit: /a, /b><end Edit failed>");
	expect(h,
		ITEM("completed",
			"\"type\":\"mcpToolCall\",\"id\":\"t\",\"server\":\"s\",\"tool\":\"poke\","
			"\"status\":\"completed\"") ITEM("completed",
			"\"type\":\"webSearch\",\"id\":\"w\",\"query\":\"how to\""),
		"<begin Tool: poke><end Tool><begin WebSearch: how to><end WebSearch>");
}

static void test_commands_are_shown_without_their_shell(void **state)
{
	static const char *const cases[][2] = {
		{ "/bin/bash -lc 'make all'", "make all" },
		{ "/usr/bin/zsh -lc 'make'", "make" },
		{ "/bin/bash -lc make", "make" },
		{ "/bin/bash -lc $make", "/bin/bash -lc $make" },
		{ "/bin/bash -lc make all", "/bin/bash -lc make all" },
		/* More than one word, quoted in another way, another program. */
		{ "/bin/bash -lc 'make' 'all'", "/bin/bash -lc 'make' 'all'" },
		{ "/bin/bash -lc \"it's\"", "/bin/bash -lc \"it's\"" },
		{ "env x /bin/bash -lc 'make'", "env x /bin/bash -lc 'make'" },
		{ "/bin/bash -lc '", "/bin/bash -lc '" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_true(sv_is(codex_command(sv_of(cases[i][0])), cases[i][1]));
}

static void test_requests(void **state)
{
	struct heard *h = *state;

	expect(h,
		"{\"method\":\"item/commandExecution/requestApproval\",\"id\":0,\"params\":{" HERE
		",\"itemId\":\"c\",\"reason\":\"to build\",\"command\":\"make all\"}}\n",
		"<asks 0 decision Shell: make all (to build)>");
	expect(h,
		ITEM("started",
			"\"type\":\"fileChange\",\"id\":\"f\",\"changes\":[{\"path\":\"/a\"}]") "{"
												"\""
												"me"
												"th"
												"od"
												"\""
												":"
												"\""
												"it"
												"em"
												"/f"
												"il"
												"eC"
												"ha"
												"ng"
												"e/"
												"re"
												"qu"
												"es"
												"tA"
												"pp"
												"ro"
												"va"
												"l"
												"\""
												","
												"\""
												"id"
												"\""
												":"
												"\""
												"x1"
												"\""
												","
												"\""
												"pa"
												"ra"
												"ms"
												"\""
												":"
												"{" HERE
												","
												"\""
												"it"
												"em"
												"Id"
												"\""
												":"
												"\""
												"f"
												"\""
												"}}"
												"\n",
		"<begin Edit: /a><asks \"x1\" decision Edit: /a>");
	expect(h,
		"{\"method\":\"item/permissions/requestApproval\",\"id\":2,\"params\":{" HERE
		",\"permissions\":{\"network\":{\"enabled\":true}}}}\n",
		"<asks 2 grant Permission: {\"network\":{\"enabled\":true}}>"
		"<grant {\"network\":{\"enabled\":true}}>");
	expect(h,
		"{\"method\":\"mcpServer/elicitation/request\",\"id\":3,\"params\":{"
		"\"_meta\":{\"codex_approval_kind\":\"mcp_tool_call\",\"tool_params\":{\"x\":1}},"
		"\"message\":\"poke?\"}}\n"
		"{\"method\":\"mcpServer/elicitation/request\",\"id\":4,\"params\":{"
		"\"message\":\"your name?\"}}\n"
		"{\"method\":\"item/tool/requestUserInput\",\"id\":5,\"params\":{}}\n",
		"<asks 3 consent Tool: {\"x\":1} (poke?)><asks 4 other Tool: your name?><asks 5 "
		"other : >");
	expect(h,
		"{\"method\":\"serverRequest/resolved\",\"params\":{\"threadId\":\"T\","
		"\"requestId\":\"x1\"}}\n",
		"<settled \"x1\">");
}

static void test_replies(void **state)
{
	struct heard *h = *state;

	expect(h, "{\"id\":7,\"result\":{\"thread\":{\"id\":\"T\"}}}\n", "<reply 7 >");
	assert_int_equal(h->reply.result.type, J_OBJECT);
	expect(h,
		"{\"id\":8,\"error\":{\"code\":-32600,\"message\":\"no rollout found\"}}\n"
		"{\"id\":9,\"error\":{\"code\":-32600,\"message\":\"Invalid request: unknown "
		"variant `thread/start`, expected one of `x`\"}}\n"
		"{\"id\":10,\"error\":{\"code\":-32601,\"message\":\"no\"}}\n"
		"{\"id\":\"odd\",\"result\":{}}\n",
		"<reply 8 failed no rollout found><reply 9 failed unknown Invalid request: unknown "
		"variant `thread/start`, expected one of `x`><reply 10 failed unknown no>");
}

static void test_failures_have_a_kind(void **state)
{
	static const struct {
		const char *info;
		enum agent_fail kind;
		int status;
	} cases[] = {
		{ "\"contextWindowExceeded\"", AGENT_CONTEXT_FULL, 0 },
		{ "\"usageLimitExceeded\"", AGENT_RATE_LIMITED, 0 },
		{ "\"rateLimitExceeded\"", AGENT_RATE_LIMITED, 0 },
		{ "\"unauthorized\"", AGENT_NOT_LOGGED_IN, 0 },
		{ "\"other\"", AGENT_FAILED, 0 },
		{ "{\"responseTooManyFailedAttempts\":{\"httpStatusCode\":429}}", AGENT_FAILED,
			429 },
		{ "{\"httpConnectionFailed\":{\"httpStatusCode\":null}}", AGENT_FAILED, 0 },
		{ "null", AGENT_FAILED, 0 },
	};
	struct heard *h = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_STR line = STR_INIT;
		str_addf(&line,
			END("U",
				"\"status\":\"failed\",\"error\":{\"message\":\"why\","
				"\"codexErrorInfo\":%s}"),
			cases[i].info);
		codex_app_turn(&h->app, SV("U"));
		expect(h, line.buf, "<failed why>");
		assert_int_equal(h->end.kind, cases[i].kind);
		assert_int_equal(h->end.status, cases[i].status);
	}
	codex_app_turn(&h->app, SV("U"));
	expect(h, END("U", "\"status\":\"interrupted\",\"error\":null"), "<interrupted >");
	codex_app_turn(&h->app, SV("U"));
	expect(h,
		"{\"method\":\"error\",\"params\":{\"error\":{\"message\":\"Reconnecting... 1/5\","
		"\"additionalDetails\":\"timed out\"},\"willRetry\":true," HERE "}}\n"
		"{\"method\":\"error\",\"params\":{\"error\":{\"message\":\"the end\"},"
		"\"willRetry\":false," HERE "}}\n",
		"<retry the connection to the model broke: timed out>");
}

static void test_tokens_and_limits(void **state)
{
	struct heard *h = *state;

	expect(h,
		"{\"method\":\"thread/tokenUsage/updated\",\"params\":{" HERE
		",\"tokenUsage\":{\"total\":{\"inputTokens\":100,\"cachedInputTokens\":60,"
		"\"cacheWriteInputTokens\":10,\"outputTokens\":7},\"last\":{}}}}\n"
		"{\"method\":\"account/rateLimits/updated\",\"params\":{\"rateLimits\":{"
		"\"primary\":{\"usedPercent\":100,\"resetsAt\":1700000000},"
		"\"secondary\":{\"usedPercent\":40,\"resetsAt\":1800000000}}}}\n",
		"");
	expect(h, END("U", "\"status\":\"failed\",\"error\":{\"message\":\"full\"}"),
		"<failed full>");
	assert_int_equal(h->end.total.input, 30);
	assert_int_equal(h->end.total.cache_read, 60);
	assert_int_equal(h->end.total.cache_write, 10);
	assert_int_equal(h->end.total.output, 7);
	assert_int_equal(h->end.limit_ends_ms, 1700000000000);
	codex_app_turn(&h->app, SV("U"));
	expect(h,
		"{\"method\":\"account/rateLimits/updated\",\"params\":{\"rateLimits\":{"
		"\"primary\":null}}}\n" END("U", "\"status\":\"completed\""),
		"<completed >");
	assert_int_equal(h->end.limit_ends_ms, 0);
}

static void test_noise(void **state)
{
	struct heard *h = *state;

	expect(h,
		"\n[]\nnull\n{\n{\"method\":1}\n{\"id\":null,\"method\":\"x\"}\n{\"id\":{}}\n"
		"{\"method\":\"item/started\",\"params\":{" HERE ",\"item\":7}}\n"
		"{\"method\":\"turn/completed\",\"params\":{\"threadId\":\"T\",\"turn\":[]}}\n",
		"");
	/* A piece at a time. */
	for (const char *p = PIECE("m", "slow"); *p; p++)
		codex_app_feed(&h->app, sv_make(p, 1));
	expect(h, "", "<slow>");
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_turn_streams),
		CASE(test_other_threads_and_turns_are_not_ours),
		CASE(test_tools),
		CASE(test_commands_are_shown_without_their_shell),
		CASE(test_requests),
		CASE(test_replies),
		CASE(test_failures_have_a_kind),
		CASE(test_tokens_and_limits),
		CASE(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
