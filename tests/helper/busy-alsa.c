/*
 * A card that another program has, in the place of libasound.so.2: opening it fails as long as
 * there is the file that FADEN_TEST_BUSY names; afterwards it gives noise as long as there is the
 * one of FADEN_TEST_NOISE, else silence. Only what faden asks of that library is here.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default"), used))

enum { RUNNING = 3 };

EXPORT int snd_pcm_open(void **pcm, const char *name, int stream, int mode);
EXPORT int snd_pcm_open(void **pcm, const char *name, int stream, int mode)
{
	static int card;
	const char *busy = getenv("FADEN_TEST_BUSY");

	(void)name, (void)stream, (void)mode;
	*pcm = &card;
	return busy && access(busy, F_OK) == 0 ? -EBUSY : 0;
}

EXPORT int snd_pcm_set_params(void *pcm, int format, int way, unsigned channels, unsigned rate,
	int resample, unsigned latency_us);
EXPORT int snd_pcm_set_params(void *pcm, int format, int way, unsigned channels, unsigned rate,
	int resample, unsigned latency_us)
{
	(void)pcm, (void)format, (void)way, (void)rate, (void)resample, (void)latency_us;
	return channels == 1 ? 0 : -EINVAL;
}

EXPORT long snd_pcm_readi(void *pcm, void *buffer, unsigned long frames);
EXPORT long snd_pcm_readi(void *pcm, void *buffer, unsigned long frames)
{
	const char *noise = getenv("FADEN_TEST_NOISE");
	static unsigned long heard;
	short *samples = buffer;

	(void)pcm;
	(void)poll(NULL, 0, (int)(frames / 16));
	memset(buffer, 0, frames * 2);
	heard += frames;
	/* As syllables: what sounds all the time is no speech. */
	bool sounds = noise && heard / 1600 % 5 > 0 && access(noise, F_OK) == 0;
	for (unsigned long i = 0; sounds && i < frames; i++)
		samples[i] = (short)(rand() % 24000 - 12000);
	return (long)frames;
}

EXPORT long snd_pcm_writei(void *pcm, const void *buffer, unsigned long frames);
EXPORT long snd_pcm_writei(void *pcm, const void *buffer, unsigned long frames)
{
	(void)pcm, (void)buffer;
	return (long)frames;
}

EXPORT const char *snd_strerror(int err);
EXPORT const char *snd_strerror(int err)
{
	return strerror(-err);
}

EXPORT int snd_pcm_state(void *pcm);
EXPORT int snd_pcm_state(void *pcm)
{
	(void)pcm;
	return RUNNING;
}

#define NOTHING(name, ...)            \
	EXPORT int name(__VA_ARGS__); \
	EXPORT int name(__VA_ARGS__)

/* clang-format off */
NOTHING(snd_pcm_close, void *pcm) { (void)pcm; return 0; }
NOTHING(snd_pcm_wait, void *pcm, int timeout_ms) { (void)pcm, (void)timeout_ms; return 1; }
NOTHING(snd_pcm_recover, void *pcm, int err, int silent) { (void)pcm, (void)silent; return err; }
NOTHING(snd_pcm_prepare, void *pcm) { (void)pcm; return 0; }
NOTHING(snd_pcm_start, void *pcm) { (void)pcm; return 0; }
NOTHING(snd_pcm_drop, void *pcm) { (void)pcm; return 0; }
NOTHING(snd_pcm_delay, void *pcm, long *frames) { (void)pcm; *frames = 0; return 0; }
NOTHING(snd_lib_error_set_handler, void *handler) { (void)handler; return 0; }
/* clang-format on */
