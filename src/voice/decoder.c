#include "voice/decoder.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { LAYERS_MAX = 32, KINDS = 4, NAME_MAX_ = 48 };

/* What a layer keeps. What it made of the sound stays as it was after the first step. */
static const char *const kinds[KINDS] = { "decoder.key", "decoder.value", "encoder.key",
	"encoder.value" };
enum { FIRST_OF_SOUND = 2 };

struct decoder_past {
	size_t refs;
	struct onnx_tensor kept[LAYERS_MAX][FIRST_OF_SOUND];
};

struct stt_decoder {
	struct onnx *onnx;
	struct onnx_session *session;
	int64_t heads, width;
	size_t layers;
	char names_in[LAYERS_MAX][KINDS][NAME_MAX_], names_out[LAYERS_MAX][KINDS][NAME_MAX_];
	struct onnx_tensor of_sound[LAYERS_MAX][KINDS - FIRST_OF_SOUND];
	struct decoder_past *past; /* NULL: nothing is written yet */
	struct onnx_tensor logits;
	const struct onnx_tensor *heard;
};

int decoder_new(struct onnx *onnx, struct sv network, const struct decoder_opts *opts,
	struct stt_decoder **ret, struct err *reterr)
{
	struct stt_decoder *d = xcalloc(1, sizeof(*d));
	const struct onnx_session_opts so = { .threads = opts->threads, .spin = false };
	int r = onnx_session_new(onnx, network, &so, &d->session, reterr);

	d->onnx = onnx;
	d->heads = opts->heads;
	d->width = opts->width;
	for (size_t i = 0; r >= 0 && onnx_inputs(d->session)[i]; i++)
		d->layers += strstr(onnx_inputs(d->session)[i], ".decoder.key") != NULL;
	if (r >= 0 && (d->layers == 0 || d->layers > LAYERS_MAX))
		r = err_set(reterr, ERR_INPUT, "the network is no decoder");
	if (r < 0) {
		decoder_free(d);
		return r;
	}
	for (size_t l = 0; l < d->layers; l++) {
		for (size_t k = 0; k < KINDS; k++) {
			(void)snprintf(d->names_in[l][k], NAME_MAX_, "past_key_values.%zu.%s", l,
				kinds[k]);
			(void)snprintf(
				d->names_out[l][k], NAME_MAX_, "present.%zu.%s", l, kinds[k]);
		}
	}
	*ret = d;
	return 0;
}

void decoder_free(struct stt_decoder *d)
{
	if (!d)
		return;
	decoder_end(d);
	onnx_session_free(d->session);
	free(d);
}

void decoder_begin(struct stt_decoder *d, const struct onnx_tensor *heard)
{
	decoder_end(d);
	d->heard = heard;
}

