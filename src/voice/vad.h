/*
 * Does somebody speak? A probability for each frame, from Silero's model, or, where that is not
 * installed, by how much louder it is than the room.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"

enum { VAD_FRAME = 512 }; /* samples at 16 kHz: 32 ms */

struct models;

struct vad;
/* engine: "silero" or "energy". */
int vad_new(
	const char *engine, struct models *models, struct vad **ret, struct err *reterr) MUST_USE;
void vad_free(struct vad *v); /* NULL is fine */
float vad_feed(struct vad *v, const int16_t *frame); /* 0 to 1 */
void vad_reset(struct vad *v);
