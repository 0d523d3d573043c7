/*
 * What an engine of speech to text is to voice/stt.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "voice/stt.h"

struct stt_driver {
	const char *name;
	bool ours; /* our own networks: it costs nothing but time */
	/* Whether all is there that it would load; NULL: opening is nothing. */
	int (*look)(const struct stt_opts *opts, bool read, struct err *reterr);
	int (*open)(const struct stt_opts *opts, void **ret, struct err *reterr);
	/* n samples at 16 kHz, -1 to 1: one utterance, trimmed and levelled, STT_SECONDS_MAX at
	 * most. Text and language of *result are appended to and set. */
	int (*run)(void *self, const float *samples, size_t n, struct stt_result *result,
		struct err *reterr);
	void (*stop)(void *self); /* from any thread: it runs no more */
	void (*close)(void *self);
};

enum { STT_SECONDS_MAX = 29 }; /* Whisper hears 30 */

extern const struct stt_driver stt_whisper, stt_moonshine, stt_http, stt_exec;

/* Such samples as a WAV, appended. */
void stt_wav(struct str *out, const float *samples, size_t n);
/* What somebody else's engine says was said in n samples: -EBADMSG when that is no text of speech:
 * not UTF-8, full of control characters, or more than anybody can say in that time. */
int stt_believe(struct sv text, size_t n, const char *who, struct err *reterr) MUST_USE;
/* A server's answer, {"text": …} with perhaps a "language": -EBADMSG when it is something else. */
enum { STT_ANSWER_MAX = 1024 * 1024 };
int stt_answer(struct sv json, struct stt_result *result, struct err *reterr) MUST_USE;
/* Makes an eventfd readable. */
void stt_signal(int fd);
/* Processors that one utterance may have. */
int stt_threads(void);
