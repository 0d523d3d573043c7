#include "voice/player.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "audio/resample.h"
#include "base/clock.h"
#include "base/mem.h"
#include "os/pool.h"

enum {
	PIECE_MS = 20, /* what is written at once */
	AHEAD_S = 60, /* of speech that is made and not heard: no more is made for now */
	KEEP_S = 5, /* that a device is kept in silence */
	TRIES = 10, /* to open a device again that is lost */
	TRY_MS = 200,
	LOUD_MS = 500, /* that it takes from here to the ears and out of the room again */
	LOUD_PIECES = LOUD_MS / PIECE_MS,
	LANGUAGE_SIZE = 16,
};

struct item {
	struct item *next;
	uint64_t id;
	bool spoken;
	struct str text;
	char language[LANGUAGE_SIZE];
	struct samples samples; /* at the rate of the device */
	size_t played; /* of samples */
	bool made; /* there will be no more of them */
	bool begun; /* told so */
	bool cancelled;
	bool orphan; /* told to the end, and freed by who makes it */
	int r; /* of making it */
	struct err err;
};

struct event {
	struct event *next;
	struct player_event what;
	struct err err;
};

struct player {
	struct loop *loop;
	struct loop_source *expected;
	player_fn fn;
	void *data;
	struct audio_opts opts; /* all it points to is copied */
	struct strv envp;
	char *driver, *device;
	struct tts *tts;
	bool mute;
	/* on the loop's thread */
	uint64_t last_id;
	size_t untold; /* items whose end has not been told */
	pthread_t speaker, maker;

	pthread_mutex_t lock; /* for all below */
	pthread_cond_t changed;
	bool stopping;
	struct item *first, **end;
	struct item *making; /* by the maker, with the lock given up */
	struct event *events, **events_end;
	struct audio_out *out; /* opened, used and closed by the speaker alone; stopped by others */
	bool out_failed; /* a file that failed: it is not begun anew */
	struct err out_err;
	uint64_t heard;
	bool held;
	struct {
		int64_t at_ms;
		double loud;
	} pieces[LOUD_PIECES]; /* the last ones, in a ring */
	size_t last_piece;
};

static void item_free(struct item *i)
{
	str_release(&i->text);
	samples_release(&i->samples);
	free(i);
}

/* ---- what is told, on the loop's thread ---- */

static bool tell_one(struct player *p)
{
	pthread_mutex_lock(&p->lock);
	struct event *e = p->events;
	if (e) {
		p->events = e->next;
		if (!p->events)
			p->events_end = &p->events;
	}
	pthread_mutex_unlock(&p->lock);
	if (!e)
		return false;
	if (e->what.kind == PLAYER_ENDS) {
		p->untold--;
		e->what.idle = p->untold == 0;
	}
	e->what.err = e->what.r < 0 ? &e->err : NULL;
	p->fn(p->data, &e->what); /* may free the player */
	free(e);
	return true;
}

static void on_post(void *data)
{
	(void)tell_one(data);
}

/* Inside the lock, so that events and their posts have one order. */
static void tell(struct player *p, enum player_event_kind kind, const struct item *i, int r,
	const struct err *err)
{
	struct event *e = xcalloc(1, sizeof(*e));

	e->what = (struct player_event){ .kind = kind, .id = i->id, .spoken = i->spoken, .r = r };
	if (r < 0)
		e->err = *err;
	*p->events_end = e;
	p->events_end = &e->next;
	loop_post(p->loop, on_post, p);
}

/* The first item has come to its end. Inside the lock. */
static void finish(struct player *p, int r, const struct err *err)
{
	struct item *i = p->first;

	p->first = i->next;
	if (!p->first)
		p->end = &p->first;
	if (r >= 0 && !i->begun)
		tell(p, PLAYER_BEGINS, i, 0, NULL);
	tell(p, PLAYER_ENDS, i, r, err);
	if (p->making == i)
		i->orphan = true;
	else
		item_free(i);
	pthread_cond_broadcast(&p->changed);
}

/* ---- the thread that speaks ---- */

