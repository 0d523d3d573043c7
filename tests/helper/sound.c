/*
 * Sound through the real drivers, for tests:
 *	sound play DRIVER DEVICE FILE.wav [STOP_MS]    "-" is the system's own device
 *	sound record DRIVER DEVICE FILE.wav SECONDS
 *	sound say DRIVER DEVICE LANGUAGE [STOP_MS] <TEXT
 * Play says "stopped" when it was stopped after STOP_MS. Record opens a device that is lost again,
 * and says so. Say speaks what it reads, as it comes, with espeak-ng, and tells each event with its
 * milliseconds since the first sentence was there; STOP_MS after the first is heard all is stopped,
 * and "stop" is said. Exit status: 0, or 1 with the message on standard error.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "audio/audio.h"
#include "audio/wav.h"
#include "base/clock.h"
#include "voice/player.h"
#include "voice/speakable.h"

enum { RATE = 16000, PIECE = 320 };

static int fail(const struct err *err)
{
	(void)fprintf(stderr, "%s\n", err->msg);
	return 1;
}

static struct audio_opts options(char **argv)
{
	return (struct audio_opts){ .driver = strcmp(argv[0], "-") != 0 ? argv[0] : NULL,
		.device = strcmp(argv[1], "-") != 0 ? argv[1] : NULL,
		.fd = -1,
		.rate = RATE,
		.envp = (const char *const *)environ };
}

struct stop {
	struct audio_out *out;
	int after_ms;
};

static void *stop_later(void *data)
{
	struct stop *s = data;

	(void)poll(NULL, 0, s->after_ms);
	audio_out_stop(s->out);
	return NULL;
}

static int play(char **argv, const char *stop_ms)
{
	struct audio_opts opts = options(argv);
	struct err err = ERR_INIT;
	AUTO_SAMPLES all = { 0 };
	struct stop stop = { .after_ms = stop_ms ? (int)strtol(stop_ms, NULL, 10) : 0 };
	pthread_t id;

	if (wav_load(argv[2], RATE, 3600, &all, NULL, &err) < 0 ||
		audio_out_open(&opts, &stop.out, &err) < 0)
		return fail(&err);
	(void)printf("%s\n", audio_out_name(stop.out));
	(void)fflush(stdout);
	if (stop_ms && pthread_create(&id, NULL, stop_later, &stop) != 0)
		return 1;
	int r = 0;
	for (size_t at = 0; at < all.n && r == 0; at += PIECE)
		r = audio_out_write(
			stop.out, all.v + at, all.n - at < PIECE ? all.n - at : PIECE, &err);
	if (r == 0)
		r = audio_out_drain(stop.out, &err);
	if (stop_ms)
		(void)pthread_join(id, NULL);
	if (r == ERR_CANCELLED)
		(void)printf("stopped\n");
	int closed = audio_out_close(stop.out, r == 0 ? &err : NULL);
	return closed < 0 || (r < 0 && r != ERR_CANCELLED) ? fail(&err) : 0;
}

static int record(char **argv, const char *seconds)
{
	struct audio_opts opts = options(argv);
	struct err err = ERR_INIT;
	struct wav_writer *writer = NULL;
	struct audio_in *in = NULL;
	int64_t until = clock_run_ms() + (int64_t)(strtod(seconds, NULL) * 1000);
	int r = wav_writer_open(argv[2], RATE, &writer, &err);

	if (r == 0)
		r = audio_in_open(&opts, &in, &err);
	if (r == 0)
		(void)printf("%s\n", audio_in_name(in));
	while (r == 0 && clock_run_ms() < until) {
		int16_t some[PIECE];
		(void)fflush(stdout);
		int n = in ? audio_in_read(in, some, PIECE, &err) : -ENODEV;
		if (n == 0)
			break;
		if (n > 0) {
			r = wav_write(writer, some, (size_t)n, &err);
		} else if (n == -ENODEV) {
			if (in)
				(void)printf("lost: %s\n", err.msg);
			audio_in_free(in);
			in = NULL;
			(void)poll(NULL, 0, 50);
			if (audio_in_open(&opts, &in, &err) == 0)
				(void)printf("again: %s\n", audio_in_name(in));
		} else {
			r = n;
		}
	}
	audio_in_free(in);
	int closed = wav_writer_close(writer, r == 0 ? &err : NULL);
	return r < 0 || closed < 0 ? fail(&err) : 0;
}

/* ---- say ---- */

