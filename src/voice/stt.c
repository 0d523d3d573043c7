#include "voice/stt.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "audio/wav.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "voice/spans.h"
#include "voice/stt-driver.h"
#include "voice/vad.h"

static const struct stt_driver *const drivers[] = { &stt_whisper, &stt_moonshine, &stt_http,
	&stt_exec };

struct stt {
	const struct stt_driver *driver;
	void *self;
	struct vad *vad;
	atomic_bool stopped;
};

int stt_threads(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > 4 ? 4 : (int)n;
}

void stt_wav(struct str *out, const float *samples, size_t n)
{
	AUTO_FREE int16_t *whole = xmalloc((n + 1) * sizeof(*whole));

	for (size_t i = 0; i < n; i++)
		whole[i] = (int16_t)fmaxf(fminf(samples[i] * 32767, 32767), -32768);
	wav_encode(out, whole, n, 16000);
}

int stt_believe(struct sv text, size_t n, const char *who, struct err *reterr)
{
	/* Characters a second, twice as many as the fastest talkers', and for what is written out
	 * that was said in short. */
	enum { MOST = 50, MORE = 200, CONTROLS = 8 /* at least so many characters for one */ };
	size_t characters = utf8_length(text), controls = 0;
	bool valid = utf8_valid(text) && !memchr(text.p, 0, text.n);

	for (size_t i = 0; i < text.n; i++)
		controls += (unsigned char)text.p[i] < ' ' && !strchr("\t\n\r\033", text.p[i]);
	if (valid && controls <= characters / CONTROLS && characters <= n * MOST / 16000 + MORE)
		return 0;
	return err_set(reterr, -EBADMSG, "%s answers something that is no text of speech", who);
}

void stt_signal(int fd)
{
	uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

static const struct stt_driver *find(const char *engine)
{
	for (size_t i = 0; i < ARRAY_LEN(drivers); i++) {
		if (strcmp(drivers[i]->name, engine) == 0)
			return drivers[i];
	}
	return NULL;
}

bool stt_is_ours(const char *engine)
{
	const struct stt_driver *driver = find(engine);

	return driver && driver->ours;
}

static int no_engine(const char *engine, struct err *reterr)
{
	return err_set(reterr, ERR_USAGE,
		"there is no engine '%s' for speech to text: whisper, moonshine, http or exec",
		engine);
}

int stt_look(const struct stt_opts *opts, bool read, struct err *reterr)
{
	const struct stt_driver *driver = find(opts->engine);
	void *self = NULL;

	if (!driver)
		return no_engine(opts->engine, reterr);
	if (driver->look)
		return driver->look(opts, read, reterr);
	int r = driver->open(opts, &self, reterr);
	if (r >= 0)
		driver->close(self);
	return r;
}

int stt_new(const struct stt_opts *opts, struct stt **ret, struct err *reterr)
{
	struct stt *s = xcalloc(1, sizeof(*s));
	int r = 0;

	s->driver = find(opts->engine);
	if (!s->driver)
		r = no_engine(opts->engine, reterr);
	/* Where the network is not there, how loud it is must do. */
	if (r >= 0 && (!opts->models || vad_new("silero", opts->models, &s->vad, NULL) < 0))
		r = vad_new("energy", NULL, &s->vad, reterr);
	if (r >= 0)
		r = s->driver->open(opts, &s->self, reterr);
	if (r < 0) {
		stt_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void stt_free(struct stt *s)
{
	if (!s)
		return;
	if (s->self)
		s->driver->close(s->self);
	vad_free(s->vad);
	free(s);
}

void stt_cancel(struct stt *s)
{
	atomic_store(&s->stopped, true);
	if (s->driver->stop)
		s->driver->stop(s->self);
}

void stt_result_release(struct stt_result *r)
{
	str_release(&r->text);
	r->language[0] = 0;
}

/* One utterance of at most STT_SECONDS_MAX: from the first word to the last. */
static int run_part(struct stt *s, const int16_t *samples, size_t n, struct stt_result *result,
	struct err *reterr)
{
	float gain = level_gain(samples, n) / 32768.0F;
	AUTO_FREE float *floats = xmalloc((n + 1) * sizeof(*floats));

	for (size_t i = 0; i < n; i++)
		floats[i] = (float)samples[i] * gain;
	if (result->text.len > 0)
		str_addc(&result->text, ' ');
	return s->driver->run(s->self, floats, n, result, reterr);
}

int stt_run(struct stt *s, const int16_t *samples, size_t n, struct stt_result *ret_result,
	struct err *reterr)
{
	enum { PART = STT_SECONDS_MAX * 16000 };
	int64_t start = clock_run_ms();
	AUTO_FREE struct speech_span *spans = xcalloc(SPANS_MAX, sizeof(*spans));
	size_t count = spans_find(s->vad, samples, n, spans, SPANS_MAX);
	struct stt_result result = { .text = STR_INIT };
	int r = 0;

	/* Longer ones are cut where somebody pauses, as far as that can be. */
	for (size_t i = 0; r >= 0 && i < count;) {
		size_t from = spans[i].from, to = spans[i].to;
		for (i++; i < count && spans[i].to - from <= PART; i++)
			to = spans[i].to;
		for (; r >= 0 && from < to; from += PART)
			r = atomic_load(&s->stopped)
				? err_set(reterr, ERR_CANCELLED, "cancelled")
				: run_part(s, samples + from,
					  to - from < PART ? to - from : (size_t)PART, &result,
					  reterr);
	}
	if (r >= 0) {
		AUTO_STR clean = STR_INIT;
		utf8_scrub_line(&clean, str_sv(&result.text));
		str_clear(&ret_result->text);
		str_add(&ret_result->text, sv_trim(str_sv(&clean)));
		memcpy(ret_result->language, result.language, sizeof(result.language));
		ret_result->took_s = (double)(clock_run_ms() - start) / 1000;
		r = 0;
	}
	stt_result_release(&result);
	return r;
}
