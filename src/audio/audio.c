#include "audio/audio.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "audio/driver.h"
#include "audio/resample.h"
#include "base/mem.h"

/* In the order in which they are tried. */
static const struct audio_driver *const drivers[] = { &audio_driver_pulse, &audio_driver_alsa,
	&audio_driver_wav, &audio_driver_raw };
const char *const audio_drivers[] = { "pulse", "alsa", "wav", "raw", NULL };

/* What both ends have. */
struct end {
	const struct audio_driver *driver;
	void *impl;
	struct audio_stop stop;
	struct resampler *resampler;
	struct str name;
};

static void end_init(struct end *e)
{
	e->stop.fd = -1;
	str_init_max(&e->name, 0);
}

static void end_release(struct end *e)
{
	resampler_free(e->resampler);
	if (e->stop.fd >= 0)
		(void)close(e->stop.fd);
	str_release(&e->name);
}

static void end_stop(struct end *e)
{
	const uint64_t one = 1;

	atomic_store(&e->stop.asked, true);
	if (write(e->stop.fd, &one, sizeof(one)) < 0)
		return; /* it is readable already */
	if (e->stop.wake)
		e->stop.wake(e->stop.end);
}

static int stopped(struct err *reterr)
{
	return err_set(reterr, ERR_CANCELLED, "stopped");
}

typedef int (*open_fn)(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
	struct str *name, void **ret, struct err *reterr);

/* One driver, or the first of the devices that opens; with none, why not of each. */
static int end_open(struct end *e, const struct audio_opts *opts, bool out, unsigned *ret_rate,
	struct err *reterr)
{
	AUTO_STR why = STR_INIT;
	struct err err = ERR_INIT;
	int r = 0;
	bool known = false;

	e->stop.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->stop.fd < 0)
		return err_errno(reterr, errno, "eventfd");
	for (size_t i = 0; i < ARRAY_LEN(drivers); i++) {
		const struct audio_driver *d = drivers[i];
		if (opts->driver ? strcmp(opts->driver, d->name) != 0 : !d->device)
			continue;
		open_fn open = out ? d->out_open : d->in_open;
		known = true;
		e->driver = d;
		*ret_rate = opts->rate ? opts->rate : AUDIO_RATE;
		str_clear(&e->name);
		str_addf(&e->name, "%s: ", d->name);
		int tried = open(opts, &e->stop, ret_rate, &e->name, &e->impl, &err);
		if (tried == 0)
			return 0;
		if (!d->device) {
			if (reterr)
				*reterr = err;
			return tried;
		}
		/* What a device says for itself goes before that another one is not there. */
		if (!r || r == ERR_NOTFOUND)
			r = tried;
		str_addf(&why, "%s%s: %s", why.len ? "; " : "", d->name, err.msg);
	}
	if (!known)
		return err_set(reterr, ERR_USAGE, "no sound driver is called \"%s\"", opts->driver);
	return err_set(reterr, r, "no %s (%s)", out ? "loudspeaker" : "microphone", why.buf);
}

/* ---- in ---- */

struct audio_in {
	struct end end;
	struct samples ready; /* read, and not taken yet */
	size_t taken; /* of ready */
	bool ended;
};

int audio_in_open(const struct audio_opts *opts, struct audio_in **ret, struct err *reterr)
{
	struct audio_in *in = xcalloc(1, sizeof(*in));
	unsigned rate = 0;

	end_init(&in->end);
	int r = end_open(&in->end, opts, false, &rate, reterr);
	if (r < 0) {
		end_release(&in->end);
		free(in);
		return r;
	}
	in->end.resampler = resampler_new(rate, opts->rate ? opts->rate : AUDIO_RATE);
	*ret = in;
	return 0;
}

void audio_in_free(struct audio_in *in)
{
	if (!in)
		return;
	in->end.driver->in_free(in->end.impl);
	end_release(&in->end);
	samples_release(&in->ready);
	free(in);
}

const char *audio_in_name(const struct audio_in *in)
{
	return in->end.name.buf;
}

bool audio_in_is_live(const struct audio_in *in)
{
	return in->end.driver->device;
}

