#include "voice/tts.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "audio/wav.h"
#include "base/mem.h"
#include "os/path.h"
#include "voice/http.h"
#include "voice/program.h"
#include "voice/tts-driver.h"
#include "json/write.h"

enum {
	TIMEOUT_MS = 10000,
	WORDS_A_MINUTE = 175, /* espeak's own */
	WORDS_LEAST = 80,
	WORDS_MOST = 450,
	PCM_RATE = 24000, /* of raw answers, as the interface has it */
};

/* ---- sound as it comes from an engine ---- */

struct stream {
	struct wav_decoder *decoder;
	struct samples ready;
	tts_sink_fn sink;
	void *data;
	const struct str *type; /* of http; NULL: WAV */
	bool odd; /* half a raw sample is in `half` */
	char half;
	struct err err;
};

static void stream_release(struct stream *s)
{
	wav_decoder_free(s->decoder);
	samples_release(&s->ready);
}

static bool is_raw(const struct stream *s)
{
	return s->type &&
		(sv_starts(str_sv(s->type), SV("audio/pcm")) ||
			sv_starts(str_sv(s->type), SV("audio/L16")));
}

static int on_bytes(void *data, struct sv bytes)
{
	struct stream *s = data;

	s->ready.n = 0;
	if (is_raw(s)) {
		for (size_t i = 0; i < bytes.n; i++) {
			unsigned low = (unsigned char)s->half, high = (unsigned char)bytes.p[i];
			if (s->odd)
				*samples_grow(&s->ready, 1) = (int16_t)(low | high << 8);
			s->half = bytes.p[i];
			s->odd = !s->odd;
		}
		return s->ready.n ? s->sink(s->data, s->ready.v, s->ready.n, PCM_RATE) : 0;
	}
	int r = wav_decode(s->decoder, bytes, &s->ready, &s->err);
	if (r == 0 && s->ready.n)
		r = s->sink(s->data, s->ready.v, s->ready.n, wav_decoder_rate(s->decoder));
	return r;
}

/* After the engine: what it gave was sound, or the first thing that was wrong. */
static int stream_end(struct stream *s, const char *who, int r, struct err *reterr)
{
	if (r == 0 && !is_raw(s))
		r = wav_decode_end(s->decoder, &s->err);
	if (r < 0 && s->err.code == r) {
		if (reterr)
			*reterr = s->err;
		err_prefix(reterr, "%s", who);
	} else if (r < 0 && reterr && reterr->code != r) {
		(void)err_set(reterr, r, "%s", "stopped"); /* by the sink */
	}
	return r;
}

static int stream_program(struct tts *t, const char *const *argv, struct sv text, tts_sink_fn sink,
	void *data, struct err *reterr)
{
	CLEANUP(stream_release)
	struct stream s = { .decoder = wav_decoder_new(), .sink = sink, .data = data };
	const struct program program = { .argv = argv,
		.envp = t->opts.envp,
		.in = text,
		.timeout_ms = t->opts.timeout_ms,
		.cancel_fd = t->cancel_fd };
	int r = program_run(&program, on_bytes, &s, reterr);

	return stream_end(&s, argv[0], r, reterr);
}

/* ---- espeak: as a program, which leaves its licence to itself ---- */

int tts_need_espeak(struct tts *t, struct err *reterr)
{
	t->program = path_find_program("espeak-ng", t->opts.search);
	return t->program ? 0
			  : err_set(reterr, ERR_NOTFOUND,
				    "espeak-ng is not installed (Debian: apt install espeak-ng)");
}

static int espeak_say(struct tts *t, struct sv text, const char *language, tts_sink_fn sink,
	void *data, struct err *reterr)
{
	AUTO_STR voice = STR_INIT;
	AUTO_STR plain = STR_INIT;
	char words[16];
	double speed = WORDS_A_MINUTE * t->opts.speed;

	tts_voice(&voice, t, language);
	if (!voice.len || voice.buf[0] == '+') {
		/* A variant is one of any language. */
		AUTO_STR variant = STR_INIT;
		str_add(&variant, str_sv(&voice));
		str_clear(&voice);
		str_addf(&voice, "%s%s", language, variant.buf);
	}
	/* What stands in [[ ]] would be taken for sounds. */
	for (size_t i = 0; i < text.n; i++) {
		str_addc(&plain, text.p[i]);
		if (text.p[i] == '[')
			str_addc(&plain, ' ');
	}
	speed = speed < WORDS_LEAST ? WORDS_LEAST : speed > WORDS_MOST ? WORDS_MOST : speed;
	(void)snprintf(words, sizeof(words), "%d", (int)speed);
	const char *const argv[] = { t->program, "--stdin", "--stdout", "-b", "1", "-v", voice.buf,
		"-s", words, NULL };
	return stream_program(t, argv, str_sv(&plain), sink, data, reterr);
}

