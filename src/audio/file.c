/*
 * Files and pipes as microphone and loudspeaker: raw samples (signed 16 bit, little endian, mono)
 * and WAV. They have no speed of their own.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "audio/driver.h"
#include "audio/wav.h"
#include "base/clock.h"
#include "base/mem.h"
#include "os/file.h"

enum {
	AHEAD_MS = 80, /* of a paced file, beside the piece that is being written */
	PACE_MS = 20, /* its pieces */
	PIECE = 2048, /* samples: what a pipe that says it is ready surely takes */
};

struct file_end {
	int fd;
	bool owned;
	char *name; /* for messages */
	const struct audio_stop *stop;
	/* in */
	struct wav_decoder *decoder; /* NULL: raw */
	struct samples ready;
	size_t taken;
	char odd; /* half a raw sample */
	bool has_odd;
	/* out */
	struct wav_writer *writer; /* NULL: raw */
	bool paced;
	unsigned rate;
	int64_t begun_ms; /* when the first of `paced_n` samples was heard */
	uint64_t paced_n;
};

/* A descriptor that was given, or a path. */
static bool is_given(const struct audio_opts *opts)
{
	return !opts->device || strcmp(opts->device, "-") == 0;
}

static struct file_end *file_end_new(const struct audio_opts *opts, const struct audio_stop *stop)
{
	struct file_end *f = xcalloc(1, sizeof(*f));

	f->fd = -1;
	f->name = is_given(opts) ? xasprintf("descriptor %d", opts->fd) : xstrdup(opts->device);
	f->stop = stop;
	return f;
}

static int file_end_free(struct file_end *f, struct err *reterr)
{
	int r = wav_writer_close(f->writer, reterr);

	wav_decoder_free(f->decoder);
	samples_release(&f->ready);
	if (f->owned && close(f->fd) < 0 && r == 0)
		r = err_errno(reterr, errno, "close %s", f->name);
	free(f->name);
	free(f);
	return r;
}

/* 1: ready, 0: a stop was asked for. */
static int wait_for(const struct file_end *f, short events, struct err *reterr)
{
	struct pollfd fds[] = { { .fd = f->fd, .events = events },
		{ .fd = f->stop->fd, .events = POLLIN } };

	while (poll(fds, ARRAY_LEN(fds), -1) < 0)
		if (errno != EINTR)
			return err_errno(reterr, errno, "poll");
	return fds[1].revents ? 0 : 1;
}

/* ---- in ---- */

static int open_in(const struct audio_opts *opts, struct audio_stop *stop, struct str *name,
	bool wav, void **ret, struct err *reterr)
{
	struct file_end *f = file_end_new(opts, stop);

	str_adds(name, f->name);
	if (is_given(opts)) {
		f->fd = opts->fd;
		if (f->fd < 0)
			(void)err_set(reterr, ERR_USAGE, "no file to read from");
	} else {
		f->fd = file_open(opts->device, NULL, reterr);
		f->owned = f->fd >= 0;
	}
	if (f->fd < 0) {
		int r = is_given(opts) ? ERR_USAGE : f->fd;
		(void)file_end_free(f, NULL);
		return r;
	}
	f->decoder = wav ? wav_decoder_new() : NULL;
	*ret = f;
	return 0;
}

static ssize_t read_some(const struct file_end *f, char *buf, size_t size, struct err *reterr)
{
	for (;;) {
		int r = wait_for(f, POLLIN, reterr);
		if (r <= 0)
			return r < 0 ? r : err_set(reterr, ERR_CANCELLED, "stopped");
		ssize_t n = read(f->fd, buf, size);
		if (n >= 0)
			return n;
		if (errno != EINTR && errno != EAGAIN)
			return err_errno(reterr, errno, "read sound");
	}
}

/* More samples in f->ready; 0 at the end. */
static int fill(struct file_end *f, struct err *reterr)
{
	char buf[8192];

	f->taken = f->ready.n = 0;
	while (!f->ready.n) {
		size_t had = !f->decoder && f->has_odd ? 1 : 0;
		buf[0] = f->odd;
		ssize_t n = read_some(f, buf + had, sizeof(buf) - had, reterr);
		if (n < 0)
			return (int)n;
		if (n == 0)
			return f->decoder ? wav_decode_end(f->decoder, reterr) : 0;
		struct sv bytes = sv_make(buf, (size_t)n + had);
		if (f->decoder) {
			int r = wav_decode(f->decoder, bytes, &f->ready, reterr);
			if (r < 0)
				return r;
			continue;
		}
		int16_t *to = samples_grow(&f->ready, bytes.n / 2);
		for (size_t i = 0; i < bytes.n / 2; i++) {
			uint16_t le;
			memcpy(&le, bytes.p + 2 * i, 2);
			to[i] = (int16_t)le16toh(le);
		}
		f->has_odd = bytes.n & 1;
		f->odd = bytes.p[bytes.n - 1];
	}
	return 1;
}

static int file_in_read(void *end, int16_t *out, size_t n, struct err *reterr)
{
	struct file_end *f = end;

	if (f->taken == f->ready.n) {
		int r = fill(f, reterr);
		if (r <= 0)
			return r;
	}
	if (n > f->ready.n - f->taken)
		n = f->ready.n - f->taken;
	memcpy(out, f->ready.v + f->taken, n * sizeof(*out));
	f->taken += n;
	return (int)n;
}

