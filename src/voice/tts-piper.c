/*
 * Voices of Piper's format: a network (.onnx) and what belongs to it (.onnx.json). How words sound
 * is asked of espeak-ng, clause by clause, since its answer has no punctuation, which the network
 * was trained with.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>

#include <jansson.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "model/model.h"
#include "os/file.h"
#include "os/path.h"
#include "voice/program.h"
#include "voice/tts-driver.h"

enum {
	CONFIG_MAX = 4 * 1024 * 1024,
	NETWORK_MAX = 512 * 1024 * 1024,
	PHONEMES_MAX = 64 * 1024, /* bytes, of a clause */
	IDS_MAX = 20000, /* of a sentence */
	PIECE_IDS = 70, /* some two seconds */
	THREADS = 2,
};

struct voice {
	char *path;
	struct onnx_session *session;
	json_t *config;
	const json_t *ids; /* of config: phoneme to numbers */
	char *espeak; /* its name of the language */
	unsigned rate;
	float noise, length, noise_w;
	bool speakers;
};

/* Of the languages that were spoken so far. */
struct piper {
	VEC(struct voice *) voices;
	pthread_mutex_t lock; /* for `running` */
	struct onnx_session *running;
	bool stopped;
};

static void voice_free(struct voice *v)
{
	onnx_session_free(v->session);
	json_decref(v->config);
	free(v->espeak);
	free(v->path);
	free(v);
}

static void free_voice(struct voice **v)
{
	if (*v)
		voice_free(*v);
}

static double number(const json_t *object, const char *key, double fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) && isfinite(json_number_value(value))
		? json_number_value(value)
		: fallback;
}

static int read_config(struct voice *v, struct err *reterr)
{
	AUTO_FREE char *path = xasprintf("%s.json", v->path);
	AUTO_STR text = STR_INIT;
	json_error_t why;
	int r = file_read(path, CONFIG_MAX, &text, reterr);

	if (r == -ENOENT)
		return err_set(reterr, ERR_NOTFOUND,
			"%s is missing: a voice has it beside its .onnx", path);
	if (r < 0)
		return r;
	v->config = json_loadb(text.buf, text.len, 0, &why);
	const json_t *inference = json_object_get(v->config, "inference");
	const char *language =
		json_string_value(json_object_get(json_object_get(v->config, "espeak"), "voice"));
	double rate = number(json_object_get(v->config, "audio"), "sample_rate", 0);
	v->ids = json_object_get(v->config, "phoneme_id_map");
	if (!json_is_object(v->ids) || rate < 1000 || rate > 192000)
		return err_set(reterr, ERR_INPUT, "%s is not what belongs to a voice", path);
	v->rate = (unsigned)rate;
	v->noise = (float)number(inference, "noise_scale", 0.667);
	v->length = (float)number(inference, "length_scale", 1);
	v->noise_w = (float)number(inference, "noise_w", 0.8);
	v->speakers = number(v->config, "num_speakers", 1) > 1;
	v->espeak = xstrdup(language ? language : "");
	return 0;
}

static int voice_load(struct tts *t, const char *path, struct voice **ret, struct err *reterr)
{
	CLEANUP(free_voice) struct voice *v = xcalloc(1, sizeof(*v));
	const struct onnx_session_opts opts = { .threads = THREADS };
	AUTO_STR network = STR_INIT;
	struct onnx *onnx = NULL;

	v->path = xstrdup(path);
	if (!t->opts.models)
		return err_set(reterr, ERR_NOTFOUND, "networks cannot be run here");
	int r = read_config(v, reterr);
	if (r == 0)
		r = models_runtime(t->opts.models, &onnx, reterr);
	if (r == 0)
		r = file_read(path, NETWORK_MAX, &network, reterr);
	if (r == -ENOENT)
		r = err_set(reterr, ERR_NOTFOUND, "%s is missing (tts.voice)", path);
	if (r == 0)
		r = onnx_session_new(onnx, str_sv(&network), &opts, &v->session, reterr);
	if (r == ERR_INPUT)
		err_prefix(reterr, "%s", path);
	if (r == 0)
		*ret = TAKE_PTR(v);
	return r;
}

static const char *home_of(const char *const *envp)
{
	for (; *envp; envp++)
		if (strncmp(*envp, "HOME=", 5) == 0)
			return *envp + 5;
	return NULL;
}

/* The network of a language; NULL: none is set. */
static char *file_for(const struct tts *t, const char *language)
{
	AUTO_STR path = STR_INIT;

	tts_voice(&path, t, language);
	return path.len ? path_expand_home(path.buf, home_of(t->opts.envp)) : NULL;
}

