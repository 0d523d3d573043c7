#include "voice/wake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/model.h"
#include "voice/floor.h"
#include "voice/vad.h"

/*
 * openWakeWord: of each 80 ms eight rows of 32 bands, of the last 76 rows 96 numbers that tell
 * sounds of speech apart, and of the last 16 of those how much they are like "hey Jarvis".
 *
 * How sure it is hangs on where its frames happen to begin: of people that it hears half it would
 * have been sure with frames 20 ms later. So where it is in doubt it listens again, to the same
 * rows in other frames.
 *
 * It does not know the name alone. But what it lacks can be given to it: a "hey" made by rule, with
 * silence before it. Noise and others who speak keep it from being sure, and mostly what was before
 * the name does: so where it is only in the slightest doubt, it listens to the last moment once
 * more as if that were the name, and all that was before it that "hey"; and once more to all of it,
 * without what sounds all the time. Where nothing sounds all the time there is less to excuse a
 * doubt, and it takes more for a call. And for the name alone, when somebody begins to speak, a
 * second ear hears the same speech behind the "hey".
 */
enum {
	RATE = 16000,
	BEFORE = 480, /* samples of the frame before that belong to the first row */
	ROWS = 8, /* a frame */
	BANDS = 32,
	WINDOW = 76, /* rows of an embedding */
	WIDTH = 96,
	DEPTH = 16, /* embeddings that are judged */
	REST_FRAMES = 13, /* not twice within a second */
	/* Rows that all embeddings together are made of, also those of frames that began later. */
	SPAN = WINDOW + DEPTH * ROWS,
	SHIFTS = 3, /* frames that began 20, 40 and 60 ms later */
	DOUBT_FRAMES = 8, /* how long it listens to those */
	HISTORY = 32, /* rows: how far back the start of speech may lie */
	HEY_FRAMES = 5,
	/* Other words sound like the name for a moment: it must be sure in so many frames of the
	 * last ones. */
	NAME_TIMES = 2,
	LATELY = 5,
	ASK_FRAMES = 20, /* after the start of speech the name may come for 1.6 s */
	QUIET_FRAMES = 10, /* of the VAD: a pause before it that makes it a start */
	STARTS_AFTER = 2, /* of the VAD: frames of speech */
};
#define THRESHOLD 0.4
#define SURE 0.8F /* with less it wants to have heard the name, too */
#define SHIFT_DOUBT 0.08F
/* In a quiet place a call is like the name at least so much; like all of the call in one of the
 * last frames, or the name whatever its length; and if the name is not clear, more like the call.
 */
#define QUIET_NAME 0.15F
#define QUIET_FAIR 0.2F
#define QUIET_NAME_ANY 0.7F
#define QUIET_GOOD 0.3F
#define QUIET_RANGE 3.8F /* tens of dB between the louder moments and the softest */
#define DOUBT 0.006F
#define CLEAR_ENOUGH 0.75 /* of the threshold */
#define SURE_OF_NAME 0.8
#define NAME_LIKELY 0.2F
#define SPEECH 0.4F
#define SILENCE 0.3F

/* Frames that the name may have taken. */
static const size_t name_frames[] = { 10, 12, 13 };

/* What a frame told. */
enum sign {
	NAMED, /* it was sure of the name */
	LIKELY, /* … or that was likely */
	ANY_LENGTH, /* … and so with every length of it */
	HEARD, /* all of the call */
	FAIR,
	GOOD, /* it was at least like the call */
	SIGNS,
};

/* One ear. */
struct ear {
	float rows[SPAN][BANDS]; /* the last ones; only the last WINDOW of them count by and by */
	float judged[DEPTH][WIDTH];
};

struct wake {
	struct onnx *onnx;
	struct onnx_session *mel, *embedding, *head;
	float samples[BEFORE + WAKE_FRAME];
	float history[HISTORY][BANDS]; /* the last rows that were heard */
	struct ear ear;
	double threshold, bare_threshold;
	unsigned rest; /* frames until it may be called again */
	float shifted[SHIFTS][DEPTH][WIDTH]; /* embeddings of other frames */
	unsigned doubt; /* frames that those are still listened to */
	unsigned signs[SIGNS]; /* a bit for each frame, the last one lowest */
	/* Silence, and "hey" after it. */
	float hey[HEY_FRAMES * ROWS][BANDS];
	float still_judged[WIDTH], hey_judged[HEY_FRAMES][WIDTH];
	/* For the bare name: */
	struct vad *vad; /* NULL: it is not listened for */
	struct ear primed;
	unsigned asking; /* frames that the primed ear still listens to */
	int16_t pending[VAD_FRAME]; /* samples that the VAD has not heard yet */
	size_t n_pending;
	unsigned quiet, speech; /* frames of the VAD in a row */
};

