#include "audio/resample.h"

#include <assert.h>
#include <speex/speex_resampler.h>

#include "base/mem.h"

enum { QUALITY = 6 }; /* of 10: speech has nothing that more would keep */

struct resampler {
	SpeexResamplerState *state; /* NULL: both rates are the same */
	unsigned from, to;
};

struct resampler *resampler_new(unsigned from, unsigned to)
{
	struct resampler *r = xcalloc(1, sizeof(*r));
	int failed = 0;

	r->from = from;
	r->to = to;
	if (from == to)
		return r;
	r->state = speex_resampler_init(1, from, to, QUALITY, &failed);
	assert(r->state && !failed); /* no memory, or a rate of 0 */
	(void)speex_resampler_skip_zeros(r->state);
	return r;
}

void resampler_free(struct resampler *r)
{
	if (!r)
		return;
	if (r->state)
		speex_resampler_destroy(r->state);
	free(r);
}

void resampler_feed(struct resampler *r, const int16_t *in, size_t n, struct samples *out)
{
	int16_t ready[2048];

	if (!r->state) {
		samples_add(out, in, n);
		return;
	}
	while (n) {
		spx_uint32_t taken = n < 4096 ? (spx_uint32_t)n : 4096;
		spx_uint32_t made = ARRAY_LEN(ready);
		(void)speex_resampler_process_int(r->state, 0, in, &taken, ready, &made);
		samples_add(out, ready, made);
		in += taken;
		n -= taken;
	}
}

void resampler_flush(struct resampler *r, struct samples *out)
{
	static const int16_t zeros[1024];

	if (!r->state)
		return;
	size_t left = (size_t)speex_resampler_get_input_latency(r->state);
	while (left) {
		size_t n = left < ARRAY_LEN(zeros) ? left : ARRAY_LEN(zeros);
		resampler_feed(r, zeros, n, out);
		left -= n;
	}
	(void)speex_resampler_reset_mem(r->state);
	(void)speex_resampler_skip_zeros(r->state);
}
