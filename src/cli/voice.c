#include "cli/voice.h"

#include <string.h>

#include "base/mem.h"
#include "cli/env.h"
#include "config/settings.h"
#include "os/path.h"

static const char *or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static bool is_auto(const char *choice)
{
	return strcmp(choice, "auto") == 0;
}

static struct audio_opts device(const struct app *app, const char *named, const char *set)
{
	const char *driver = app->settings->audio_driver;

	return (struct audio_opts){
		.driver = is_auto(driver) ? NULL : driver,
		.device = named ? named : or_null(set),
		.fd = -1,
		.envp = env_all(),
	};
}

struct audio_opts voice_in(const struct app *app, const char *name)
{
	return device(app, name, app->settings->audio_input_device);
}

struct audio_opts voice_out(const struct app *app, const char *name)
{
	return device(app, name, app->settings->audio_output_device);
}

static bool has_model(const struct models *models, const char *name)
{
	const struct model_def *def = model_find(sv_of(name));

	return def && models_state(models, def, false) == MODEL_WHOLE;
}

/* What is missing has one remedy, whatever part of it was looked for first; model: of those that
 * `voice install` does not get by itself, or NULL. */
static int not_installed(int r, const char *model, struct err *reterr)
{
	return r == ERR_NOTFOUND
		? err_set(reterr, r,
			  "what listening needs is not installed: 'faden voice install%s%s' gets "
			  "it",
			  model ? " --model " : "", model ? model : "")
		: r;
}

static int stt_not_installed(int r, const struct stt_opts *opts, struct err *reterr)
{
	if (!stt_is_ours(opts->engine))
		return r;
	bool whisper = strcmp(opts->engine, "whisper") == 0;
	const char *model = whisper ? opts->model : opts->engine;

	return not_installed(r, model && strcmp(model, "base") != 0 ? model : NULL, reterr);
}

struct stt_opts voice_stt_opts(
	const struct app *app, struct models *models, const char *language, struct strv *command)
{
	const struct settings *s = app->settings;
	struct stt_opts o = {
		.engine = s->stt_provider,
		.model = or_null(s->stt_model),
		.language = language ? language : s->stt_language,
		.hot_words = s->stt_hot_words.n ? (const char *const *)s->stt_hot_words.v : NULL,
		.models = models,
		.url = or_null(s->stt_url),
		.key = s->stt_key_env[0] ? env_get(s->stt_key_env) : NULL,
		.envp = env_all(),
		.timeout_ms = s->stt_timeout,
	};

	for (size_t i = 0; i < s->stt_command.n; i++) {
		char *found = i ? NULL : path_find_program(s->stt_command.v[0], app->paths.search);
		strv_take(command, found ? found : xstrdup(s->stt_command.v[i]));
	}
	o.command = command->n ? (const char *const *)command->v : NULL;

	if (is_auto(o.engine))
		o.engine = o.command ? "exec" : o.url ? "http" : "whisper";
	if (strcmp(o.engine, "whisper") == 0 && !o.model)
		o.model = has_model(models, "whisper-small") ? "small" : "base";
	return o;
}

int voice_stt(const struct stt_opts *opts, struct stt **ret, struct err *reterr)
{
	return stt_not_installed(stt_new(opts, ret, reterr), opts, reterr);
}

int voice_stt_look(const struct stt_opts *opts, bool read, struct err *reterr)
{
	return stt_not_installed(stt_look(opts, read, reterr), opts, reterr);
}

struct tts_opts voice_tts_opts(const struct app *app, struct models *models)
{
	const struct settings *s = app->settings;
	struct tts_opts o = {
		.engine = s->tts_provider,
		.voice = or_null(s->tts_voice),
		.speed = s->tts_speed,
		.models = models,
		.model = or_null(s->tts_model),
		.url = or_null(s->tts_url),
		.key = s->tts_key_env[0] ? env_get(s->tts_key_env) : NULL,
		.command = s->tts_command.n ? (const char *const *)s->tts_command.v : NULL,
		.search = app->paths.search,
		.envp = env_all(),
		.timeout_ms = s->tts_timeout,
	};

	if (is_auto(o.engine)) {
		bool piper = o.voice && sv_ends(sv_of(o.voice), SV(".onnx"));
		o.engine = o.command ? "exec" : o.url ? "http" : piper ? "piper" : "espeak";
	}
	return o;
}

int voice_wake(const struct app *app, struct models *models, struct wake **ret, struct err *reterr)
{
	const struct settings *s = app->settings;
	const struct wake_opts o = {
		.engine = is_auto(s->wake_word_engine) ? "openwakeword" : s->wake_word_engine,
		.models = models,
		.threshold = s->wake_word_threshold,
		.bare_threshold = s->wake_word_bare ? s->wake_word_bare_threshold : 0,
	};

	return not_installed(wake_new(&o, ret, reterr), NULL, reterr);
}

int voice_vad(const struct app *app, struct models *models, struct vad **ret, struct err *reterr)
{
	const char *engine = app->settings->audio_vad;
	int r = vad_new(is_auto(engine) ? "silero" : engine, models, ret, reterr);

	return r == ERR_NOTFOUND && is_auto(engine) ? vad_new("energy", models, ret, reterr) : r;
}