/* ---- networks ---- */

/* One tensor in, one out: n numbers of it, or false. */
static bool run(const struct wake *w, struct onnx_session *s, const struct onnx_tensor *in,
	float *out, size_t n)
{
	const struct onnx_arg arg = { onnx_inputs(s)[0], in };
	struct onnx_tensor got;

	if (onnx_run(s, &arg, 1, onnx_outputs(s), 1, &got, NULL) < 0)
		return false;
	bool fits = got.type == ONNX_F32 && onnx_tensor_count(&got) == n;
	if (fits)
		memcpy(out, got.data, n * sizeof(*out));
	onnx_tensor_release(w->onnx, &got);
	return fits;
}

/* The rows of the next frame. */
static bool rows_of(struct wake *w, const int16_t *frame, float rows[ROWS][BANDS])
{
	const struct onnx_tensor in = { .type = ONNX_F32,
		.n_dims = 2,
		.dims = { 1, BEFORE + WAKE_FRAME },
		.data = w->samples };

	memmove(w->samples, w->samples + WAKE_FRAME, BEFORE * sizeof(*w->samples));
	for (size_t i = 0; i < WAKE_FRAME; i++)
		w->samples[BEFORE + i] = frame[i];
	if (!run(w, w->mel, &in, &rows[0][0], (size_t)ROWS * BANDS))
		return false;
	for (size_t i = 0; i < ROWS; i++) {
		for (size_t b = 0; b < BANDS; b++)
			rows[i][b] = rows[i][b] / 10 + 2;
	}
	return true;
}

/* What WINDOW rows from there on sound like. */
static bool embed(const struct wake *w, float rows[][BANDS], float out[WIDTH])
{
	const struct onnx_tensor in = {
		.type = ONNX_F32, .n_dims = 4, .dims = { 1, WINDOW, BANDS, 1 }, .data = rows
	};

	return run(w, w->embedding, &in, out, WIDTH);
}

static float judge(const struct wake *w, float judged[DEPTH][WIDTH])
{
	const struct onnx_tensor in = {
		.type = ONNX_F32, .n_dims = 3, .dims = { 1, DEPTH, WIDTH }, .data = judged
	};
	float score = 0;

	return run(w, w->head, &in, &score, 1) ? score : 0;
}

/* Rows into an ear, the oldest out. */
static void push(struct ear *ear, float rows[][BANDS], size_t n)
{
	memmove(ear->rows, ear->rows + n, (SPAN - n) * sizeof(*ear->rows));
	memcpy(ear->rows + SPAN - n, rows, n * sizeof(*ear->rows));
}

static float hear(const struct wake *w, struct ear *ear, float rows[ROWS][BANDS])
{
	push(ear, rows, ROWS);
	memmove(ear->judged, ear->judged + 1, (DEPTH - 1) * sizeof(*ear->judged));
	if (!embed(w, ear->rows + SPAN - WINDOW, ear->judged[DEPTH - 1]))
		return 0;
	return judge(w, ear->judged);
}

/* How sure the ear would be with other frames; 0 while there is no doubt. */
static float hear_again(struct wake *w, float score)
{
	bool begun = w->doubt > 0;

	if (score >= SHIFT_DOUBT)
		w->doubt = DOUBT_FRAMES;
	else if (begun)
		w->doubt--;
	for (size_t s = 0; w->doubt > 0 && s < SHIFTS; s++) {
		float(*judged)[WIDTH] = w->shifted[s];
		/* What is known of them needs only the next. */
		if (begun)
			memmove(judged, judged + 1, (DEPTH - 1) * sizeof(*judged));
		for (size_t i = begun ? DEPTH - 1 : 0; i < DEPTH; i++) {
			if (!embed(w, w->ear.rows + i * ROWS + (s + 1) * ROWS / (SHIFTS + 1),
				    judged[i]))
				return 0;
		}
		score = fmaxf(score, judge(w, judged));
	}
	return score;
}