static int voice_for(struct tts *t, const char *language, struct voice **ret, struct err *reterr)
{
	struct piper *p = t->state;
	AUTO_FREE char *file = file_for(t, language);

	if (!file)
		return err_set(reterr, ERR_USAGE,
			"no voice is set for \"%s\": set tts.voice to its .onnx file", language);
	vec_each (&p->voices, v)
		if (strcmp((*v)->path, file) == 0) {
			*ret = *v;
			return 0;
		}
	int r = voice_load(t, file, ret, reterr);
	if (r == 0)
		vec_push(&p->voices, *ret);
	return r;
}

/* ---- sounds of words ---- */

static int on_phonemes(void *data, struct sv bytes)
{
	struct str *out = data;

	str_add(out, bytes);
	return str_full(out) ? ERR_LIMIT : 0;
}

struct ids {
	int64_t *v;
	size_t n, cap;
};

static void ids_release(struct ids *ids)
{
	vec_release(ids);
}

/* The numbers of one sound, each followed by that of the pause between sounds. */
static void add_sound(struct ids *ids, const struct voice *v, struct sv sound)
{
	AUTO_FREE char *key = xmemdup0(sound.p, sound.n);
	const json_t *numbers = json_object_get(v->ids, key);
	const json_t *pause = json_object_get(v->ids, "_");

	for (size_t i = 0; i < json_array_size(numbers); i++)
		vec_push(ids, json_integer_value(json_array_get(numbers, i)));
	for (size_t i = 0; numbers && i < json_array_size(pause); i++)
		vec_push(ids, json_integer_value(json_array_get(pause, i)));
}

/* IPA as espeak-ng writes it: "(en)" names the language of a word and is no sound. */
static void add_phonemes(struct ids *ids, const struct voice *v, struct sv ipa)
{
	bool aside = false;

	while (ipa.n && ids->n < IDS_MAX) {
		uint32_t cp;
		size_t n = utf8_decode(ipa, &cp);
		if (cp == '(')
			aside = true;
		else if (cp == ')')
			aside = false;
		else if (!aside)
			add_sound(ids, v, cp == '\n' ? SV(" ") : sv_head(ipa, n));
		ipa = sv_from(ipa, n);
	}
}

static int clause_sounds(struct tts *t, const struct voice *v, struct sv clause,
	const char *language, struct ids *ids, struct err *reterr)
{
	CLEANUP(str_release) struct str ipa;
	const char *const argv[] = { t->program, "-q", "--ipa", "-b", "1", "-v",
		*v->espeak ? v->espeak : language, "--stdin", NULL };
	const struct program program = { .argv = argv,
		.envp = t->opts.envp,
		.in = clause,
		.timeout_ms = t->opts.timeout_ms,
		.cancel_fd = t->cancel_fd };

	str_init_max(&ipa, PHONEMES_MAX);
	int r = program_run(&program, on_phonemes, &ipa, reterr);
	if (r == ERR_LIMIT)
		return err_set(reterr, ERR_LIMIT, "the sentence is too long to be said");
	if (r == 0)
		add_phonemes(ids, v, sv_trim(str_sv(&ipa)));
	return r;
}

/*
 * Cuts as many clauses off the front of *text as are worth a run of the network: the first words
 * are then heard while the others are made.
 */
static int next_sounds(struct tts *t, const struct voice *v, struct sv *text, const char *language,
	struct ids *ids, struct err *reterr)
{
	add_sound(ids, v, SV("^"));
	while (text->n && ids->n < PIECE_IDS) {
		size_t n = 0;
		/* Not within 3,5 or 12:30. */
		while (n < text->n &&
			!(strchr(".,;:!?", text->p[n]) &&
				(n + 1 == text->n || text->p[n + 1] == ' ')))
			n++;
		if (sv_trim(sv_head(*text, n)).n) {
			int r = clause_sounds(t, v, sv_head(*text, n), language, ids, reterr);
			if (r < 0)
				return r;
		}
		if (n < text->n)
			add_sound(ids, v, sv_make(text->p + n, 1));
		*text = sv_trim(sv_from(*text, n + 1));
		if (text->n && ids->n < PIECE_IDS)
			add_sound(ids, v, SV(" "));
	}
	const json_t *end = json_object_get(v->ids, "$");
	for (size_t i = 0; i < json_array_size(end); i++)
		vec_push(ids, json_integer_value(json_array_get(end, i)));
	return ids->n < IDS_MAX ? 0
				: err_set(reterr, ERR_LIMIT, "the sentence is too long to be said");
}

/* ---- the network ---- */

static void set_running(struct piper *p, struct onnx_session *session)
{
	pthread_mutex_lock(&p->lock);
	p->running = session;
	if (session)
		onnx_stop(session, p->stopped);
	pthread_mutex_unlock(&p->lock);
}

