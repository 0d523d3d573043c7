/*
 * PulseAudio, and PipeWire, which speaks the same. libpulse is opened at run time: the few things
 * that are needed of it are declared here, as its headers have them, and have not changed in many
 * years. Its main loop is turned by whoever reads or writes: there is no thread of its own.
 */
#include <errno.h>
#include <stdint.h>

#include "audio/driver.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
	FORMAT_S16 = 3 + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__), /* PA_SAMPLE_S16LE, S16BE */
	CONTEXT_READY = 4, /* less: on its way; more: failed */
	CONTEXT_NOAUTOSPAWN = 1,
	STREAM_READY = 2,
	STREAM_DONT_MOVE = 0x200,
	STREAM_ADJUST_LATENCY = 0x2000,
	OPERATION_RUNNING = 0,
	SEEK_RELATIVE = 0,
	ERR_PULSE_NOENTITY = 5,

	CONNECT_MS = 3000,
	STUCK_MS = 4000, /* without a sample moved: it is no device any more */
	IN_MS = 20, /* what is read at once */
	OUT_MS = 80, /* what is written ahead */
	BEGIN_MS = 20, /* of it, when it begins to be heard */
};

struct pa_sample_spec {
	int format;
	uint32_t rate;
	uint8_t channels;
};
struct pa_buffer_attr {
	uint32_t maxlength, tlength, prebuf, minreq, fragsize;
};

struct library {
	void *(*pa_mainloop_new)(void);
	void (*pa_mainloop_free)(void *loop);
	void *(*pa_mainloop_get_api)(void *loop);
	int (*pa_mainloop_prepare)(void *loop, int timeout_us);
	int (*pa_mainloop_poll)(void *loop);
	int (*pa_mainloop_dispatch)(void *loop);
	void (*pa_mainloop_wakeup)(void *loop);
	void *(*pa_context_new)(void *api, const char *name);
	int (*pa_context_connect)(void *context, const char *server, int flags, const void *spawn);
	int (*pa_context_get_state)(const void *context);
	int (*pa_context_errno)(const void *context);
	void (*pa_context_disconnect)(void *context);
	void (*pa_context_unref)(void *context);
	void *(*pa_stream_new)(void *context, const char *name, const struct pa_sample_spec *spec,
		const void *map);
	int (*pa_stream_connect_record)(
		void *stream, const char *device, const struct pa_buffer_attr *attr, int flags);
	int (*pa_stream_connect_playback)(void *stream, const char *device,
		const struct pa_buffer_attr *attr, int flags, const void *volume, void *sync);
	int (*pa_stream_get_state)(const void *stream);
	const char *(*pa_stream_get_device_name)(const void *stream);
	size_t (*pa_stream_writable_size)(const void *stream);
	int (*pa_stream_write)(void *stream, const void *data, size_t n, void (*release)(void *),
		int64_t offset, int seek);
	int (*pa_stream_peek)(void *stream, const void **data, size_t *n);
	int (*pa_stream_drop)(void *stream);
	void *(*pa_stream_flush)(void *stream, void (*done)(void *, int, void *), void *data);
	void *(*pa_stream_drain)(void *stream, void (*done)(void *, int, void *), void *data);
	int (*pa_stream_disconnect)(void *stream);
	void (*pa_stream_unref)(void *stream);
	/* Of each device what is pointed to begins with its name; eol: there are no more. */
	void *(*pa_context_get_source_info_list)(void *context,
		void (*each)(void *, const void *info, int eol, void *data), void *data);
	void *(*pa_context_get_sink_info_list)(void *context,
		void (*each)(void *, const void *info, int eol, void *data), void *data);
	int (*pa_operation_get_state)(const void *operation);
	void (*pa_operation_cancel)(void *operation);
	void (*pa_operation_unref)(void *operation);
	const char *(*pa_strerror)(int error);
};

