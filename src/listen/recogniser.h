/*
 * Speech to text beside a loop: one recording after the other, on a thread of its own. Its models
 * take some hundred MB: they are loaded while somebody still speaks, and go when nobody has spoken
 * for a while.
 *
 * A recording ends with a second and more of silence. What was said is recognised meanwhile, and
 * when nobody spoke on, its text is there with the end of it.
 */
#pragma once

#include "listen/endpoint.h"
#include "os/loop.h"
#include "voice/stt.h"

struct recogniser_ops {
	/* On the recogniser's thread, whenever the models are wanted and not there. */
	int (*open)(void *data, struct stt **ret, struct err *reterr);
	/* On the loop's thread, once for each recording, in their order but for those that are
	 * cancelled. r negative: err says why; id 0: the models were wanted ahead, and could not be
	 * had. All is valid for the call. */
	void (*done)(void *data, uint64_t id, size_t samples, int r,
		const struct stt_result *result, const struct err *err);
};

struct recogniser;
/* ops is borrowed. NULL with reterr set when the system gives no thread. */
struct recogniser *recogniser_new(
	struct loop *loop, const struct recogniser_ops *ops, void *data, struct err *reterr);
/* What was not recognised yet is told to be cancelled before it returns; NULL is fine. */
void recogniser_free(struct recogniser *r);
/* Somebody speaks: the models will be wanted. */
void recogniser_warm(struct recogniser *r);
/* Perhaps that was all: a copy of what is still recorded. Takes the samples, tells nothing; the
 * next recording that is `as_paused` gets its text. */
void recogniser_ahead(struct recogniser *r, struct endpoint_recording *recording);
/* Takes the samples; id is above 0. */
void recogniser_run(struct recogniser *r, uint64_t id, struct endpoint_recording *recording);