/* ---- exec: any program ---- */

static int exec_open(struct tts *t, struct err *reterr)
{
	const char *name = t->opts.command ? t->opts.command[0] : NULL;

	if (!name)
		return err_set(reterr, ERR_USAGE,
			"no program is set that speaks: set tts.command, or another tts.provider");
	t->program = path_find_program(name, t->opts.search);
	return t->program ? 0
			  : err_set(reterr, ERR_NOTFOUND,
				    "%s is not there: set tts.command to where it is, or "
				    "another tts.provider",
				    name);
}

/* "{language}" in its arguments is what the sentence is in. */
static int exec_say(struct tts *t, struct sv text, const char *language, tts_sink_fn sink,
	void *data, struct err *reterr)
{
	AUTO_STRV argv = STRV_INIT;

	strv_add(&argv, t->program);
	for (const char *const *word = t->opts.command + 1; *word; word++) {
		AUTO_STR filled = STR_INIT;
		struct sv rest = sv_of(*word);
		size_t at;
		while (sv_find(rest, SV("{language}"), &at)) {
			str_add(&filled, sv_head(rest, at));
			str_adds(&filled, language);
			rest = sv_from(rest, at + SV("{language}").n);
		}
		str_add(&filled, rest);
		strv_addsv(&argv, str_sv(&filled));
	}
	return stream_program(t, (const char *const *)argv.v, text, sink, data, reterr);
}

/* ---- http: a server of the common interface ---- */

static int http_open(struct tts *t, struct err *reterr)
{
	return t->opts.url && *t->opts.url
		? 0
		: err_set(reterr, ERR_USAGE,
			  "no server is set that speaks: set tts.url, or another "
			  "tts.provider");
}

static int http_say(struct tts *t, struct sv text, const char *language, tts_sink_fn sink,
	void *data, struct err *reterr)
{
	AUTO_STR url = STR_INIT;
	AUTO_STR type = STR_INIT;
	AUTO_STR voice = STR_INIT;
	AUTO_STR body = STR_INIT;
	struct jw w = JW_INIT(&body);
	CLEANUP(stream_release)
	struct stream s = {
		.decoder = wav_decoder_new(), .sink = sink, .data = data, .type = &type
	};

	http_url(&url, t->opts.url, "/audio/speech");
	tts_voice(&voice, t, language);
	jw_object(&w);
	jw_put_cstr(&w, "model", t->opts.model && *t->opts.model ? t->opts.model : "tts-1");
	jw_put_cstr(&w, "voice", voice.len ? voice.buf : "alloy");
	jw_put_string(&w, "input", text);
	jw_put_cstr(&w, "response_format", "wav");
	jw_put_double(&w, "speed", t->opts.speed);
	jw_end(&w);
	const struct http_request request = { .url = url.buf,
		.key = t->opts.key,
		.content_type = "application/json",
		.body = str_sv(&body),
		.timeout_ms = t->opts.timeout_ms,
		.cancel_fd = t->cancel_fd,
		.type = &type };
	int r = http_post(&request, on_bytes, &s, reterr);
	return stream_end(&s, url.buf, r, reterr);
}

/* ---- common ---- */

static const struct tts_driver drivers[] = {
	{ .name = "espeak", .open = tts_need_espeak, .say = espeak_say },
	{ .name = "http", .open = http_open, .say = http_say },
	{ .name = "exec", .open = exec_open, .say = exec_say },
};

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

static const char *const *copy_all(const char *const *v)
{
	struct strv all = STRV_INIT;

	for (; v && *v; v++)
		strv_add(&all, *v);
	return (const char *const *)all.v;
}

static void free_all(const char *const *v)
{
	struct strv all = STRV_INIT;

	memcpy(&all.v, &v, sizeof(v));
	for (; v && v[all.n];)
		all.n++;
	strv_release(&all);
}

/* What was copied is ours, whatever the options say of const. */
static void free_text(const char *s)
{
	void *owned;

	memcpy(&owned, &s, sizeof(owned));
	free(owned);
}

