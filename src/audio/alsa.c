/*
 * ALSA, for machines without a sound server. libasound is opened at run time, and declared here as
 * far as it is needed.
 */
#include <errno.h>
#include <poll.h>

#include "audio/driver.h"
#include "audio/wav.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
	STREAM_PLAYBACK = 0,
	STREAM_CAPTURE = 1,
	NONBLOCK = 1,
	FORMAT_S16 = 2 + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__), /* SND_PCM_FORMAT_S16_LE, _BE */
	ACCESS_INTERLEAVED = 3,
	STATE_PREPARED = 2,
	STATE_RUNNING = 3,

	LATENCY_US = 80000,
	STEP_MS = 15, /* how long a stop may go unseen */
	STUCK_MS = 4000,
	FRAMES = 1024,
};

struct library {
	int (*snd_pcm_open)(void **pcm, const char *name, int stream, int mode);
	int (*snd_pcm_close)(void *pcm);
	int (*snd_pcm_set_params)(void *pcm, int format, int access, unsigned channels,
		unsigned rate, int soft_resample, unsigned latency_us);
	long (*snd_pcm_readi)(void *pcm, void *buffer, unsigned long frames);
	long (*snd_pcm_writei)(void *pcm, const void *buffer, unsigned long frames);
	int (*snd_pcm_wait)(void *pcm, int timeout_ms);
	int (*snd_pcm_recover)(void *pcm, int err, int silent);
	int (*snd_pcm_prepare)(void *pcm);
	int (*snd_pcm_start)(void *pcm);
	int (*snd_pcm_drop)(void *pcm);
	int (*snd_pcm_delay)(void *pcm, long *frames);
	int (*snd_pcm_state)(void *pcm);
	const char *(*snd_strerror)(int err);
	int (*snd_lib_error_set_handler)(
		void (*handler)(const char *, int, const char *, int, const char *, ...));
};

static const struct audio_symbol symbols[] = {
#define SYMBOL(name)                                  \
	{                                             \
#name, offsetof(struct library, name) \
	}
	SYMBOL(snd_pcm_open),
	SYMBOL(snd_pcm_close),
	SYMBOL(snd_pcm_set_params),
	SYMBOL(snd_pcm_readi),
	SYMBOL(snd_pcm_writei),
	SYMBOL(snd_pcm_wait),
	SYMBOL(snd_pcm_recover),
	SYMBOL(snd_pcm_prepare),
	SYMBOL(snd_pcm_start),
	SYMBOL(snd_pcm_drop),
	SYMBOL(snd_pcm_delay),
	SYMBOL(snd_pcm_state),
	SYMBOL(snd_strerror),
	SYMBOL(snd_lib_error_set_handler),
#undef SYMBOL
	{ NULL, 0 },
};

struct alsa {
	struct library lib;
	const struct audio_stop *stop;
	void *pcm;
	unsigned channels;
};

/* It would write to our terminal. */
static void say_nothing(
	const char *file, int line, const char *function, int err, const char *fmt, ...)
{
	(void)file, (void)line, (void)function, (void)err, (void)fmt;
}

static void alsa_free(struct alsa *a)
{
	if (a->pcm)
		(void)a->lib.snd_pcm_close(a->pcm);
	free(a);
}

static int fail(const struct alsa *a, long error, const char *what, struct err *reterr)
{
	const char *why = a->lib.snd_strerror((int)error);

	if (error == -EBUSY)
		return err_set(reterr, -EBUSY, "the device is in use by another program");
	if (error == -EACCES || error == -EPERM)
		return err_set(reterr, -EACCES,
			"the device may not be used: is this user in the group audio?");
	return err_set(reterr, -ENODEV, "%s: %s", what, why);
}

static int alsa_open(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
	bool out, struct str *name, void **ret, struct err *reterr)
{
	const struct {
		unsigned rate, channels;
	} ways[] = { { *ret_rate, 1 }, { *ret_rate, 2 }, { 48000, 1 }, { 48000, 2 }, { 44100, 1 },
		{ 44100, 2 } };
	const char *device = opts->device ? opts->device : "default";
	struct alsa *a = xcalloc(1, sizeof(*a));

	a->stop = stop;
	if (!audio_load("libasound.so.2", symbols, &a->lib)) {
		free(a);
		return err_set(reterr, ERR_NOTFOUND, "libasound2 is not installed");
	}
	(void)a->lib.snd_lib_error_set_handler(say_nothing);
	int r = a->lib.snd_pcm_open(
		&a->pcm, device, out ? STREAM_PLAYBACK : STREAM_CAPTURE, NONBLOCK);
	if (r < 0) {
		a->pcm = NULL;
		r = fail(a, r, device, reterr);
		alsa_free(a);
		return r;
	}
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		a->channels = ways[i].channels;
		r = a->lib.snd_pcm_set_params(a->pcm, FORMAT_S16, ACCESS_INTERLEAVED, a->channels,
			ways[i].rate, 1, LATENCY_US);
		if (r >= 0) {
			*ret_rate = ways[i].rate;
			break;
		}
	}
	if (r >= 0 && !out)
		r = a->lib.snd_pcm_start(a->pcm);
	if (r < 0) {
		r = fail(a, r, device, reterr);
		alsa_free(a);
		return r;
	}
	str_adds(name, device);
	*ret = a;
	return 0;
}

