/*
 * Moonshine tiny: English, fast. It says nothing where it is not sure; then Whisper is asked, where
 * that is installed.
 */
#include <string.h>

#include "base/mem.h"
#include "model/model.h"
#include "voice/decoder.h"
#include "voice/stt-driver.h"
#include "voice/words.h"

enum {
	HEADS = 8,
	HEAD_WIDTH = 36,
	START = 1,
	END = 2,
	PIECES_MAX = 256,
	SHORTEST = 1600, /* samples: it cannot hear less */
};

struct moonshine {
	struct onnx *onnx;
	struct onnx_session *encoder;
	struct stt_decoder *decoder;
	struct words words;
	void *whisper; /* NULL: not installed */
};

static void close_moonshine(void *self)
{
	struct moonshine *m = self;

	onnx_session_free(m->encoder);
	decoder_free(m->decoder);
	words_release(&m->words);
	if (m->whisper)
		stt_whisper.close(m->whisper);
	free(m);
}

static int look_moonshine(const struct stt_opts *opts, bool read, struct err *reterr)
{
	static const char *const needed[] = { "runtime", "moonshine", "moonshine-words" };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_LEN(needed); i++)
		r = models_look(opts->models, needed[i], read, reterr);
	return r;
}

static int open_moonshine(const struct stt_opts *opts, void **ret, struct err *reterr)
{
	struct moonshine *m = xcalloc(1, sizeof(*m));
	struct model_bytes bytes = { .mapped = NULL };
	struct stt_opts english = *opts;
	int r = models_runtime(opts->models, &m->onnx, reterr);

	m->words = (struct words)WORDS_INIT;
	if (r >= 0)
		r = models_session(opts->models, "moonshine", "encoder.onnx",
			&(struct onnx_session_opts){ .threads = stt_threads(), .spin = false },
			&m->encoder, reterr);
	if (r >= 0)
		r = models_map(opts->models, "moonshine", "decoder.onnx", &bytes, reterr);
	if (r >= 0)
		r = decoder_new(m->onnx, bytes.bytes,
			&(struct decoder_opts){
				.heads = HEADS, .width = HEAD_WIDTH, .threads = stt_threads() },
			&m->decoder, reterr);
	model_bytes_release(&bytes);
	if (r >= 0)
		r = models_map(opts->models, "moonshine-words", "tokenizer.js", &bytes, reterr);
	if (r >= 0)
		r = words_from_script(&m->words, bytes.bytes, reterr);
	model_bytes_release(&bytes);
	if (r < 0) {
		close_moonshine(m);
		return r;
	}
	english.language = "en";
	english.model = "base";
	if (stt_whisper.open(&english, &m->whisper, NULL) < 0)
		m->whisper = NULL;
	*ret = m;
	return 0;
}

static int write_text(struct moonshine *m, size_t n_samples, struct str *out, struct err *reterr)
{
	int64_t text[PIECES_MAX] = { START };
	size_t n = 1, max = 8 + n_samples / 16000 * 6, n_likely;
	const float *likely;

	while (n < PIECES_MAX && n < max) {
		int r = decoder_step(m->decoder, &text[n - 1], 1, &likely, &n_likely, reterr);
		if (r < 0)
			return r;
		size_t best = 0;
		for (size_t i = 1; i < n_likely; i++)
			best = likely[i] > likely[best] ? i : best;
		if (best == END)
			break;
		text[n++] = (int64_t)best;
		size_t left = 1 + decoder_cut_loop(text + 1, n - 1);
		if (left < n) {
			n = left;
			break;
		}
	}
	for (size_t i = 1; i < n; i++)
		words_add(&m->words, text[i], out);
	return 0;
}

static int run_moonshine(
	void *self, const float *samples, size_t n, struct stt_result *result, struct err *reterr)
{
	struct moonshine *m = self;
	size_t padded = n > SHORTEST ? n : SHORTEST;
	AUTO_FREE float *sound = xcalloc(padded, sizeof(*sound));
	const struct onnx_tensor input = {
		.type = ONNX_F32, .n_dims = 2, .dims = { 1, (int64_t)padded }, .data = sound
	};
	const struct onnx_arg in = { "input_values", &input };
	static const char *const out[] = { "last_hidden_state" };
	struct onnx_tensor heard;
	AUTO_STR text = STR_INIT;

	memcpy(sound, samples, n * sizeof(*sound));
	int r = onnx_run(m->encoder, &in, 1, out, 1, &heard, reterr);
	if (r < 0)
		return r;
	decoder_begin(m->decoder, &heard);
	r = write_text(m, n, &text, reterr);
	decoder_end(m->decoder);
	onnx_tensor_release(m->onnx, &heard);
	if (r < 0)
		return r;
	if (sv_trim(str_sv(&text)).n == 0 && m->whisper)
		return stt_whisper.run(m->whisper, samples, n, result, reterr);
	str_add(&result->text, sv_trim(str_sv(&text)));
	memcpy(result->language, "en", 3);
	return 0;
}

static void stop_moonshine(void *self)
{
	struct moonshine *m = self;

	onnx_stop(m->encoder, true);
	decoder_stop(m->decoder);
	if (m->whisper)
		stt_whisper.stop(m->whisper);
}

const struct stt_driver stt_moonshine = {
	.name = "moonshine",
	.ours = true,
	.look = look_moonshine,
	.open = open_moonshine,
	.run = run_moonshine,
	.stop = stop_moonshine,
	.close = close_moonshine,
};
