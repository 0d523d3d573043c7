/*
 * The technical log: one line an event, "TIME LEVEL text", control characters scrubbed. Passed
 * to whoever has something to say about its own work; a NULL log takes everything silently.
 * It is not for the user: what a person must know is an error, a notice or an event.
 * Lines are written with one write() each, so several processes may share the file.
 */
#pragma once

#include "base/attr.h"
#include "base/clock.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log {
	int fd; /* open for appending; negative: off */
	enum log_level level;
	const struct clock *clock;
};

void log_write(const struct log *log, enum log_level level, const char *fmt, ...) PRINTF(3, 4);
/* "error", "warn", "info", "debug" */
bool log_level_parse(struct sv name, enum log_level *ret);