/* Gives the device back. Inside the lock, which is given up meanwhile. */
static int close_out(struct player *p, struct err *reterr)
{
	struct audio_out *out = TAKE_PTR(p->out);

	pthread_mutex_unlock(&p->lock);
	int r = audio_out_close(out, reterr);
	pthread_mutex_lock(&p->lock);
	return r;
}

/* Opens it where it is not open, `tries` times. Inside the lock, which is given up meanwhile. */
static int open_out(struct player *p, int tries, struct err *reterr)
{
	int r = 0;

	if (p->out)
		return 0;
	if (p->out_failed) {
		*reterr = p->out_err;
		return reterr->code;
	}
	do {
		struct audio_out *out = NULL;
		pthread_mutex_unlock(&p->lock);
		r = audio_out_open(&p->opts, &out, reterr);
		pthread_mutex_lock(&p->lock);
		p->out = out;
		if (r < 0 && --tries > 0 && !p->first->cancelled)
			thread_wait_ms(&p->changed, &p->lock, TRY_MS);
	} while (r < 0 && tries > 0 && !p->first->cancelled);
	return r;
}

static double loudness(const int16_t *samples, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)samples[i] * samples[i];
	return n ? sqrt(sum / (double)n) : 0;
}

/*
 * The next piece of the first item, or its end when nothing of it is left. Inside the lock, which
 * is given up meanwhile. What a device that was lost had taken and not played is gone; the rest is
 * for the one that is opened in its place.
 */
static int play_piece(struct player *p, bool drain, struct err *reterr)
{
	struct item *i = p->first;
	int16_t piece[WAV_RATE_MAX * PIECE_MS / 1000];
	size_t n = 0;
	int r = open_out(p, 1, reterr);

	if (r < 0 || i->cancelled)
		return r;
	if (!drain) {
		n = (size_t)p->opts.rate * PIECE_MS / 1000;
		if (n > i->samples.n - i->played)
			n = i->samples.n - i->played;
		memcpy(piece, i->samples.v + i->played, n * sizeof(*piece));
		if (!i->begun)
			tell(p, PLAYER_BEGINS, i, 0, NULL);
		i->begun = true;
	}
	struct audio_out *out = p->out;
	pthread_mutex_unlock(&p->lock);
	r = drain ? audio_out_drain(out, reterr) : audio_out_write(out, piece, n, reterr);
	pthread_mutex_lock(&p->lock);
	if (r == 0) {
		i->played += n;
		p->heard += n;
		p->last_piece = (p->last_piece + 1) % LOUD_PIECES;
		p->pieces[p->last_piece].at_ms = clock_run_ms();
		p->pieces[p->last_piece].loud = loudness(piece, n);
		/* An endless item does not grow for ever. */
		if (i->played > (size_t)p->opts.rate) {
			samples_drop(&i->samples, i->played);
			i->played = 0;
		}
		pthread_cond_broadcast(&p->changed);
		return 0;
	}
	if (r == ERR_CANCELLED && !i->cancelled) {
		/* A second stop, for what was dropped already. */
		pthread_mutex_unlock(&p->lock);
		audio_out_start(out);
		pthread_mutex_lock(&p->lock);
		return 1;
	}
	if (r == ERR_CANCELLED)
		return r;
	bool live = audio_out_is_live(out);
	(void)close_out(p, NULL);
	if (live && r == -ENODEV)
		return open_out(p, TRIES, reterr);
	if (!live) {
		p->out_failed = true;
		p->out_err = *reterr;
	}
	return r;
}

/* What was stopped, from the first on: it is silent before it is told. */
static void drop_cancelled(struct player *p)
{
	struct err err = ERR_INIT;
	struct audio_out *out = p->out;
	int r = err_set(&err, ERR_CANCELLED, "stopped");

	if (out) {
		pthread_mutex_unlock(&p->lock);
		audio_out_start(out);
		pthread_mutex_lock(&p->lock);
	}
	while (p->first && p->first->cancelled)
		finish(p, r, &err);
}

