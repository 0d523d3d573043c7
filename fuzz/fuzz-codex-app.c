/* The output of Codex's app server: fuzz/stream.h says what must hold; and a turn ends at most
 * once.
 */
#include "agent/codex-app-stream.h"
#include "stream.h"

static void on_event(void *data, const struct agent_event *ev)
{
	const struct seen *seen = data;

	REQUIRE(ev->type != AGENT_EV_SESSION && seen->ends == 0);
	seen_event(data, ev, CODEX_ABOUT_MAX);
}

static void on_reply(void *data, const struct codex_reply *reply)
{
	struct seen *seen = data;

	REQUIRE(utf8_valid(reply->said) && (reply->failed || !reply->unknown));
	str_addf(&seen->log, "reply %lld %d %.*s\n", (long long)reply->id, reply->failed,
		SV_ARG(reply->said));
}

/* Its id goes into our answer as it stands: it must not end the line. */
static void on_request(void *data, const struct codex_request *request)
{
	struct seen *seen = data;

	REQUIRE(request->id.n > 0 && !sv_find(request->id, SV("\n"), NULL));
	REQUIRE(!sv_find(request->grant, SV("\n"), NULL));
	REQUIRE(utf8_valid(request->about) && request->about.n <= CODEX_ASK_MAX);
	str_addf(&seen->log, "request %d %.*s %.*s\n", (int)request->kind, SV_ARG(request->id),
		SV_ARG(request->about));
}

static void on_settled(void *data, struct sv id)
{
	struct seen *seen = data;

	str_addf(&seen->log, "settled %.*s\n", SV_ARG(id));
}

static void on_end(void *data, const struct codex_end *end)
{
	struct seen *seen = data;

	REQUIRE(++seen->ends == 1);
	REQUIRE(end->total.input >= -1 && end->total.output >= -1 && end->limit_ends_ms >= 0);
	REQUIRE(end->status >= 0 && end->status < 1000);
	str_addf(&seen->log, "end %d %d %d %.*s\n", end->failed, (int)end->kind, end->status,
		SV_ARG(end->said));
}

static void run(struct seen *seen, struct sv head, struct sv rest)
{
	static const struct codex_app_ops ops = { .event = on_event,
		.reply = on_reply,
		.request = on_request,
		.settled = on_settled,
		.working = on_working,
		.end = on_end };
	struct codex_app app;

	codex_app_init(&app, &ops, seen);
	codex_app_thread(&app, SV("T"));
	codex_app_turn(&app, SV("U"));
	codex_app_feed(&app, head);
	codex_app_feed(&app, rest);
	codex_app_end(&app);
	codex_app_release(&app);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return check_cuts(data, size, run);
}
