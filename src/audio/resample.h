/*
 * From one rate to another, as the samples come.
 */
#pragma once

#include "audio/wav.h"

struct resampler;
/* Rates as wav.h allows them; the same one is fine and costs nothing. */
struct resampler *resampler_new(unsigned from, unsigned to);
void resampler_free(struct resampler *r); /* NULL is fine */
/* What n samples become is appended; the last few milliseconds wait for the next. */
void resampler_feed(struct resampler *r, const int16_t *in, size_t n, struct samples *out);
/* There is no more for now: those too. It begins anew afterwards. */
void resampler_flush(struct resampler *r, struct samples *out);