static int hand_over(const struct onnx_tensor *out, unsigned rate, tts_sink_fn sink, void *data,
	struct err *reterr)
{
	const float *values = out->data;
	size_t n = onnx_tensor_count(out);
	int16_t some[2048];

	if (out->type != ONNX_F32)
		return err_set(reterr, ERR_INPUT, "the voice gives no sound");
	for (size_t at = 0; at < n;) {
		size_t k = 0;
		for (; k < ARRAY_LEN(some) && at < n; k++, at++) {
			float x = values[at];
			some[k] = !(x > -1.0F) ? (isnan(x) ? 0 : INT16_MIN)
				: x < 1.0F     ? (int16_t)lrintf(x * INT16_MAX)
					       : INT16_MAX;
		}
		int r = sink(data, some, k, rate);
		if (r < 0)
			return err_set(reterr, r, "stopped");
	}
	return 0;
}

static int run_network(struct tts *t, struct voice *v, const struct ids *ids, tts_sink_fn sink,
	void *data, struct err *reterr)
{
	int64_t length = (int64_t)ids->n, speaker = 0;
	float scales[] = { v->noise, v->length / (float)t->opts.speed, v->noise_w };
	const struct onnx_tensor in = { ONNX_I64, 2, { 1, length }, ids->v, NULL },
				 lengths = { ONNX_I64, 1, { 1 }, &length, NULL },
				 how = { ONNX_F32, 1, { 3 }, scales, NULL },
				 who = { ONNX_I64, 1, { 1 }, &speaker, NULL };
	const struct onnx_arg args[] = { { "input", &in }, { "input_lengths", &lengths },
		{ "scales", &how }, { "sid", &who } };
	const char *const outputs[] = { "output" };
	struct onnx_tensor out = { 0 };
	struct onnx *onnx = NULL;
	int r = models_runtime(t->opts.models, &onnx, reterr);

	if (r < 0)
		return r;
	set_running(t->state, v->session);
	r = onnx_run(v->session, args, v->speakers ? 4 : 3, outputs, 1, &out, reterr);
	set_running(t->state, NULL);
	if (r == 0)
		r = hand_over(&out, v->rate, sink, data, reterr);
	onnx_tensor_release(onnx, &out);
	return r;
}

static int piper_say(struct tts *t, struct sv text, const char *language, tts_sink_fn sink,
	void *data, struct err *reterr)
{
	struct voice *v = NULL;
	int r = voice_for(t, language, &v, reterr);

	while (r == 0 && text.n) {
		CLEANUP(ids_release) struct ids ids = { 0 };
		r = next_sounds(t, v, &text, language, &ids, reterr);
		if (r == 0)
			r = run_network(t, v, &ids, sink, data, reterr);
	}
	return r;
}

static const char *const languages[] = { "de", "en" };

/* What the first sentence would wait for. Failures are told by that one. */
static void piper_warm(struct tts *t)
{
	for (size_t i = 0; i < ARRAY_LEN(languages); i++) {
		struct voice *v = NULL;
		(void)!voice_for(t, languages[i], &v, NULL);
	}
}

static void piper_stop(struct tts *t, bool stop)
{
	struct piper *p = t->state;

	pthread_mutex_lock(&p->lock);
	p->stopped = stop;
	if (p->running)
		onnx_stop(p->running, stop);
	pthread_mutex_unlock(&p->lock);
}

/* That there is a voice for no language is known before the first sentence. */
static int look_for_voice(const struct tts *t, struct err *reterr)
{
	AUTO_FREE char *missing = NULL;

	for (size_t i = 0; i < ARRAY_LEN(languages); i++) {
		AUTO_FREE char *file = file_for(t, languages[i]);
		if (file && path_exists(file))
			return 0;
		if (!missing)
			missing = TAKE_PTR(file);
	}
	if (missing)
		return err_set(reterr, ERR_NOTFOUND,
			"%s is not there: set tts.voice to the .onnx file of a voice", missing);
	return err_set(reterr, ERR_USAGE,
		"no voice is set: set tts.voice to its .onnx file, or another tts.provider");
}

static int piper_open(struct tts *t, struct err *reterr)
{
	struct piper *p = xcalloc(1, sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	t->state = p;
	int r = tts_need_espeak(t, reterr);
	return r < 0 ? r : look_for_voice(t, reterr);
}

static void piper_close(struct tts *t)
{
	struct piper *p = t->state;

	if (!p)
		return;
	vec_each (&p->voices, v)
		voice_free(*v);
	vec_release(&p->voices);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

const struct tts_driver tts_driver_piper = {
	.name = "piper",
	.open = piper_open,
	.say = piper_say,
	.warm = piper_warm,
	.stop = piper_stop,
	.close = piper_close,
};
