/*
 * Sentences that lead nowhere are not sent: to an agent that knows nothing of what they lean on
 * they mean nothing. What there is instead is told, with how to get there.
 */
#pragma once

#include "assist/decide.h"

/*
 * Nothing but that it goes on was said (assist/correct.h), and *d is what would be done. When what
 * is meant, the newest here, is open in its agent, it is waited for there; when nothing goes on
 * here, *d is a reply.
 */
int nowhere_to_go_on(const struct decide_opts *o, struct decision *d, struct err *reterr) MUST_USE;

/* In a talk that is not routed: whether the text is a correction of where a sentence went, such as
 * single ones are told of, and no answer to the agent. Then *d is a reply. */
bool nowhere_to_be_led(const struct decide_opts *o, struct sv text, struct decision *d);

/* The text goes back to something that nobody has spoken of, and has no name: then *d, with what
 * the router looked at, is a reply, and the result 1; else 0. */
int nowhere_to_go_back(const struct decide_opts *o, struct sv text, struct decision *d,
	struct err *reterr) MUST_USE;