static const struct audio_symbol symbols[] = {
#define SYMBOL(name)                                  \
	{                                             \
#name, offsetof(struct library, name) \
	}
	SYMBOL(pa_mainloop_new),
	SYMBOL(pa_mainloop_free),
	SYMBOL(pa_mainloop_get_api),
	SYMBOL(pa_mainloop_prepare),
	SYMBOL(pa_mainloop_poll),
	SYMBOL(pa_mainloop_dispatch),
	SYMBOL(pa_mainloop_wakeup),
	SYMBOL(pa_context_new),
	SYMBOL(pa_context_connect),
	SYMBOL(pa_context_get_state),
	SYMBOL(pa_context_errno),
	SYMBOL(pa_context_disconnect),
	SYMBOL(pa_context_unref),
	SYMBOL(pa_stream_new),
	SYMBOL(pa_stream_connect_record),
	SYMBOL(pa_stream_connect_playback),
	SYMBOL(pa_stream_get_state),
	SYMBOL(pa_stream_get_device_name),
	SYMBOL(pa_stream_writable_size),
	SYMBOL(pa_stream_write),
	SYMBOL(pa_stream_peek),
	SYMBOL(pa_stream_drop),
	SYMBOL(pa_stream_flush),
	SYMBOL(pa_stream_drain),
	SYMBOL(pa_stream_disconnect),
	SYMBOL(pa_stream_unref),
	SYMBOL(pa_context_get_source_info_list),
	SYMBOL(pa_context_get_sink_info_list),
	SYMBOL(pa_operation_get_state),
	SYMBOL(pa_operation_cancel),
	SYMBOL(pa_operation_unref),
	SYMBOL(pa_strerror),
#undef SYMBOL
	{ NULL, 0 },
};

struct pulse {
	struct library lib;
	struct audio_stop *stop;
	void *loop, *context, *stream;
	bool named; /* the device, by the caller */
	/* in: what was peeked at and not taken; data NULL with n: a gap, which is silence */
	const char *data;
	size_t n, taken;
};

/* From any thread. */
static void wake(void *end)
{
	struct pulse *p = end;

	p->lib.pa_mainloop_wakeup(p->loop);
}

static void pulse_free(struct pulse *p)
{
	if (p->stop)
		p->stop->wake = NULL;
	if (p->stream) {
		(void)p->lib.pa_stream_disconnect(p->stream);
		p->lib.pa_stream_unref(p->stream);
	}
	if (p->context) {
		p->lib.pa_context_disconnect(p->context);
		p->lib.pa_context_unref(p->context);
	}
	if (p->loop)
		p->lib.pa_mainloop_free(p->loop);
	free(p);
}

static int gone(const struct pulse *p, struct err *reterr)
{
	int error = p->lib.pa_context_errno(p->context);

	return err_set(reterr, -ENODEV, "the sound device is gone: %s", p->lib.pa_strerror(error));
}

/* One round of the main loop: waits for what comes first, until `until_ms`. */
static int turn(struct pulse *p, int64_t until_ms, struct err *reterr)
{
	int64_t left = until_ms - clock_run_ms();

	if (left <= 0)
		return err_set(reterr, -ETIMEDOUT, "it does not answer");
	if (p->lib.pa_mainloop_prepare(p->loop, (int)(left * 1000)) < 0 ||
		p->lib.pa_mainloop_poll(p->loop) < 0 || p->lib.pa_mainloop_dispatch(p->loop) < 0)
		return err_set(reterr, -EIO, "the connection failed");
	return 0;
}

static bool is_alive(const struct pulse *p)
{
	return p->lib.pa_context_get_state(p->context) == CONTEXT_READY &&
		p->lib.pa_stream_get_state(p->stream) == STREAM_READY;
}

/* Without a microphone a server gives what is played instead, and we would hear ourselves: only who
 * asks for that by name gets it. */
static bool hears_itself(const struct pulse *p)
{
	const char *device = p->lib.pa_stream_get_device_name(p->stream);

	return !p->named && device && sv_ends(sv_of(device), SV(".monitor"));
}

static const char *server_of(const char *const *envp)
{
	for (; envp && *envp; envp++)
		if (strncmp(*envp, "PULSE_SERVER=", 13) == 0)
			return *envp + 13;
	return NULL;
}

static int connect_server(
	struct pulse *p, const struct audio_opts *opts, int64_t until_ms, struct err *reterr)
{
	p->loop = p->lib.pa_mainloop_new();
	if (p->loop)
		p->context = p->lib.pa_context_new(p->lib.pa_mainloop_get_api(p->loop), "faden");
	if (!p->context)
		return err_set(reterr, -ENOMEM, "libpulse does not start");
	const char *server = server_of(opts->envp);
	int r = p->lib.pa_context_connect(p->context, server, CONTEXT_NOAUTOSPAWN, NULL);
	while (r >= 0 && p->lib.pa_context_get_state(p->context) < CONTEXT_READY) {
		if (audio_stopped(p->stop))
			return err_set(reterr, ERR_CANCELLED, "stopped");
		r = turn(p, until_ms, reterr);
		if (r < 0)
			return r;
	}
	if (r < 0 || p->lib.pa_context_get_state(p->context) != CONTEXT_READY)
		return err_set(reterr, ERR_NOTFOUND, "no server: %s",
			p->lib.pa_strerror(p->lib.pa_context_errno(p->context)));
	return 0;
}

