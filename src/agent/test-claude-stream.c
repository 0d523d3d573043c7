#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/claude-stream.h"
#include "base/mem.h"

/* What came out, one word an event. */
struct heard {
	struct claude_stream stream;
	struct str text;
	struct claude_result result;
	char said[200], errors[200];
	int results, working;
	int64_t limited;
};

static void on_event(void *data, const struct agent_event *ev)
{
	struct heard *h = data;

	switch (ev->type) {
	case AGENT_EV_SESSION:
		str_addf(&h->text, "{session %s}", ev->session);
		break;
	case AGENT_EV_TEXT:
		str_add(&h->text, ev->text);
		break;
	case AGENT_EV_BREAK:
		str_adds(&h->text, "|");
		break;
	case AGENT_EV_THINKING:
		str_addf(&h->text, "{think %.*s}", SV_ARG(ev->text));
		break;
	case AGENT_EV_TOOL_BEGIN:
		str_addf(&h->text, "{%.*s: %.*s}", SV_ARG(ev->tool), SV_ARG(ev->text));
		break;
	case AGENT_EV_TOOL_END:
		str_addf(&h->text, "{/%.*s%s}", SV_ARG(ev->tool), ev->failed ? " failed" : "");
		break;
	case AGENT_EV_RETRY:
		str_addf(&h->text, "{retry %.*s in %lld}", SV_ARG(ev->text),
			(long long)ev->delay_ms);
		break;
	case AGENT_EV_NOTICE:
		str_addf(&h->text, "{notice %.*s}", SV_ARG(ev->text));
		break;
	case AGENT_EV_ASK:
	case AGENT_EV_ASK_OVER:
	case AGENT_EV_DONE:
		fail();
	}
}

static void on_working(void *data)
{
	struct heard *h = data;

	h->working++;
}

static void on_limited(void *data, int64_t until_ms)
{
	struct heard *h = data;

	h->limited = until_ms;
}

static void on_ask(void *data, const struct claude_ask *ask)
{
	struct heard *h = data;

	str_addf(&h->text, "{may %.*s %.*s: %.*s? %.*s; %.*s: %.*s}", SV_ARG(ask->call),
		SV_ARG(ask->tool), SV_ARG(ask->about), SV_ARG(ask->input), SV_ARG(ask->scope),
		SV_ARG(ask->always));
}

static void on_ask_over(void *data, struct sv id)
{
	struct heard *h = data;

	str_addf(&h->text, "{over %.*s}", SV_ARG(id));
}

static void on_request(void *data, struct sv id)
{
	struct heard *h = data;

	str_addf(&h->text, "{request %.*s}", SV_ARG(id));
}

static void on_denied(void *data, struct sv call, struct sv tool, struct sv about)
{
	struct heard *h = data;

	str_addf(&h->text, "{no %.*s %.*s: %.*s}", SV_ARG(call), SV_ARG(tool), SV_ARG(about));
}

static void on_result(void *data, const struct claude_result *result)
{
	struct heard *h = data;

	h->results++;
	h->result = *result;
	(void)snprintf(h->said, sizeof(h->said), "%.*s", SV_ARG(result->said));
	(void)snprintf(h->errors, sizeof(h->errors), "%.*s", SV_ARG(result->errors));
}

static const struct claude_stream_ops ops = {
	.event = on_event,
	.working = on_working,
	.limited = on_limited,
	.ask = on_ask,
	.ask_over = on_ask_over,
	.request = on_request,
	.denied = on_denied,
	.result = on_result,
};

static int set_up(void **state)
{
	struct heard *h = xcalloc(1, sizeof(*h));

	h->text = (struct str)STR_INIT;
	claude_stream_init(&h->stream, &ops, h);
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	struct heard *h = *state;

	claude_stream_release(&h->stream);
	str_release(&h->text);
	free(h);
	return 0;
}

static void feed(struct heard *h, const char *text)
{
	claude_stream_feed(&h->stream, sv_of(text));
}

