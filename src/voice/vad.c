#include "voice/vad.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/model.h"

enum {
	BEFORE = 64, /* samples of the frame before that Silero hears too */
	STATE = 2 * 128,
	RATE = 16000,
	FLOOR_FRAMES = 94, /* three seconds: in that time the quietest frame is the room's */
};

struct vad {
	struct onnx *onnx; /* NULL: by energy */
	struct onnx_session *session;
	float input[BEFORE + VAD_FRAME];
	float state[STATE];
	float levels[FLOOR_FRAMES]; /* of the last frames, in dB */
	unsigned n_levels, at;
	float before; /* probability of the frame before */
};

int vad_new(const char *engine, struct models *models, struct vad **ret, struct err *reterr)
{
	struct vad *v = xcalloc(1, sizeof(*v));
	int r = 0;

	if (strcmp(engine, "silero") == 0) {
		r = models_runtime(models, &v->onnx, reterr);
		if (r >= 0)
			r = models_session(models, "speech", "silero.onnx",
				&(struct onnx_session_opts){ .threads = 1 }, &v->session, reterr);
	} else if (strcmp(engine, "energy") != 0) {
		r = err_set(reterr, ERR_USAGE,
			"there is no engine '%s' that hears speech: silero or energy", engine);
	}
	if (r < 0) {
		vad_free(v);
		return r;
	}
	*ret = v;
	return 0;
}

void vad_free(struct vad *v)
{
	if (!v)
		return;
	onnx_session_free(v->session);
	free(v);
}

void vad_reset(struct vad *v)
{
	memset(v->input, 0, sizeof(v->input));
	memset(v->state, 0, sizeof(v->state));
	v->n_levels = v->at = 0;
	v->before = 0;
}

/* The frame against the quietest of the last seconds: 6 dB above is doubtful, 15 dB is speech. */
static float by_energy(struct vad *v, const int16_t *frame)
{
	double sum = 0;
	float floor = 200;

	for (size_t i = 0; i < VAD_FRAME; i++)
		sum += (double)frame[i] * frame[i];
	float level = (float)(10 * log10(sum / VAD_FRAME + 1));
	v->levels[v->at] = level;
	v->at = (v->at + 1) % FLOOR_FRAMES;
	v->n_levels += v->n_levels < FLOOR_FRAMES;
	for (unsigned i = 0; i < v->n_levels; i++)
		floor = fminf(floor, v->levels[i]);
	/* Digital silence is no room: what is below the noise of any microphone is taken for it. */
	floor = fmaxf(floor, 20);
	float p = fminf(fmaxf((level - floor - 6) / 9, 0), 1);
	v->before = 0.5F * v->before + 0.5F * p;
	return v->before;
}

float vad_feed(struct vad *v, const int16_t *frame)
{
	int64_t rate = RATE;
	const struct onnx_tensor input = {
		.type = ONNX_F32, .n_dims = 2, .dims = { 1, BEFORE + VAD_FRAME }, .data = v->input
	};
	const struct onnx_tensor state = {
		.type = ONNX_F32, .n_dims = 3, .dims = { 2, 1, STATE / 2 }, .data = v->state
	};
	const struct onnx_tensor sr = { .type = ONNX_I64, .n_dims = 0, .data = &rate };
	const struct onnx_arg in[] = { { "input", &input }, { "state", &state }, { "sr", &sr } };
	static const char *const out[] = { "output", "stateN" };
	struct onnx_tensor got[2];

	if (!v->session)
		return by_energy(v, frame);
	memmove(v->input, v->input + VAD_FRAME, BEFORE * sizeof(float));
	for (size_t i = 0; i < VAD_FRAME; i++)
		v->input[BEFORE + i] = (float)frame[i] / 32768.0F;
	/* It ran when it was made ready, so it runs; where it does not, nobody speaks. */
	if (onnx_run(v->session, in, 3, out, 2, got, NULL) < 0)
		return 0;
	float p = onnx_tensor_count(&got[0]) > 0 ? ((const float *)got[0].data)[0] : 0;
	if (onnx_tensor_count(&got[1]) == STATE)
		memcpy(v->state, got[1].data, sizeof(v->state));
	onnx_tensor_release(v->onnx, &got[0]);
	onnx_tensor_release(v->onnx, &got[1]);
	return p;
}
