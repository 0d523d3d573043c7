/*
 * For tests of Codex's two outputs: events as one line of words.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "base/mem.h"

static inline void put_event(struct str *out, const struct agent_event *ev)
{
	static const char *const names[] = {
		[AGENT_EV_TEXT] = "",
		[AGENT_EV_BREAK] = "|",
		[AGENT_EV_THINKING] = "think ",
		[AGENT_EV_TOOL_BEGIN] = "begin ",
		[AGENT_EV_TOOL_END] = "end ",
		[AGENT_EV_RETRY] = "retry ",
		[AGENT_EV_SESSION] = "session ",
	};

	str_addf(out, "<%s%.*s%s%.*s%s%s>", names[ev->type], SV_ARG(ev->tool),
		ev->tool.n && ev->text.n ? ": " : "", SV_ARG(ev->text),
		ev->session ? ev->session : "", ev->failed ? " failed" : "");
}