static const struct tts_driver *find_driver(const struct tts_opts *opts)
{
	const char *engine = opts->engine ? opts->engine : "auto";

	if (strcmp(engine, "auto") == 0)
		engine = opts->voice && strstr(opts->voice, ".onnx") ? "piper" : "espeak";
	if (strcmp(engine, tts_driver_piper.name) == 0)
		return &tts_driver_piper;
	for (size_t i = 0; i < ARRAY_LEN(drivers); i++)
		if (strcmp(engine, drivers[i].name) == 0)
			return &drivers[i];
	return NULL;
}

int tts_new(const struct tts_opts *opts, struct tts **ret, struct err *reterr)
{
	const struct tts_driver *driver = find_driver(opts);

	if (!driver)
		return err_set(
			reterr, ERR_USAGE, "nothing that speaks is called \"%s\"", opts->engine);
	struct tts *t = xcalloc(1, sizeof(*t));
	t->driver = driver;
	t->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	t->opts = (struct tts_opts){ .voice = copy(opts->voice),
		.speed = opts->speed > 0 ? opts->speed : 1,
		.models = opts->models,
		.model = copy(opts->model),
		.url = copy(opts->url),
		.key = copy(opts->key),
		.command = copy_all(opts->command),
		.search = copy(opts->search),
		.envp = copy_all(opts->envp),
		.timeout_ms = opts->timeout_ms > 0 ? opts->timeout_ms : TIMEOUT_MS };
	/* A child has an environment, if an empty one. */
	if (!t->opts.envp)
		t->opts.envp = xcalloc(1, sizeof(*t->opts.envp));
	int r = t->cancel_fd < 0 ? err_errno(reterr, errno, "eventfd") : 0;
	if (r == 0 && driver->open)
		r = driver->open(t, reterr);
	if (r < 0) {
		tts_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

void tts_free(struct tts *t)
{
	if (!t)
		return;
	if (t->driver->close)
		t->driver->close(t);
	if (t->cancel_fd >= 0)
		(void)close(t->cancel_fd);
	free_text(t->opts.voice);
	free_text(t->opts.model);
	free_text(t->opts.url);
	free_text(t->opts.key);
	free_text(t->opts.search);
	free_all(t->opts.command);
	free_all(t->opts.envp);
	free(t->program);
	free(t);
}

void tts_voice(struct str *out, const struct tts *t, const char *language)
{
	struct sv rest = sv_of(t->opts.voice), piece;

	while (sv_split(&rest, ',', &piece)) {
		size_t at;
		piece = sv_trim(piece);
		if (!sv_find(piece, SV("="), &at)) {
			str_clear(out);
			str_add(out, piece);
		} else if (sv_is(sv_head(piece, at), language)) {
			str_clear(out);
			str_add(out, sv_from(piece, at + 1));
			return;
		}
	}
}

void tts_warm(struct tts *t)
{
	if (t->driver->warm)
		t->driver->warm(t);
}

/* Counts what the engine gives: nothing is no speech. */
struct counted {
	tts_sink_fn sink;
	void *data;
	size_t n;
};

static int count(void *data, const int16_t *samples, size_t n, unsigned rate)
{
	struct counted *c = data;

	c->n += n;
	return c->sink(c->data, samples, n, rate);
}

int tts_say(struct tts *t, struct sv text, const char *language, tts_sink_fn sink, void *data,
	struct err *reterr)
{
	struct counted counted = { sink, data, 0 };
	struct err err = ERR_INIT;

	text = sv_trim(text);
	if (atomic_load(&t->cancelled))
		return err_set(reterr, ERR_CANCELLED, "cancelled");
	if (!text.n)
		return 0;
	int r = t->driver->say(t, text, language, count, &counted, &err);
	if (r == 0 && !counted.n)
		r = err_set(&err, ERR_AGENT, "%s: it said nothing", t->driver->name);
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}

void tts_cancel(struct tts *t)
{
	const uint64_t one = 1;

	atomic_store(&t->cancelled, true);
	if (write(t->cancel_fd, &one, sizeof(one)) < 0)
		return; /* it is readable already */
	if (t->driver->stop)
		t->driver->stop(t, true);
}

void tts_again(struct tts *t)
{
	uint64_t n;

	if (read(t->cancel_fd, &n, sizeof(n)) < 0)
		n = 0; /* there was none */
	atomic_store(&t->cancelled, false);
	if (n && t->driver->stop)
		t->driver->stop(t, false);
}
