/*
 * Time. Two kinds: wall time for display and records, and an age clock that no time zone, no
 * summer time and no setting of the clock can move, and that goes on during suspend.
 *
 * A struct clock is passed to whoever needs time; a fixed one makes a run repeatable.
 * All values are integer milliseconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct clock {
	bool fixed;
	int64_t fixed_ms; /* wall time and age clock alike when fixed */
};

enum { CLOCK_TEXT_MAX = 40 };

int64_t clock_wall_ms(const struct clock *c); /* since 1970 UTC */
int64_t clock_age_ms(
	const struct clock *c); /* since boot, CLOCK_BOOTTIME; NULL: never a fixed one */
int64_t clock_run_ms(void); /* for waiting: it stands still during suspend */

/* "2026-01-31T12:00:00.123Z" */
void clock_format_iso(int64_t wall_ms, char out[static CLOCK_TEXT_MAX]);
/* "2026-01-31 12:00" in local time */
void clock_format_local(int64_t wall_ms, char out[static CLOCK_TEXT_MAX]);
/* "just now", "12 min ago", "3 h ago", "2 days ago" */
void clock_format_ago(int64_t age_ms, char out[static CLOCK_TEXT_MAX]);
/* RFC 3339: date, 'T' or blank, time, optional fraction, 'Z' or an offset (none means UTC). */
bool clock_parse_iso(struct sv text, int64_t *ret_wall_ms);
/* "90s", "15m", "2h", "7d", "3w" → milliseconds. */
bool clock_parse_span(struct sv text, int64_t *ret_ms);
