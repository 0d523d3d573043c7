#include "listen/ears.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "listen/echo.h"
#include "os/pool.h"

enum {
	CHUNK = 256, /* samples; both frames are so many times it */
	RETRY_MS = 1000,
	DING_SAMPLES = AUDIO_RATE * 6 / 10, /* until the ding is no longer in the room */
	DING_HZ = 880,
	/* Of a word while it is busy: what is longer is no "stop". */
	OVERHEAR_SILENCE = AUDIO_RATE * 4 / 10,
	OVERHEAR_MAX = AUDIO_RATE * 5 / 2,
	/* Its sounds without a voice are no speech to the networks: of "stop" little is left. What
	 * makes us pause is listened to. */
	OVERHEAR_LEAST = ECHO_RUN * ENDPOINT_FRAME,
	/* Of silence that may be the end: longer than between words, and what a recogniser wants to
	 * have behind the last one. */
	PAUSE = AUDIO_RATE * 4 / 10,
	CALL_APART = AUDIO_RATE,
};
/* While our own voice is in the room, a call must be clearer than this. */
static const float call_over_speech = 0.7F;

enum note_kind {
	CALLED,
	BEGAN,
	RECORDED,
	PAUSED,
	NOTHING,
	INTERRUPTED,
	OVERHEARD,
	LET_GO,
	LOST,
	FOUND,
	ENDED
};

struct note {
	struct note *next;
	enum note_kind kind;
	struct endpoint_recording recording;
	size_t since; /* samples */
	struct err err;
	char *name;
};

enum listening { IDLE, OPENED, OVERHEARS, RECORDS };

struct ears {
	struct ears_opts opts;
	struct loop_source *expected;
	pthread_t thread;
	char *device;

	/* The thread's own. */
	struct audio_in *in;
	struct endpoint *endpoint;
	bool live;
	bool lost; /* and told so */
	int16_t frame[WAKE_FRAME];
	size_t in_frame;
	uint64_t last_call; /* in samples */
	struct echo echo;
	bool speaks; /* we do */
	uint8_t in_vain; /* by the hearing */
	bool over; /* somebody else has just begun to speak */
	uint64_t over_since; /* … and has not been let go; 0: nobody */
	bool named; /* our own name was said since the wake word was looked for */
	enum listening listening;
	bool spoken_on; /* what was discarded, or was too long, may not be at its end */
	size_t ding_left;
	double notch[4]; /* x, x before, y, y before */
	int64_t paced_from_ms; /* 0: as fast as it can */
	uint64_t paced;

	pthread_mutex_t lock; /* for all below */
	pthread_cond_t changed;
	struct audio_in *stoppable; /* in, for who ends us */
	struct hearing hearing;
	bool record, discard;
	bool stop;
	uint64_t heard;
	size_t left; /* of a recording */
	struct note *first, **end;
	size_t untold;
};

/* ---- telling, on the loop's thread ---- */

static void note_free(struct note *n)
{
	free(n->recording.samples);
	free(n->name);
	free(n);
}

