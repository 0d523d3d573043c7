#include "voice/hear.h"

#include "base/mem.h"

enum { RATE = 16000, BEFORE = RATE / 2, BEHIND = RATE };

void heard_release(struct heard *h)
{
	vec_release(&h->calls);
	free(h->spans);
	stt_result_release(&h->said);
	*h = (struct heard){ .said.text = STR_INIT };
}

int hear_run(struct wake *wake, struct vad *vad, struct stt *stt, const int16_t *samples, size_t n,
	struct heard *ret, struct err *reterr)
{
	if (wake)
		wake_reset(wake);
	for (size_t at = 0; wake && at < BEFORE + n + BEHIND; at += WAKE_FRAME) {
		int16_t frame[WAKE_FRAME] = { 0 };
		float score;
		for (size_t i = 0; i < WAKE_FRAME; i++) {
			if (at + i >= BEFORE && at + i - BEFORE < n)
				frame[i] = samples[at + i - BEFORE];
		}
		if (wake_feed(wake, frame, &score))
			vec_push(&ret->calls,
				(struct call){ ((double)at + WAKE_FRAME - BEFORE) / RATE, score });
	}
	ret->spans = xcalloc(SPANS_MAX, sizeof(*ret->spans));
	ret->n_spans = spans_find(vad, samples, n, ret->spans, SPANS_MAX);
	return stt ? stt_run(stt, samples, n, &ret->said, reterr) : 0;
}