/* After a failed call: 0 when it may be tried again. */
static int mend(struct alsa *a, long error, int64_t until_ms, struct err *reterr)
{
	if (error == -EAGAIN) {
		if (clock_run_ms() >= until_ms)
			return err_set(reterr, -ENODEV, "the sound device stands still");
		int r = a->lib.snd_pcm_wait(a->pcm, STEP_MS);
		error = r < 0 ? r : 0;
	}
	if (error == -EPIPE || error == -ESTRPIPE || error == -EINTR) {
		int r = a->lib.snd_pcm_recover(a->pcm, (int)error, 1);
		error = r < 0 ? r : 0;
	}
	return error < 0 ? fail(a, error, "the sound device is gone", reterr) : 0;
}

/* ---- in ---- */

static int alsa_in_open(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
	struct str *name, void **ret, struct err *reterr)
{
	return alsa_open(opts, stop, ret_rate, false, name, ret, reterr);
}

static int alsa_in_read(void *end, int16_t *out, size_t n, struct err *reterr)
{
	struct alsa *a = end;
	int64_t until_ms = clock_run_ms() + STUCK_MS;
	int16_t both[2 * FRAMES] = { 0 };

	if (n > FRAMES)
		n = FRAMES;
	for (;;) {
		if (audio_stopped(a->stop))
			return err_set(reterr, ERR_CANCELLED, "stopped");
		long got = a->lib.snd_pcm_readi(a->pcm, a->channels == 2 ? both : out, n);
		if (got > 0) {
			for (long i = 0; a->channels == 2 && i < got; i++)
				out[i] = (int16_t)((both[2 * i] + both[2 * i + 1]) / 2);
			return (int)got;
		}
		int r = mend(a, got ? got : -EAGAIN, until_ms, reterr);
		if (r < 0)
			return r;
		/* After an overrun it has to be set going again. */
		if (a->lib.snd_pcm_state(a->pcm) == STATE_PREPARED)
			(void)a->lib.snd_pcm_start(a->pcm);
	}
}

static void alsa_in_free(void *end)
{
	alsa_free(end);
}

/* ---- out ---- */

static int alsa_out_open(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
	struct str *name, void **ret, struct err *reterr)
{
	return alsa_open(opts, stop, ret_rate, true, name, ret, reterr);
}

static int alsa_out_write(void *end, const int16_t *samples, size_t n, struct err *reterr)
{
	struct alsa *a = end;
	int64_t until_ms = clock_run_ms() + STUCK_MS;
	int16_t both[2 * FRAMES];

	while (n && !audio_stopped(a->stop)) {
		size_t some = n < FRAMES ? n : FRAMES;
		for (size_t i = 0; a->channels == 2 && i < some; i++)
			both[2 * i] = both[2 * i + 1] = samples[i];
		long put = a->lib.snd_pcm_writei(a->pcm, a->channels == 2 ? both : samples, some);
		if (put > 0) {
			samples += put;
			n -= (size_t)put;
			until_ms = clock_run_ms() + STUCK_MS;
			continue;
		}
		int r = mend(a, put ? put : -EAGAIN, until_ms, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

/* snd_pcm_drain() could not be stopped. */
static int alsa_out_drain(void *end, struct err *reterr)
{
	struct alsa *a = end;
	int64_t until_ms = clock_run_ms() + STUCK_MS;
	long left = 0;

	/* Less than it begins at has not begun. */
	if (a->lib.snd_pcm_state(a->pcm) == STATE_PREPARED)
		(void)a->lib.snd_pcm_start(a->pcm);
	while (!audio_stopped(a->stop) && a->lib.snd_pcm_state(a->pcm) == STATE_RUNNING &&
		a->lib.snd_pcm_delay(a->pcm, &left) == 0 && left > 0) {
		struct pollfd fd = { .fd = a->stop->fd, .events = POLLIN };
		if (clock_run_ms() >= until_ms)
			return err_set(reterr, -ENODEV, "the sound device stands still");
		(void)poll(&fd, 1, STEP_MS);
	}
	if (!audio_stopped(a->stop)) {
		(void)a->lib.snd_pcm_drop(a->pcm);
		(void)a->lib.snd_pcm_prepare(a->pcm);
	}
	return 0;
}

static void alsa_out_silence(void *end)
{
	struct alsa *a = end;

	(void)a->lib.snd_pcm_drop(a->pcm);
	(void)a->lib.snd_pcm_prepare(a->pcm);
}

static int alsa_out_free(void *end, struct err *reterr)
{
	(void)reterr;
	alsa_free(end);
	return 0;
}

const struct audio_driver audio_driver_alsa = {
	.name = "alsa",
	.device = true,
	.in_open = alsa_in_open,
	.in_read = alsa_in_read,
	.in_free = alsa_in_free,
	.out_open = alsa_out_open,
	.out_write = alsa_out_write,
	.out_drain = alsa_out_drain,
	.out_silence = alsa_out_silence,
	.out_free = alsa_out_free,
};
