/*
 * A whole recording, whatever its form: WAV by our own reader, FLAC, OGG and others by libsndfile
 * where that is installed; it is opened when one is read.
 */
#pragma once

#include "audio/wav.h"

/* As wav_load(): samples at `rate`, at most max_s seconds. ERR_NOTFOUND when it is no WAV and
 * libsndfile is missing. */
int sound_file_load(const char *path, unsigned rate, double max_s, struct samples *ret_samples,
	struct err *reterr) MUST_USE;
