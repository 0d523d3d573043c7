/*
 * What an engine of text to speech gives, and what it finds.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "voice/tts.h"

struct tts {
	const struct tts_driver *driver;
	struct tts_opts opts; /* all it points to is copied, but models */
	char *program; /* found in opts.search; NULL: none is needed */
	void *state; /* the driver's own */
	atomic_bool cancelled;
	int cancel_fd; /* readable from tts_cancel() to tts_again() */
};

struct tts_driver {
	const char *name;
	/* May be NULL. ERR_NOTFOUND with what to install. */
	int (*open)(struct tts *t, struct err *reterr);
	int (*say)(struct tts *t, struct sv text, const char *language, tts_sink_fn sink,
		void *data, struct err *reterr);
	/* Loads what the first sentence would wait for; may be NULL. */
	void (*warm)(struct tts *t);
	/* For what does not look at cancel_fd; may be NULL. From any thread. */
	void (*stop)(struct tts *t, bool stop);
	void (*close)(struct tts *t); /* may be NULL */
};

extern const struct tts_driver tts_driver_piper;

/* The voice for a language: of "de=NAME,en=NAME" that one, else what there is. Appends, nothing
 * when no voice is set. */
void tts_voice(struct str *out, const struct tts *t, const char *language);
/* Finds espeak-ng for t->program. */
int tts_need_espeak(struct tts *t, struct err *reterr) MUST_USE;
