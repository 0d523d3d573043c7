#include "listen/endpoint.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { KEEP = ENDPOINT_CALL + ENDPOINT_BEFORE + ENDPOINT_RATE }; /* while nothing is recorded */
/* Speech goes on at a little less than it takes to begin. */
static const double sag = 0.15;

enum mode { CLOSED, OPEN, WAITING, RECORDING };

struct endpoint {
	struct endpoint_opts opts;
	int16_t *buf;
	size_t n, cap;
	uint64_t base; /* the sample that buf[0] is; all places are counted in samples fed */
	size_t in_frame; /* samples since the last frame was judged */
	bool speech; /* the last frame was; else run_end is where the last speech ended */
	uint64_t run, run_end;
	uint64_t run_before; /* where the run before this one ended; 0: there was none */
	enum mode mode;
	bool told; /* that somebody speaks */
	bool called;
	bool opened; /* it began with speech: when that was none after all, it waits on */
	uint64_t began; /* the call */
	uint64_t call; /* where the speech with it began */
	uint64_t start; /* RECORDING */
	size_t spoken, tail;
	size_t silence, least; /* of this recording */
	bool with_call, cut;
	uint64_t paused; /* where the speech ended that the last pause was told of; 0: none was */
};

struct endpoint *endpoint_new(const struct endpoint_opts *opts)
{
	struct endpoint *e = xcalloc(1, sizeof(*e));

	e->opts = *opts;
	e->silence = opts->silence;
	e->least = opts->least;
	return e;
}

void endpoint_free(struct endpoint *e)
{
	if (!e)
		return;
	free(e->buf);
	free(e);
}

uint64_t endpoint_now(const struct endpoint *e)
{
	return e->base + e->n;
}

static uint64_t before(uint64_t place, uint64_t by, uint64_t least)
{
	uint64_t at = place > by ? place - by : 0;

	return at > least ? at : least;
}

void endpoint_begin(struct endpoint *e, bool called)
{
	e->mode = WAITING;
	e->called = called;
	e->opened = e->told = false;
	e->began = endpoint_now(e);
	/* A call is heard while it is said, or shortly after. */
	bool near = e->speech || e->run_end + ENDPOINT_BREATH > e->began;
	e->call = called && near && e->run_end
		? before(e->run, 0, before(e->began, ENDPOINT_CALL, 0))
		: e->began;
	e->spoken = e->tail = 0;
	e->silence = e->opts.silence;
	e->least = e->opts.least;
}

void endpoint_open(struct endpoint *e, size_t silence, size_t least)
{
	e->mode = OPEN;
	e->opened = true;
	e->told = e->called = false;
	e->silence = silence;
	e->least = least;
	e->spoken = e->tail = 0;
}

bool endpoint_records(const struct endpoint *e)
{
	return e->mode == RECORDING;
}

size_t endpoint_left(const struct endpoint *e)
{
	uint64_t gone = endpoint_now(e) - e->start;

	if (e->mode != RECORDING)
		return SIZE_MAX;
	return gone < e->opts.longest ? e->opts.longest - (size_t)gone : 0;
}

uint64_t endpoint_silence(const struct endpoint *e)
{
	return endpoint_now(e) - e->run_end;
}

void endpoint_cut(struct endpoint *e, size_t keep)
{
	if (e->mode != RECORDING)
		return;
	e->start = before(endpoint_now(e), keep, e->start);
	if (e->spoken > keep)
		e->spoken = keep;
}

void endpoint_close(struct endpoint *e)
{
	e->mode = CLOSED;
}

static void start_at(struct endpoint *e, uint64_t place, bool with_call)
{
	e->mode = RECORDING;
	e->start = before(place, ENDPOINT_BEFORE, e->base);
	e->with_call = with_call;
	e->cut = false;
	e->paused = 0;
}

/* A frame of speech that ends here while a recording is to begin. */
static void on_first_speech(struct endpoint *e, uint64_t end)
{
	if (e->mode == OPEN) {
		start_at(e, e->run, false);
		e->spoken = ENDPOINT_FRAME;
		return;
	}
	if (!e->called) {
		/* Whoever presses a key may already speak. */
		start_at(e, before(e->run, 0, e->began), false);
		e->spoken = ENDPOINT_FRAME;
		return;
	}
	if (e->run < e->began) { /* speaks on from the call */
		e->tail += ENDPOINT_FRAME;
		if (end <= e->began + ENDPOINT_TAIL)
			return;
		start_at(e, e->call, true);
		e->spoken = e->tail;
		return;
	}
	bool breath = e->call < e->began && e->run < e->run_before + ENDPOINT_BREATH;
	start_at(e, breath ? e->call : e->run, breath);
	if (!breath && e->start < e->began)
		e->start = e->began;
	e->spoken = ENDPOINT_FRAME + (breath ? e->tail : 0);
}

static void judge(struct endpoint *e)
{
	const int16_t *frame = e->buf + e->n - ENDPOINT_FRAME;
	double p = (double)e->opts.judge(e->opts.data, frame);
	uint64_t end = endpoint_now(e);
	bool speech = p >= e->opts.threshold - (e->speech ? sag : 0);

	e->in_frame = 0;
	if (speech && !e->speech) {
		e->run_before = e->run_end;
		e->run = end - ENDPOINT_FRAME;
	}
	e->speech = speech;
	if (!speech)
		return;
	e->run_end = end;
	if (e->mode == RECORDING)
		e->spoken += ENDPOINT_FRAME;
	else if (e->mode != CLOSED)
		on_first_speech(e, end);
}

