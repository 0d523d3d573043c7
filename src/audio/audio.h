/*
 * Sound from a microphone and to a loudspeaker: one interface, one driver a system. Samples are
 * signed 16 bit, mono, at the rate that the caller asked for; a driver whose system has another one
 * resamples. The systems' libraries are opened when a driver is, so that no other command pays for
 * them.
 *
 * An end belongs to one thread at a time, and its calls block at the speed of the device; only
 * audio_in_stop() and audio_out_stop() may come from another. Files have no speed: they are read
 * and written as fast as asked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	AUDIO_RATE = 16000, /* what wake word and recogniser hear */
};

struct audio_opts {
	/* One of audio_drivers[], or NULL: the first that opens of those that are devices. */
	const char *driver;
	/* Name of a device by that system, or path of a file ("-": standard input or output by
	 * fd). NULL: the system's own choice. */
	const char *device;
	int fd; /* of driver raw; -1: none */
	unsigned rate; /* of the caller's samples; 0: AUDIO_RATE */
	bool paced; /* a file that is written has the speed of time too */
	bool append; /* one that is there is not begun anew: what comes follows what it has */
	const char *const *envp; /* where servers are named (PULSE_SERVER, XDG_RUNTIME_DIR) */
};

/* "pulse", "alsa" (devices), "wav", "raw" (files); until NULL. */
extern const char *const audio_drivers[];

struct audio_in;
int audio_in_open(
	const struct audio_opts *opts, struct audio_in **ret, struct err *reterr) MUST_USE;
void audio_in_free(struct audio_in *in); /* NULL is fine */
/* "pulse: alsa_input.pci-0000" for a person. */
const char *audio_in_name(const struct audio_in *in);
/* It has the speed of time; a file has not. */
bool audio_in_is_live(const struct audio_in *in);
/*
 * Fills out with n samples, waiting for them: n, fewer at the end of a file, 0 after it. -ENODEV
 * when the device is gone (open again), ERR_CANCELLED after audio_in_stop().
 */
int audio_in_read(struct audio_in *in, int16_t *out, size_t n, struct err *reterr) MUST_USE;
/* From any thread: the read that waits returns, and so does every later one. */
void audio_in_stop(struct audio_in *in);

struct audio_out;
int audio_out_open(
	const struct audio_opts *opts, struct audio_out **ret, struct err *reterr) MUST_USE;
/* What is not heard yet is not waited for. NULL is fine. */
void audio_out_free(struct audio_out *out);
/* The same, and tells what a file could not take at its end. */
int audio_out_close(struct audio_out *out, struct err *reterr);
const char *audio_out_name(const struct audio_out *out);
bool audio_out_is_live(const struct audio_out *out);
/* Waits until the device has taken all; it keeps at most 100 ms ahead. */
int audio_out_write(
	struct audio_out *out, const int16_t *samples, size_t n, struct err *reterr) MUST_USE;
/* Waits until all has been heard. */
int audio_out_drain(struct audio_out *out, struct err *reterr) MUST_USE;
/* From any thread: silence at once. A write or drain that waits returns ERR_CANCELLED, and so does
 * each until audio_out_start(). Of a file what was written stays. */
void audio_out_stop(struct audio_out *out);
void audio_out_start(struct audio_out *out); /* takes a stop back */
