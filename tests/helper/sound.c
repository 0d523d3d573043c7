/*
 * Sound through the real drivers, for tests:
 *	sound play DRIVER DEVICE FILE.wav [STOP_MS]    "-" is the system's own device
 *	sound record DRIVER DEVICE FILE.wav SECONDS
 * Play says "stopped" when it was stopped after STOP_MS. Record opens a device that is lost again,
 * and says so. Exit status: 0, or 1 with the message on standard error.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>

#include "audio/audio.h"
#include "audio/wav.h"
#include "base/clock.h"

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
	audio_out_free(stop.out);
	return r < 0 && r != ERR_CANCELLED ? fail(&err) : 0;
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

int main(int argc, char **argv)
{
	if (argc >= 5 && strcmp(argv[1], "play") == 0)
		return play(argv + 2, argc > 5 ? argv[5] : NULL);
	if (argc == 6 && strcmp(argv[1], "record") == 0)
		return record(argv + 2, argv[5]);
	(void)fprintf(stderr, "usage: sound play|record DRIVER DEVICE FILE.wav [MS|SECONDS]\n");
	return 2;
}
