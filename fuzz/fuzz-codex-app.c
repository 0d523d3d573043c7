/*
 * The output of Codex's app server: any bytes, in two cuts. The calls are the same however the
 * bytes are cut, a tool ends only after it began, a turn ends at most once, and text is valid
 * UTF-8.
 */
#include "agent/codex-app-stream.h"
#include "base/utf8.h"
#include "fuzz.h"

struct seen {
	struct str log;
	int tools;
	int ends;
};

static void on_event(void *data, const struct agent_event *ev)
{
	struct seen *seen = data;

	REQUIRE(ev->type != AGENT_EV_DONE && ev->type != AGENT_EV_SESSION && seen->ends == 0);
	REQUIRE(utf8_valid(ev->text) && utf8_valid(ev->tool));
	REQUIRE(ev->type != AGENT_EV_TEXT || ev->text.n > 0);
	REQUIRE(ev->type != AGENT_EV_TOOL_BEGIN || ev->text.n <= CODEX_ABOUT_MAX);
	seen->tools += ev->type == AGENT_EV_TOOL_BEGIN;
	seen->tools -= ev->type == AGENT_EV_TOOL_END;
	REQUIRE(seen->tools >= 0);
	str_addf(&seen->log, "%d %.*s %.*s %d\n", (int)ev->type, SV_ARG(ev->text), SV_ARG(ev->tool),
		ev->failed);
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

static void on_working(void *data)
{
	struct seen *seen = data;

	str_adds(&seen->log, "working\n");
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

static void run(struct seen *seen, struct sv text, size_t cut)
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
	codex_app_feed(&app, sv_head(text, cut));
	codex_app_feed(&app, sv_from(text, cut));
	codex_app_end(&app);
	codex_app_release(&app);
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
