/*
 * Text to speech: one interface, one driver an engine. It blocks while it speaks into the sink: for
 * a thread of its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct models;

/* Some samples of speech, mono; rate is the same throughout a call. Negative: stop, which
 * tts_say() then returns. */
typedef int (*tts_sink_fn)(void *data, const int16_t *samples, size_t n, unsigned rate);

struct tts_opts {
	const char *engine; /* "espeak", "piper", "http", "exec" */
	const char
		*voice; /* by the engine's name or, of piper, the .onnx file; NULL: by language */
	double speed; /* 1: the engine's own */
	struct models *models;
	const char *model; /* of http */
	const char *url; /* of http: where /v1/audio/speech is below */
	const char *key; /* of http; NULL: none. Never logged */
	const char *const *command; /* of exec: text on its input, a WAV on its output */
	const char *search; /* folders of programs, as PATH has them */
	const char *const *envp; /* of child processes */
	int64_t timeout_ms; /* until the first sound; 0: 10 s */
};

struct tts;
/* ERR_NOTFOUND with what to install when the engine is not there, ERR_USAGE with what to set. */
int tts_new(const struct tts_opts *opts, struct tts **ret, struct err *reterr) MUST_USE;
void tts_free(struct tts *t); /* NULL is fine */
/* Loads what the first sentence would have to wait for; blocks as long. On the thread that says. */
void tts_warm(struct tts *t);
/* One sentence, of what voice/speakable made; language "de", "en". */
int tts_say(struct tts *t, struct sv text, const char *language, tts_sink_fn sink, void *data,
	struct err *reterr) MUST_USE;
/* From any thread: tts_say() returns ERR_CANCELLED, within some milliseconds, and so does each one
 * until tts_again(). */
void tts_cancel(struct tts *t);
void tts_again(struct tts *t);
