/*
 * All that is heard in a recording: calls, speech, text.
 */
#pragma once

#include "base/vec.h"
#include "voice/spans.h"
#include "voice/stt.h"
#include "voice/wake.h"

struct call {
	double at_s; /* when it was clear */
	float score;
};

struct heard {
	VEC(struct call) calls;
	struct speech_span *spans; /* of speech */
	size_t n_spans;
	struct stt_result said;
};
void heard_release(struct heard *h);

/* n samples at 16 kHz, as if it had been silent before and is behind. vad must be there; wake and
 * stt may be NULL. *ret (zeroed) is filled. */
int hear_run(struct wake *wake, struct vad *vad, struct stt *stt, const int16_t *samples, size_t n,
	struct heard *ret, struct err *reterr) MUST_USE;