int decoder_step(struct stt_decoder *d, const int64_t *pieces, size_t n, const float **ret,
	size_t *ret_n, struct err *reterr)
{
	int64_t ids[512];
	bool go_on = d->past != NULL;
	const struct onnx_tensor input = {
		.type = ONNX_I64, .n_dims = 2, .dims = { 1, (int64_t)n }, .data = ids
	};
	const struct onnx_tensor branch = {
		.type = ONNX_BOOL, .n_dims = 1, .dims = { 1 }, .data = &go_on
	};
	/* At first nothing is kept; the branch that starts does not look at it. */
	const struct onnx_tensor none = {
		.type = ONNX_F32, .n_dims = 4, .dims = { 1, d->heads, 0, d->width }
	};
	struct onnx_arg in[ONNX_ARGS_MAX] = { { "input_ids", &input },
		{ "encoder_hidden_states", d->heard }, { "use_cache_branch", &branch } };
	const char *out[ONNX_ARGS_MAX] = { "logits" };
	struct onnx_tensor got[ONNX_ARGS_MAX];
	size_t n_in = 3, n_out = 1;

	if (n == 0 || n > ARRAY_LEN(ids) || 3 + d->layers * KINDS > ONNX_ARGS_MAX)
		return err_set(reterr, ERR_LIMIT, "too much for the recogniser");
	memcpy(ids, pieces, n * sizeof(*ids));
	for (size_t l = 0; l < d->layers; l++) {
		for (size_t k = 0; k < KINDS; k++) {
			const struct onnx_tensor *kept = !go_on ? &none
				: k < FIRST_OF_SOUND		? &d->past->kept[l][k]
						     : &d->of_sound[l][k - FIRST_OF_SOUND];
			in[n_in++] = (struct onnx_arg){ d->names_in[l][k], kept };
			if (!go_on || k < FIRST_OF_SOUND)
				out[n_out++] = d->names_out[l][k];
		}
	}
	int r = onnx_run(d->session, in, n_in, out, n_out, got, reterr);
	if (r < 0)
		return r;
	onnx_tensor_release(d->onnx, &d->logits);
	d->logits = got[0];
	struct decoder_past *past = xcalloc(1, sizeof(*past));
	past->refs = 1;
	n_out = 1;
	for (size_t l = 0; l < d->layers; l++) {
		for (size_t k = 0; k < FIRST_OF_SOUND; k++)
			past->kept[l][k] = got[n_out++];
		for (size_t k = 0; !go_on && k < KINDS - FIRST_OF_SOUND; k++)
			d->of_sound[l][k] = got[n_out++];
	}
	decoder_let_go(d, d->past);
	d->past = past;
	if (d->logits.type != ONNX_F32 || d->logits.n_dims != 3 ||
		d->logits.dims[1] != (int64_t)n || d->logits.dims[2] <= 0)
		return err_set(reterr, ERR_INPUT, "the network is no decoder");
	*ret_n = (size_t)d->logits.dims[2];
	*ret = d->logits.data;
	return 0;
}

struct decoder_past *decoder_keep(struct stt_decoder *d)
{
	d->past->refs++;
	return d->past;
}

void decoder_let_go(struct stt_decoder *d, struct decoder_past *past)
{
	if (!past || --past->refs > 0)
		return;
	for (size_t l = 0; l < d->layers; l++) {
		for (size_t k = 0; k < FIRST_OF_SOUND; k++)
			onnx_tensor_release(d->onnx, &past->kept[l][k]);
	}
	free(past);
}

void decoder_go_back(struct stt_decoder *d, struct decoder_past *past)
{
	past->refs++;
	decoder_let_go(d, d->past);
	d->past = past;
}

void decoder_end(struct stt_decoder *d)
{
	for (size_t l = 0; l < d->layers; l++) {
		for (size_t k = 0; k < KINDS - FIRST_OF_SOUND; k++)
			onnx_tensor_release(d->onnx, &d->of_sound[l][k]);
	}
	decoder_let_go(d, d->past);
	d->past = NULL;
	onnx_tensor_release(d->onnx, &d->logits);
}

void decoder_stop(struct stt_decoder *d)
{
	onnx_stop(d->session, true);
}

size_t decoder_cut_loop(const int64_t *pieces, size_t n)
{
	/* "no no" is speech; a word must come three times, more words twice. */
	for (size_t m = 1; m <= 40 && 2 * m <= n; m++) {
		size_t times = m < 3 ? 4 : m < 6 ? 3 : 2;
		bool same = times * m <= n;
		for (size_t i = 0; same && i < (times - 1) * m; i++)
			same = pieces[n - 1 - i] == pieces[n - 1 - i - m];
		if (same)
			return n - (times - 1) * m;
	}
	return n;
}

size_t decoder_cut_echo(const int64_t *pieces, size_t n, size_t least)
{
	for (size_t m = least; 2 * m <= n; m++)
		if (n % m == 0 && memcmp(pieces, pieces + m, (n - m) * sizeof(*pieces)) == 0)
			return m;
	return n;
}