static void *speak(void *data)
{
	struct player *p = data;
	struct err err;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct item *i = p->first;
		if (!i && p->stopping)
			break;
		if (!i) {
			if (p->out && audio_out_is_live(p->out)) {
				thread_wait_ms(&p->changed, &p->lock, (int64_t)KEEP_S * 1000);
				if (!p->first && p->out)
					(void)close_out(p, NULL);
			} else {
				pthread_cond_wait(&p->changed, &p->lock);
			}
			continue;
		}
		if (i->cancelled) {
			drop_cancelled(p);
			continue;
		}
		if (p->mute) {
			finish(p, 0, NULL);
			continue;
		}
		bool more = i->played < i->samples.n;
		if ((!more && !i->made) || (more && p->held)) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		int r = 0;
		if (more || i->begun)
			r = play_piece(p, !more, &err);
		if (i->cancelled || r > 0)
			continue;
		if (r < 0)
			finish(p, r, &err);
		else if (!more)
			finish(p, i->r, &i->err);
	}
	/* What a file could not take at its end has nobody left to be told to. */
	(void)close_out(p, NULL);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- the thread that makes sentences into sound ---- */

struct making {
	struct player *player;
	struct item *item;
	struct resampler *resampler;
	struct samples ready;
};

static size_t unheard(const struct player *p)
{
	size_t n = 0;

	for (const struct item *i = p->first; i; i = i->next)
		n += i->samples.n - i->played;
	return n;
}

static int add_samples(struct making *m)
{
	struct player *p = m->player;
	int r = 0;

	pthread_mutex_lock(&p->lock);
	/* Who is far ahead waits, so that no engine can fill the memory. */
	while (!m->item->cancelled && unheard(p) > (size_t)p->opts.rate * AHEAD_S)
		pthread_cond_wait(&p->changed, &p->lock);
	if (m->item->cancelled)
		r = ERR_CANCELLED;
	else
		samples_add(&m->item->samples, m->ready.v, m->ready.n);
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	m->ready.n = 0;
	return r;
}

static int on_samples(void *data, const int16_t *samples, size_t n, unsigned rate)
{
	struct making *m = data;

	if (!m->resampler)
		m->resampler = resampler_new(rate, m->player->opts.rate);
	resampler_feed(m->resampler, samples, n, &m->ready);
	return add_samples(m);
}

static void make_item(struct player *p, struct item *i)
{
	struct making m = { .player = p, .item = i };
	struct err err = ERR_INIT;

	p->making = i;
	tts_again(p->tts);
	pthread_mutex_unlock(&p->lock);
	int r = tts_say(p->tts, str_sv(&i->text), i->language, on_samples, &m, &err);
	if (m.resampler)
		resampler_flush(m.resampler, &m.ready);
	(void)add_samples(&m);
	resampler_free(m.resampler);
	samples_release(&m.ready);
	pthread_mutex_lock(&p->lock);
	p->making = NULL;
	i->made = true;
	i->r = r;
	i->err = err;
	if (i->orphan)
		item_free(i);
	pthread_cond_broadcast(&p->changed);
}

