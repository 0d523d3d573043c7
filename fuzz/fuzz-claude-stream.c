/* Claude Code's output: fuzz/stream.h says what must hold. */
#include "agent/claude-stream.h"
#include "stream.h"

static void on_event(void *data, const struct agent_event *ev)
{
	seen_event(data, ev, CLAUDE_ABOUT_MAX);
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

static void run(struct seen *seen, struct sv head, struct sv rest)
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
	claude_stream_feed(&stream, head);
	claude_stream_feed(&stream, rest);
	claude_stream_end(&stream);
	claude_stream_release(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return check_cuts(data, size, run);
}