static void file_in_free(void *end)
{
	(void)file_end_free(end, NULL);
}

static int raw_in_open(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
	struct str *name, void **ret, struct err *reterr)
{
	(void)ret_rate;
	return open_in(opts, stop, name, false, ret, reterr);
}

static int wav_in_open(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
	struct str *name, void **ret, struct err *reterr)
{
	struct err err = ERR_INIT;
	void *end = NULL;
	int r = open_in(opts, stop, name, true, &end, reterr);
	struct file_end *f = end;

	if (r < 0)
		return r;
	/* The rate is known with the first samples, or when there are none. */
	r = fill(f, &err);
	if (r < 0) {
		(void)file_end_free(f, NULL);
		return err_set(reterr, r, "%s: %s", opts->device ? opts->device : "-", err.msg);
	}
	*ret_rate = wav_decoder_rate(f->decoder);
	*ret = f;
	return 0;
}

/* ---- out ---- */

static int open_out(const struct audio_opts *opts, struct audio_stop *stop, unsigned rate,
	struct str *name, bool wav, void **ret, struct err *reterr)
{
	struct file_end *f = file_end_new(opts, stop);
	int r = 0;

	str_adds(name, f->name);
	f->rate = rate;
	f->paced = opts->paced;
	if (is_given(opts)) {
		f->fd = opts->fd;
		if (f->fd < 0)
			r = err_set(reterr, ERR_USAGE, "no file to write to");
	} else {
		/* A WAV is looked at before it goes on; raw samples just follow. */
		int how = !opts->append ? O_WRONLY | O_TRUNC : wav ? O_RDWR : O_WRONLY | O_APPEND;
		f->fd = open(opts->device, how | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
		f->owned = f->fd >= 0;
		if (f->fd < 0)
			r = err_errno(reterr, errno, "write %s", opts->device);
	}
	if (r == 0 && wav) {
		r = wav_writer_fd(f->fd, f->name, rate, opts->append, &f->writer, reterr);
	}
	if (r < 0) {
		(void)file_end_free(f, NULL);
		return r;
	}
	*ret = f;
	return 0;
}

static int raw_out_open(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
	struct str *name, void **ret, struct err *reterr)
{
	return open_out(opts, stop, *ret_rate, name, false, ret, reterr);
}

static int wav_out_open(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
	struct str *name, void **ret, struct err *reterr)
{
	return open_out(opts, stop, *ret_rate, name, true, ret, reterr);
}

/* Until all but `ahead` of what was written would have been heard; a stop ends it. */
static void keep_pace(struct file_end *f, int64_t ahead_ms)
{
	if (!f->paced || !f->paced_n)
		return;
	int64_t heard_at = f->begun_ms + (int64_t)(f->paced_n * 1000 / f->rate);
	int64_t wait = heard_at - ahead_ms - clock_run_ms();
	struct pollfd fd = { .fd = f->stop->fd, .events = POLLIN };
	if (wait > 0)
		(void)poll(&fd, 1, (int)wait);
	if (clock_run_ms() >= heard_at)
		f->paced_n = 0; /* there was a pause: time begins anew with what follows */
}

static int file_out_write(void *end, const int16_t *samples, size_t n, struct err *reterr)
{
	struct file_end *f = end;
	int r = 0;

	while (n && r == 0) {
		size_t most = f->paced ? f->rate * PACE_MS / 1000 : PIECE;
		size_t some = n < most ? n : most;
		r = wait_for(f, POLLOUT, reterr);
		if (r <= 0)
			return r;
		if (!f->paced_n)
			f->begun_ms = clock_run_ms();
		if (f->writer) {
			r = wav_write(f->writer, samples, some, reterr);
		} else {
			uint16_t le[PIECE];
			some = some < PIECE ? some : PIECE;
			for (size_t i = 0; i < some; i++)
				le[i] = htole16((uint16_t)samples[i]);
			r = file_write_all(f->fd, sv_make((const char *)le, some * 2), reterr);
			if (r < 0)
				err_prefix(reterr, "%s", f->name);
		}
		samples += some;
		n -= some;
		f->paced_n += some;
		keep_pace(f, AHEAD_MS);
		if (audio_stopped(f->stop))
			break;
	}
	return r;
}

static int file_out_drain(void *end, struct err *reterr)
{
	(void)reterr;
	keep_pace(end, 0);
	return 0;
}

static void file_out_silence(void *end)
{
	struct file_end *f = end;

	f->paced_n = 0;
}

static int file_out_free(void *end, struct err *reterr)
{
	return file_end_free(end, reterr);
}

const struct audio_driver audio_driver_raw = {
	.name = "raw",
	.in_open = raw_in_open,
	.in_read = file_in_read,
	.in_free = file_in_free,
	.out_open = raw_out_open,
	.out_write = file_out_write,
	.out_drain = file_out_drain,
	.out_silence = file_out_silence,
	.out_free = file_out_free,
};

const struct audio_driver audio_driver_wav = {
	.name = "wav",
	.in_open = wav_in_open,
	.in_read = file_in_read,
	.in_free = file_in_free,
	.out_open = wav_out_open,
	.out_write = file_out_write,
	.out_drain = file_out_drain,
	.out_silence = file_out_silence,
	.out_free = file_out_free,
};
