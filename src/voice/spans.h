/*
 * Where in a recording somebody speaks; and how loud it should have been recorded.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "voice/vad.h"

struct speech_span {
	size_t from, to; /* samples at 16 kHz */
};
enum { SPANS_MAX = 1024 };

/* Spans of speech, from first to last, with a margin around each; those that would touch are one.
 * vad is reset before and after. How many. */
size_t spans_find(
	struct vad *vad, const int16_t *samples, size_t n, struct speech_span *ret, size_t max);

/* What to multiply samples with so that speech in them is as loud as an engine likes it: never more
 * than makes the loudest clip, and no more than 40 dB. */
float level_gain(const int16_t *samples, size_t n);
