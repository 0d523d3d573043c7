/*
 * Progress of long work: one line, on a terminal only, and only when the work takes longer than
 * PROGRESS_DELAY_MS. Give it the standard error's term. There is no clock in here: every call
 * takes the time, in milliseconds of any clock that only goes forward.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "ui/term.h"

enum { PROGRESS_DELAY_MS = 300, PROGRESS_EVERY_MS = 100 };

enum progress_unit { PROGRESS_ITEMS, PROGRESS_BYTES, PROGRESS_SECONDS };

struct progress {
	struct term *term;
	struct str label;
	enum progress_unit unit;
	int64_t start_ms, drawn_ms;
	bool drawn;
};

/* The label is our own text: "Reading sessions". */
void progress_init(struct progress *p, struct term *term, struct sv label, enum progress_unit unit,
	int64_t now_ms);
/* total 0: not known. Cheap when nothing is drawn; writes and flushes when something is. */
void progress_update(struct progress *p, uint64_t done, uint64_t total, int64_t now_ms);
/* Takes the line off the screen and frees. */
void progress_release(struct progress *p);