/* How sure the ear would be without what sounds all the time. */
static float hear_clear(const struct wake *w)
{
	float rows[SPAN][BANDS], judged[DEPTH][WIDTH];

	memcpy(rows, w->ear.rows, sizeof(rows));
	floor_take_out(&rows[0][0], SPAN, BANDS);
	for (size_t i = 0; i < DEPTH; i++) {
		if (!embed(w, rows + (i + 1) * ROWS, judged[i]))
			return 0;
	}
	return judge(w, judged);
}

/* ---- "hey" ---- */

/* The voice at a time (0 to 1 within a period): a pulse that opens slowly and closes at once. */
static double glottis(double phase)
{
	if (phase < 0.4)
		return 0.5 - 0.5 * cos(M_PI * phase / 0.4);
	return phase < 0.56 ? cos(M_PI * (phase - 0.4) / 0.32) : 0;
}

/* "Hey" as a low voice says it: a breath, then a vowel that goes from [e] to [i], as four
 * resonances over pulses. It ends with the last sample. */
static void say_hey(int16_t out[HEY_FRAMES * WAKE_FRAME])
{
	static const double from[] = { 520, 2000, 2700, 3600 }, to[] = { 350, 2300, 2900, 3700 },
			    width[] = { 70, 100, 140, 200 };
	enum { N = 300 * RATE / 1000, BREATH = 36 * RATE / 1000, FORMANTS = ARRAY_LEN(from) };
	double state[FORMANTS][2] = { { 0 } };
	double sound[N], peak = 1e-9, phase = 0, before = 0;
	uint32_t random = 1;

	for (int i = 0; i < N; i++) {
		double t = (double)i / N;
		phase += (120 - 20 * t) / RATE;
		phase -= floor(phase);
		double flow = glottis(phase);
		double pulse = flow - before;
		before = flow;
		random = random * 1664525 + 1013904223;
		double noise = (double)random / 2147483648.0 - 1;
		double voiced = fmin(fmax((double)(i - BREATH) / BREATH, 0), 1);
		double x = pulse * voiced + noise * (0.002 + 0.018 * (1 - voiced));
		double glide = fmax((t - 0.35) / 0.65, 0);
		for (int k = 0; k < FORMANTS; k++) {
			double hz = from[k] + (to[k] - from[k]) * glide;
			/* An open glottis damps the lowest. */
			double r = exp(-M_PI * width[k] * (voiced < 1 && k == 0 ? 2 : 1) / RATE);
			double c = 2 * r * cos(2 * M_PI * hz / RATE);
			x = (1 - c + r * r) * x + c * state[k][0] - r * r * state[k][1];
			state[k][1] = state[k][0];
			state[k][0] = x;
		}
		sound[i] = x * fmin((double)i / (0.03 * RATE), 1) *
			fmin((double)(N - i) / (0.06 * RATE), 1);
		peak = fmax(peak, fabs(sound[i]));
	}
	memset(out, 0, (HEY_FRAMES * WAKE_FRAME - N) * sizeof(*out));
	for (int i = 0; i < N; i++)
		out[HEY_FRAMES * WAKE_FRAME - N + i] = (int16_t)(sound[i] / peak * 16384);
}

/* An ear that heard silence and then "hey". */
static void put_hey(const struct wake *w, struct ear *ear)
{
	for (size_t i = 0; i < SPAN; i++)
		memcpy(ear->rows[i], w->hey[0], sizeof(w->hey[0]));
	memcpy(ear->rows + SPAN - ARRAY_LEN(w->hey), w->hey, sizeof(w->hey));
}

static bool make_hey(struct wake *w)
{
	AUTO_FREE int16_t *sound = xmalloc(sizeof(*sound) * HEY_FRAMES * WAKE_FRAME);
	bool fine = true;

	say_hey(sound);
	for (size_t f = 0; fine && f < HEY_FRAMES; f++)
		fine = rows_of(w, sound + f * WAKE_FRAME, w->hey + f * ROWS);
	put_hey(w, &w->primed);
	fine = fine && embed(w, w->primed.rows, w->still_judged);
	for (size_t f = 0; fine && f < HEY_FRAMES; f++)
		fine = embed(w, w->primed.rows + SPAN - WINDOW - (HEY_FRAMES - 1 - f) * ROWS,
			w->hey_judged[f]);
	return fine;
}

/* How sure the ear would be if the last moment were all that was said after "hey": with the
 * second best of the lengths of a name. What only sounds like it fits one of them. */
