/*
 * Whisper, base and small: many languages. Its encoder is made for 30 s and takes as long for one
 * second as for all; given only as many positions as there was sound, and some silence, it takes a
 * third of the time and writes the same.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/model.h"
#include "onnx/edit.h"
#include "voice/decoder.h"
#include "voice/mel.h"
#include "voice/stt-driver.h"
#include "voice/ways.h"
#include "voice/words.h"
#include "json/scan.h"

enum {
	HOPS = 2, /* columns of sound a position */
	POSITIONS_MAX = 1500,
	SILENCE = 250, /* positions behind the sound, 5 s: with less it says things again */
	HEAD_WIDTH = 64,
	PROMPT_MAX = 64, /* pieces of hot words */
	LANGUAGES_MAX = 16,
	BRIEF = 16000, /* samples: nobody says two words in it that are the same */
	LEAD = 4800, /* samples of silence before a sound: with it less is misheard */
	/* Pieces with a meaning; those of a language are in the model's settings. */
	END_OF_TEXT = 50257,
	START = 50258,
	TRANSCRIBE = 50359,
	PREVIOUS = 50361,
	NO_TIMES = 50363,
};

struct language {
	char name[8];
	int64_t piece;
};

#define SURE (-0.6) /* mean of the logarithms: from here on nothing else is tried */
#define SOFT 0.3F /* times what others like: so it hears better */

struct whisper {
	struct onnx *onnx;
	struct onnx_session *encoder;
	struct stt_decoder *decoder;
	struct mel *mel;
	float *positions; /* POSITIONS_MAX rows */
	int64_t columns;
	size_t n_ways; /* that are followed: more take longer */
	struct words words;
	bool *never, *never_first; /* by piece: these are not written, or not first */
	size_t n_never;
	struct language languages[LANGUAGES_MAX]; /* to choose from */
	size_t n_languages;
	const struct language *last; /* that was heard: most likely the next is the same */
	int64_t prompt[PROMPT_MAX + 8];
	size_t n_prompt; /* of hot words, with the mark before them; 0: none */
};

static void close_whisper(void *self)
{
	struct whisper *w = self;

	onnx_session_free(w->encoder);
	decoder_free(w->decoder);
	mel_free(w->mel);
	words_release(&w->words);
	free(w->positions);
	free(w->never);
	free(w->never_first);
	free(w);
}

static int open_encoder(
	struct whisper *w, struct models *models, const char *model, struct err *reterr)
{
	const struct onnx_session_opts opts = { .threads = stt_threads(), .spin = false };
	const struct onnx_edit edit = { .drop_outputs = "encoder_attentions.",
		.open = "embed_positions.weight" };
	struct model_bytes bytes = { .mapped = NULL };
	struct onnx_constant positions = { .rows = 0 };
	AUTO_STR edited = STR_INIT;
	int r = models_map(models, model, "encoder.onnx", &bytes, reterr);

	if (r >= 0)
		r = onnx_edit(bytes.bytes, &edit, &edited, &positions, reterr);
	if (r >= 0 && positions.rows != POSITIONS_MAX)
		r = err_set(reterr, ERR_INPUT, "%s: this is not Whisper's encoder", model);
	if (r >= 0) {
		w->columns = positions.columns;
		w->positions = xmalloc(positions.floats.n);
		memcpy(w->positions, positions.floats.p, positions.floats.n);
		r = onnx_session_new(w->onnx, str_sv(&edited), &opts, &w->encoder, reterr);
	}
	model_bytes_release(&bytes);
	return r;
}

/* A list of pieces in the model's settings. */
static int mark(struct jval settings, const char *key, bool *never, size_t n)
{
	struct jval list, item;
	int r = scan_path(settings, key, &list);

	if (r <= 0)
		return r;
	struct scan_iter it = scan_iter(list);
	while ((r = scan_next(&it, NULL, &item)) > 0) {
		int64_t piece;
		if (scan_i64(item, &piece) && piece >= 0 && (size_t)piece < n)
			never[piece] = true;
	}
	return r;
}

/* What is never written, and the languages that are chosen from. */
static int read_settings(
	struct whisper *w, const struct stt_opts *opts, struct sv json, struct err *reterr)
{
	static const char *const common[] = { "de", "en", NULL };
	const char *const one[] = { opts->language, NULL };
	const char *const *wanted = opts->languages ? opts->languages : common;
	struct jval settings;

