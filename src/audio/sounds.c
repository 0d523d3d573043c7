#include "audio/sounds.h"

#include <math.h>

/* One tone, or a pause (no frequency). */
struct tone {
	unsigned hertz, ms;
	double loud; /* of full scale */
	bool fades; /* from its beginning to nothing, as a bell does */
};

struct melody {
	const char *name;
	struct tone tones[3];
};

enum { EDGE_MS = 8 }; /* in which a tone comes and goes: what is cut off clicks */

static const struct melody melodies[SOUND_COUNT] = {
	[SOUND_DING] = { "ding", { { 880, 200, 0.5, true } } },
	[SOUND_PROCESSING] = { "processing",
		{ { 880, 100, 0.4, false }, { 0, 50, 0, false }, { 660, 150, 0.4, false } } },
	[SOUND_READY] = { "ready",
		{ { 660, 150, 0.4, false }, { 0, 50, 0, false }, { 880, 100, 0.4, false } } },
	[SOUND_THINKING] = { "thinking", { { 440, 100, 0.25, false } } },
	[SOUND_ERROR] = { "error", { { 330, 150, 0.4, false }, { 220, 200, 0.4, false } } },
};

const char *sound_name(enum sound sound)
{
	return melodies[sound].name;
}

static void make_tone(const struct tone *t, unsigned rate, struct samples *out)
{
	size_t n = (size_t)t->ms * rate / 1000, edge = (size_t)EDGE_MS * rate / 1000;
	int16_t *to = samples_grow(out, n);

	for (size_t i = 0; i < n; i++) {
		double loud = t->loud;
		size_t to_end = n - 1 - i;
		if (t->fades)
			loud *= (double)to_end / (double)n;
		if (i < edge)
			loud *= 0.5 - 0.5 * cos(M_PI * (double)i / (double)edge);
		if (to_end < edge)
			loud *= 0.5 - 0.5 * cos(M_PI * (double)to_end / (double)edge);
		double value = loud * sin(2 * M_PI * t->hertz * (double)i / rate);
		to[i] = (int16_t)lrint(value * INT16_MAX);
	}
}

void sound_make(enum sound sound, unsigned rate, struct samples *out)
{
	for (size_t i = 0; i < ARRAY_LEN(melodies[sound].tones); i++)
		make_tone(&melodies[sound].tones[i], rate, out);
}
