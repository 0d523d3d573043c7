/*
 * Claude Code's output: any bytes, in two cuts. The events are the same however the bytes are cut,
 * a tool ends only after it began, a session is told once a turn, and text is valid UTF-8.
 */
#include "agent/claude-stream.h"
#include "base/utf8.h"
#include "fuzz.h"

struct seen {
	struct str log;
	int sessions;
	int tools;
};

static void on_event(void *data, const struct agent_event *ev)
{
	struct seen *seen = data;

	REQUIRE(ev->type != AGENT_EV_DONE);
	REQUIRE(utf8_valid(ev->text) && utf8_valid(ev->tool));
	REQUIRE(ev->type != AGENT_EV_TEXT || ev->text.n > 0);
	REQUIRE(ev->type != AGENT_EV_TOOL_BEGIN || ev->text.n <= CLAUDE_ABOUT_MAX);
	REQUIRE(ev->delay_ms >= 0);
	seen->sessions += ev->type == AGENT_EV_SESSION;
	seen->tools += ev->type == AGENT_EV_TOOL_BEGIN;
	seen->tools -= ev->type == AGENT_EV_TOOL_END;
	REQUIRE(seen->sessions <= 1 && seen->tools >= 0);
	str_addf(&seen->log, "%d %.*s %.*s %s %d\n", (int)ev->type, SV_ARG(ev->text),
		SV_ARG(ev->tool), ev->session ? ev->session : "", ev->failed);
}

static void on_working(void *data)
{
	struct seen *seen = data;

	str_adds(&seen->log, "working\n");
}

static void on_limited(void *data, int64_t until_ms)
{
	struct seen *seen = data;

	REQUIRE(until_ms >= 0);
	str_addf(&seen->log, "limited %lld\n", (long long)until_ms);
}

/* What goes back to it is one line. */
static void on_ask(void *data, const struct claude_ask *ask)
{
	struct seen *seen = data;

	REQUIRE(utf8_valid(ask->tool) && utf8_valid(ask->about) && utf8_valid(ask->scope));
	REQUIRE(ask->about.n > 0 && ask->about.n <= CLAUDE_ASK_MAX);
	REQUIRE(ask->scope.n <= CLAUDE_ABOUT_MAX);
	REQUIRE(!sv_find(ask->input, SV("\n"), NULL) && !sv_find(ask->always, SV("\n"), NULL));
	str_addf(&seen->log, "ask %.*s %.*s %.*s %.*s\n", SV_ARG(ask->tool), SV_ARG(ask->about),
		SV_ARG(ask->always), SV_ARG(ask->scope));
}

static void on_id(void *data, struct sv id)
{
	struct seen *seen = data;

	str_addf(&seen->log, "id %.*s\n", SV_ARG(id));
}

static void on_denied(void *data, struct sv call, struct sv tool, struct sv about)
{
	struct seen *seen = data;

	REQUIRE(utf8_valid(tool) && utf8_valid(about));
	str_addf(&seen->log, "denied %.*s %.*s %.*s\n", SV_ARG(call), SV_ARG(tool), SV_ARG(about));
}

static void on_result(void *data, const struct claude_result *result)
{
	struct seen *seen = data;

	REQUIRE(result->usage.input >= -1 && result->usage.output >= -1);
	seen->tools = 0;
	str_addf(&seen->log, "result %d %d %.*s %lld\n", result->failed, result->status,
		SV_ARG(result->said), (long long)result->usage.input);
}

static void run(struct seen *seen, struct sv text, size_t cut)
{
	static const struct claude_stream_ops ops = {
		.event = on_event,
		.working = on_working,
		.limited = on_limited,
		.ask = on_ask,
		.ask_over = on_id,
		.request = on_id,
		.denied = on_denied,
		.result = on_result,
	};
	struct claude_stream stream;

	claude_stream_init(&stream, &ops, seen);
	claude_stream_feed(&stream, sv_head(text, cut));
	claude_stream_feed(&stream, sv_from(text, cut));
	claude_stream_end(&stream);
	claude_stream_release(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole = { .log = STR_INIT }, parts = { .log = STR_INIT };

	if (size == 0)
		return 0;
	struct sv text = sv_make((const char *)data + 1, size - 1);
	run(&whole, text, text.n);
	run(&parts, text, text.n * data[0] / 256);
	REQUIRE(sv_eq(str_sv(&whole.log), str_sv(&parts.log)));
	str_release(&whole.log);
	str_release(&parts.log);
	return 0;
}
