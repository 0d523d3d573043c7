/*
 * `faden voice test`: plays, records, recognises, and says of each part whether it works, and what
 * to do when it does not.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/print.h"
#include "cli/voice.h"
#include "config/settings.h"
#include "os/loop.h"
#include "voice/http.h"
#include "voice/player.h"

enum {
	RECORD_S = 4,
	WAIT_MS = 20000, /* for a loudspeaker that takes nothing */
	QUIET = 40, /* of 32767: a microphone in a room is never as quiet */
	LOUD = 32000,
};

struct trial {
	struct app *app;
	struct models *models;
	bool failed;
	bool over;
	bool sounded; /* the sound before the sentence was heard */
	struct err err; /* of the loudspeaker */
	struct err voice; /* of the sentence, where the loudspeaker works */
};

static bool is_engine(const char *engine, const char *name)
{
	return strcmp(engine, name) == 0;
}

/* remedy may be NULL. */
static void PRINTF(4, 5)
	told(struct trial *t, const char *part, const char *remedy, const char *fmt, ...)
{
	AUTO_STR line = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_addvf(&line, fmt, ap);
	va_end(ap);
	say_line(t->app->out, "%-5s %-12s %s", remedy ? "fail" : "ok", part, line.buf);
	if (remedy)
		say_line(t->app->out, "      -> %s", remedy);
	(void)fflush(t->app->out);
	t->failed |= remedy != NULL;
}

static void on_mouth(void *data, const struct player_event *e)
{
	struct trial *t = data;

	if (e->kind == PLAYER_ENDS && e->r < 0) {
		struct err *of = e->spoken && t->sounded ? &t->voice : &t->err;
		if (of->code == 0)
			*of = *e->err;
	}
	t->sounded |= e->kind == PLAYER_ENDS && e->r == 0 && !e->spoken;
	t->over |= e->kind == PLAYER_ENDS && e->idle;
}

static void on_late(void *data)
{
	struct trial *t = data;

	(void)err_set(&t->err, ERR_BUSY, "the loudspeaker takes no sound");
	t->over = true;
}

static const char *voice_remedy(const char *engine)
{
	return is_engine(engine, "exec")     ? "see to the program of tts.command, or set another "
					       "tts.provider"
		: is_engine(engine, "http")  ? "see to the server of tts.url, or set another "
					       "tts.provider"
		: is_engine(engine, "piper") ? "set tts.voice to the .onnx file of a voice and "
					       "install espeak-ng, or set another "
					       "tts.provider"
					     : "install espeak-ng, or set tts.provider";
}

static int try_mouth(struct trial *t, struct err *reterr)
{
	struct loop *loop = loop_new();
	const struct audio_opts out = voice_out(t->app, NULL);
	const struct tts_opts how = voice_tts_opts(t->app, t->models);
	struct player_opts opts = { .out = &out };
	struct player *p = NULL;
	struct err err = ERR_INIT;
	bool german = strcmp(t->app->locale, "de") == 0;

	if (tts_new(&how, &opts.tts, &err) < 0) {
		opts.tts = NULL;
		told(t, "voice", voice_remedy(how.engine), "%s", err.msg);
	}
	int r = player_new(loop, &opts, on_mouth, t, &p, reterr);
	if (r == 0) {
		(void)player_sound(p, SOUND_DING);
		if (opts.tts)
			(void)player_say(p,
				german ? SV("Bitte sag jetzt etwas.")
				       : SV("Please say something now."),
				german ? "de" : "en");
		struct loop_source *late = loop_add_timer(loop, WAIT_MS, on_late, t);
		r = loop_run(loop, &t->over, reterr);
		if (r == 0 && t->err.code == 0)
			told(t, "loudspeaker", NULL, "a sound%s came out",
				opts.tts && t->voice.code == 0 ? " and a sentence" : "");
		else if (r == 0)
			told(t, "loudspeaker",
				"see that a sound server runs (pactl info) or name the device: "
				"audio.driver, audio.output_device",
				"%s", t->err.msg);
		if (r == 0 && t->voice.code != 0)
			told(t, "voice", voice_remedy(how.engine), "%s", t->voice.msg);
		if (t->err.code == 0)
			loop_remove(loop, late);
	}
	player_free(p);
	loop_free(loop);
	return r;
}

