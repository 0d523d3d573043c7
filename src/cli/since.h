/*
 * Points in time as people type them.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/*
 * A span before now (90s, 15m, 2h, 3d, 1w), "today", "yesterday", or a date with or without a time
 * (2026-01-31, 2026-01-31 14:00); local time unless it names its offset (Z, +02:00). Anything else
 * is ERR_USAGE.
 */
int since_parse(struct sv text, int64_t now_ms, int64_t *ret_ms, struct err *reterr) MUST_USE;
