/*
 * The error value.
 *
 * A fallible function returns int: 0 (or a non-negative result) on success, a negative code on
 * failure: -errno, or one of the ERR_ codes below. Its last parameter is struct err *reterr, which
 * may be NULL, is written only on failure, and holds the message a person can act on. The struct
 * owns no memory, so it needs no release and works when memory is gone.
 *
 * Who adds what: the lowest level says what failed ("open /x: Permission denied"), a caller that
 * knows more puts it in front with err_prefix(). Nobody below cli/ prints.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"

/* code, number, name, exit status (design: 1 nothing found, 2 usage, 3 bad input, 4 agent,
 * 5 storage or network, 70 a bug of ours, 128+n a signal) */
/* clang-format off */
#define ERR_LIST(X) \
	X(ERR_NOTFOUND,  -5001, "not-found", 1) \
	X(ERR_USAGE,     -5002, "usage", 2) \
	X(ERR_INPUT,     -5003, "bad-input", 3) \
	X(ERR_LIMIT,     -5004, "limit", 3) \
	X(ERR_AMBIGUOUS, -5005, "ambiguous", 3) \
	X(ERR_AGENT,     -5006, "agent", 4) \
	X(ERR_CANCELLED, -5007, "cancelled", 130) \
	X(ERR_STORE,     -5008, "store", 5) \
	X(ERR_NEWER,     -5009, "newer-version", 5) \
	X(ERR_BUSY,      -5010, "busy", 5) \
	X(ERR_BUG,       -5011, "bug", 70) \
	X(ERR_DENIED,    -5012, "denied", 6)
/* clang-format on */

enum err_code {
#define X(code, number, name, status) code = (number),
	ERR_LIST(X)
#undef X
};

enum { ERR_MSG_MAX = 480 };

struct err {
	int code;
	char msg[ERR_MSG_MAX]; /* one line, NUL-terminated, cut at a character boundary */
};

#define ERR_INIT          \
	{                 \
		.code = 0 \
	}

/* Sets code and message; returns code, so that callers write `return err_set(…)`. */
int err_set(struct err *reterr, int code, const char *fmt, ...) PRINTF(3, 4);

/* Sets -errnum and the message followed by ": " and the system's text; returns -errnum. */
int err_errno(struct err *reterr, int errnum, const char *fmt, ...) PRINTF(3, 4);

/* Puts context in front of the message: "context: message". */
void err_prefix(struct err *reterr, const char *fmt, ...) PRINTF(2, 3);

/* Short stable name of a code for programs: "not-found", "io" for errno values. */
const char *err_name(int code);

/* The program's exit status for a code. */
int err_exit_status(int code);