static void add_device(void *context, const void *info, int eol, void *data)
{
	struct str *out = data;

	(void)context;
	if (!eol)
		str_addf(out, "%s%s", out->len ? ", " : "", *(const char *const *)info);
}

/* Whoever names one that is none wants to know what they are called. */
static int no_such_device(struct pulse *p, const struct audio_opts *opts, bool out,
	int64_t until_ms, struct err *reterr)
{
	AUTO_STR names = STR_INIT;
	void *operation = out
		? p->lib.pa_context_get_sink_info_list(p->context, add_device, &names)
		: p->lib.pa_context_get_source_info_list(p->context, add_device, &names);

	while (operation && p->lib.pa_operation_get_state(operation) == OPERATION_RUNNING &&
		!audio_stopped(p->stop) && turn(p, until_ms, NULL) == 0) {
	}
	if (operation) {
		p->lib.pa_operation_cancel(operation);
		p->lib.pa_operation_unref(operation);
	}
	return err_set(reterr, -ENODEV, "there is no device \"%s\"%s%s", opts->device,
		names.len ? ", but " : "", names.buf);
}

static int connect_stream(struct pulse *p, const struct audio_opts *opts, bool out, unsigned rate,
	int64_t until_ms, struct err *reterr)
{
	const struct pa_sample_spec spec = { FORMAT_S16, rate, 1 };
	const uint32_t ms = rate * 2 / 1000;
	const struct pa_buffer_attr attr = { .maxlength = UINT32_MAX,
		.tlength = out ? OUT_MS * ms : UINT32_MAX,
		.prebuf = out ? BEGIN_MS * ms : UINT32_MAX,
		.minreq = out ? BEGIN_MS * ms / 2 : UINT32_MAX,
		.fragsize = out ? UINT32_MAX : IN_MS * ms };
	/* Who named a device waits for it to come back, and is not taken to another one. */
	const int flags = STREAM_ADJUST_LATENCY | (opts->device ? STREAM_DONT_MOVE : 0);
	int r;

	p->stream = p->lib.pa_stream_new(p->context, out ? "voice" : "microphone", &spec, NULL);
	if (!p->stream)
		return err_set(reterr, ERR_INPUT, "it does not take %u samples a second", rate);
	if (out)
		r = p->lib.pa_stream_connect_playback(
			p->stream, opts->device, &attr, flags, NULL, NULL);
	else
		r = p->lib.pa_stream_connect_record(p->stream, opts->device, &attr, flags);
	while (r >= 0 && p->lib.pa_stream_get_state(p->stream) < STREAM_READY) {
		if (audio_stopped(p->stop))
			return err_set(reterr, ERR_CANCELLED, "stopped");
		r = turn(p, until_ms, reterr);
		if (r < 0)
			return r;
	}
	if (r >= 0 && is_alive(p))
		return 0;
	int error = p->lib.pa_context_errno(p->context);
	if (error == ERR_PULSE_NOENTITY && opts->device)
		return no_such_device(p, opts, out, until_ms, reterr);
	return err_set(reterr, -ENODEV, "no device: %s", p->lib.pa_strerror(error));
}

static int pulse_open(const struct audio_opts *opts, struct audio_stop *stop, unsigned rate,
	bool out, struct str *name, void **ret, struct err *reterr)
{
	struct pulse *p = xcalloc(1, sizeof(*p));
	int64_t until_ms = clock_run_ms() + CONNECT_MS;
	int r = 0;

	p->stop = stop;
	p->named = opts->device != NULL;
	if (!audio_load("libpulse.so.0", symbols, &p->lib)) {
		free(p);
		return err_set(reterr, ERR_NOTFOUND, "libpulse0 is not installed");
	}
	r = connect_server(p, opts, until_ms, reterr);
	if (r == 0)
		r = connect_stream(p, opts, out, rate, until_ms, reterr);
	if (r == 0 && !out && hears_itself(p))
		r = err_set(reterr, -ENODEV,
			"the default is %s, which hears a loudspeaker: name it (--device, "
			"audio.input_device) if that is meant",
			p->lib.pa_stream_get_device_name(p->stream));
	if (r < 0) {
		pulse_free(p);
		return r;
	}
	const char *device = p->lib.pa_stream_get_device_name(p->stream);
	str_adds(name, device ? device : "default");
	stop->end = p;
	stop->wake = wake;
	*ret = p;
	return 0;
}

/* ---- in ---- */

static int pulse_in_open(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
	struct str *name, void **ret, struct err *reterr)
{
	return pulse_open(opts, stop, *ret_rate, false, name, ret, reterr);
}