	if (opts->language && strcmp(opts->language, "auto") != 0)
		wanted = one;
	w->n_never = START;
	w->never = xcalloc(w->n_never, sizeof(*w->never));
	w->never_first = xcalloc(w->n_never, sizeof(*w->never_first));
	if (scan_text(json, &settings) < 0 ||
		mark(settings, "suppress_tokens", w->never, w->n_never) < 0 ||
		mark(settings, "suppress_tokens", w->never_first, w->n_never) < 0 ||
		mark(settings, "begin_suppress_tokens", w->never_first, w->n_never) < 0)
		return err_set(reterr, ERR_INPUT, "Whisper's settings are damaged");
	for (; *wanted && w->n_languages < LANGUAGES_MAX; wanted++) {
		struct language *l = &w->languages[w->n_languages];
		struct jval piece;
		char key[32];
		(void)snprintf(key, sizeof(key), "lang_to_id.<|%s|>", *wanted);
		if (strlen(*wanted) >= sizeof(l->name) || scan_path(settings, key, &piece) <= 0 ||
			!scan_i64(piece, &l->piece))
			return err_set(reterr, ERR_USAGE, "Whisper does not know the language '%s'",
				*wanted);
		if (l->piece <= START || l->piece >= TRANSCRIBE)
			return err_set(reterr, ERR_INPUT, "Whisper's settings are damaged");
		(void)snprintf(l->name, sizeof(l->name), "%s", *wanted);
		w->n_languages++;
	}
	if (w->n_languages == 0)
		return err_set(reterr, ERR_USAGE, "no language to choose from");
	w->last = &w->languages[0];
	return 0;
}

static void use_hot_words(struct whisper *w, const char *const *hot_words)
{
	AUTO_STR text = STR_INIT;

	for (; hot_words && *hot_words; hot_words++)
		str_addf(&text, "%s %s", text.len ? "," : "", *hot_words);
	if (text.len == 0)
		return;
	str_addc(&text, '.');
	w->prompt[0] = PREVIOUS;
	w->n_prompt = 1 + words_split(&w->words, str_sv(&text), w->prompt + 1, PROMPT_MAX);
}

static const char *size_of(const struct stt_opts *opts)
{
	return opts->model && *opts->model ? opts->model : "base";
}

/* Its name in the table of models; for the caller to free. */
static int model_of(const struct stt_opts *opts, char **ret, struct err *reterr)
{
	const char *size = size_of(opts);
	AUTO_FREE char *model = xasprintf("whisper-%s", size);

	if (!model_find(sv_of(model)))
		return err_set(reterr, ERR_USAGE, "there is no Whisper '%s': base or small", size);
	*ret = TAKE_PTR(model);
	return 0;
}

static int look_whisper(const struct stt_opts *opts, bool read, struct err *reterr)
{
	AUTO_FREE char *model = NULL;
	int r = model_of(opts, &model, reterr);

	if (r >= 0)
		r = models_look(opts->models, "runtime", read, reterr);
	return r < 0 ? r : models_look(opts->models, model, read, reterr);
}

static int open_whisper(const struct stt_opts *opts, void **ret, struct err *reterr)
{
	AUTO_FREE char *model = NULL;
	struct whisper *w = xcalloc(1, sizeof(*w));
	struct model_bytes bytes = { .mapped = NULL };
	int r = model_of(opts, &model, reterr);

	w->words = (struct words)WORDS_INIT;
	/* Who takes base wants it fast, and gains nothing by a second thought. */
	w->n_ways = strcmp(size_of(opts), "base") == 0 ? 1 : WAYS_MAX;
	if (r >= 0)
		r = models_runtime(opts->models, &w->onnx, reterr);
	if (r >= 0)
		r = open_encoder(w, opts->models, model, reterr);
	if (r >= 0)
		r = models_map(opts->models, model, "decoder.onnx", &bytes, reterr);
	if (r >= 0)
		r = decoder_new(w->onnx, bytes.bytes,
			&(struct decoder_opts){ .heads = w->columns / HEAD_WIDTH,
				.width = HEAD_WIDTH,
				.threads = stt_threads() },
			&w->decoder, reterr);
	model_bytes_release(&bytes);
	if (r >= 0)
		r = models_map(opts->models, model, "vocab.json", &bytes, reterr);
	if (r >= 0)
		r = words_from_json(&w->words, bytes.bytes, reterr);
	model_bytes_release(&bytes);
	if (r >= 0)
		r = models_map(opts->models, model, "generation.json", &bytes, reterr);
	if (r >= 0)
		r = read_settings(w, opts, bytes.bytes, reterr);
	model_bytes_release(&bytes);
	if (r < 0) {
		close_whisper(w);
		return r;
	}
	use_hot_words(w, opts->hot_words);
	w->mel = mel_new();
	*ret = w;
	return 0;
}

/* Which of the languages it is, by what may come after the start. */
static const struct language *likeliest(const struct whisper *w, const float *likely)
{
	const struct language *best = &w->languages[0];

	for (size_t i = 1; i < w->n_languages; i++) {
		if (likely[w->languages[i].piece] > likely[best->piece])
			best = &w->languages[i];
	}
	return best;
}

/* What is heard, as pieces. *language is found out unless it is set. */
static int write_pieces(struct whisper *w, const struct language **language, size_t n_samples,
	struct ways *ways, struct err *reterr)
{
	const struct language *guess = *language ? *language : w->last;
	struct decoder_past *past[WAYS_MAX] = { NULL };
	int64_t pieces[PROMPT_MAX + 8];
	/* Nobody says more than that. */
	const size_t max = 16 + n_samples / 16000 * 12;
	size_t n = w->n_prompt, n_likely;
	const float *likely;

