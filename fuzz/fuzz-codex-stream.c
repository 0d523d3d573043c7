/* The output of "codex exec --json": fuzz/stream.h says what must hold. */
#include "agent/codex-stream.h"
#include "stream.h"

static void on_event(void *data, const struct agent_event *ev)
{
	seen_event(data, ev, CODEX_ABOUT_MAX);
}

static void on_result(void *data, const struct codex_result *result)
{
	struct seen *seen = data;

	REQUIRE(result->total.input >= -1 && result->total.output >= -1);
	str_addf(&seen->log, "result %d %.*s %lld\n", result->failed, SV_ARG(result->said),
		(long long)result->total.input);
}

static void run(struct seen *seen, struct sv head, struct sv rest)
{
	static const struct codex_stream_ops ops = {
		.event = on_event, .working = on_working, .result = on_result
	};
	struct codex_stream stream;

	codex_stream_init(&stream, &ops, seen);
	codex_stream_feed(&stream, head);
	codex_stream_feed(&stream, rest);
	codex_stream_end(&stream);
	codex_stream_release(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return check_cuts(data, size, run);
}