static float hear_name(struct wake *w, float *ret_least)
{
	float best = 0, second = 0, least = 1;

	*ret_least = 0;

	for (size_t k = 0; k < ARRAY_LEN(name_frames); k++) {
		const size_t n = name_frames[k];
		float judged[DEPTH][WIDTH];
		struct ear ear = { 0 };
		put_hey(w, &ear);
		push(&ear, w->ear.rows + SPAN - n * ROWS, n * ROWS);
		for (size_t i = 0; i < DEPTH; i++) {
			size_t left = DEPTH - 1 - i; /* frames behind this one */
			if (left < n) {
				if (!embed(w, ear.rows + SPAN - WINDOW - left * ROWS, judged[i]))
					return 0;
			} else {
				memcpy(judged[i],
					left < n + HEY_FRAMES
						? w->hey_judged[n + HEY_FRAMES - 1 - left]
						: w->still_judged,
					sizeof(judged[i]));
			}
		}
		float score = judge(w, judged);
		second = fmaxf(second, fminf(best, score));
		best = fmaxf(best, score);
		least = fminf(least, score);
	}
	*ret_least = least;
	return second;
}

/* ---- the bare name ---- */

/* Somebody began to speak `ago` rows before the end of what was heard: the second ear hears
 * silence, "hey", and what was said since. */
static void begin_asking(struct wake *w, size_t ago)
{
	ago = ago < HISTORY ? ago : HISTORY;
	put_hey(w, &w->primed);
	push(&w->primed, w->history + HISTORY - ago, ago);
	w->asking = ASK_FRAMES;
	/* All that the last embeddings are made of is another now; the newest comes with the next
	 * rows. */
	for (size_t i = 0; i < DEPTH; i++) {
		if (!embed(w, w->primed.rows + (i + 1) * ROWS, w->primed.judged[i]))
			w->asking = 0;
	}
}

/* How sure the second ear is; 0 while nobody just began. */
static float hear_bare(struct wake *w, const int16_t *frame, float rows[ROWS][BANDS])
{
	float score = 0;
	size_t ago = 0;

	if (w->asking > 0) {
		w->asking--;
		score = hear(w, &w->primed, rows);
	}
	for (size_t at = 0; at < WAKE_FRAME;) {
		size_t n = VAD_FRAME - w->n_pending;
		n = n < WAKE_FRAME - at ? n : WAKE_FRAME - at;
		memcpy(w->pending + w->n_pending, frame + at, n * sizeof(*frame));
		at += n;
		w->n_pending += n;
		if (w->n_pending < VAD_FRAME)
			break;
		w->n_pending = 0;
		float p = vad_feed(w->vad, w->pending);
		if (p > SPEECH && w->quiet < QUIET_FRAMES) {
			w->quiet = 0;
		} else if (p > SPEECH && ++w->speech >= STARTS_AFTER) {
			w->quiet = w->speech = 0;
			/* It began some 30 ms before the first frame that is speech. */
			ago = (WAKE_FRAME - at + VAD_FRAME * STARTS_AFTER) * ROWS / WAKE_FRAME + 3;
		} else if (p <= SPEECH) {
			w->speech = 0;
			w->quiet += p < SILENCE;
		}
	}
	if (ago > 0) {
		begin_asking(w, ago);
		score = fmaxf(score, judge(w, w->primed.judged));
	}
	return score;
}

/* ---- the interface ---- */

int wake_new(const struct wake_opts *opts, struct wake **ret, struct err *reterr)
{
	const struct onnx_session_opts so = { .threads = 1 };
	struct wake *w = xcalloc(1, sizeof(*w));
	int r = 0;

	if (strcmp(opts->engine, "openwakeword") != 0)
		r = err_set(reterr, ERR_USAGE, "there is no wake word engine '%s': openwakeword",
			opts->engine);
	w->threshold = opts->threshold > 0 ? opts->threshold : THRESHOLD;
	w->bare_threshold = opts->bare_threshold;
	if (r >= 0)
		r = models_runtime(opts->models, &w->onnx, reterr);
	if (r >= 0)
		r = models_session(opts->models, "wake", "mel.onnx", &so, &w->mel, reterr);
	if (r >= 0)
		r = models_session(
			opts->models, "wake", "embedding.onnx", &so, &w->embedding, reterr);
	if (r >= 0)
		r = models_session(opts->models, "wake", "hey-jarvis.onnx", &so, &w->head, reterr);
	if (r >= 0 && w->bare_threshold > 0)
		r = vad_new("silero", opts->models, &w->vad, reterr);
	if (r >= 0 && !make_hey(w))
		r = err_set(reterr, ERR_INPUT, "the networks of the wake word do not run");
	if (r < 0) {
		wake_free(w);
		return r;
	}
	wake_reset(w);
	*ret = w;
	return 0;
}

