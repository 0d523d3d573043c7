/*
 * Sentences that lead nowhere are not sent: to an agent that knows nothing of what they lean on
 * they mean nothing. What there is instead is told, with how to get there.
 */
#pragma once

#include "assist/decide.h"

/*
 * Nothing but that it goes on was said (assist/correct.h), and *d is what would be done. When what
 * is meant is open in its agent, it is waited for there; when nothing goes on here, *d is a reply.
 */
int nowhere_to_go_on(const struct decide_opts *o, struct decision *d, struct err *reterr) MUST_USE;

/* The text goes back to something that nobody has spoken of, and has no name: then *d, with what
 * the router looked at, is a reply, and the result 1; else 0. */
int nowhere_to_go_back(const struct decide_opts *o, struct sv text, struct decision *d,
	struct err *reterr) MUST_USE;
