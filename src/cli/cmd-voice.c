/*
 * What listening needs: got, and tried on recordings.
 */
#include "audio/sound-file.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/models.h"
#include "cli/print.h"
#include "cli/voice.h"
#include "config/settings.h"
#include "model/install.h"
#include "view/json.h"
#include "voice/hear.h"

enum { RATE = 16000, SECONDS_MAX = 4 * 3600 };

struct voice_opts {
	const char *model;
	const char *lang;
	bool bare;
	bool no_text;
	bool json;
};

static const char *const model_choices[] = { "base", "small", "moonshine", NULL };

static const struct opt voice_options[] = {
	OPT_WORD(0, "model", struct voice_opts, model, "NAME", model_choices,
		"speech to text by this one: base, small or moonshine"),
	OPT_STRING(0, "lang", struct voice_opts, lang, "CODE",
		"hear: the language of the speech, de or en; else it is found out"),
	OPT_FLAG(0, "bare", struct voice_opts, bare, "hear: the name alone is a call too"),
	OPT_FLAG(0, "no-text", struct voice_opts, no_text, "hear: only calls and speech"),
	OPT_FLAG(0, "json", struct voice_opts, json, "JSON for programs"),
	OPT_END,
};

static const char *const voice_verbs[] = { "install", "hear", "test", NULL };

static int install(struct app *app, const struct voice_opts *opts, struct err *reterr)
{
	const char *model = opts->model ? opts->model : "base";
	AUTO_FREE char *name =
		xasprintf("%s%s", strcmp(model, "moonshine") == 0 ? "" : "whisper-", model);
	const struct model_def *defs[] = { model_find(SV("voice")), model_find(sv_of(name)) };
	const struct model_def *all[MODEL_PLAN_MAX];
	struct models *m = models_new(app->paths.models_dir);
	int r = models_get(app, m, defs, ARRAY_LEN(defs), reterr);

	if (r >= 0)
		models_print(
			app, m, all, model_plan(m, defs, ARRAY_LEN(defs), true, all), opts->json);
	models_free(m);
	return r < 0 ? r : 0;
}

/* ---- hear ---- */

static void print_heard_json(struct app *app, const char *file, const struct heard *h, bool text)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	jw_object(&w);
	jw_put_cstr(&w, "file", file);
	jw_key(&w, "wakes");
	jw_array(&w);
	vec_each (&h->calls, c) {
		jw_object(&w);
		jw_put_double(&w, "at", c->at_s);
		jw_put_double(&w, "score", (double)c->score);
		jw_end(&w);
	}
	jw_end(&w);
	jw_key(&w, "speech");
	jw_array(&w);
	for (size_t i = 0; i < h->n_spans; i++) {
		jw_array(&w);
		jw_double(&w, (double)h->spans[i].from / RATE);
		jw_double(&w, (double)h->spans[i].to / RATE);
		jw_end(&w);
	}
	jw_end(&w);
	jw_put_cstr(&w, "text", text ? h->said.text.buf : NULL);
	view_put_text(&w, "language", text ? h->said.language : NULL);
	jw_key(&w, "took_s");
	if (text)
		jw_double(&w, h->said.took_s);
	else
		jw_null(&w);
	jw_end(&w);
	print_doc(app, &out);
}

static void print_heard(struct app *app, const char *file, const struct heard *h, bool text)
{
	say_line(app->out, "%s", file);
	vec_each (&h->calls, c)
		say_line(app->out, "  called at %.2f s (score %.2f)", c->at_s, (double)c->score);
	for (size_t i = 0; i < h->n_spans; i++)
		say_line(app->out, "  speech from %.2f to %.2f s", (double)h->spans[i].from / RATE,
			(double)h->spans[i].to / RATE);
	if (h->n_spans == 0)
		say_line(app->out, "  nobody speaks");
	else if (text && h->said.text.len == 0)
		say_line(app->out, "  nothing was understood (%.2f s)", h->said.took_s);
	else if (text)
		say_line(app->out, "  %s: %s (%.2f s)", h->said.language, h->said.text.buf,
			h->said.took_s);
}

static int hear(
	struct app *app, const struct voice_opts *opts, int argc, char **argv, struct err *reterr)
{
	struct models *models = models_new(app->paths.models_dir);
	AUTO_STRV command = STRV_INIT;
	struct stt_opts so = voice_stt_opts(app, models, opts->lang, &command);
	struct wake *wake = NULL;
	struct vad *vad = NULL;
	struct stt *stt = NULL;

	if (opts->model) {
		so.engine = strcmp(opts->model, "moonshine") == 0 ? "moonshine" : "whisper";
		so.model = opts->model;
	}
	if (opts->bare)
		app->settings->wake_word_bare = true;
	int r = voice_wake(app, models, &wake, reterr);
	if (r >= 0)
		r = voice_vad(app, models, &vad, reterr);
	if (r >= 0 && !opts->no_text)
		r = voice_stt(&so, &stt, reterr);
	int status = 0;
	for (int i = 0; i < argc && r >= 0; i++) {
		AUTO_SAMPLES samples = { .v = NULL };
		struct heard h = { .said.text = STR_INIT };
		r = sound_file_load(argv[i], RATE, SECONDS_MAX, &samples, reterr);
		/* The others may be fine. */
		if (r < 0 && argc > 1) {
			say_note(app->err, "voice: %s", reterr->msg);
			status = status ? status : err_exit_status(r);
			r = 0;
			continue;
		}
		if (r >= 0)
			r = hear_run(wake, vad, stt, samples.v, samples.n, &h, reterr);
		if (r >= 0)
			(opts->json ? print_heard_json : print_heard)(app, argv[i], &h, stt);
		(void)fflush(app->out);
		heard_release(&h);
	}
	stt_free(stt);
	vad_free(vad);
	wake_free(wake);
	models_free(models);
	return r < 0 ? r : status;
}

static int run_voice(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct voice_opts *opts = options;
	struct sv verb = sv_of(argv[0]);

	if (sv_is(verb, "install") && argc == 1)
		return install(app, opts, reterr);
	if (sv_is(verb, "hear") && argc > 1)
		return hear(app, opts, argc - 1, argv + 1, reterr);
	if (sv_is(verb, "test") && argc == 1)
		return voice_test(app, reterr);
	return err_set(reterr, ERR_USAGE, "give 'install', 'hear FILE…' or 'test'");
}

const struct cmd cmd_voice = {
	.name = "voice",
	.group = CMD_GROUP_SETUP,
	.summary = "what listening needs: install it, try it on recordings",
	.synopsis = "install | hear FILE… | test",
	.min_args = 1,
	.max_args = CMD_ANY,
	.words = CMD_WORDS_FILE,
	.verbs = voice_verbs,
	.opts = voice_options,
	.opts_size = sizeof(struct voice_opts),
	.run = run_voice,
};
