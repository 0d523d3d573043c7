/*
 * Speech to text: one interface, one driver an engine. What was said is levelled and trimmed to its
 * speech before an engine gets it. It blocks for as long as it takes: for a worker's thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct models;

struct stt_opts {
	const char *engine; /* "whisper", "moonshine", "http", "exec" */
	const char *model; /* of whisper "base" or "small"; of http the server's name for it */
	/* Of the speech: "de", "en", or "auto" for one of `languages`. */
	const char *language;
	const char *const *languages; /* that auto chooses from; until NULL. NULL: de and en */
	const char *const *hot_words; /* names and projects, where the engine can; may be NULL */
	struct models *models;
	const char *url; /* of http: where /v1/audio/transcriptions is below */
	const char *key; /* of http; NULL: none. Never logged */
	const char *const *command; /* of exec: a WAV on its input, the text on its output;
				     * the first is a path, found already */
	const char *const *envp; /* of exec's process */
	int64_t timeout_ms; /* of http and exec; 0: 30 s */
};

/* It runs here, by networks of ours: to try is free. */
bool stt_is_ours(const char *engine);

/* Whether stt_new() will find what it loads, and its errors where not; nothing is loaded, and
 * only with `read` is looked at more than the sizes of files. */
int stt_look(const struct stt_opts *opts, bool read, struct err *reterr) MUST_USE;

struct stt;
/* Loads the models. ERR_NOTFOUND with the command that installs them, or without the program of
 * exec; ERR_INPUT when they are damaged, ERR_USAGE when what is to be set is not. */
int stt_new(const struct stt_opts *opts, struct stt **ret, struct err *reterr) MUST_USE;
void stt_free(struct stt *s); /* NULL is fine */

struct stt_result {
	struct str text; /* trimmed, valid UTF-8; empty: nothing was understood */
	char language[8]; /* "de", "en"; empty: not known */
	double took_s;
};
/* n samples at 16 kHz. *ret_result (storage is the caller's, zeroed) is filled on success.
 * -EBADMSG or ERR_LIMIT when the engine works, but what it answers is no text that anybody said;
 * ERR_CANCELLED after stt_cancel(). */
int stt_run(struct stt *s, const int16_t *samples, size_t n, struct stt_result *ret_result,
	struct err *reterr) MUST_USE;
/* From any thread, for leaving: a run that goes on ends early, and so does every later one. */
void stt_cancel(struct stt *s);
void stt_result_release(struct stt_result *r);
