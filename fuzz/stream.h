/*
 * What an agent's program writes, in two cuts: what is heard is the same however the bytes are cut,
 * a tool ends only after it began, a session is told once, and text is valid UTF-8.
 */
#pragma once

#include "agent/agent.h"
#include "base/utf8.h"
#include "fuzz.h"

struct seen {
	struct str log; /* a line a call */
	int sessions;
	int tools;
	int ends; /* of turns */
};

/* about_max: bytes of the line that says what a tool is about. */
static inline void seen_event(struct seen *seen, const struct agent_event *ev, size_t about_max)
{
	REQUIRE(ev->type != AGENT_EV_DONE);
	REQUIRE(utf8_valid(ev->text) && utf8_valid(ev->tool));
	REQUIRE(ev->type != AGENT_EV_TEXT || ev->text.n > 0);
	REQUIRE(ev->type != AGENT_EV_TOOL_BEGIN || ev->text.n <= about_max);
	REQUIRE(ev->delay_ms >= 0);
	seen->sessions += ev->type == AGENT_EV_SESSION;
	seen->tools += ev->type == AGENT_EV_TOOL_BEGIN;
	seen->tools -= ev->type == AGENT_EV_TOOL_END;
	REQUIRE(seen->sessions <= 1 && seen->tools >= 0);
	str_addf(&seen->log, "%d %.*s %.*s %s %d\n", (int)ev->type, SV_ARG(ev->text),
		SV_ARG(ev->tool), ev->session ? ev->session : "", ev->failed);
}

static inline void on_working(void *data)
{
	struct seen *seen = data;

	str_adds(&seen->log, "working\n");
}

/* The first byte says where the others are cut. */
static inline int check_cuts(const uint8_t *data, size_t size,
	void (*run)(struct seen *seen, struct sv head, struct sv rest))
{
	struct seen whole = { .log = STR_INIT }, parts = { .log = STR_INIT };

	if (size == 0)
		return 0;
	struct sv text = sv_make((const char *)data + 1, size - 1);
	size_t cut = text.n * data[0] / 256;
	run(&whole, text, SV(""));
	run(&parts, sv_head(text, cut), sv_from(text, cut));
	REQUIRE(sv_eq(str_sv(&whole.log), str_sv(&parts.log)));
	str_release(&whole.log);
	str_release(&parts.log);
	return 0;
}
