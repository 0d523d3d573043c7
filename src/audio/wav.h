/*
 * WAV: decoded as it comes, from anybody, and written. What comes out is mono, signed 16 bit: 8,
 * 16, 24 and 32 bit and float, plain and extensible, channels folded into one. A header may promise
 * what it does not keep: programs that write to a pipe cannot know the length, files are cut short.
 * The samples that are there are taken.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

enum {
	WAV_CHANNELS_MAX = 64,
	WAV_RATE_MIN = 1000,
	WAV_RATE_MAX = 768000,
	/* Of what stands between the header's parts (lists, pictures) before the samples begin. */
	WAV_SKIP_MAX = 64 * 1024 * 1024,
};

/* Owned samples; VEC's calls work on it. */
struct samples {
	int16_t *v;
	size_t n, cap;
};
#define AUTO_SAMPLES CLEANUP(samples_release) struct samples
void samples_release(struct samples *s);
void samples_add(struct samples *s, const int16_t *more, size_t n);
/* Room for n more, which count already; the caller fills it. */
int16_t *samples_grow(struct samples *s, size_t n);
void samples_drop(struct samples *s, size_t n); /* the first n */

struct wav_decoder;
struct wav_decoder *wav_decoder_new(void);
void wav_decoder_free(struct wav_decoder *d); /* NULL is fine */
/* The next bytes, in pieces of any size; samples are appended. ERR_INPUT: not a WAV, or of a kind
 * that is none of the above. */
int wav_decode(
	struct wav_decoder *d, struct sv bytes, struct samples *out, struct err *reterr) MUST_USE;
/* There is no more: ERR_INPUT when not even the header came. */
int wav_decode_end(const struct wav_decoder *d, struct err *reterr) MUST_USE;
unsigned wav_decoder_rate(const struct wav_decoder *d); /* 0 until it is known */

/*
 * A whole file, at `rate` (0: its own, which *ret_rate, may be NULL, tells). At most max_s seconds
 * are read of it: more is ERR_LIMIT. -ENOENT when there is none.
 */
int wav_load(const char *path, unsigned rate, double max_s, struct samples *ret_samples,
	unsigned *ret_rate, struct err *reterr) MUST_USE;

/* A whole WAV in memory, appended: for engines that take one on their input. */
void wav_encode(struct str *out, const int16_t *samples, size_t n, unsigned rate);

/*
 * A file in the making, mono and 16 bit. The lengths in its header follow what was written, so that
 * a kill at any time leaves a file that can be played; to a pipe, where nothing can be mended, they
 * say "to the end".
 */
struct wav_writer;
/* A new file (0600) in place of a WAV or an empty one; any other file that is there stays:
 * ERR_USAGE. */
int wav_writer_open(
	const char *path, unsigned rate, struct wav_writer **ret, struct err *reterr) MUST_USE;
/* The descriptor stays the caller's; name is for messages. With append (it can be read, too) what
 * was written so before stays, and more follows: ERR_INPUT when the file is anything else, or of
 * another rate. */
int wav_writer_fd(int fd, const char *name, unsigned rate, bool append, struct wav_writer **ret,
	struct err *reterr) MUST_USE;
/* ERR_LIMIT at 4 GB, which is all that the format can have. */
int wav_write(struct wav_writer *w, const int16_t *samples, size_t n, struct err *reterr) MUST_USE;
/* Mends the header and closes; also after a failure. NULL is fine. The first failure is told. */
int wav_writer_close(struct wav_writer *w, struct err *reterr);
