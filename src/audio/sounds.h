/*
 * The signals of a talk: made, not stored.
 */
#pragma once

#include "audio/wav.h"

enum sound {
	SOUND_DING, /* called: go on and speak */
	SOUND_PROCESSING, /* heard enough */
	SOUND_READY, /* listening again */
	SOUND_THINKING, /* still at work */
	SOUND_ERROR,
	SOUND_COUNT
};

/* Appended at `rate`. It begins and ends in silence, so that nothing clicks. */
void sound_make(enum sound sound, unsigned rate, struct samples *out);
const char *sound_name(enum sound sound); /* "ding" … */