int audio_in_read(struct audio_in *in, int16_t *out, size_t n, struct err *reterr)
{
	int16_t some[1024];

	while (in->ready.n - in->taken < n && !in->ended) {
		if (audio_stopped(&in->end.stop))
			return stopped(reterr);
		int r = in->end.driver->in_read(in->end.impl, some, ARRAY_LEN(some), reterr);
		if (r < 0)
			return r;
		/* Less than was asked for is left, so that this is little; what was taken is not
		 * kept. */
		samples_drop(&in->ready, in->taken);
		in->taken = 0;
		if (r > 0) {
			resampler_feed(in->end.resampler, some, (size_t)r, &in->ready);
		} else {
			resampler_flush(in->end.resampler, &in->ready);
			in->ended = true;
		}
	}
	if (audio_stopped(&in->end.stop))
		return stopped(reterr);
	size_t have = in->ready.n - in->taken;
	if (n > have)
		n = have;
	if (n)
		memcpy(out, in->ready.v + in->taken, n * sizeof(*out));
	in->taken += n;
	return (int)n;
}

void audio_in_stop(struct audio_in *in)
{
	end_stop(&in->end);
}

/* ---- out ---- */

struct audio_out {
	struct end end;
	struct samples ready; /* at the device's rate; kept for its memory */
	bool silenced; /* by the stop that is in force */
};

int audio_out_open(const struct audio_opts *opts, struct audio_out **ret, struct err *reterr)
{
	struct audio_out *out = xcalloc(1, sizeof(*out));
	unsigned rate = 0;

	end_init(&out->end);
	int r = end_open(&out->end, opts, true, &rate, reterr);
	if (r < 0) {
		end_release(&out->end);
		free(out);
		return r;
	}
	out->end.resampler = resampler_new(opts->rate ? opts->rate : AUDIO_RATE, rate);
	*ret = out;
	return 0;
}

int audio_out_close(struct audio_out *out, struct err *reterr)
{
	if (!out)
		return 0;
	int r = out->end.driver->out_free(out->end.impl, reterr);
	end_release(&out->end);
	samples_release(&out->ready);
	free(out);
	return r;
}

void audio_out_free(struct audio_out *out)
{
	(void)audio_out_close(out, NULL);
}

const char *audio_out_name(const struct audio_out *out)
{
	return out->end.name.buf;
}

bool audio_out_is_live(const struct audio_out *out)
{
	return out->end.driver->device;
}

/* After what a driver did: a stop that came meanwhile is what counts. */
static int out_done(struct audio_out *out, int r, struct err *reterr)
{
	if (!audio_stopped(&out->end.stop))
		return r;
	if (!out->silenced)
		out->end.driver->out_silence(out->end.impl);
	out->silenced = true;
	return stopped(reterr);
}

int audio_out_write(struct audio_out *out, const int16_t *samples, size_t n, struct err *reterr)
{
	int r = 0;

	if (!audio_stopped(&out->end.stop)) {
		out->ready.n = 0;
		resampler_feed(out->end.resampler, samples, n, &out->ready);
		r = out->end.driver->out_write(out->end.impl, out->ready.v, out->ready.n, reterr);
	}
	return out_done(out, r, reterr);
}

int audio_out_drain(struct audio_out *out, struct err *reterr)
{
	int r = 0;

	if (!audio_stopped(&out->end.stop)) {
		out->ready.n = 0;
		resampler_flush(out->end.resampler, &out->ready);
		r = out->end.driver->out_write(out->end.impl, out->ready.v, out->ready.n, reterr);
		if (r == 0 && !audio_stopped(&out->end.stop))
			r = out->end.driver->out_drain(out->end.impl, reterr);
	}
	return out_done(out, r, reterr);
}

void audio_out_stop(struct audio_out *out)
{
	end_stop(&out->end);
}

void audio_out_start(struct audio_out *out)
{
	uint64_t count;

	if (audio_stopped(&out->end.stop) && !out->silenced)
		out->end.driver->out_silence(out->end.impl);
	out->silenced = false;
	out->ready.n = 0;
	resampler_flush(out->end.resampler, &out->ready);
	if (read(out->end.stop.fd, &count, sizeof(count)) < 0)
		count = 0; /* there was no stop */
	atomic_store(&out->end.stop.asked, false);
}
