/*
 * Ears and mouth as the settings have them.
 */
#pragma once

#include "audio/audio.h"
#include "cli/app.h"
#include "model/model.h"
#include "voice/stt.h"
#include "voice/tts.h"
#include "voice/vad.h"
#include "voice/wake.h"

/* A device by name outranks the settings; NULL: by them. */
struct audio_opts voice_in(const struct app *app, const char *name);
struct audio_opts voice_out(const struct app *app, const char *name);

/* language outranks the settings; NULL: by them. All is borrowed from app, and from `command`,
 * which is filled. */
struct stt_opts voice_stt_opts(
	const struct app *app, struct models *models, const char *language, struct strv *command);
/* Says which one command to run when that is what is missing. */
int voice_stt(const struct stt_opts *opts, struct stt **ret, struct err *reterr) MUST_USE;
/* Loads nothing; read: as of stt_look(). */
int voice_stt_look(const struct stt_opts *opts, bool read, struct err *reterr) MUST_USE;
struct tts_opts voice_tts_opts(const struct app *app, struct models *models);
int voice_wake(const struct app *app, struct models *models, struct wake **ret,
	struct err *reterr) MUST_USE;
/* Where the model is not installed and nobody insists on it, by loudness. */
int voice_vad(const struct app *app, struct models *models, struct vad **ret,
	struct err *reterr) MUST_USE;

/* voice-test.c: plays, records, recognises, and says what is wrong: an exit status, or an error. */
int voice_test(struct app *app, struct err *reterr) MUST_USE;
