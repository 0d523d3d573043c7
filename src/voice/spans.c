#include "voice/spans.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	RATE = 16000,
	MARGIN = RATE / 4, /* before and behind: soft beginnings and ends are no speech to a VAD */
	SHORTEST = 2, /* frames: less is a click */
	LEVEL_FRAME = 320, /* 20 ms */
};
#define BEGINS 0.45F
#define GOES_ON 0.3F
#define LOUD 3277.0F /* a tenth of all: speech at -20 dB, with room for its peaks */
#define GAIN_MAX 100.0F

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

float level_gain(const int16_t *samples, size_t n)
{
	size_t frames = n / LEVEL_FRAME;
	AUTO_FREE float *levels = xmalloc((frames + 1) * sizeof(*levels));
	float peak = 1;

	if (frames == 0)
		return 1;
	for (size_t f = 0; f < frames; f++) {
		float sum = 0;
		for (size_t i = 0; i < LEVEL_FRAME; i++) {
			float s = samples[f * LEVEL_FRAME + i];
			sum += s * s;
			peak = fmaxf(peak, fabsf(s));
		}
		levels[f] = sqrtf(sum / LEVEL_FRAME);
	}
	/* Pauses do not count: speech is the louder part, and one knock is not speech. */
	qsort(levels, frames, sizeof(*levels), by_size);
	float speech = fmaxf(levels[(size_t)((double)frames * 0.9)], 1);
	return fminf(fminf(LOUD / speech, 32000 / peak), GAIN_MAX);
}

size_t spans_find(
	struct vad *vad, const int16_t *samples, size_t n, struct speech_span *ret, size_t max)
{
	float gain = level_gain(samples, n);
	size_t count = 0, begun = 0, run = 0;
	bool on = false;

	vad_reset(vad);
	/* A frame more, of silence, ends what goes on to the end. */
	for (size_t at = 0; at < n + VAD_FRAME; at += VAD_FRAME) {
		int16_t frame[VAD_FRAME] = { 0 };
		for (size_t i = 0; i < VAD_FRAME && at + i < n; i++)
			frame[i] =
				(int16_t)fmaxf(fminf((float)samples[at + i] * gain, 32767), -32768);
		float p = vad_feed(vad, frame);
		bool speech = at < n && p > (on ? GOES_ON : BEGINS);
		if (speech && !on) {
			begun = run == 0 ? at : begun;
			on = ++run >= SHORTEST;
		} else if (!speech && on) {
			size_t from = begun > MARGIN ? begun - MARGIN : 0;
			size_t to = at + MARGIN < n ? at + MARGIN : n;
			if (count > 0 && from <= ret[count - 1].to)
				ret[count - 1].to = to;
			else if (count < max)
				ret[count++] = (struct speech_span){ from, to };
			on = false;
			run = 0;
		} else if (!speech) {
			run = 0;
		}
	}
	vad_reset(vad);
	return count;
}