/* Where the next thing happens if nobody speaks any more. */
static uint64_t deadline(const struct endpoint *e)
{
	uint64_t silent, full;

	switch (e->mode) {
	case WAITING:
		return e->began + e->opts.patience;
	case RECORDING:
		silent = e->run_end + e->silence;
		full = e->start + e->opts.longest;
		/* Who pauses there may be at the end: it is known when nobody speaks on. */
		return e->speech && full < silent ? full : silent;
	case CLOSED:
	case OPEN:
		break;
	}
	return UINT64_MAX;
}

/* Where a pause is to be told of. */
static uint64_t pause_due(const struct endpoint *e)
{
	bool wanted = e->mode == RECORDING && e->opts.pause > 0 && e->opts.pause < e->silence &&
		e->spoken >= e->least && e->paused != e->run_end;

	return wanted ? e->run_end + e->opts.pause : UINT64_MAX;
}

static enum endpoint_event at_deadline(struct endpoint *e)
{
	if (e->mode == RECORDING && e->spoken >= e->least) {
		e->mode = CLOSED;
		e->cut = endpoint_now(e) < e->run_end + e->silence;
		return ENDPOINT_SAID;
	}
	bool told = e->told;
	e->spoken = e->tail = 0;
	e->told = false;
	if (e->opened) {
		e->mode = OPEN;
		return told ? ENDPOINT_NOTHING : ENDPOINT_NONE;
	}
	/* A click is no speech: whoever was called on still may speak. */
	e->mode = WAITING;
	if (endpoint_now(e) < e->began + e->opts.patience)
		return ENDPOINT_NONE;
	e->mode = CLOSED;
	return ENDPOINT_NOTHING;
}

/* What nobody will want any more goes. */
static void forget(struct endpoint *e)
{
	size_t keep = KEEP;

	if (e->mode == RECORDING)
		keep = (size_t)(endpoint_now(e) - e->start);
	else if (e->mode == WAITING)
		keep = (size_t)(endpoint_now(e) - before(e->call, ENDPOINT_BEFORE, 0));
	if (keep < KEEP)
		keep = KEEP;
	if (e->n < keep + KEEP) /* not with every sample */
		return;
	size_t gone = e->n - keep;
	memmove(e->buf, e->buf + gone, keep * sizeof(*e->buf));
	e->n = keep;
	e->base += gone;
}

size_t endpoint_feed(
	struct endpoint *e, const int16_t *samples, size_t n, enum endpoint_event *ret_event)
{
	size_t used = 0;

	*ret_event = ENDPOINT_NONE;
	forget(e);
	if (e->n + n > e->cap) {
		e->cap = (e->n + n) * 3 / 2;
		e->buf = xreallocarray(e->buf, e->cap, sizeof(*e->buf));
	}
	while (used < n && *ret_event == ENDPOINT_NONE) {
		uint64_t now = endpoint_now(e), end = deadline(e), pause = pause_due(e);
		end = end < pause ? end : pause;
		uint64_t left = end > now ? end - now : 0;
		size_t step = ENDPOINT_FRAME - e->in_frame;
		step = step < n - used ? step : n - used;
		step = step < left ? step : (size_t)left;
		memcpy(e->buf + e->n, samples + used, step * sizeof(*samples));
		e->n += step;
		e->in_frame += step;
		used += step;
		if (e->in_frame == ENDPOINT_FRAME)
			judge(e);
		if (endpoint_now(e) >= deadline(e)) {
			*ret_event = at_deadline(e);
		} else if (e->opened && e->mode == RECORDING && !e->told && e->spoken >= e->least) {
			e->told = true;
			*ret_event = ENDPOINT_BEGAN;
		} else if (endpoint_now(e) >= pause_due(e)) {
			e->paused = e->run_end;
			*ret_event = ENDPOINT_PAUSED;
		}
	}
	return used;
}

enum endpoint_event endpoint_end(struct endpoint *e)
{
	enum endpoint_event event = ENDPOINT_NONE;

	if (e->mode == RECORDING && e->spoken >= e->least)
		event = ENDPOINT_SAID;
	else if (e->mode == RECORDING || e->mode == WAITING)
		event = ENDPOINT_NOTHING;
	e->mode = CLOSED;
	return event;
}

struct endpoint_recording endpoint_copy(const struct endpoint *e)
{
	assert(e->start >= e->base);
	size_t from = (size_t)(e->start - e->base);
	struct endpoint_recording r = {
		.n = e->n - from,
		.speech = e->spoken,
		.with_call = e->with_call,
		.cut = e->cut,
		.as_paused = e->paused && e->paused == e->run_end,
	};

	/* A call in front of it may alone be longer than the settings allow. */
	if (r.n > e->opts.longest)
		r.n = e->opts.longest;
	r.samples = xreallocarray(NULL, r.n ? r.n : 1, sizeof(*r.samples));
	memcpy(r.samples, e->buf + from, r.n * sizeof(*r.samples));
	return r;
}

struct endpoint_recording endpoint_take(struct endpoint *e)
{
	struct endpoint_recording r = endpoint_copy(e);

	/* Not kept for longer than they are needed. */
	if (e->n > 2 * (size_t)KEEP) {
		e->base += e->n - KEEP;
		memmove(e->buf, e->buf + e->n - KEEP, KEEP * sizeof(*e->buf));
		e->n = KEEP;
		e->cap = 2 * (size_t)KEEP;
		e->buf = xreallocarray(e->buf, e->cap, sizeof(*e->buf));
	}
	return r;
}