static void expect(struct heard *h, const char *text)
{
	assert_string_equal(h->text.buf, text);
	str_clear(&h->text);
}

#define START(id)                                                                               \
	"{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":{\"id\":" \
	"\"" id "\"}},\"parent_tool_use_id\":null}\n"
#define BLOCK                                                                               \
	"{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_start\",\"content_" \
	"block\":{"                                                                         \
	"\"type\":\"text\"}}}\n"
#define DELTA(text)                                                                          \
	"{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"delta\":{" \
	"\"type\":"                                                                          \
	"\"text_delta\",\"text\":\"" text "\"}}}\n"
#define WHOLE(id, text)                                       \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"" id   \
	"\",\"content\":[{\"type\":\"text\",\"text\":\"" text \
	"\"}]},\"parent_tool_use_id\":null}\n"
#define TOOL(id, input)                                                                          \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\"," \
	"\"id\":\"" id "\",\"name\":\"Bash\",\"input\":" input "}]}}\n"
#define TOOL_RESULT(id, error)                                                             \
	"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_" \
	"result\","                                                                        \
	"\"tool_use_id\":\"" id "\",\"is_error\":" error "}]}}\n"

static void test_pieces_are_said_once(void **state)
{
	struct heard *h = *state;

	feed(h, START("m1") BLOCK DELTA("Good ") DELTA("m\\u00f6rning"));
	feed(h, WHOLE("m1", "Good m\\u00f6rning"));
	expect(h, "Good mörning");
	assert_true(h->working > 0);
}

static void test_what_pieces_left_out_is_said(void **state)
{
	struct heard *h = *state;

	feed(h, START("m1") BLOCK DELTA("Good ") WHOLE("m1", "Good morning"));
	expect(h, "Good morning");
	claude_stream_turn(&h->stream);
	feed(h, START("m1") BLOCK DELTA("1234") WHOLE("m1", "123\\u20ac5"));
	expect(h, "12345");
	feed(h, WHOLE("m2", "second") WHOLE("m3", "third"));
	expect(h, "|second|third");
}

static void test_paragraphs_and_tools(void **state)
{
	struct heard *h = *state;

	feed(h, START("m1") BLOCK DELTA("a") WHOLE("m1", "a"));
	feed(h, TOOL("t1", "{\"command\":\"ls\\n-l\"}") TOOL_RESULT("t1", "false"));
	feed(h, START("m2") BLOCK DELTA("b") DELTA("c") WHOLE("m2", "bc"));
	expect(h, "a{Bash: ls -l}{/Bash}|bc");
}

#define STRUCTURED(id, input)                                                                    \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\"," \
	"\"id\":\"" id "\",\"name\":\"StructuredOutput\",\"input\":" input "}]}}\n"

static void test_an_answer_by_a_schema_ends_the_words(void **state)
{
	struct heard *h = *state;

	feed(h, WHOLE("m1", "Well.") STRUCTURED("t1", "{\"a\": 1}") TOOL_RESULT("t1", "false"));
	expect(h, "Well.{StructuredOutput: }{/StructuredOutput}");
	h->stream.by_schema = true;
	claude_stream_turn(&h->stream);
	feed(h, WHOLE("m1", "Well.") STRUCTURED("t1", "{\"a\": 1}") TOOL_RESULT("t1", "false"));
	expect(h, "Well.|{\"a\": 1}");
}

static void test_parallel_tools_end_by_id(void **state)
{
	struct heard *h = *state;

	feed(h, TOOL("t1", "{\"file_path\":\"/a\"}") TOOL("t2", "{}"));
	feed(h, TOOL_RESULT("t2", "true") TOOL_RESULT("t1", "false") TOOL_RESULT("t1", "false"));
	expect(h, "{Bash: /a}{Bash: }{/Bash failed}{/Bash}");
}

static void test_sub_agents_do_not_answer(void **state)
{
	struct heard *h = *state;

	feed(h,
		"{\"type\":\"assistant\",\"message\":{\"id\":\"s\",\"content\":[{\"type\":\"text\","
		"\"text\":\"inner\"}]},\"parent_tool_use_id\":\"t9\"}\n"
		"{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"delta\":{"
		"\"type\":\"text_delta\",\"text\":\"inner\"}},\"parent_tool_use_id\":\"t9\"}\n");
	expect(h, "");
}

static void test_session_is_told_once_a_turn(void **state)
{
	struct heard *h = *state;
	static const char init[] =
		"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"abc\"}\n";

	feed(h, init);
	feed(h, init);
	expect(h, "{session abc}");
	claude_stream_turn(&h->stream);
	feed(h, init);
	expect(h, "{session abc}");
}

static void test_errors_are_no_answer(void **state)
{
	struct heard *h = *state;

	feed(h,
		"{\"type\":\"system\",\"subtype\":\"api_retry\",\"retry_delay_ms\":580.7,"
		"\"error_status\":429,\"error\":\"rate_limit\"}\n"
		"{\"type\":\"assistant\",\"error\":\"rate_limit\",\"message\":{\"model\":"
		"\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":\"API Error\"}]}}\n"
		"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,"
		"\"api_error_status\":429,\"result\":\"API Error\",\"session_id\":\"s\"}\n");
	expect(h, "{retry the limit of requests is reached (429) in 580}");
	assert_int_equal(h->results, 1);
	assert_true(h->result.failed);
	assert_int_equal(h->result.status, 429);
	assert_string_equal(h->said, "API Error");
	assert_string_equal(h->errors, "rate_limit");
	assert_true(h->result.usage.input < 0);
}

static void test_interrupted_and_over_budget(void **state)
{
	struct heard *h = *state;

	feed(h,
		"{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,"
		"\"terminal_reason\":\"aborted_tools\",\"errors\":[\"[ede_diagnostic] x\",7]}\n");
	assert_true(h->result.failed && h->result.interrupted);
	assert_string_equal(h->errors, "");
	feed(h,
		"{\"type\":\"result\",\"subtype\":\"error_max_budget_usd\",\"is_error\":true,"
		"\"errors\":[\"one\",\"two\"]}\n");
	assert_true(h->result.over_budget);
	assert_string_equal(h->errors, "one; two");
}

static void test_answer_that_is_only_in_the_result(void **state)
{
	struct heard *h = *state;

	feed(h, "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"used 3 %\"}\n");
	expect(h, "used 3 %");
}

static void test_denials_are_told(void **state)
{
	struct heard *h = *state;

	feed(h, WHOLE("m", "no"));
	feed(h,
		"{\"type\":\"result\",\"subtype\":\"success\",\"permission_denials\":["
		"{\"tool_name\":\"Bash\",\"tool_use_id\":\"t1\",\"tool_input\":{\"command\":"
		"\"ls\"}},{\"tool_name\":\"Write\"},{},7]}\n");
	expect(h, "no{no t1 Bash: ls}{no  Write: }");
}

/* Newer versions tell it at once too, by the call. */
static void test_a_denial_is_told_at_once(void **state)
{
	struct heard *h = *state;

	feed(h, TOOL("t1", "{\"command\":\"ls\"}"));
	feed(h,
		"{\"type\":\"system\",\"subtype\":\"permission_denied\",\"tool_name\":\"Bash\","
		"\"tool_use_id\":\"t1\"}\n"
		"{\"type\":\"system\",\"subtype\":\"permission_denied\",\"tool_use_id\":\"t2\"}\n");
	expect(h, "{Bash: ls}{no t1 Bash: ls}");
}

#define MAY(call, rest)                                                                 \
	"{\"type\":\"control_request\",\"request_id\":\"r1\",\"request\":{\"subtype\":" \
	"\"can_use_tool\",\"tool_use_id\":\"" call "\"," rest "}}\n"

static void test_questions(void **state)
{
	struct heard *h = *state;

	feed(h,
		MAY("t1",
			"\"tool_name\":\"Bash\",\"input\":{\"command\":\"touch \\u001b a\\nb\"}"));
	expect(h, "{may t1 Bash: touch a b? {\"command\":\"touch \\u001b a\\nb\"}; : }");
	/* An input that says nothing known is shown as it is. */
	feed(h, MAY("t1", "\"tool_name\":\"mcp__x\",\"input\":{\"n\": 7}"));
	expect(h, "{may t1 mcp__x: {\"n\": 7}? {\"n\": 7}; : }");
	feed(h, "{\"type\":\"control_cancel_request\",\"request_id\":\"r1\"}\n");
	expect(h, "{over r1}");
	/* What is no such question is told all the same: it waits for an answer. */
	feed(h,
		"{\"type\":\"control_request\",\"request_id\":\"r2\",\"request\":{\"subtype\":"
		"\"hook_callback\"}}\n"
		"{\"type\":\"control_request\",\"request_id\":\"r3\",\"request\":{\"subtype\":"
		"\"can_use_tool\",\"input\":[]}}\n"
		"{\"type\":\"control_request\",\"request\":{\"subtype\":\"can_use_tool\"}}\n"
		"{\"type\":\"control_cancel_request\"}\n");
	expect(h, "{request r2}{request r3}");
}

/* For this session only, and where it suggests rules nothing beyond them. */
static void test_always(void **state)
{
	struct heard *h = *state;

	feed(h,
		MAY("t1",
			"\"tool_name\":\"Bash\",\"input\":{\"command\":\"x\"},"
			"\"permission_suggestions\":[{\"type\":\"addRules\",\"rules\":[{"
			"\"toolName\":"
			"\"Bash\",\"ruleContent\":\"x "
			"*\"},{\"toolName\":\"Read\"}],\"behavior\":\"allow\","
			"\"destination\":\"localSettings\"},{\"type\":\"setMode\",\"mode\":"
			"\"acceptEdits\"},"
			"{\"type\":\"addDirectories\",\"directories\":[\"/\"]},7]"));
	expect(h,
		"{may t1 Bash: x? {\"command\":\"x\"}; Bash(x *), Read: [{\"type\":\"addRules\","
		"\"rules\":[{\"toolName\":\"Bash\",\"ruleContent\":\"x "
		"*\"},{\"toolName\":\"Read\"}],"
		"\"behavior\":\"allow\",\"destination\":\"session\"}]}");
	feed(h,
		MAY("t1",
			"\"tool_name\":\"Write\",\"input\":{\"file_path\":\"/x\"},"
			"\"permission_suggestions\":[{\"type\":\"setMode\",\"mode\":"
			"\"acceptEdits\","
			"\"destination\":\"session\"}]"));
	expect(h,
		"{may t1 Write: /x? {\"file_path\":\"/x\"}; all edits (rm and mv too): "
		"[{\"type\":\"setMode\","
		"\"mode\":\"acceptEdits\",\"destination\":\"session\"}]}");
	feed(h, MAY("t1", "\"tool_name\":\"W\",\"input\":{},\"permission_suggestions\":[7,null]"));
	expect(h, "{may t1 W: {}? {}; : }");
}

#define RESULT(models) "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"x\"," models "}\n"
#define MODEL(key, name, in, out, cost)                                           \
	"\"" key "\":{\"" name "\":{\"inputTokens\":" in ",\"outputTokens\":" out \
	",\"cacheReadInputTokens\":5,\"costUSD\":" cost "}}"

static void test_usage_is_of_the_turn(void **state)
{
	struct heard *h = *state;

	feed(h, RESULT(MODEL("modelUsage", "m", "10", "20", "0.5")));
	assert_int_equal(h->result.usage.input, 10);
	feed(h, RESULT(MODEL("modelUsage", "m", "14", "21", "0.75")));
	assert_int_equal(h->result.usage.input, 4);
	assert_int_equal(h->result.usage.output, 1);
	assert_int_equal(h->result.usage.cache_read, 0);
	assert_true(h->result.usage.cost_usd == 0.25);
	/* A version that says it itself is believed. */
	feed(h,
		RESULT(MODEL("modelUsage", "m", "100", "200", "9") "," MODEL(
			"model_usage_since_last_result", "m", "3", "4", "0.1")));
	assert_int_equal(h->result.usage.input, 3);
	claude_stream_restart(&h->stream);
	feed(h, RESULT(MODEL("modelUsage", "m", "7", "1", "0.5")));
	assert_int_equal(h->result.usage.input, 7);
	feed(h, RESULT("\"usage\":{\"input_tokens\":2},\"total_cost_usd\":0.75"));
	assert_int_equal(h->result.usage.input, 2);
	assert_true(h->result.usage.cost_usd == 0.25);
}

static void test_limits(void **state)
{
	struct heard *h = *state;

	feed(h,
		"{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"allowed\","
		"\"resetsAt\":5}}\n");
	assert_int_equal(h->limited, 0);
	feed(h,
		"{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\","
		"\"resetsAt\":1750000000}}\n");
	assert_int_equal(h->limited, 1750000000000);
}

static void test_hostile_lines(void **state)
{
	struct heard *h = *state;
	static const char nul[] = "\0\0{\"type\"\0:1}\n";

	feed(h, "garbage\n\n{\n[1,2]\n\"x\"\n{\"type\":7}\n{\"type\":\"assistant\"}\n");
	feed(h, "{\"type\":\"assistant\",\"message\":{\"content\":\"text\"}}\n");
	feed(h, "{\"type\":\"assistant\",\"message\":{\"content\":[1,null,[],{\"type\":1}]}}\n");
	feed(h, "{\"type\":\"stream_event\",\"event\":[]}\n{\"type\":\"system\",\"subtype\":{}}\n");
	feed(h, "{\"type\":\"rate_limit_event\",\"rate_limit_info\":null}\n");
	feed(h, "{\"type\":\"system\",\"subtype\":\"api_retry\",\"retry_delay_ms\":-1e300}\n");
	claude_stream_feed(&h->stream, sv_make(nul, sizeof(nul) - 1));
	expect(h, "{retry the model cannot be reached in 0}");
	assert_int_equal(h->results, 0);
	feed(h, "{\"type\":\"result\",\"usage\":{\"input_tokens\":-5,\"output_tokens\":1e99}}");
	claude_stream_end(&h->stream);
	assert_int_equal(h->results, 1);
	assert_true(h->result.failed);
	assert_int_equal(h->result.usage.input, 0);
}

static void test_every_cut_gives_the_same(void **state)
{
	struct heard *h = *state;
	static const char text[] = START("m1") BLOCK DELTA("one \\ud83d\\ude00 two")
		WHOLE("m1", "one \\ud83d\\ude00 two") TOOL("t1", "{\"command\":\"ls\"}");

	for (size_t cut = 0; cut < sizeof(text) - 1; cut++) {
		claude_stream_restart(&h->stream);
		claude_stream_feed(&h->stream, sv_make(text, cut));
		claude_stream_feed(&h->stream, sv_make(text + cut, sizeof(text) - 1 - cut));
		expect(h, "one 😀 two{Bash: ls}");
	}
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_pieces_are_said_once),
		CASE(test_what_pieces_left_out_is_said),
		CASE(test_paragraphs_and_tools),
		CASE(test_an_answer_by_a_schema_ends_the_words),
		CASE(test_parallel_tools_end_by_id),
		CASE(test_sub_agents_do_not_answer),
		CASE(test_session_is_told_once_a_turn),
		CASE(test_errors_are_no_answer),
		CASE(test_interrupted_and_over_budget),
		CASE(test_answer_that_is_only_in_the_result),
		CASE(test_denials_are_told),
		CASE(test_a_denial_is_told_at_once),
		CASE(test_questions),
		CASE(test_always),
		CASE(test_usage_is_of_the_turn),
		CASE(test_limits),
		CASE(test_hostile_lines),
		CASE(test_every_cut_gives_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
