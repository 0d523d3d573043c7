/*
 * Is the assistant called? Fed with sound as it comes, an engine says how sure it is; what is a
 * wake and what is not, by threshold and by the time since the last, is common to all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { WAKE_FRAME = 1280 }; /* samples at 16 kHz: 80 ms */

struct models; /* model/model.h: which are installed, and where */

struct wake_opts {
	const char *engine; /* "openwakeword" */
	struct models *models;
	double threshold; /* 0: the engine's own */
	/* The name alone is a call too ("Jarvis"), from this threshold on; 0: it is not. */
	double bare_threshold;
};

struct wake;
/* ERR_NOTFOUND with the command that installs it when a model or the runtime is missing; ERR_INPUT
 * when a model is not what it was when installed. */
int wake_new(const struct wake_opts *opts, struct wake **ret, struct err *reterr) MUST_USE;
void wake_free(struct wake *w); /* NULL is fine */
/* The next WAKE_FRAME samples. *ret_score is set always; true: called, just now. Not true again
 * within a second. */
bool wake_feed(struct wake *w, const int16_t *frame, float *ret_score);
/* Forgets what was heard: after our own voice. */
void wake_reset(struct wake *w);
