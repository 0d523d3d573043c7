/*
 * "12 s left" on a terminal's standard error while somebody has to wait; nothing anywhere else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "os/loop.h"

struct countdown {
	FILE *to;
	struct loop *loop;
	struct loop_source *timer;
	int64_t until_ms; /* age clock */
	bool shows; /* a terminal that can erase a line */
	bool visible;
};

/* `loop` drives countdown_begin(); may be NULL for countdown_show() alone. */
void countdown_init(struct countdown *c, FILE *to, bool shows, struct loop *loop);
/* Counts so many milliseconds down, every second. */
void countdown_begin(struct countdown *c, int64_t ms);
/* Shows this figure once; the caller counts. */
void countdown_show(struct countdown *c, int64_t seconds);
/* Erases it and stops. Harmless when nothing is shown. */
void countdown_end(struct countdown *c);