	memcpy(pieces, w->prompt, n * sizeof(*pieces));
	pieces[n++] = START;
	pieces[n++] = guess->piece;
	pieces[n++] = TRANSCRIBE;
	pieces[n++] = NO_TIMES;
	int r = decoder_step(w->decoder, pieces, n, &likely, &n_likely, reterr);
	if (r >= 0 && n_likely <= (size_t)NO_TIMES)
		r = err_set(reterr, ERR_INPUT, "Whisper's decoder is damaged");
	/* Which language it took it for is told with the rest: only when it is another than the
	 * last one, it begins again. */
	if (r >= 0 && !*language) {
		*language = w->last = likeliest(w, likely + w->n_prompt * n_likely);
		if (*language != guess) {
			pieces[w->n_prompt + 1] = w->last->piece;
			decoder_end(w->decoder);
			r = decoder_step(w->decoder, pieces, n, &likely, &n_likely, reterr);
		}
	}
	ways_begin(ways, w->n_ways, n_samples < BRIEF ? 1 : 3);
	if (r >= 0) {
		past[0] = decoder_keep(w->decoder);
		ways_offer(
			ways, 0, likely + (n - 1) * n_likely, n_likely, w->never_first, w->n_never);
		ways_step(ways, END_OF_TEXT, max);
	}
	while (r >= 0 && ways->n > 0) {
		struct decoder_past *next[WAYS_MAX] = { NULL };
		for (size_t i = 0; r >= 0 && i < ways->n; i++) {
			const struct way *way = &ways->of[i];
			decoder_go_back(w->decoder, past[way->from]);
			r = decoder_step(w->decoder, &way->pieces[way->n - 1], 1, &likely,
				&n_likely, reterr);
			if (r < 0)
				break;
			next[i] = decoder_keep(w->decoder);
			ways_offer(ways, i, likely, n_likely, w->never, w->n_never);
		}
		for (size_t i = 0; i < WAYS_MAX; i++)
			decoder_let_go(w->decoder, past[i]);
		memcpy(past, next, sizeof(past));
		ways_step(ways, END_OF_TEXT, max);
	}
	for (size_t i = 0; i < WAYS_MAX; i++)
		decoder_let_go(w->decoder, past[i]);
	return r < 0 ? r : 0;
}

/* The sound with so many samples of silence before it. *language is found out unless it is set. */
static int attempt(struct whisper *w, const float *samples, size_t n, size_t lead,
	const struct language **language, struct ways *ways, struct err *reterr)
{
	const size_t all = n + lead;
	const size_t wanted = all / (HOPS * MEL_HOP) + SILENCE;
	const size_t positions = wanted < POSITIONS_MAX ? wanted : POSITIONS_MAX;
	AUTO_FREE float *columns = xmalloc(MEL_BANDS * HOPS * positions * sizeof(*columns));
	AUTO_FREE float *sounds = xcalloc(all + 1, sizeof(*sounds));
	const struct onnx_tensor sound = { .type = ONNX_F32,
		.n_dims = 3,
		.dims = { 1, MEL_BANDS, (int64_t)(HOPS * positions) },
		.data = columns };
	const struct onnx_tensor places = { .type = ONNX_F32,
		.n_dims = 2,
		.dims = { (int64_t)positions, w->columns },
		.data = w->positions };
	const struct onnx_arg in[] = { { "input_features", &sound },
		{ "embed_positions.weight", &places } };
	static const char *const out[] = { "last_hidden_state" };
	struct onnx_tensor heard;

	for (size_t i = 0; i < n; i++)
		sounds[lead + i] = samples[i] * SOFT;
	mel_run(w->mel, sounds, all, HOPS * positions, columns);
	int r = onnx_run(w->encoder, in, ARRAY_LEN(in), out, 1, &heard, reterr);
	if (r < 0)
		return r;
	decoder_begin(w->decoder, &heard);
	r = write_pieces(w, language, n, ways, reterr);
	decoder_end(w->decoder);
	onnx_tensor_release(w->onnx, &heard);
	return r;
}

static int run_whisper(
	void *self, const float *samples, size_t n, struct stt_result *result, struct err *reterr)
{
	struct whisper *w = self;
	const struct language *language = w->n_languages == 1 ? &w->languages[0] : NULL;
	struct ways ways, again;
	const struct ways *best = &ways;
	int r = attempt(w, samples, n, LEAD, &language, &ways, reterr);

	/* Where it is not sure, it may be with the same sound a little sooner. */
	if (r >= 0 && ways.sure < SURE) {
		r = attempt(w, samples, n, 0, &language, &again, reterr);
		if (r >= 0 && again.sure > ways.sure)
			best = &again;
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < best->best.n; i++)
		words_add(&w->words, best->best.pieces[i], &result->text);
	(void)snprintf(result->language, sizeof(result->language), "%s", language->name);
	return 0;
}

static void stop_whisper(void *self)
{
	struct whisper *w = self;

	onnx_stop(w->encoder, true);
	decoder_stop(w->decoder);
}

const struct stt_driver stt_whisper = {
	.name = "whisper",
	.ours = true,
	.look = look_whisper,
	.open = open_whisper,
	.run = run_whisper,
	.stop = stop_whisper,
	.close = close_whisper,
};