static void tell(void *data)
{
	struct ears *e = data;
	const struct ears_ops *ops = e->opts.ops;
	void *to = e->opts.data;

	pthread_mutex_lock(&e->lock);
	struct note *n = e->first;
	if (n) {
		e->first = n->next;
		if (!e->first)
			e->end = &e->first;
	}
	pthread_mutex_unlock(&e->lock);
	if (!n)
		return;
	switch (n->kind) {
	case CALLED:
		ops->called(to);
		break;
	case BEGAN:
		ops->began(to);
		break;
	case RECORDED:
		ops->recorded(to, &n->recording);
		break;
	case PAUSED:
		ops->paused(to, &n->recording);
		break;
	case NOTHING:
		ops->nothing(to);
		break;
	case INTERRUPTED:
		ops->interrupted(to, n->since);
		break;
	case OVERHEARD:
		ops->overheard(to, &n->recording);
		break;
	case LET_GO:
		ops->let_go(to);
		break;
	case LOST:
		ops->lost(to, &n->err);
		break;
	case FOUND:
		ops->found(to, n->name);
		break;
	case ENDED:
		ops->ended(to);
		break;
	}
	note_free(n);
	pthread_mutex_lock(&e->lock);
	e->untold--;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

/* ---- the thread ---- */

static struct note *note_new(enum note_kind kind)
{
	struct note *n = xcalloc(1, sizeof(*n));

	n->kind = kind;
	return n;
}

/* It is of a recording that somebody may discard. */
static bool is_of_recording(const struct note *n)
{
	return n->kind == CALLED || n->kind == BEGAN || n->kind == RECORDED || n->kind == PAUSED ||
		n->kind == NOTHING;
}

static void post(struct ears *e, struct note *n)
{
	pthread_mutex_lock(&e->lock);
	/* It was discarded, and this thread has not seen that yet. */
	if (e->discard && is_of_recording(n)) {
		pthread_mutex_unlock(&e->lock);
		note_free(n);
		return;
	}
	*e->end = n;
	e->end = &n->next;
	e->untold++;
	loop_post(e->opts.loop, tell, e);
	/* What follows depends on what is done about it, and a file can wait. */
	while (!e->live && e->untold > 0 && !e->stop)
		pthread_cond_wait(&e->changed, &e->lock);
	pthread_mutex_unlock(&e->lock);
}

static float judge(void *data, const int16_t *frame)
{
	struct ears *e = data;
	float speech = vad_feed(e->opts.vad, frame);

	if (e->speaks) {
		double ours = e->live && e->opts.loudness ? e->opts.loudness(e->opts.data) : 0;
		e->over |= echo_hears(&e->echo, echo_loudness(frame, ENDPOINT_FRAME), ours,
			(double)speech >= e->opts.settings->audio_vad_threshold);
	}
	return speech;
}

/* A pure tone in what is heard: a narrow filter takes it out and leaves the speech. */
static void take_out_ding(struct ears *e, int16_t *samples, size_t n)
{
	const double w = 2 * M_PI * DING_HZ / AUDIO_RATE, alpha = sin(w) / 6, c = -2 * cos(w);
	double *z = e->notch;

	for (size_t i = 0; i < n && e->ding_left > 0; i++, e->ding_left--) {
		double x = samples[i];
		double y = (x + c * z[0] + z[1] - c * z[2] - (1 - alpha) * z[3]) / (1 + alpha);
		z[1] = z[0];
		z[0] = x;
		z[3] = z[2];
		z[2] = y;
		samples[i] = (int16_t)(y > 32767 ? 32767 : y < -32768 ? -32768 : lrint(y));
	}
}

static void begin_recording(struct ears *e, bool called)
{
	endpoint_begin(e->endpoint, called);
	e->listening = RECORDS;
	e->spoken_on = false;
	e->ding_left = e->live ? DING_SAMPLES : 0;
	memset(e->notch, 0, sizeof(e->notch));
}

static void discard(struct ears *e)
{
	if (e->listening != RECORDS)
		return;
	endpoint_close(e->endpoint);
	e->listening = IDLE;
	e->spoken_on = true;
}

/* What is looked for follows from what goes on, unless somebody is just being recorded. */
static void follow(struct ears *e, const struct hearing *h)
{
	const int64_t silence = e->opts.settings->audio_silence_threshold * AUDIO_RATE / 1000;

	if (endpoint_silence(e->endpoint) >= (uint64_t)silence)
		e->spoken_on = false;
	bool opens = e->opts.open && !e->spoken_on;
	enum listening want = h->busy ? OVERHEARS : opens ? OPENED : IDLE;
	if (e->listening == RECORDS || e->listening == want)
		return;
	e->listening = want;
	if (want == IDLE)
		endpoint_close(e->endpoint);
	else if (want == OVERHEARS)
		endpoint_open(e->endpoint, OVERHEAR_SILENCE, OVERHEAR_LEAST);
	else
		endpoint_open(e->endpoint, (size_t)silence,
			(size_t)(e->opts.settings->audio_min_recording * AUDIO_RATE / 1000));
}

static bool is_called(struct ears *e, const struct hearing *h)
{
	uint64_t now = endpoint_now(e->endpoint);
	float score = 0;
	bool called = wake_feed(e->opts.wake, e->frame, &score);

	e->named |= h->names_us;
	if (e->live && e->named && !h->names_us) {
		wake_reset(e->opts.wake);
		e->named = false;
		return false;
	}
	if (e->live && h->speaks)
		called = score >= call_over_speech && !h->names_us;
	if (!called || e->listening == RECORDS || (e->last_call && now < e->last_call + CALL_APART))
		return false;
	e->last_call = now;
	return true;
}

static void on_endpoint(struct ears *e, enum endpoint_event event)
{
	bool overhears = e->listening == OVERHEARS;
	struct note *n = NULL;

	if (event == ENDPOINT_NONE || (overhears && event != ENDPOINT_SAID))
		return;
	if (event == ENDPOINT_BEGAN) {
		/* From here on it is kept, whatever else goes on. */
		e->listening = RECORDS;
		n = note_new(BEGAN);
	} else if (event == ENDPOINT_PAUSED) {
		n = note_new(PAUSED);
		n->recording = endpoint_copy(e->endpoint);
	} else if (event == ENDPOINT_NOTHING) {
		n = note_new(NOTHING);
		e->listening = IDLE;
	} else {
		n = note_new(overhears ? OVERHEARD : RECORDED);
		n->recording = endpoint_take(e->endpoint);
		e->listening = IDLE;
		e->spoken_on = n->recording.cut;
	}
	bool let_go = n->kind == OVERHEARD && n->recording.n > OVERHEAR_MAX && e->over_since;
	if (n->kind == OVERHEARD && n->recording.n > OVERHEAR_MAX)
		note_free(n);
	else
		post(e, n);
	e->over_since = 0;
	if (let_go)
		post(e, note_new(LET_GO));
}

/* Somebody speaks over us: whatever it is, we are quiet until that is known. */
static void on_over(struct ears *e)
{
	uint64_t now = endpoint_now(e->endpoint);

	if (e->over && e->listening == OVERHEARS && !e->over_since) {
		const size_t heard = (size_t)ECHO_RUN * ENDPOINT_FRAME;
		struct note *n = note_new(INTERRUPTED);
		if (e->live) /* before it was us */
			endpoint_cut(e->endpoint, heard + ENDPOINT_BEFORE);
		n->since = heard;
		e->over_since = now;
		post(e, n);
	} else if (e->over_since &&
		(now > e->over_since + OVERHEAR_MAX || !endpoint_records(e->endpoint))) {
		/* Talks on, to somebody else; or it was no speech after all. */
		e->over_since = 0;
		post(e, note_new(LET_GO));
	}
	e->over = false;
}

static void hear(struct ears *e, int16_t *samples, size_t n, const struct hearing *h)
{
	if (e->in_vain != h->in_vain)
		echo_mistaken(&e->echo);
	e->in_vain = h->in_vain;
	e->speaks = h->speaks;
	if (!e->speaks)
		e->echo.run = 0;
	if (e->ding_left > 0)
		take_out_ding(e, samples, n);
	for (size_t at = 0; at < n;) {
		enum endpoint_event event;
		at += endpoint_feed(e->endpoint, samples + at, n - at, &event);
		on_endpoint(e, event);
		on_over(e);
	}
	for (size_t at = 0; e->opts.wake && at < n;) {
		size_t some = WAKE_FRAME - e->in_frame;
		some = some < n - at ? some : n - at;
		memcpy(e->frame + e->in_frame, samples + at, some * sizeof(*samples));
		e->in_frame += some;
		at += some;
		if (e->in_frame < WAKE_FRAME)
			break;
		e->in_frame = 0;
		if (is_called(e, h)) {
			begin_recording(e, true);
			post(e, note_new(CALLED));
		}
	}
	pthread_mutex_lock(&e->lock);
	e->heard += n;
	e->left = e->listening == RECORDS ? endpoint_left(e->endpoint) : SIZE_MAX;
	pthread_mutex_unlock(&e->lock);
}

/* Waits as long as the sound has to; false: it is over. */
static bool may_go_on(struct ears *e, struct hearing *ret, bool *ret_record, bool *ret_discard)
{
	pthread_mutex_lock(&e->lock);
	while (!e->stop && e->in && !e->live) {
		int64_t now = clock_run_ms();
		if (!e->hearing.waits)
			e->paced_from_ms = 0;
		else if (e->paced_from_ms == 0) {
			e->paced_from_ms = now;
			e->paced = 0;
		}
		int64_t due = e->paced_from_ms + (int64_t)(e->paced * 1000 / AUDIO_RATE);
		if (e->hearing.holds) {
			e->paced_from_ms = 0;
			pthread_cond_wait(&e->changed, &e->lock);
		} else if (e->hearing.waits && due > now) {
			thread_wait_ms(&e->changed, &e->lock, due - now);
		} else {
			break;
		}
	}
	*ret = e->hearing;
	*ret_record = e->record;
	*ret_discard = e->discard;
	e->record = e->discard = false;
	bool goes_on = !e->stop;
	pthread_mutex_unlock(&e->lock);
	return goes_on;
}

static void give_up(struct ears *e)
{
	pthread_mutex_lock(&e->lock);
	e->stoppable = NULL;
	pthread_mutex_unlock(&e->lock);
	audio_in_free(TAKE_PTR(e->in));
}

static void lose(struct ears *e, const struct err *err)
{
	give_up(e);
	if (!e->lost) {
		struct note *n = note_new(LOST);
		n->err = *err;
		e->lost = true;
		post(e, n);
	}
}

/* False: not now. */
static bool open_in(struct ears *e)
{
	struct err err = ERR_INIT;

	if (audio_in_open(&e->opts.in, &e->in, &err) < 0) {
		e->in = NULL;
		lose(e, &err);
		pthread_mutex_lock(&e->lock);
		if (!e->stop)
			thread_wait_ms(&e->changed, &e->lock, RETRY_MS);
		pthread_mutex_unlock(&e->lock);
		return false;
	}
	e->live = audio_in_is_live(e->in);
	pthread_mutex_lock(&e->lock);
	e->stoppable = e->in;
	pthread_mutex_unlock(&e->lock);
	e->lost = false;
	struct note *n = note_new(FOUND);
	n->name = xstrdup(audio_in_name(e->in));
	post(e, n);
	/* What was heard before a restart. */
	int16_t samples[CHUNK];
	uint64_t skipped = 0;
	while (!e->live && e->heard + skipped < e->opts.skip) {
		uint64_t left = e->opts.skip - e->heard - skipped;
		int got = audio_in_read(e->in, samples, left < CHUNK ? (size_t)left : CHUNK, &err);
		if (got <= 0)
			break;
		skipped += (uint64_t)got;
	}
	pthread_mutex_lock(&e->lock);
	e->heard += skipped;
	pthread_mutex_unlock(&e->lock);
	return true;
}

static void *listen_on(void *arg)
{
	struct ears *e = arg;
	struct hearing h;
	bool record, discards;

	while (may_go_on(e, &h, &record, &discards)) {
		struct err err = ERR_INIT;
		int16_t samples[CHUNK];
		if (!e->in && !open_in(e))
			continue;
		if (discards)
			discard(e);
		if (record && e->listening == RECORDS)
			on_endpoint(e, endpoint_end(e->endpoint));
		else if (record)
			begin_recording(e, false);
		follow(e, &h);
		int n = audio_in_read(e->in, samples, CHUNK, &err);
		if (n == ERR_CANCELLED)
			break;
		if (n < 0) {
			lose(e, &err);
		} else if (n == 0) {
			on_endpoint(e, endpoint_end(e->endpoint));
			post(e, note_new(ENDED));
			break;
		} else {
			e->paced += (uint64_t)n;
			hear(e, samples, (size_t)n, &h);
		}
	}
	return NULL;
}

/* ---- */

int ears_new(const struct ears_opts *opts, struct ears **ret, struct err *reterr)
{
	struct ears *e = xcalloc(1, sizeof(*e));
	const struct settings *s = opts->settings;
	const struct endpoint_opts how = {
		.judge = judge,
		.data = e,
		.threshold = s->audio_vad_threshold,
		.silence = (size_t)(s->audio_silence_threshold * AUDIO_RATE / 1000),
		.longest = (size_t)(s->audio_max_recording * AUDIO_RATE / 1000),
		.least = (size_t)(s->audio_min_recording * AUDIO_RATE / 1000),
		.patience = (size_t)(s->audio_listen_timeout * AUDIO_RATE / 1000),
		.pause = opts->pauses ? PAUSE : 0,
	};

	e->opts = *opts;
	e->end = &e->first;
	e->left = SIZE_MAX;
	e->live = true; /* until it is known */
	e->expected = loop_add_posts(opts->loop, reterr);
	if (!e->expected) {
		free(e);
		return reterr ? reterr->code : ERR_BUG;
	}
	if (opts->in.device)
		e->opts.in.device = e->device = xstrdup(opts->in.device);
	e->endpoint = endpoint_new(&how);
	pthread_mutex_init(&e->lock, NULL);
	thread_cond_init(&e->changed);
	int errnum = thread_start(&e->thread, listen_on, e);
	if (errnum == 0) {
		(void)pthread_setname_np(e->thread, "ears");
		*ret = e;
		return 0;
	}
	loop_remove(opts->loop, e->expected);
	endpoint_free(e->endpoint);
	pthread_cond_destroy(&e->changed);
	pthread_mutex_destroy(&e->lock);
	free(e->device);
	free(e);
	return err_errno(reterr, errnum, "thread ears");
}

void ears_free(struct ears *e)
{
	if (!e)
		return;
	pthread_mutex_lock(&e->lock);
	e->stop = true;
	if (e->stoppable)
		audio_in_stop(e->stoppable);
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
	pthread_join(e->thread, NULL);
	(void)loop_unpost(e->opts.loop, tell, e);
	for (struct note *n = e->first, *next; n; n = next) {
		next = n->next;
		note_free(n);
	}
	loop_remove(e->opts.loop, e->expected);
	audio_in_free(e->in);
	endpoint_free(e->endpoint);
	wake_free(e->opts.wake);
	vad_free(e->opts.vad);
	pthread_cond_destroy(&e->changed);
	pthread_mutex_destroy(&e->lock);
	free(e->device);
	free(e);
}

void ears_hear(struct ears *e, const struct hearing *how)
{
	pthread_mutex_lock(&e->lock);
	e->hearing = *how;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

void ears_record(struct ears *e)
{
	pthread_mutex_lock(&e->lock);
	e->record = true;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

void ears_discard(struct ears *e)
{
	pthread_mutex_lock(&e->lock);
	e->discard = true;
	e->record = false;
	/* Nor is what is not told yet. */
	for (struct note **at = &e->first; *at;) {
		struct note *n = *at;
		if (!is_of_recording(n)) {
			at = &n->next;
			continue;
		}
		*at = n->next;
		note_free(n);
		e->untold--;
	}
	e->end = &e->first;
	while (*e->end)
		e->end = &(*e->end)->next;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

size_t ears_left(struct ears *e)
{
	pthread_mutex_lock(&e->lock);
	size_t left = e->left;
	pthread_mutex_unlock(&e->lock);
	return left;
}

uint64_t ears_heard(struct ears *e)
{
	pthread_mutex_lock(&e->lock);
	uint64_t heard = e->heard;
	pthread_mutex_unlock(&e->lock);
	return heard;
}
