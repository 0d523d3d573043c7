/*
 * An engine that is a program: something on its input, what it writes handed on as it comes. It
 * blocks: for a thread of its own.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct program {
	const char *const *argv; /* argv[0] found already */
	const char *const *envp;
	struct sv in;
	int64_t timeout_ms; /* until its first byte, and between two; at its end, until it is gone
			     */
	int cancel_fd; /* readable: it is killed, ERR_CANCELLED; -1: none */
};
/* Negative ends it, and is returned. */
typedef int (*program_fn)(void *data, struct sv bytes);

/*
 * Until it has ended well. -ETIMEDOUT when it hangs (it is killed), ERR_AGENT when it fails or
 * dies, with what it says itself; also when it has written something before.
 */
int program_run(
	const struct program *program, program_fn fn, void *data, struct err *reterr) MUST_USE;