/* So many seconds of the microphone; 0 samples when there is none. */
static size_t record(struct trial *t, int16_t *samples, size_t n)
{
	const struct audio_opts how = voice_in(t->app, NULL);
	struct audio_in *in = NULL;
	struct err err = ERR_INIT;
	size_t got = 0;
	int r = audio_in_open(&how, &in, &err);

	if (r == 0)
		say_line(t->app->out, "      listening for %d seconds on %s: say something",
			RECORD_S, audio_in_name(in));
	(void)fflush(t->app->out);
	while (r >= 0 && got < n) {
		r = audio_in_read(in, samples + got, n - got, &err);
		if (r == 0)
			break;
		got += r > 0 ? (size_t)r : 0;
	}
	audio_in_free(in);
	if (r < 0)
		told(t, "microphone",
			"plug it in, see that no other program holds it, or name it: audio.driver, "
			"audio.input_device",
			"%s", err.msg);
	return r < 0 ? 0 : got;
}

static const char *ears_remedy(const char *engine)
{
	return is_engine(engine, "exec")    ? "see to the program of stt.command, or set another "
					      "stt.provider"
		: is_engine(engine, "http") ? "see to the server of stt.url, or set another "
					      "stt.provider"
					    : "faden voice install, or set stt.provider";
}

/* What would be done with speech, where there was none. */
static void tell_untried(struct trial *t, const struct stt_opts *how)
{
	struct err err = ERR_INIT;

	if (stt_is_ours(how->engine))
		told(t, "recogniser", NULL, "%s is ready", how->engine);
	else if (is_engine(how->engine, "exec"))
		told(t, "recogniser", NULL, "%s is there; not tried: nothing was said",
			how->command[0]);
	else if (http_knock(how->url, &err) < 0)
		told(t, "recogniser", ears_remedy(how->engine), "%s", err.msg);
	else
		told(t, "recogniser", NULL, "%s can be reached; not tried: nothing was said",
			how->url);
}

static void try_ears(struct trial *t)
{
	const size_t n = (size_t)AUDIO_RATE * RECORD_S;
	AUTO_FREE int16_t *samples = xreallocarray(NULL, n, sizeof(*samples));
	AUTO_STRV command = STRV_INIT;
	const struct stt_opts how = voice_stt_opts(t->app, t->models, NULL, &command);
	struct stt_result text = { .text = STR_INIT };
	struct vad *vad = NULL;
	struct stt *stt = NULL;
	struct err err = ERR_INIT;
	size_t got = record(t, samples, n), speech = 0;
	int peak = 0;

	for (size_t i = 0; i < got; i++)
		peak = abs(samples[i]) > peak ? abs(samples[i]) : peak;
	if (got > 0 && peak < QUIET)
		told(t, "microphone", "turn it on: it is muted, or another one is meant",
			"nothing but silence");
	else if (got > 0)
		told(t, "microphone",
			peak > LOUD ? "turn it down: what is too loud is distorted" : NULL,
			"heard, at most %d %% loud", peak * 100 / 32767);
	if (voice_vad(t->app, t->models, &vad, &err) < 0) {
		told(t, "speech", "faden voice install", "%s", err.msg);
	} else if (got > 0) {
		for (size_t i = 0; i + VAD_FRAME <= got; i += VAD_FRAME)
			if ((double)vad_feed(vad, samples + i) >=
				t->app->settings->audio_vad_threshold)
				speech += VAD_FRAME;
		told(t, "speech", speech ? NULL : "speak while it listens, nearer to it",
			"%.1f s of it", (double)speech / AUDIO_RATE);
	}
	int r = voice_stt(&how, &stt, &err);
	if (r == 0 && speech > 0)
		r = stt_run(stt, samples, got, &text, &err);
	if (r < 0)
		told(t, "recogniser", ears_remedy(how.engine), "%s", err.msg);
	else if (speech > 0)
		told(t, "recogniser",
			text.text.len ? NULL : "speak more clearly, or try --model small",
			"\"%s\" in %.1f s", text.text.buf, text.took_s);
	else
		tell_untried(t, &how);
	stt_free(stt);
	vad_free(vad);
	stt_result_release(&text);
}

int voice_test(struct app *app, struct err *reterr)
{
	struct trial t = { .app = app, .models = models_new(app->paths.models_dir) };
	struct wake *wake = NULL;
	struct err err = ERR_INIT;

	if (voice_wake(app, t.models, &wake, &err) < 0)
		told(&t, "wake word", "faden voice install", "%s", err.msg);
	else
		told(&t, "wake word", NULL, "it would hear \"Hey Jarvis\"");
	wake_free(wake);
	int r = try_mouth(&t, reterr);
	if (r == 0)
		try_ears(&t);
	models_free(t.models);
	return r < 0 ? r : t.failed ? 1 : 0;
}