static void *make(void *data)
{
	struct player *p = data;

	if (p->tts)
		tts_warm(p->tts);
	pthread_mutex_lock(&p->lock);
	while (!p->stopping) {
		struct item *i = p->first;
		while (i && (i->made || i->cancelled))
			i = i->next;
		if (i && unheard(p) < (size_t)p->opts.rate * AHEAD_S)
			make_item(p, i);
		else
			pthread_cond_wait(&p->changed, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- from outside ---- */

int player_new(struct loop *loop, const struct player_opts *opts, player_fn fn, void *data,
	struct player **ret, struct err *reterr)
{
	struct loop_source *expected = loop_add_posts(loop, reterr);

	if (!expected)
		return reterr ? reterr->code : -EMFILE;
	struct player *p = xcalloc(1, sizeof(*p));
	p->loop = loop;
	p->expected = expected;
	p->fn = fn;
	p->data = data;
	p->opts = *opts->out;
	p->opts.rate = opts->out->rate ? opts->out->rate : PLAYER_RATE;
	p->opts.driver = p->driver = opts->out->driver ? xstrdup(opts->out->driver) : NULL;
	p->opts.device = p->device = opts->out->device ? xstrdup(opts->out->device) : NULL;
	for (const char *const *e = opts->out->envp; e && *e; e++)
		strv_add(&p->envp, *e);
	p->opts.envp = (const char *const *)p->envp.v;
	p->mute = opts->mute;
	p->tts = opts->tts;
	p->end = &p->first;
	p->events_end = &p->events;
	pthread_mutex_init(&p->lock, NULL);
	thread_cond_init(&p->changed);
	int errnum = thread_start(&p->speaker, speak, p);
	if (errnum == 0) {
		(void)pthread_setname_np(p->speaker, "speaker");
		errnum = thread_start(&p->maker, make, p);
		if (errnum) {
			pthread_mutex_lock(&p->lock);
			p->stopping = true;
			pthread_cond_broadcast(&p->changed);
			pthread_mutex_unlock(&p->lock);
			(void)pthread_join(p->speaker, NULL);
		}
	}
	if (errnum) {
		loop_remove(loop, expected);
		strv_release(&p->envp);
		free(p->driver);
		free(p->device);
		free(p);
		return err_errno(reterr, errnum, "thread for speaking");
	}
	(void)pthread_setname_np(p->maker, "voice");
	*ret = p;
	return 0;
}

static void cancel_all(struct player *p, bool stop)
{
	pthread_mutex_lock(&p->lock);
	for (struct item *i = p->first; i; i = i->next)
		i->cancelled = true;
	if (p->first && p->out)
		audio_out_stop(p->out);
	if (p->making)
		tts_cancel(p->tts);
	p->stopping = p->stopping || stop;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

void player_free(struct player *p)
{
	if (!p)
		return;
	cancel_all(p, true);
	pthread_join(p->maker, NULL);
	pthread_join(p->speaker, NULL);
	(void)loop_unpost(p->loop, on_post, p);
	while (tell_one(p))
		;
	loop_remove(p->loop, p->expected);
	tts_free(p->tts);
	strv_release(&p->envp);
	free(p->driver);
	free(p->device);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static uint64_t queue(struct player *p, struct item *i)
{
	uint64_t id = i->id = ++p->last_id;

	p->untold++;
	pthread_mutex_lock(&p->lock);
	i->made |= p->mute;
	*p->end = i;
	p->end = &i->next;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return id;
}

uint64_t player_sound(struct player *p, enum sound sound)
{
	struct item *i = xcalloc(1, sizeof(*i));

	str_init_max(&i->text, 0);
	sound_make(sound, p->opts.rate, &i->samples);
	i->made = true;
	return queue(p, i);
}

uint64_t player_say(struct player *p, struct sv sentence, const char *language)
{
	struct item *i = xcalloc(1, sizeof(*i));

	str_init_max(&i->text, 0);
	str_add(&i->text, sentence);
	i->spoken = true;
	(void)snprintf(i->language, sizeof(i->language), "%s", language);
	if (!p->tts) {
		i->made = true;
		i->r = err_set(&i->err, ERR_NOTFOUND, "nothing is installed that speaks");
	}
	return queue(p, i);
}

void player_stop(struct player *p)
{
	cancel_all(p, false);
}

void player_hold(struct player *p, bool hold)
{
	pthread_mutex_lock(&p->lock);
	p->held = hold;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

bool player_busy(const struct player *p)
{
	return p->untold > 0;
}

uint64_t player_heard(struct player *p)
{
	pthread_mutex_lock(&p->lock);
	uint64_t heard = p->heard;
	pthread_mutex_unlock(&p->lock);
	return heard;
}

double player_loudness(struct player *p)
{
	int64_t since = clock_run_ms() - LOUD_MS;
	double loud = 0;

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < LOUD_PIECES; i++)
		if (p->pieces[i].at_ms > since && p->pieces[i].loud > loud)
			loud = p->pieces[i].loud;
	pthread_mutex_unlock(&p->lock);
	return loud;
}