struct talk {
	struct loop *loop;
	struct player *player;
	struct speakable *speakable;
	int64_t first_ms; /* when the first sentence was there; 0: not yet */
	int stop_ms; /* -1: never */
	bool read; /* all of the text */
	bool done, failed;
};

static void on_sentence(void *data, struct sv sentence, enum speakable_language language)
{
	struct talk *t = data;

	if (!t->first_ms)
		t->first_ms = clock_run_ms();
	uint64_t id = player_say(t->player, sentence, speakable_code(language));
	(void)printf("%llu %s: %.*s\n", (unsigned long long)id, speakable_code(language),
		SV_ARG(sentence));
}

static void on_stop(void *data)
{
	struct talk *t = data;

	(void)printf("stop\n");
	player_stop(t->player);
}

static void on_event(void *data, const struct player_event *e)
{
	struct talk *t = data;

	(void)printf("%llu %s at %lld ms%s%s\n", (unsigned long long)e->id,
		e->kind == PLAYER_BEGINS ? "begins" : "ends",
		(long long)(clock_run_ms() - t->first_ms), e->r < 0 ? ": " : "",
		e->r < 0 ? e->err->msg : "");
	(void)fflush(stdout);
	if (e->kind == PLAYER_BEGINS && e->id == 1 && t->stop_ms >= 0)
		(void)loop_add_timer(t->loop, t->stop_ms, on_stop, t);
	t->failed |= e->r < 0 && e->r != ERR_CANCELLED;
	t->done |= e->kind == PLAYER_ENDS && e->idle && t->read;
}

static void on_input(void *data, short revents)
{
	struct talk *t = data;
	char buf[4096];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	(void)revents;
	if (n > 0)
		speakable_feed(t->speakable, sv_make(buf, (size_t)n));
	else
		speakable_flush(t->speakable);
	t->read = n <= 0;
	t->done = t->read && !player_busy(t->player);
}

static int say(char **argv, const char *stop_ms)
{
	struct talk t = { .loop = loop_new(),
		.stop_ms = stop_ms ? (int)strtol(stop_ms, NULL, 10) : -1 };
	const struct audio_opts out = { .driver = strcmp(argv[0], "-") != 0 ? argv[0] : NULL,
		.device = strcmp(argv[1], "-") != 0 ? argv[1] : NULL,
		.fd = -1,
		.envp = (const char *const *)environ };
	const struct tts_opts engine = { .engine = "espeak",
		.search = "/usr/local/bin:/usr/bin:/bin",
		.envp = (const char *const *)environ };
	struct player_opts opts = { .out = &out };
	struct err err = ERR_INIT;
	struct loop_source *input = loop_add_fd(t.loop, STDIN_FILENO, POLLIN, on_input, &t);

	if (tts_new(&engine, &opts.tts, &err) < 0 ||
		player_new(t.loop, &opts, on_event, &t, &t.player, &err) < 0)
		return fail(&err);
	t.speakable = speakable_new(
		strcmp(argv[2], "de") == 0 ? SPEAKABLE_DE : SPEAKABLE_EN, on_sentence, &t);
	while (!t.done && loop_step(t.loop, -1, &err) == 0)
		if (t.read) {
			loop_remove(t.loop, input);
			input = NULL;
		}
	player_free(t.player);
	speakable_free(t.speakable);
	loop_free(t.loop);
	return t.failed;
}

int main(int argc, char **argv)
{
	if (argc >= 5 && strcmp(argv[1], "play") == 0)
		return play(argv + 2, argc > 5 ? argv[5] : NULL);
	if (argc == 6 && strcmp(argv[1], "record") == 0)
		return record(argv + 2, argv[5]);
	if (argc >= 5 && strcmp(argv[1], "say") == 0)
		return say(argv + 2, argc > 5 ? argv[5] : NULL);
	(void)fprintf(stderr,
		"usage: sound play|record|say DRIVER DEVICE FILE.wav|LANGUAGE [MS|SECONDS]\n");
	return 2;
}