void wake_free(struct wake *w)
{
	if (!w)
		return;
	vad_free(w->vad);
	onnx_session_free(w->mel);
	onnx_session_free(w->embedding);
	onnx_session_free(w->head);
	free(w);
}

void wake_reset(struct wake *w)
{
	memset(w->samples, 0, sizeof(w->samples));
	for (size_t i = 0; i < SPAN; i++) {
		for (size_t b = 0; b < BANDS; b++)
			w->ear.rows[i][b] = 1;
	}
	for (size_t i = 0; i < HISTORY; i++)
		memcpy(w->history[i], w->ear.rows[0], sizeof(w->history[i]));
	for (size_t i = 0; i < DEPTH; i++)
		(void)embed(w, w->ear.rows, w->ear.judged[i]);
	w->rest = w->asking = w->doubt = 0;
	memset(w->signs, 0, sizeof(w->signs));
	w->n_pending = 0;
	w->speech = 0;
	w->quiet = QUIET_FRAMES;
	if (w->vad)
		vad_reset(w->vad);
}

/* Does nothing sound all the time? Then the softest moment is far below the louder ones, also
 * while somebody speaks on and on. */
static bool is_quiet(const struct wake *w)
{
	float loud[SPAN];

	for (size_t i = 0; i < SPAN; i++) {
		loud[i] = 0;
		for (size_t b = 0; b < BANDS; b++)
			loud[i] += w->ear.rows[i][b] / BANDS;
	}
	floor_sort(loud, SPAN);
	return loud[SPAN * 9 / 10] - loud[0] > QUIET_RANGE;
}

/* Is it a call, by how sure it is now and what the last moments were like? */
static bool is_call(struct wake *w, float *score)
{
	const unsigned lately = (1U << LATELY) - 1;
	const bool sure = *score >= SURE && (double)*score >= w->threshold;
	unsigned *signs = w->signs;
	float least;

	for (size_t i = 0; i < SIGNS; i++)
		signs[i] = signs[i] << 1 & lately;
	signs[FAIR] |= *score >= QUIET_FAIR;
	signs[GOOD] |= *score >= QUIET_GOOD;
	if (*score < DOUBT || w->rest > 0)
		return sure;
	const bool quiet = is_quiet(w);
	if (sure && (!quiet || signs[LIKELY]))
		return true;
	float name = hear_name(w, &least);
	if (sure && name >= QUIET_NAME)
		return true;
	signs[LIKELY] |= name >= NAME_LIKELY;
	signs[NAMED] |= (double)name >= fmax(SURE_OF_NAME, w->threshold);
	signs[ANY_LENGTH] |= least >= QUIET_NAME_ANY;
	if (__builtin_popcount(signs[NAMED]) >= NAME_TIMES &&
		(!quiet || signs[FAIR] || signs[ANY_LENGTH])) {
		*score = name;
		return true;
	}
	/* With nobody else's words in it, less sure is enough. */
	signs[HEARD] |= (double)*score >= w->threshold ||
		(double)hear_clear(w) >= w->threshold * CLEAR_ENOUGH;
	if (!signs[HEARD] || !signs[LIKELY] || (quiet && !signs[GOOD]))
		return false;
	*score = fmaxf(*score, (float)w->threshold);
	return true;
}

bool wake_feed(struct wake *w, const int16_t *frame, float *ret_score)
{
	float rows[ROWS][BANDS];

	*ret_score = 0;
	if (!rows_of(w, frame, rows))
		return false;
	memmove(w->history, w->history + ROWS, (HISTORY - ROWS) * sizeof(*w->history));
	memcpy(w->history + HISTORY - ROWS, rows, sizeof(rows));
	*ret_score = hear_again(w, hear(w, &w->ear, rows));
	bool called = is_call(w, ret_score);
	if (w->vad) {
		float bare = hear_bare(w, frame, rows);
		called = called || (double)bare >= w->bare_threshold;
		*ret_score = fmaxf(*ret_score, bare);
	}
	if (w->rest > 0) {
		w->rest--;
		return false;
	}
	if (called) {
		w->rest = REST_FRAMES;
		memset(w->signs, 0, sizeof(w->signs));
	}
	return called;
}