static void drop(struct pulse *p)
{
	if (p->n)
		(void)p->lib.pa_stream_drop(p->stream);
	p->n = p->taken = 0;
	p->data = NULL;
}

static int pulse_in_read(void *end, int16_t *out, size_t n, struct err *reterr)
{
	struct pulse *p = end;
	int64_t until_ms = clock_run_ms() + STUCK_MS;

	while (!p->n) {
		const void *data = NULL;
		if (audio_stopped(p->stop))
			return err_set(reterr, ERR_CANCELLED, "stopped");
		if (!is_alive(p) || p->lib.pa_stream_peek(p->stream, &data, &p->n) < 0)
			return gone(p, reterr);
		if (hears_itself(p))
			return err_set(reterr, -ENODEV, "the microphone is gone");
		p->data = data;
		if (p->n)
			break;
		struct err err = ERR_INIT;
		if (turn(p, until_ms, &err) < 0)
			return err_set(
				reterr, -ENODEV, "the microphone gives no sound: %s", err.msg);
	}
	size_t have = (p->n - p->taken) / 2;
	if (n > have)
		n = have;
	if (p->data)
		memcpy(out, p->data + p->taken, n * 2);
	else
		memset(out, 0, n * 2);
	p->taken += n * 2;
	if (p->n - p->taken < 2)
		drop(p);
	return (int)n;
}

static void pulse_in_free(void *end)
{
	pulse_free(end);
}

/* ---- out ---- */

static int pulse_out_open(const struct audio_opts *opts, struct audio_stop *stop,
	unsigned *ret_rate, struct str *name, void **ret, struct err *reterr)
{
	return pulse_open(opts, stop, *ret_rate, true, name, ret, reterr);
}

static int pulse_out_write(void *end, const int16_t *samples, size_t n, struct err *reterr)
{
	struct pulse *p = end;
	int64_t until_ms = clock_run_ms() + STUCK_MS;

	while (n && !audio_stopped(p->stop)) {
		if (!is_alive(p))
			return gone(p, reterr);
		size_t room = p->lib.pa_stream_writable_size(p->stream);
		if (room == SIZE_MAX)
			return gone(p, reterr);
		if (room < 2) {
			struct err err = ERR_INIT;
			if (turn(p, until_ms, &err) < 0)
				return err_set(reterr, -ENODEV,
					"the loudspeaker takes no sound: %s", err.msg);
			continue;
		}
		size_t some = room / 2 < n ? room / 2 : n;
		if (p->lib.pa_stream_write(p->stream, samples, some * 2, NULL, 0, SEEK_RELATIVE) <
			0)
			return gone(p, reterr);
		samples += some;
		n -= some;
		until_ms = clock_run_ms() + STUCK_MS;
	}
	return 0;
}

/* Until the server has done it, a stop was asked for, or too long; takes the operation. */
static int finish(struct pulse *p, void *operation, bool heed_stop, struct err *reterr)
{
	int64_t until_ms = clock_run_ms() + STUCK_MS;
	struct err err = ERR_INIT;
	int r = 0;

	if (!operation)
		return gone(p, reterr);
	while (r == 0 && p->lib.pa_operation_get_state(operation) == OPERATION_RUNNING &&
		!(heed_stop && audio_stopped(p->stop))) {
		if (!is_alive(p))
			r = gone(p, reterr);
		else if (turn(p, until_ms, &err) < 0)
			r = err_set(reterr, -ENODEV, "the loudspeaker does not end: %s", err.msg);
	}
	if (p->lib.pa_operation_get_state(operation) == OPERATION_RUNNING)
		p->lib.pa_operation_cancel(operation);
	p->lib.pa_operation_unref(operation);
	return r;
}

static int pulse_out_drain(void *end, struct err *reterr)
{
	struct pulse *p = end;

	return finish(p, p->lib.pa_stream_drain(p->stream, NULL, NULL), true, reterr);
}

static void pulse_out_silence(void *end)
{
	struct pulse *p = end;

	if (is_alive(p))
		(void)finish(p, p->lib.pa_stream_flush(p->stream, NULL, NULL), false, NULL);
}

static int pulse_out_free(void *end, struct err *reterr)
{
	(void)reterr;
	pulse_free(end);
	return 0;
}

const struct audio_driver audio_driver_pulse = {
	.name = "pulse",
	.device = true,
	.in_open = pulse_in_open,
	.in_read = pulse_in_read,
	.in_free = pulse_in_free,
	.out_open = pulse_out_open,
	.out_write = pulse_out_write,
	.out_drain = pulse_out_drain,
	.out_silence = pulse_out_silence,
	.out_free = pulse_out_free,
};
